#define _GNU_SOURCE /* sched_getaffinity */
#include "mpi/ranks.h"

#include "base/processors.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST_BYTES = 1024, GPUS_MAX = 64 };

static MPI_Comm split_by_host(void)
{
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    return host;
}

void gc_ranks_find(gc_ranks *ranks)
{
    MPI_Comm host = split_by_host();
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->count);
    MPI_Comm_rank(host, &ranks->local);
    MPI_Comm_size(host, &ranks->locals);
    MPI_Comm_free(&host);
}

/* ---- Processors ------------------------------------------------------------------------------ */

/* The parts of `units` for `parts`, as equal as may be: the first unit of part `part`. */
static int part_begin(int units, int parts, int part)
{
    return (int)((long long)units * part / parts);
}

/* The ranks of a host that may run on the same processors as rank `local`: how many there are, and
 * which of them it is. mpirun binds ranks to all processors alike or to sets of their own. */
static void find_rivals(const cpu_set_t *sets, const gc_ranks *ranks, int *rivals, int *place)
{
    *rivals = *place = 0;
    for (int r = 0; r < ranks->locals; r++) {
        cpu_set_t both;
        CPU_AND(&both, &sets[r], &sets[ranks->local]);
        bool is_rival = r == ranks->local || CPU_COUNT(&both) > 0;
        *place += is_rival && r < ranks->local;
        *rivals += is_rival;
    }
}

int gc_ranks_share_processors(const gc_ranks *ranks)
{
    MPI_Comm host = split_by_host();
    int allowed = gc_processor_count(), rivals = ranks->locals, place = ranks->local;
    cpu_set_t own, *sets = calloc((size_t)ranks->locals, sizeof *sets);
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof own, &own) != 0)
        CPU_ZERO(&own); /* more processors than a set has room for: all ranks count as rivals */
    if (sets == NULL)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, sets, (int)sizeof own, MPI_BYTE, host);
    MPI_Comm_free(&host);
    /* A quota is shared by all ranks of the host. */
    if (sets != NULL && CPU_COUNT(&own) > 0 && CPU_COUNT(&own) == allowed)
        find_rivals(sets, ranks, &rivals, &place);
    free(sets);
    int threads = part_begin(allowed, rivals, place + 1) - part_begin(allowed, rivals, place);
    return threads > 0 ? threads : 1;
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* The GPUs of one rank of several: those of a list with commas whose places are `local`, `local` +
 * `locals` and so on; one of them in turn if there are fewer GPUs than ranks. */
static void choose_gpus(const char *list, int local, int locals, char *chosen, size_t size)
{
    const char *names[GPUS_MAX];
    int lengths[GPUS_MAX], count = 0;
    for (const char *at = list; *at != '\0' && count < GPUS_MAX;) {
        int length = (int)strcspn(at, ",");
        names[count] = at;
        lengths[count] = length;
        count += length > 0;
        at += length + (at[length] == ',');
    }
    size_t used = 0;
    chosen[0] = '\0';
    for (int i = count >= locals ? local
                 : count > 0     ? local % count
                                 : 0;
         i < count && used < size; i += count >= locals ? locals : count)
        used += (size_t)snprintf(chosen + used, size - used, "%s%.*s", used > 0 ? "," : "",
                                 lengths[i], names[i]);
}

/* The GPUs of the host as the driver numbers them: "0,1,2". */
static void list_gpus(char *list, size_t size)
{
    size_t used = 0;
    int count = 0;
    list[0] = '\0';
    for (int i = 0; i < GPUS_MAX && used < size; i++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/nvidia%d", i);
        if (access(path, F_OK) == 0)
            used +=
                (size_t)snprintf(list + used, size - used, "%s%d", used > 0 ? "," : "", count++);
    }
}

/* Whether a text is the same on all ranks of the host. */
static bool is_common(const char *text, size_t size, const gc_ranks *ranks)
{
    MPI_Comm host = split_by_host();
    char *first = malloc(size);
    int differs, any;
    if (first == NULL)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    memcpy(first, text, size);
    MPI_Bcast(first, (int)size, MPI_BYTE, 0, host);
    differs = strcmp(first, text) != 0;
    MPI_Allreduce(&differs, &any, 1, MPI_INT, MPI_MAX, host);
    MPI_Comm_free(&host);
    free(first);
    return any == 0 && ranks->locals > 1;
}

void gc_ranks_share_gpus(const gc_ranks *ranks, const gc_options *options, char *shown, size_t size)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    char list[LIST_BYTES] = "";
    const gconv_device_choice *choice = &options->device;
    snprintf(list, sizeof list, "%s", visible != NULL ? visible : "");
    shown[0] = '\0';
    bool common = is_common(list, sizeof list, ranks);
    bool counts = choice->any || choice->all || strcmp(options->job.device, "cuda") == 0;
    if (!common || !counts)
        return;
    if (visible == NULL)
        list_gpus(list, sizeof list);
    choose_gpus(list, ranks->local, ranks->locals, shown, size);
    if (shown[0] != '\0')
        setenv("CUDA_VISIBLE_DEVICES", shown, 1);
}
