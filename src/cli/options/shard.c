/* A part of a batch: --shard. */
#include "base/hash.h"
#include "base/number.h"
#include "base/status.h"
#include "cli/options/values.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 1000000 };

/* ---- What schedulers tell a process ---------------------------------------------------------- */

/* Variables of an array of jobs. Those that the scheduler does not set are NULL here. */
typedef struct array_variables {
    const char *index, *first, *last, *step;
} array_variables;

/* Slurm; Grid Engine; LSF, whose arrays begin at 1; OpenPBS; Torque. */
static const array_variables arrays[] = {
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX",
     "SLURM_ARRAY_TASK_STEP"},
    {"SGE_TASK_ID", "SGE_TASK_FIRST", "SGE_TASK_LAST", "SGE_TASK_STEPSIZE"},
    {"LSB_JOBINDEX", NULL, "LSB_JOBINDEX_END", "LSB_JOBINDEX_STEP"},
    {"PBS_ARRAY_INDEX", NULL, NULL, NULL},
    {"PBS_ARRAYID", NULL, NULL, NULL},
};

/* Variables of the processes of one job: Open MPI; MPICH; a step of Slurm. Under mpirun, those of
 * Slurm describe the processes that start the ranks, so they come last. */
static const struct {
    const char *rank, *size;
} ranks[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
             {"PMI_RANK", "PMI_SIZE"},
             {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

/* Reads a variable that holds a whole number from `low`. */
static bool read_variable(const char *name, long long low, long long *value)
{
    const char *text = name != NULL ? getenv(name) : NULL;
    return text != NULL && gc_parse_integer(text, low, INT32_MAX, value);
}

/* The part of a task of an array. If `wanted` is not 0 there are this many parts, whatever the
 * scheduler says of the array. */
static gconv_status read_array(const array_variables *names, long long index, long long wanted,
                               gc_shard *shard, gconv_error *error)
{
    long long first = 1, last, step = 1, count = 0;
    if (wanted > 0) {
        *shard = (gc_shard){(uint32_t)(index % wanted), (uint32_t)wanted};
        return GCONV_OK;
    }
    read_variable(names->first, 0, &first);
    read_variable(names->step, 1, &step);
    if (!read_variable(names->last, 0, &last))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'auto': %s does not say how large the array is; give auto/N for an array "
                       "of N tasks",
                       names->index);
    bool whole = !read_variable("SLURM_ARRAY_TASK_COUNT", 1, &count) || names != &arrays[0] ||
                 count == (last - first) / step + 1;
    if (!whole || index < first || index > last || (index - first) % step != 0 ||
        (last - first) / step >= PARTS_MAX)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'auto': the array has gaps; give auto/N for an array of N tasks");
    *shard = (gc_shard){(uint32_t)((index - first) / step), (uint32_t)((last - first) / step + 1)};
    return GCONV_OK;
}

/* Divides a part among the processes of its job. */
static bool divide_by_rank(gc_shard *shard)
{
    long long rank, size;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        if (!read_variable(ranks[i].rank, 0, &rank) || !read_variable(ranks[i].size, 1, &size) ||
            rank >= size || size > PARTS_MAX / (long long)shard->count)
            continue;
        *shard = (gc_shard){shard->index * (uint32_t)size + (uint32_t)rank,
                            shard->count * (uint32_t)size};
        return true;
    }
    return false;
}

static gconv_status read_scheduler(long long wanted, gc_shard *shard, gconv_error *error)
{
    bool found = false;
    long long index;
    gconv_status status = GCONV_OK;
    *shard = (gc_shard){0, 1};
    for (size_t i = 0; !found && i < sizeof arrays / sizeof arrays[0]; i++) {
        /* LSF sets 0 in a job that is no array. */
        long long low = strcmp(arrays[i].index, "LSB_JOBINDEX") == 0 ? 1 : 0;
        found = read_variable(arrays[i].index, low, &index);
        if (found)
            status = read_array(&arrays[i], index, wanted, shard, error);
    }
    GC_TRY(status);
    if (!divide_by_rank(shard) && !found)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'auto': no variables of Slurm, PBS, Grid Engine, LSF, Open MPI or MPICH "
                       "are set; give I/N");
    return GCONV_OK;
}

/* ---- The option ------------------------------------------------------------------------------ */

/* auto and auto/N stand for the part that the variables of a scheduler give this process. */
gconv_status gc_set_shard(gc_options *options, const char *text, gconv_error *error)
{
    gc_shard *shard = &options->batch.shard;
    long long part = 0, parts = 0;
    const char *slash = strchr(text, '/');
    size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);
    char first[16] = "";
    if (length < sizeof first)
        memcpy(first, text, length);
    bool automatic = strcmp(first, "auto") == 0;
    bool counted = slash != NULL && gc_parse_integer(slash + 1, 1, PARTS_MAX, &parts);
    if (automatic && (slash == NULL || counted))
        return read_scheduler(parts, shard, error);
    if (!counted || !gc_parse_integer(first, 1, parts, &part))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.64s' is not I/N with I from 1 to N and N up to %d, auto or auto/N", text,
                       PARTS_MAX);
    *shard = (gc_shard){(uint32_t)(part - 1), (uint32_t)parts};
    return GCONV_OK;
}

bool gc_shard_has(const gc_shard *shard, const char *name)
{
    if (shard->count < 2)
        return true;
    gc_hash hash = gc_hash_string(gc_hash_start(), name);
    uint64_t mixed = hash.high ^ hash.low;
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / golden ratio */
    return (mixed >> 32) % shard->count == shard->index;
}
