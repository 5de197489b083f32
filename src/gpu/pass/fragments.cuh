/* Fragments: how the matrices of a matrix product lie in the registers of a warp (PTX ISA, "Matrix
 * fragments for mma"). mma.sync computes C += A * B, where
 *
 *     A has 16 rows of 32 bytes      samples: 32 bytes (m16n8k32) or 16 halves (m16n8k16) a row
 *     B has 8 columns of 32 bytes    weights, as many a column
 *     C has 16 rows of 8 numbers     sums: int32 or float32
 *
 * A lane has four registers of A, two of B, four of C. They come from these parts of the matrices:
 *
 *              bytes 0-15  16-31                     columns 0-7               columns 0-7
 *            +-----------+-----------+              +-----------+            +-----------+
 *   rows 0-7 |    a0     |    a2     |   bytes 0-15 |    b0     |   rows 0-7 |  c0, c1   |
 *            +-----------+-----------+              +-----------+            +-----------+
 *  rows 8-15 |    a1     |    a3     |  bytes 16-31 |    b1     |  rows 8-15 |  c2, c3   |
 *            +-----------+-----------+              +-----------+            +-----------+
 *                        A                                B                        C
 *
 * In each part the lanes stand as follows, every lane with 4 bytes of A or B, or 2 numbers of C:
 *
 *   A   bytes 0-3  4-7  8-11 12-15    B   columns 0   1   2  ...  7   C   columns 0,1 2,3 4,5 6,7
 *   row 0      0    1    2    3       bytes   0-3 0   4   8  ... 28   row 0       0   1   2   3
 *   row 1      4    5    6    7       bytes   4-7 1   5   9  ... 29   row 1       4   5   6   7
 *   ...                               bytes  8-11 2   6  10  ... 30   ...
 *   row 7     28   29   30   31       bytes 12-15 3   7  11  ... 31   row 7      28  29  30  31
 *
 * So lane l has row l / 4 of A and C, and column l / 4 of B; bytes 4 (l % 4) and following of A and
 * B; columns 2 (l % 4) and 2 (l % 4) + 1 of C. c0 and c2 are the left columns, c1 and c3 the right
 * ones.
 *
 * m16n8k8 has half the bytes: A is a0 and a1, B is b0. */
#pragma once

/* Loads a0 to a3 from shared memory. Lane l gives the address of a row of 16 bytes: row l % 8 of
 * register l / 8. Rows lie anywhere on a boundary of 16 bytes. */
static __device__ inline void gc_fragments_load4(unsigned (&to)[4], unsigned address)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
#endif
}

/* Loads a0 and a1 alone. The addresses of lanes 16 to 31 have no meaning. */
static __device__ inline void gc_fragments_load2(unsigned (&to)[4], unsigned address)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(address)
                 : "memory");
#endif
}
