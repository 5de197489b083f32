/* Fragments of matrices in the registers of a warp, as mma.sync wants them (PTX ISA, "Matrix fragments
 * for mma"): lane l holds 4 bytes of row l / 4 of every 8 rows of 16 bytes, from byte l % 4 * 4 on. */
#ifndef GC_GPU_KERNELS_MMA_FRAGMENTS_CUH
#define GC_GPU_KERNELS_MMA_FRAGMENTS_CUH

/* Four times eight rows of 16 bytes of shared memory; lane l gives the address of row l % 8 of fragment
 * l / 8. */
static __device__ inline void gc_fragments_load4(unsigned (&to)[4], unsigned address)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
#endif
}

/* Two times; what the upper lanes give does not count. */
static __device__ inline void gc_fragments_load2(unsigned (&to)[4], unsigned address)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(address)
                 : "memory");
#endif
}

#endif
