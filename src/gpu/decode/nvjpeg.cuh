/* The functions of nvJPEG, loaded when they are first needed. CUDA toolkits may lack its header, so
 * that what is used of nvjpeg.h (the same in versions 11 to 13) is declared here. */
#ifndef GC_GPU_DECODE_NVJPEG_CUH
#define GC_GPU_DECODE_NVJPEG_CUH

#include "gpu/runtime/library.cuh"

#include <cstddef>
#include <cuda_runtime.h>

enum gc_nvjpeg_status { /* nvjpegStatus_t */
                        GC_NVJPEG_SUCCESS = 0,
                        GC_NVJPEG_ALLOCATOR_FAILURE = 5,
                        GC_NVJPEG_ARCH_MISMATCH = 7
};
enum gc_nvjpeg_backend { GC_NVJPEG_HARDWARE = 3 };            /* nvjpegBackend_t */
enum gc_nvjpeg_format { GC_NVJPEG_YUV = 1, GC_NVJPEG_Y = 2 }; /* nvjpegOutputFormat_t */
enum gc_nvjpeg_property { GC_NVJPEG_MAJOR, GC_NVJPEG_MINOR, GC_NVJPEG_PATCH }; /* of the library */

struct gc_nvjpeg_planes { /* nvjpegImage_t */
    unsigned char *channel[4];
    size_t pitch[4];
};

typedef struct nvjpegHandle *gc_nvjpeg_handle;
typedef struct nvjpegJpegState *gc_nvjpeg_state;
typedef struct nvjpegJpegStream *gc_nvjpeg_stream; /* the header of a file */

/* Enumerations are passed as int, which they are for the compilers that nvJPEG was made with. */
struct gc_nvjpeg {
    gc_library library;
    int version[3];
    /* Units of the engine, and cores of a unit. */
    int (*get_units)(gc_nvjpeg_handle handle, unsigned *units, unsigned *cores);
    int (*get_property)(int property, int *value);
    /* The null pointers are allocators: nvJPEG then uses those of CUDA. */
    int (*create)(int backend, const void *device, const void *pinned, unsigned flags,
                  gc_nvjpeg_handle *handle);
    int (*destroy)(gc_nvjpeg_handle handle);
    int (*create_state)(gc_nvjpeg_handle handle, gc_nvjpeg_state *state);
    int (*destroy_state)(gc_nvjpeg_state state);
    int (*create_stream)(gc_nvjpeg_handle handle, gc_nvjpeg_stream *stream);
    int (*destroy_stream)(gc_nvjpeg_stream stream);
    int (*parse_header)(gc_nvjpeg_handle handle, const unsigned char *bytes, size_t size,
                        gc_nvjpeg_stream stream);
    /* *refused is 0 where the engine takes the file. */
    int (*supported)(gc_nvjpeg_handle handle, gc_nvjpeg_stream stream, int *refused);
    /* To be called when the number of files changes, and after a failure. */
    int (*begin_batch)(gc_nvjpeg_handle handle, gc_nvjpeg_state state, int count, int threads,
                       int format);
    int (*decode_batch)(gc_nvjpeg_handle handle, gc_nvjpeg_state state,
                        const unsigned char *const *files, const size_t *sizes,
                        gc_nvjpeg_planes *planes, cudaStream_t stream);
};

/* Loads the library on the first call. Its functions may be called where library.loaded. */
const gc_nvjpeg &gc_nvjpeg_get();

#endif
