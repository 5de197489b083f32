/* gconv_check: every usable implementation against the reference and contract.md, rules 1
 * to 7.
 *
 * Exit status: 0 all passed, 1 something failed, 2 wrong usage, 77 nothing was checked. */
#include "cpu/instructions/instructions.h"
#include "properties.h"
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef GC_CHECK_CUDA
#include <cuda_runtime_api.h>
#endif

enum { EXIT_PASSED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOTHING = 77 };
enum { IMPLEMENTATIONS_MAX = 64 };

/* What of all there is. */
typedef enum selection { USUAL, SWEEP, QUICK, ONE_CASE, ONE_PROPERTY } selection;

typedef struct options {
    uint64_t seed;
    selection what;
    int cases;                   /* random ones */
    int one;                     /* index of the one case or property */
    const char *implementations; /* names with commas; NULL: all */
    const char *device;
    int every, from; /* of the selected cases */
    uint64_t runs;   /* that jobs expect; 0: what the cases say */
    bool list, each_set;
} options;

/* An implementation under check, and how it fares. */
typedef struct tally {
    gconv_implementation_info info;
    const char *instructions; /* NULL: those that are chosen without it */
    unsigned passed, failed, skipped, refused;
} tally;

static const char usage[] =
    "usage: gconv_check [--seed N] [--cases N] [--impl NAMES] [--device NAME] [--list]\n"
    "                   [--every N] [--from K] [--runs N] [--each-set]\n"
    "                   [--sweep | --quick | --case INDEX | --property NAME]\n"
    "Checks every usable implementation, or those in NAMES, separated by commas. --cases is the\n"
    "number of random cases (default 1500).\n"
    "--sweep runs all filter sizes, borders and depths on shapes around warps and blocks instead,\n"
    "--quick a few dozen cases of every kind, --case and --property one check alone.\n"
    "Of the cases, --every takes one in N, the first K left out: N processes share them.\n"
    "--runs is how many runs plans are made for: with very many, kernels are always compiled.\n"
    "--each-set checks cpu with each instruction set that this processor has.\n";

/* ---- Options --------------------------------------------------------------------------------- */

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "gconv_check: %s '%s'\n%s", what, value, usage);
    exit(EXIT_USAGE);
}

static uint64_t read_number(const char *text, uint64_t largest)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value > largest)
        usage_error("not a number in range:", text);
    return value;
}

static int property_named(const char *name)
{
    for (int i = 0; i < check_property_count(); i++)
        if (strcmp(check_property_name(i), name) == 0)
            return i;
    return usage_error("no such property:", name);
}

static void set_option(options *set, const char *name, const char *value)
{
    if (strcmp(name, "--seed") == 0)
        set->seed = read_number(value, UINT64_MAX);
    else if (strcmp(name, "--cases") == 0)
        set->cases = (int)read_number(value, CHECK_RANDOM_MAX);
    else if (strcmp(name, "--impl") == 0)
        set->implementations = value;
    else if (strcmp(name, "--device") == 0)
        set->device = value;
    else if (strcmp(name, "--every") == 0)
        set->every = (int)read_number(value, CHECK_RANDOM_MAX);
    else if (strcmp(name, "--from") == 0)
        set->from = (int)read_number(value, CHECK_RANDOM_MAX);
    else if (strcmp(name, "--runs") == 0)
        set->runs = read_number(value, INT64_MAX);
    else if (strcmp(name, "--case") == 0) {
        set->what = ONE_CASE;
        set->one = (int)read_number(value, (uint64_t)CHECK_SWEEP_FIRST + check_sweep_count() - 1);
    } else if (strcmp(name, "--property") == 0) {
        set->what = ONE_PROPERTY;
        set->one = property_named(value);
    } else
        usage_error("unknown option", name);
}

static options read_options(int argc, char **argv)
{
    options set = {.seed = 1, .cases = 1500, .device = "auto", .every = 1};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            set.list = true;
        else if (strcmp(argv[i], "--each-set") == 0)
            set.each_set = true;
        else if (strcmp(argv[i], "--sweep") == 0)
            set.what = SWEEP;
        else if (strcmp(argv[i], "--quick") == 0)
            set.what = QUICK;
        else if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            exit(EXIT_PASSED);
        } else if (i + 1 == argc)
            usage_error("no value for, or unknown option", argv[i]);
        else {
            set_option(&set, argv[i], argv[i + 1]);
            i++;
        }
    }
    if (set.every < 1)
        usage_error("not a number in range:", "0");
    return set;
}

/* ---- What to check --------------------------------------------------------------------------- */

/* Why this implementation is left out; NULL if it is not. */
static const char *reason_to_skip(const gconv_implementation_info *info, const options *set)
{
    if (!info->usable)
        return info->reason;
    gconv_device_kind wanted =
        strncmp(set->device, "cuda", 4) == 0 ? GCONV_DEVICE_CUDA : GCONV_DEVICE_CPU;
    if (strcmp(set->device, "auto") != 0 && info->kind != wanted)
        return "it does not run on the device asked for";
    return NULL;
}

/* Whether `name` is one of `names`, with commas between them. */
static bool is_among(const char *names, const char *name)
{
    for (size_t length; *names != '\0'; names += length + (names[length] == ',')) {
        length = strcspn(names, ",");
        if (length == strlen(name) && strncmp(names, name, length) == 0)
            return true;
    }
    return false;
}

static int count_names(const char *names)
{
    int count = 1;
    for (; *names != '\0'; names++)
        count += *names == ',';
    return count;
}

/* Appends an entry for each instruction set but that which `whole` has. */
static int add_sets(const tally *whole, tally *tallies, int count)
{
    const gc_instructions *chosen = gc_instructions_chosen();
    for (int i = 0; i < gc_instructions_count() && count < IMPLEMENTATIONS_MAX; i++) {
        const gc_instructions *other = gc_instructions_at(i);
        if (other == chosen)
            continue;
        if (!other->usable()) {
            printf("skipped: %s with %s: this processor lacks it\n", whole->info.name, other->name);
            continue;
        }
        tallies[count] = *whole;
        tallies[count++].instructions = other->name;
    }
    return count;
}

/* Fills `tallies` with what can be checked, says what can not. */
static int find_implementations(const options *set, tally *tallies)
{
    int count = 0, known = 0;
    for (int i = 0; i < gconv_implementation_count() && count < IMPLEMENTATIONS_MAX; i++) {
        gconv_implementation_info info = gconv_implementation_info_default();
        if (gconv_implementation_describe(i, &info, NULL) != GCONV_OK)
            continue;
        if (set->implementations != NULL && !is_among(set->implementations, info.name))
            continue;
        known++;
        const char *reason = reason_to_skip(&info, set);
        if (reason != NULL)
            printf("skipped: %s: %s\n", info.name, reason);
        else
            tallies[count++].info = info;
    }
    if (set->implementations != NULL && known < count_names(set->implementations))
        usage_error("no such implementation in", set->implementations);
    for (int i = count - 1; set->each_set && i >= 0; i--)
        if (strcmp(tallies[i].info.name, "cpu") == 0)
            return add_sets(&tallies[i], tallies, count);
    if (set->each_set)
        usage_error("--each-set is for cpu, which is not in", set->implementations);
    return count;
}

/* Every `step`th number from `first` to before `end`. */
typedef struct range {
    int first, end, step;
} range;

enum { RANGE_COUNT = 2 };

static range select_properties(const options *set)
{
    if (set->what == ONE_PROPERTY)
        return (range){set->one, set->one + 1, 1};
    return (range){set->from, set->what == USUAL ? check_property_count() : 0, set->every};
}

/* The steps of --quick share no factor with what the cases are made of, so that it meets every
 * kind. */
static void select_cases(const options *set, range ranges[RANGE_COUNT])
{
    int fixed = check_fixed_case_count(), end = CHECK_SWEEP_FIRST + check_sweep_count();
    memset(ranges, 0, RANGE_COUNT * sizeof *ranges);
    if (set->what == USUAL)
        ranges[0] = (range){0, fixed + set->cases, 1};
    if (set->what == SWEEP)
        ranges[0] = (range){CHECK_SWEEP_FIRST, end, 1};
    if (set->what == ONE_CASE)
        ranges[0] = (range){set->one, set->one + 1, 1};
    if (set->what == QUICK) {
        ranges[0] = (range){0, fixed, 29};
        ranges[1] = (range){CHECK_SWEEP_FIRST, end, 71};
    }
    for (int r = 0; r < RANGE_COUNT; r++) {
        ranges[r].first += set->from * ranges[r].step;
        ranges[r].step *= set->every;
    }
}

static int list(const options *set)
{
    range properties = select_properties(set), cases[RANGE_COUNT];
    select_cases(set, cases);
    for (int i = properties.first; i < properties.end; i += properties.step)
        printf("property %s\n", check_property_name(i));
    for (int r = 0; r < RANGE_COUNT; r++)
        for (int i = cases[r].first; i < cases[r].end; i += cases[r].step) {
            check_case made = check_case_make(set->seed, i);
            check_case_print(&made, stdout);
            check_case_free(&made);
        }
    return EXIT_PASSED;
}

/* ---- Checking -------------------------------------------------------------------------------- */

static void count_verdict(tally *counts, check_verdict verdict, const check_subject *subject)
{
    counts->passed += verdict == CHECK_PASSED;
    counts->failed += verdict == CHECK_FAILED;
    counts->skipped += verdict == CHECK_SKIPPED;
    counts->refused += subject->refused;
}

static check_subject subject_of(const tally *counts, const options *set)
{
    return (check_subject){.implementation = counts->info.name,
                           .instructions = counts->instructions,
                           .device = set->device,
                           .seed = set->seed};
}

/* Has plans use the instructions of an entry from now on; NULL: those from the beginning. */
static void choose_instructions(const tally *counts)
{
    static const char *before;
    if (before == NULL)
        before = gc_instructions_chosen()->name;
    bool other = counts != NULL && counts->instructions != NULL;
    setenv("GCONV_INSTRUCTIONS", other ? counts->instructions : before, 1);
}

/* A case on which the reference fails is a failure of the reference, and of no use to others. */
static void run_case(const options *set, int index, tally *tallies, int count,
                     unsigned *reference_failures)
{
    check_trial trial;
    choose_instructions(NULL);
    if (check_trial_create(&trial, set->seed, index) != CHECK_PASSED) {
        ++*reference_failures;
        check_trial_free(&trial);
        return;
    }
    if (set->runs > 0)
        trial.made.job.runs = set->runs;
    for (int i = 0; i < count; i++) {
        check_subject subject = subject_of(&tallies[i], set);
        subject.made = &trial.made;
        snprintf(subject.replay, sizeof subject.replay, "--case %d", index);
        choose_instructions(&tallies[i]);
        count_verdict(&tallies[i], check_trial_run(&trial, &subject), &subject);
    }
    check_trial_free(&trial);
}

static void run_property(const options *set, int index, tally *tallies, int count)
{
    for (int i = 0; i < count; i++) {
        check_subject subject = subject_of(&tallies[i], set);
        snprintf(subject.replay, sizeof subject.replay, "--property %s",
                 check_property_name(index));
        choose_instructions(&tallies[i]);
        count_verdict(&tallies[i], check_property_run(index, &subject), &subject);
    }
}

static unsigned run_all(const options *set, tally *tallies, int count)
{
    unsigned reference_failures = 0;
    range properties = select_properties(set), cases[RANGE_COUNT];
    select_cases(set, cases);
    for (int i = properties.first; i < properties.end; i += properties.step)
        run_property(set, i, tallies, count);
    for (int r = 0; r < RANGE_COUNT; r++)
        for (int i = cases[r].first; i < cases[r].end; i += cases[r].step)
            run_case(set, i, tallies, count, &reference_failures);
    return reference_failures;
}

static int report(const tally *tallies, int count, unsigned reference_failures)
{
    tally sum = {.failed = reference_failures};
    for (int i = 0; i < count; i++) {
        const tally *one = &tallies[i];
        printf("%-10s %u passed, %u failed, %u skipped", one->info.name, one->passed, one->failed,
               one->skipped);
        if (one->instructions != NULL)
            printf(" with %s", one->instructions);
        if (one->refused > 0)
            printf(" (%u refused)", one->refused);
        putchar('\n');
        sum.passed += one->passed;
        sum.failed += one->failed;
        sum.skipped += one->skipped;
    }
    if (reference_failures > 0)
        printf("the reference failed in %u cases, which nothing else was checked on\n",
               reference_failures);
    printf("%u passed, %u failed, %u skipped\n", sum.passed, sum.failed, sum.skipped);
    if (sum.failed > 0)
        return EXIT_FAILED;
    return sum.passed > 0 ? EXIT_PASSED : EXIT_NOTHING;
}

/* Whether GCONV_INSTRUCTIONS names what this processor or this build lacks: others would take its
 * place. */
static bool lacks_instructions(void)
{
    const char *wanted = getenv("GCONV_INSTRUCTIONS");
    if (wanted == NULL || strcmp(wanted, gc_instructions_chosen()->name) == 0)
        return false;
    printf("skipped: no %s on this processor or in this build\n", wanted);
    return true;
}

int main(int argc, char **argv)
{
    options set = read_options(argc, argv);
    if (set.list)
        return list(&set);
    if (lacks_instructions())
        return EXIT_NOTHING;
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0x5a); /* no run finds the rows of the one before it in fresh memory */
#endif
    static tally tallies[IMPLEMENTATIONS_MAX];
    printf("seed %" PRIu64 "\n", set.seed);
    int count = find_implementations(&set, tallies);
    unsigned reference_failures = count > 0 ? run_all(&set, tallies, count) : 0;
    int status = report(tallies, count, reference_failures);
#ifdef GC_CHECK_CUDA
    cudaDeviceReset(); /* compute-sanitizer looks for leaks when the context goes */
#endif
    if (fflush(stdout) != 0)
        return EXIT_FAILED;
    return status;
}
