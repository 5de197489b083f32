#define _GNU_SOURCE /* sched_getaffinity */
/* The program gconv-mpi: a batch on all ranks of an MPI job. Rank 0 is gconv with borrowers. */
#include "base/processors.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/image/session.h"
#include "cli/options/table.h"
#include "cli/program.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/standard_output.h"
#include "gconv.h"
#include "mpi/exchange.h"

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NAME_BYTES = 512,
    BUILD_BYTES = 64,
    GREETING_BYTES = 2048,
    LIST_BYTES = 1024,
    GPUS_MAX = 64
};

/* What sources and compiler this program was made of, as a hash. Ranks understand each other if it
 * is the same. */
extern const char gc_build[];

/* What rank 0 learns of a rank before work starts. Build and host come first: all builds read
 * these. */
typedef struct report {
    char build[BUILD_BYTES], host[64];
    int code;                 /* the exit code of a rank that cannot start; else GC_EXIT_DONE */
    int places;               /* images that it computes at one time */
    char gpus[128];           /* as in share_gpus */
    char subject[NAME_BYTES]; /* "": nothing */
    gconv_error error;
} report;
_Static_assert(sizeof(report) <= GREETING_BYTES, "greetings of all builds are as long");

/* ---- What the ranks on one host share -------------------------------------------------------- */

typedef struct ranks_of_host {
    int rank, count;
    int local, locals; /* this rank among those on its host, and their number */
} ranks_of_host;

static MPI_Comm split_by_host(void)
{
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    return host;
}

/* Finds this rank's place. All ranks call it. */
static void find_place(ranks_of_host *ranks)
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
static void find_rivals(const cpu_set_t *sets, const ranks_of_host *ranks, int *rivals, int *place)
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

/* The threads of this rank: its part of the processors that the ranks on this host may run on, at
 * least 1. All ranks call it. */
static int share_processors(const ranks_of_host *ranks)
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
static bool is_common(const char *text, size_t size, const ranks_of_host *ranks)
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

/* Shows this rank its part of the GPUs, by CUDA_VISIBLE_DEVICES, before CUDA starts: different ones
 * for the ranks of a host as far as there are enough. Does nothing if the ranks were shown
 * different GPUs already, and if `options` name GPUs by numbers. All ranks call it. Fills `shown`
 * with the part, "" if nothing was changed. */
static void share_gpus(const ranks_of_host *ranks, const gc_options *options, char *shown,
                       size_t size)
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

/* ---- Before work starts ---------------------------------------------------------------------- */

/* Refuses what makes no sense on several ranks. */
static gconv_status check_options(const gc_options *options, gconv_error *error)
{
    const char *shard = gc_option_value(options, "shard");
    if ((options->command & GC_COMMANDS_OF_IMAGES) == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "gconv-mpi computes batches by edges and filter; use gconv for the rest");
    if (options->batch.directory == NULL && !options->batch.in_place)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "gconv-mpi computes batches; give -o DIR or --in-place, or use gconv");
    if (shard != NULL && strncmp(shard, "auto", strlen("auto")) == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--shard': rank 0 hands the images out, so 'auto' would leave some "
                       "out; give I/N or nothing");
    return GCONV_OK;
}

/* Checks the command line as rank 0 will, so that no rank fails later. */
static gconv_status check_session(const gc_options *options, gc_session *session,
                                  const char **subject, gconv_error *error)
{
    GC_TRY(check_options(options, error));
    GC_TRY(gc_environment_check(error));
    GC_TRY(gc_check_images(options, error));
    GC_TRY(gc_session_create(options, session, subject, error));
    return gc_session_check_all(session, error);
}

/* How many images this rank computes at one time: more than threads if some wait for a GPU. */
static int count_places(const gc_options *options)
{
    enum { IMAGES_PER_THREAD = 3 };
    int threads = gc_thread_count(options->job.threads);
    bool gpu = strcmp(options->job.device, "cpu") != 0 && gconv_device_count() > 1;
    return gpu ? IMAGES_PER_THREAD * threads : threads;
}

/* Fills what a rank reports. True if rank 0 was asked for help or the version, and has answered. */
static bool fill_report(report *own, const gc_options *options, gc_session *session, int rank)
{
    const char *subject = NULL;
    int code;
    gc_program_set_messages(options);
    if (rank == 0 && gc_program_informs(options, &code))
        return true;
    if (options->help || options->version || options->command == GC_COMMAND_HELP)
        return false;
    gconv_status status = check_session(options, session, &subject, &own->error);
    own->code = status == GCONV_OK ? GC_EXIT_DONE : gc_start_code(status);
    snprintf(own->subject, sizeof own->subject, "%s", subject != NULL ? subject : "");
    if (status == GCONV_OK)
        own->places = count_places(options);
    return false;
}

/* ---- Greetings ------------------------------------------------------------------------------- */

/* Reads the greeting of another rank. One of another build cannot start. */
static void read_greeting(const char greeting[GREETING_BYTES], report *from)
{
    memcpy(from, greeting, sizeof *from);
    from->build[sizeof from->build - 1] = from->host[sizeof from->host - 1] = '\0';
    if (strcmp(from->build, gc_build) == 0)
        return;
    *from->subject = '\0';
    from->code = GC_EXIT_FAILED;
    gc_fail(&from->error, GCONV_ERROR_UNSUPPORTED,
            "another build of gconv (%.40s) than that of rank 0 (%.40s); start the same program on "
            "all ranks",
            from->build, gc_build);
}

/* Tells rank 0 what the ranks report. `reports` has room for all ranks, on rank 0. */
static void gather_reports(const report *own, report *reports, const ranks_of_host *ranks)
{
    char greeting[GREETING_BYTES] = "";
    memcpy(greeting, own, sizeof *own);
    char *all = ranks->rank == 0 ? calloc((size_t)ranks->count, GREETING_BYTES) : NULL;
    if (ranks->rank == 0 && all == NULL)
        gc_exchange_give_up();
    MPI_Gather(greeting, GREETING_BYTES, MPI_BYTE, all, GREETING_BYTES, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    for (int r = 0; ranks->rank == 0 && r < ranks->count; r++)
        read_greeting(all + (size_t)r * GREETING_BYTES, &reports[r]);
    free(all);
}

/* Says why a rank cannot start. What is wrong on rank 0, too, needs no name of a rank. */
static void say_failure(const report *from, int rank)
{
    gconv_error error = from->error;
    if (rank > 0)
        gc_fail(&error, from->error.status, "rank %d on %s: %s%s%.300s", rank, from->host,
                from->subject, from->subject[0] != '\0' ? ": " : "", from->error.message);
    gc_report(rank == 0 && from->subject[0] != '\0' ? from->subject : NULL, &error);
}

/* Whether work may start, on rank 0. *code becomes the exit code if it may not. */
static bool may_start(const report *reports, int count, int *code)
{
    for (int r = 0; r < count; r++) {
        *code = reports[r].code;
        if (*code == GC_EXIT_DONE)
            continue;
        say_failure(&reports[r], r);
        return false;
    }
    return true;
}

static void note_ranks(const report *reports, int count)
{
    for (int r = 0; r < count; r++)
        gc_note(NULL, "rank %d of %d on %s: %d image%s at one time%s%s", r, count, reports[r].host,
                reports[r].places, reports[r].places == 1 ? "" : "s",
                reports[r].gpus[0] != '\0' ? ", GPUs " : "", reports[r].gpus);
}

/* ---- Work ------------------------------------------------------------------------------------ */

static int run_root(const gc_options *options, const report *reports, int count)
{
    int *places = calloc((size_t)count, sizeof *places);
    if (places == NULL)
        gc_exchange_give_up();
    for (int r = 0; r < count; r++)
        places[r] = reports[r].places;
    note_ranks(reports, count);
    int code = gc_root_run(options, count, places);
    free(places);
    return code;
}

/* Another rank. Rank 0 decides when work ends. */
static void run_member(gc_options *options, gc_session *session, int places)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGUSR1, &ignore, NULL);
    options->batch.stop_on_error = false;
    gc_member_run(session, places);
}

/* `informed` as fill_report returns it. */
static int run(gc_options *options, gc_session *session, const report *own, bool informed,
               const ranks_of_host *ranks)
{
    int code = GC_EXIT_DONE, starts = 0;
    report *reports = calloc((size_t)ranks->count, sizeof *reports);
    if (reports == NULL)
        gc_exchange_give_up();
    gather_reports(own, reports, ranks);
    if (ranks->rank == 0 && !informed)
        starts = may_start(reports, ranks->count, &code);
    MPI_Bcast(&starts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (starts && ranks->rank == 0)
        code = run_root(options, reports, ranks->count);
    else if (starts)
        run_member(options, session, own->places);
    free(reports);
    return code;
}

/* ---- The program ----------------------------------------------------------------------------- */

static int begin(int argc, char **argv)
{
    ranks_of_host ranks;
    gc_options options;
    gc_session session = {.options = NULL};
    report own = {.code = GC_EXIT_DONE};
    find_place(&ranks);
    snprintf(own.build, sizeof own.build, "%s", gc_build);
    if (gethostname(own.host, sizeof own.host - 1) != 0)
        own.host[0] = '\0';
    gconv_status status = gc_options_parse(argc, argv, &options, &own.error);
    int threads = share_processors(&ranks);
    share_gpus(&ranks, &options, own.gpus, sizeof own.gpus);
    if (options.job.threads == 0)
        options.job.threads = threads;
    if (ranks.rank > 0)
        options.report.progress = GC_PROGRESS_NEVER;
    bool informed = false;
    if (status == GCONV_OK)
        informed = fill_report(&own, &options, &session, ranks.rank);
    else
        own.code = gc_start_code(status);
    int code = run(&options, &session, &own, informed, &ranks);
    gc_session_destroy(&session);
    gc_options_free(&options);
    gconv_device_await();
    return code;
}

int main(int argc, char **argv)
{
    int level;
    gc_program_begin();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (level < MPI_THREAD_SERIALIZED) {
        gconv_error error;
        gc_fail(&error, GCONV_ERROR_UNSUPPORTED, "this MPI takes no calls from several threads");
        gc_report(NULL, &error);
        MPI_Abort(MPI_COMM_WORLD, GC_EXIT_FAILED);
    }
    int code = begin(argc, argv);
    gc_progress_clear();
    code = gc_program_close_output(code);
    /* All ranks have ended their work before one ends with another status than 0. */
    MPI_Finalize();
    gc_signals_finish();
    return code;
}
