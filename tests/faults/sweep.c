/* Runs gconv again and again, each time with another fault of faults.h, and judges every run.
 *
 *     gconv_faults GCONV LIBRARY MAKE_IMAGE [options] [SCENARIO...]
 *         --every K       each K-th call only (1)
 *         --offset N      begins N calls later, modulo K (0)
 *         --fault FAULT   this one alone, as in FAULTS
 *         --list          print the scenarios and the calls that they make
 *
 * A run is right in three cases:
 *   - It ends with 0, and everything is as in a run without faults.
 *   - It ends with 1 after one line `gconv: ...`, in a batch a line for each image and the summary.
 *     Each output that is not done is what it was before.
 *   - SIGKILL ended it. Each output is the old one or the new one. The next run does everything.
 *
 * No temporary file is left, except where removing files is what fails. SIGKILL leaves at most one
 * for each worker. */
#define _GNU_SOURCE /* nftw */
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ARGUMENTS_MAX = 24,
    OUTPUTS_MAX = 8,
    SECONDS_MAX = 20, /* a run that takes longer hangs */
    FILE_BYTES_MAX = 1 << 20,
    WORKERS_MAX = 4
};

static const char old_content[] = "what was there before";

/* A link to the library in the directory of the run: LD_PRELOAD would split its own path at blanks
 * and colons. */
static const char preloaded_library[] = "./faults.so";

/* ---- Scenarios ------------------------------------------------------------------------------- */

typedef struct scenario {
    const char *name;
    const char *arguments; /* of gconv, separated by blanks; run in a directory with in/ and out/ */
    /* Below out/, separated by blanks. +NAME is there beforehand, =NAME as a copy of in/NAME, and
     * @NAME as a link to out/target, which is there too. */
    const char *outputs;
    const char *input; /* standard input; NULL is empty */
    int status;        /* without faults */
    bool batch;
    bool times; /* the figures on standard output differ from run to run */
    bool once;  /* another run would not do the same */
    bool vague; /* standard output leaves out what could not be found out */
} scenario;

static const scenario scenarios[] = {
    {"edges", "edges -d cpu -j 1 in/colour.jpg out/edges.png", "+edges.png", .status = 0},
    {"new", "edges -d cpu -j 1 --no-clobber in/grey.png out/new.png", "new.png", .once = true},
    {"png", "filter -d cpu -j 1 -k gauss3 in/laden.png out/laden.png", "+laden.png", .status = 0},
    {"jpeg", "filter -d cpu -j 1 -k in/motion.txt in/laden.jpg out/laden.jpg", "+laden.jpg",
     .status = 0},
    {"deep", "filter -d cpu -j 1 -k gaussian:1 -k laplace3 --abs in/deep.png out/deep.png",
     "+deep.png", .status = 0},
    {"alpha", "filter -d cpu -j 1 -k gauss3 --verify in/alpha.png out/alpha.png", "+alpha.png",
     .status = 0},
    {"link", "filter -d cpu -j 1 -k emboss3 in/colour.jpg out/link.png", "@link.png", .status = 0},
    {"in-place", "edges -d cpu -j 2 --in-place out/grey.png out/colour.jpg",
     "=grey.png =colour.jpg", .batch = true, .once = true},
    {"float", "filter -d cpu -j 1 -k log:2 --sync in/grey.png out/grey.pfm", "+grey.pfm",
     .status = 0},
    {"pipe", "filter -d cpu -j 1 -k sharpen3 --format ppm", "", .input = "in/colour.ppm"},
    {"stream", "edges -d cpu -j 1 --format pgm", "", .input = "in/two.ppm"},
    {"threads", "filter -d cpu -j 4 -k box:9 in/tall.pgm out/tall.pgm", "+tall.pgm", .status = 0},
    {"json", "edges -d cpu -j 1 --json in/grey.png out/grey.png", "+grey.png", .times = true},
    {"batch",
     "edges -d cpu -j 2 --background black -o out in/grey.png in/colour.jpg in/alpha.png "
     "in/tall.pgm",
     "+grey.png colour.png +alpha.png tall.png", .batch = true},
    {"recursive", "filter -d cpu -j 1 -k box3 -r -o out/made in/tree",
     "made/a.png made/b/c.pgm made/b/unnamed.jpg made/b/d/e.png", .batch = true},
    {"compare", "compare -d cpu -j 2 -i reference,cpu --time 0.0001 in/grey.png", "",
     .times = true},
    {"info", "info", "", .vague = true},
    {"tune", "tune -d cpu", "", .status = 4},
};

static const char *const images[][5] = {
    {"png:grey", "in/grey.png", "40", "30"},
    {"jpeg:ycc", "in/colour.jpg", "40", "30"},
    {"ppm", "in/colour.ppm", "40", "30"},
    {"png:rgb:exif=6:phys=2835:icc:interlaced", "in/laden.png", "40", "30"},
    {"jpeg:ycc:exif=3:icc:progressive", "in/laden.jpg", "40", "30"},
    {"png:rgb:16", "in/deep.png", "40", "30"},
    {"png:rgba", "in/alpha.png", "40", "30"},
    {"pgm", "in/tall.pgm", "60", "2000"},
    {"png:grey", "in/tree/a.png", "20", "10"},
    {"pgm", "in/tree/b/c.pgm", "20", "10"},
    {"jpeg:grey", "in/tree/b/unnamed", "20", "10"},
    {"png:grey:1", "in/tree/b/d/e.png", "20", "10"},
};

/* ---- State ----------------------------------------------------------------------------------- */

typedef struct content {
    char *bytes; /* NULL: there is no such file */
    size_t size;
} content;

typedef struct output {
    char path[64];
    bool is_link;
    content old; /* what is there beforehand */
    content expected;
} output;

typedef enum output_state { OLD, NEW, WRONG } output_state;

static struct {
    const char *gconv, *library, *make_image;
    const char *fault; /* the only one; NULL: all */
    long every, offset;
    fault_counts *counts;
    const scenario *scenario;
    output outputs[OUTPUTS_MAX];
    int output_count;
    content printed; /* on standard output, without faults */
    long runs, wrong, skipped;
} sweep = {.every = 1};

/* What one run left. */
typedef struct outcome {
    int status; /* as of waitpid */
    bool hangs;
    content printed, said; /* standard output, standard error */
    int done;              /* outputs that are new */
    int old;
    int wrong;
    int temporaries;
    char strange[64]; /* a file that nobody asked for */
} outcome;

static void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("gconv_faults: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static content read_content(const char *path)
{
    content read_in = {NULL, 0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return read_in;
    read_in.bytes = malloc(FILE_BYTES_MAX + 1);
    ssize_t size = read_in.bytes != NULL ? read(descriptor, read_in.bytes, FILE_BYTES_MAX) : -1;
    close(descriptor);
    if (size < 0)
        die("cannot read %s", path);
    read_in.bytes[size] = '\0';
    read_in.size = (size_t)size;
    return read_in;
}

static bool is_same(const content *a, const content *b)
{
    if (a->bytes == NULL || b->bytes == NULL)
        return a->bytes == b->bytes;
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static void write_content(const char *path, const void *bytes, size_t size)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0 || write(descriptor, bytes, size) != (ssize_t)size || close(descriptor) != 0)
        die("cannot write %s: %s", path, strerror(errno));
}

static int remove_item(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)type;
    (void)place;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_item, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_inputs(void)
{
    static const char *const directories[] = {"in", "in/tree", "in/tree/b", "in/tree/b/d"};
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
        mkdir(directories[i], 0755);
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        pid_t child = fork();
        if (child == 0) {
            execl(sweep.make_image, "make_image", "make", images[i][0], images[i][1], images[i][2],
                  images[i][3], "noise", (char *)NULL);
            _exit(127);
        }
        int status;
        if (waitpid(child, &status, 0) != child || status != 0)
            die("cannot make %s", images[i][1]);
    }
    static const char filter[] = "divisor sum\n1 0 0\n0 1 0\n0 0 1\n";
    write_content("in/motion.txt", filter, sizeof filter - 1);
    content image = read_content("in/colour.ppm");
    char *two = malloc(2 * image.size);
    if (two == NULL)
        die("out of memory");
    memcpy(two, image.bytes, image.size);
    memcpy(two + image.size, image.bytes, image.size);
    write_content("in/two.ppm", two, 2 * image.size);
    free(two);
    free(image.bytes);
}

static void reset_outputs(void)
{
    remove_tree("out");
    remove_tree("cache");
    mkdir("out", 0755);
    mkdir("cache", 0700);
    for (int i = 0; i < sweep.output_count; i++) {
        const output *o = &sweep.outputs[i];
        if (o->is_link && symlink("target", o->path) != 0)
            die("cannot make a link");
        if (o->old.bytes != NULL)
            write_content(o->path, o->old.bytes, o->old.size);
    }
}

/* ---- One run --------------------------------------------------------------------------------- */

static void split_arguments(char *copy, char *arguments[ARGUMENTS_MAX])
{
    int count = 0;
    arguments[count++] = (char *)"gconv";
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        arguments[count++] = word;
    arguments[count] = NULL;
}

static void redirect(int number, const char *path, int flags)
{
    int descriptor = open(path, flags | O_CLOEXEC, 0644);
    if (descriptor < 0 || dup2(descriptor, number) < 0)
        _exit(127);
}

static void become_gconv(const char *fault)
{
    char copy[256], *arguments[ARGUMENTS_MAX];
    snprintf(copy, sizeof copy, "%s", sweep.scenario->arguments);
    split_arguments(copy, arguments);
    const char *input = sweep.scenario->input;
    redirect(STDIN_FILENO, input != NULL ? input : "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, "printed", O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, "said", O_WRONLY | O_CREAT | O_TRUNC);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setenv("FAULTS_COUNTS", "counts", 1);
    if (fault != NULL)
        setenv("FAULTS", fault, 1);
    setenv("LD_PRELOAD", preloaded_library, 1);
    execv(sweep.gconv, arguments);
    _exit(127);
}

/* Waits for a child, SIGCHLD being blocked; ends it where it takes too long. */
static int await(pid_t child, bool *hangs)
{
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    int status;
    pid_t got;
    *hangs = false;
    while ((got = waitpid(child, &status, WNOHANG)) == 0) {
        struct timespec limit = {.tv_sec = SECONDS_MAX};
        if (sigtimedwait(&ended, NULL, &limit) < 0 && errno == EAGAIN) {
            *hangs = true;
            kill(child, SIGKILL);
        }
    }
    return got == child ? status : -1;
}

static output_state state_of(const output *o)
{
    content now = read_content(o->path);
    output_state state = WRONG;
    char text[16];
    if (is_same(&now, &o->old))
        state = OLD;
    else if (o->expected.bytes == NULL || is_same(&now, &o->expected))
        state = NEW;
    if (o->is_link && readlink(o->path, text, sizeof text) < 0)
        state = WRONG;
    free(now.bytes);
    return state;
}

static outcome *walked;

static int note_item(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)place;
    for (int i = 0; i < sweep.output_count; i++)
        if (strcmp(sweep.outputs[i].path, path) == 0)
            return 0;
    if (type == FTW_D || strcmp(path, "out/target") == 0)
        return 0;
    if (strstr(path, "/.") != NULL && strstr(path, ".gconv-") != NULL)
        walked->temporaries++;
    else
        snprintf(walked->strange, sizeof walked->strange, "%s", path);
    return 0;
}

static void look_at_outputs(outcome *o)
{
    for (int i = 0; i < sweep.output_count; i++) {
        output_state state = state_of(&sweep.outputs[i]);
        o->done += state == NEW;
        o->old += state == OLD;
        o->wrong += state == WRONG;
    }
    walked = o;
    nftw("out", note_item, 8, FTW_PHYS);
}

static outcome run(const char *fault)
{
    outcome o = {.status = 0};
    memset(sweep.counts, 0, sizeof *sweep.counts);
    pid_t child = fork();
    if (child < 0)
        die("cannot fork");
    if (child == 0)
        become_gconv(fault);
    o.status = await(child, &o.hangs);
    o.printed = read_content("printed");
    o.said = read_content("said");
    look_at_outputs(&o);
    return o;
}

static void destroy(outcome *o)
{
    free(o->printed.bytes);
    free(o->said.bytes);
}

/* ---- Judging --------------------------------------------------------------------------------- */

/* What is left of figures and marks on them: letters, less those of numbers. */
static void drop_figures(content *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->size; i++)
        if (strchr("0123456789.-+ex %!", text->bytes[i]) == NULL)
            text->bytes[kept++] = text->bytes[i];
    text->size = kept;
}

static bool printed_right(const outcome *o)
{
    content now = {malloc(o->printed.size + 1), o->printed.size};
    if (now.bytes == NULL)
        die("out of memory");
    memcpy(now.bytes, o->printed.bytes, now.size);
    if (sweep.scenario->times)
        drop_figures(&now);
    bool right = is_same(&sweep.printed, &now);
    free(now.bytes);
    return right;
}

/* What a run said on standard error. */
typedef struct messages {
    int lines;
    bool other; /* something that is not a message */
    bool about_stdout;
    bool summary;
    int done, failed; /* of the summary */
} messages;

static messages read_messages(const content *said)
{
    messages m = {.lines = 0};
    for (const char *line = said->bytes; *line != '\0'; m.lines++) {
        const char *end = strchr(line, '\n');
        int all;
        m.other = end == NULL || strncmp(line, "gconv: ", strlen("gconv: ")) != 0;
        if (m.other)
            break;
        if (sscanf(line, "gconv: %d of %d images done, %d failed", &m.done, &all, &m.failed) == 3)
            m.summary = true;
        if (strncmp(line, "gconv: standard output: ", strlen("gconv: standard output: ")) == 0)
            m.about_stdout = true;
        line = end + 1;
    }
    return m;
}

static const char *judge_failure(const outcome *o)
{
    messages m = read_messages(&o->said);
    if (m.other)
        return "something else than messages on standard error";
    if (m.summary && m.lines != m.failed + 1)
        return "not a message for each image and a summary";
    if (!m.summary && m.lines != 1)
        return "not exactly one message";
    if (m.summary ? m.done > o->done || m.failed == 0 : o->done > 0 && !m.about_stdout)
        return "the messages do not agree with the outputs";
    return NULL;
}

/* Why a run that SIGKILL did not end is wrong; NULL where it is not. */
static const char *judge_end(const outcome *o, const char *fault)
{
    if (o->hangs)
        return "hangs";
    if (o->wrong > 0)
        return "an output is neither the old one nor the new one";
    if (o->strange[0] != '\0')
        return o->strange;
    if (WIFSIGNALED(o->status))
        return strsignal(WTERMSIG(o->status));
    bool removal_fails = strncmp(fault, "unlink", strlen("unlink")) == 0;
    if (o->temporaries > 0 && !removal_fails)
        return "a temporary file is left";
    int status = WEXITSTATUS(o->status);
    if (status != 1 && status != sweep.scenario->status)
        return "the exit status is neither 1 nor that without faults";
    if (status == 1)
        return judge_failure(o);
    if (o->old > 0)
        return "succeeded, but left outputs out";
    if (!sweep.scenario->vague && !printed_right(o))
        return "something else on standard output";
    return status == 0 && o->said.size > 0 ? "succeeded, but complained" : NULL;
}

/* After SIGKILL: what is there, and that the next run makes up for it. */
static const char *judge_kill(const outcome *o)
{
    if (o->wrong > 0)
        return "SIGKILL left an output that is neither the old one nor the new one";
    if (o->temporaries > WORKERS_MAX || (!sweep.scenario->batch && o->temporaries > 1))
        return "SIGKILL left more than a temporary file";
    outcome next = run(NULL);
    /* A batch removes what killed processes left. */
    int temporaries = sweep.scenario->batch ? 0 : o->temporaries;
    bool ends = WIFEXITED(next.status) && WEXITSTATUS(next.status) == sweep.scenario->status &&
                next.temporaries == temporaries;
    bool makes_up = sweep.scenario->once || (next.old == 0 && next.wrong == 0);
    destroy(&next);
    return ends && makes_up ? NULL : "the run after SIGKILL does not make up for it";
}

static void try_fault(const char *fault)
{
    reset_outputs();
    outcome o = run(fault);
    bool killed = !o.hangs && strstr(fault, ":kill:") != NULL && WIFSIGNALED(o.status) &&
                  WTERMSIG(o.status) == SIGKILL;
    const char *verdict = killed ? judge_kill(&o) : judge_end(&o, fault);
    sweep.runs++;
    if (verdict != NULL) {
        sweep.wrong++;
        printf("%s, %s: %s (status %d)\n%s", sweep.scenario->name, fault, verdict,
               WIFEXITED(o.status) ? WEXITSTATUS(o.status) : 128 + WTERMSIG(o.status),
               o.said.bytes);
        fflush(stdout);
    }
    destroy(&o);
}

/* ---- All runs of a scenario ------------------------------------------------------------------ */

static const struct {
    const char *kinds;
    const char *actions;
} plan[] = {
    {"memory", "fail"},
    {"open", "fail eintr"},
    {"read", "fail short eintr"},
    {"write", "fail short eintr"},
    {"sync", "fail eintr"},
    {"rename", "fail lose"},
    {"link", "fail"},
    {"close", "fail eintr"},
    {"stat", "fail"},
    {"mode", "fail"},
    {"mkdir", "fail"},
    {"unlink", "fail"},
    {"thread", "fail"},
    {"rename,link", "fail"},
    {"system", "kill"},
    {"memory", "kill"},
};

static long count_calls(const long calls[FAULT_KINDS], const char *kinds)
{
    long sum = 0;
    char copy[256];
    snprintf(copy, sizeof copy, "%s", kinds);
    for (char *word = strtok(copy, ","); word != NULL; word = strtok(NULL, ","))
        for (int i = 0; i < FAULT_KINDS; i++)
            if (fault_kind_is(i, word))
                sum += calls[i];
    return sum;
}

/* Each sweep begins elsewhere, so that kinds with few calls are met too. */
static void sweep_over(const char *kinds, const char *action, const char *later, long calls)
{
    static long number;
    for (long n = 1 + (sweep.offset + number++) % sweep.every; n <= calls; n += sweep.every) {
        char fault[300];
        snprintf(fault, sizeof fault, "%s:%s:%ld%s", kinds, action, n, later);
        try_fault(fault);
    }
}

static void try_all(const long calls[FAULT_KINDS])
{
    for (size_t i = 0; i < sizeof plan / sizeof plan[0]; i++) {
        char copy[64], *rest;
        snprintf(copy, sizeof copy, "%s", plan[i].actions);
        for (char *action = strtok_r(copy, " ", &rest); action != NULL;
             action = strtok_r(NULL, " ", &rest)) {
            long count = count_calls(calls, plan[i].kinds);
            sweep_over(plan[i].kinds, action, "", count);
            if (strcmp(action, "kill") != 0)
                sweep_over(plan[i].kinds, action, "+", count);
        }
    }
}

static void set_outputs(const scenario *s)
{
    char copy[256], *rest;
    snprintf(copy, sizeof copy, "%s", s->outputs);
    for (int i = 0; i < sweep.output_count; i++) {
        free(sweep.outputs[i].old.bytes);
        free(sweep.outputs[i].expected.bytes);
    }
    sweep.output_count = 0;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        output *o = &sweep.outputs[sweep.output_count++];
        char input[64];
        bool marked = strchr("+=@", word[0]) != NULL;
        snprintf(o->path, sizeof o->path, "out/%s", word + marked);
        snprintf(input, sizeof input, "in/%s", word + marked);
        o->is_link = word[0] == '@';
        o->expected = (content){NULL, 0};
        o->old = (content){marked ? strdup(old_content) : NULL, sizeof old_content - 1};
        if (word[0] == '=') {
            free(o->old.bytes);
            o->old = read_content(input);
        }
    }
}

/* The run without faults that the others are held against. */
static void set_expectations(long calls[FAULT_KINDS])
{
    reset_outputs();
    outcome o = run(NULL);
    if (!WIFEXITED(o.status) || WEXITSTATUS(o.status) != sweep.scenario->status || o.old > 0 ||
        o.temporaries > 0 || (o.status == 0 && o.said.size > 0))
        die("%s fails without faults: %s", sweep.scenario->name, o.said.bytes);
    for (int i = 0; i < FAULT_KINDS; i++)
        calls[i] = atomic_load(&sweep.counts->calls[i]);
    if (calls[FAULT_MEMORY] == 0 || (sweep.output_count > 0 && calls[FAULT_OPEN] == 0))
        die("%s: the calls of this program are not met", sweep.scenario->name);
    for (int i = 0; i < sweep.output_count; i++)
        sweep.outputs[i].expected = read_content(sweep.outputs[i].path);
    free(sweep.printed.bytes);
    sweep.printed = o.printed;
    if (sweep.scenario->times)
        drop_figures(&sweep.printed);
    free(o.said.bytes);
}

static void list_calls(const long calls[FAULT_KINDS])
{
    printf("%s:", sweep.scenario->name);
    for (int i = 0; i < FAULT_KINDS; i++)
        if (calls[i] > 0)
            printf(" %s %ld", fault_kind_names[i], calls[i]);
    printf("\n");
}

static void try_scenario(const scenario *s, bool list)
{
    long calls[FAULT_KINDS];
    sweep.scenario = s;
    set_outputs(s);
    set_expectations(calls);
    if (list)
        list_calls(calls);
    else if (sweep.fault != NULL)
        try_fault(sweep.fault);
    else
        try_all(calls);
}

/* ---- The program ----------------------------------------------------------------------------- */

static void map_counts(void)
{
    int descriptor = open("counts", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0 || ftruncate(descriptor, sizeof(fault_counts)) != 0)
        die("cannot make a file");
    sweep.counts =
        mmap(NULL, sizeof(fault_counts), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (sweep.counts == MAP_FAILED)
        die("cannot map a file");
}

static void set_environment(const char *directory)
{
    static const char *const unset[] = {"GCONV_INSTRUCTIONS", "OMP_NUM_THREADS", "FAULTS"};
    for (size_t i = 0; i < sizeof unset / sizeof unset[0]; i++)
        unsetenv(unset[i]);
    char cache[4200];
    snprintf(cache, sizeof cache, "%s/cache", directory);
    setenv("XDG_CACHE_HOME", cache, 1);
    /* The library stands before AddressSanitizer's own functions, and calls them. */
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, NULL);
}

static long number_of(const char *text)
{
    char *end;
    long number = text != NULL ? strtol(text, &end, 10) : -1;
    if (text == NULL || *end != '\0' || number < 0)
        die("'%s' is no number", text != NULL ? text : "");
    return number;
}

static const scenario *find_scenario(const char *name)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    die("there is no scenario '%s'", name);
}

/* Reads the options; returns where the scenarios begin. */
static int read_options(int count, char **arguments, bool *list)
{
    int next = 4;
    for (; next < count && arguments[next][0] == '-'; next++) {
        const char *name = arguments[next];
        if (strcmp(name, "--list") == 0)
            *list = true;
        else if (strcmp(name, "--every") == 0)
            sweep.every = number_of(arguments[++next]);
        else if (strcmp(name, "--offset") == 0)
            sweep.offset = number_of(arguments[++next]);
        else if (strcmp(name, "--fault") == 0 && next + 1 < count)
            sweep.fault = arguments[++next];
        else
            die("there is no option '%s'", name);
    }
    if (sweep.every == 0)
        die("--every takes 1 or more");
    return next;
}

int main(int count, char **arguments)
{
    bool list = false;
    if (count < 4)
        die("usage: gconv_faults GCONV LIBRARY MAKE_IMAGE [options] [SCENARIO...]");
    sweep.gconv = realpath(arguments[1], NULL);
    sweep.library = realpath(arguments[2], NULL);
    sweep.make_image = realpath(arguments[3], NULL);
    int next = read_options(count, arguments, &list);
    const char *base = getenv("TMPDIR");
    char directory[4096];
    snprintf(directory, sizeof directory, "%s/gconv-faults-XXXXXX", base != NULL ? base : "/tmp");
    if (sweep.gconv == NULL || sweep.library == NULL || sweep.make_image == NULL)
        die("a program that is not there");
    if (mkdtemp(directory) == NULL || chdir(directory) != 0)
        die("cannot make a directory: %s", strerror(errno));
    if (symlink(sweep.library, preloaded_library) != 0)
        die("cannot make a link: %s", strerror(errno));
    set_environment(directory);
    make_inputs();
    map_counts();
    for (int i = next; i < count; i++)
        try_scenario(find_scenario(arguments[i]), list);
    for (size_t i = 0; next == count && i < sizeof scenarios / sizeof scenarios[0]; i++)
        try_scenario(&scenarios[i], list);
    if (!list)
        printf("%ld runs, %ld wrong (every %ld, offset %ld)\n", sweep.runs, sweep.wrong,
               sweep.every, sweep.offset);
    remove_tree(directory);
    return sweep.wrong > 0;
}
