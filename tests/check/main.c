/* gconv_check: every usable implementation against the reference and the contract's formulas.
 *
 * Exit status: 0 all passed, 1 something failed, 2 wrong usage, 77 nothing was checked. */
#include "properties.h"
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { EXIT_PASSED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOTHING = 77 };
enum { IMPLEMENTATIONS_MAX = 64, EVERYTHING = -1, NOTHING = -2 };

typedef struct options {
    uint64_t seed;
    int cases;                  /* random ones */
    int only_case;              /* or EVERYTHING, NOTHING */
    int only_property;          /* or EVERYTHING, NOTHING */
    const char *implementation; /* NULL: all */
    const char *device;
    bool list;
} options;

/* An implementation under check, and how it fares. */
typedef struct tally {
    gconv_implementation_info info;
    unsigned passed, failed, skipped, refused;
} tally;

static const char usage[] =
    "usage: gconv_check [--seed N] [--cases N] [--impl NAME] [--device NAME] [--list]\n"
    "                   [--case INDEX | --property NAME]\n"
    "Checks every usable implementation. --cases is the number of random cases (default 1500),\n"
    "--case and --property run one check alone.\n";

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
        set->cases = (int)read_number(value, 10000000);
    else if (strcmp(name, "--impl") == 0)
        set->implementation = value;
    else if (strcmp(name, "--device") == 0)
        set->device = value;
    else if (strcmp(name, "--case") == 0) {
        set->only_case = (int)read_number(value, INT32_MAX);
        set->only_property = NOTHING;
    } else if (strcmp(name, "--property") == 0) {
        set->only_property = property_named(value);
        set->only_case = NOTHING;
    } else
        usage_error("unknown option", name);
}

static options read_options(int argc, char **argv)
{
    options set = {.seed = 1,
                   .cases = 1500,
                   .only_case = EVERYTHING,
                   .only_property = EVERYTHING,
                   .device = "auto"};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            set.list = true;
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
    return set;
}

/* ---- What to check --------------------------------------------------------------------------- */

/* Why this implementation is left out; NULL where it is not. */
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

/* Fills `tallies` with what can be checked, says what can not. */
static int find_implementations(const options *set, tally *tallies)
{
    int count = 0;
    bool known = set->implementation == NULL;
    for (int i = 0; i < gconv_implementation_count() && count < IMPLEMENTATIONS_MAX; i++) {
        gconv_implementation_info info;
        if (gconv_implementation_describe(i, &info, NULL) != GCONV_OK)
            continue;
        if (set->implementation != NULL && strcmp(set->implementation, info.name) != 0)
            continue;
        known = true;
        const char *reason = reason_to_skip(&info, set);
        if (reason != NULL)
            printf("skipped: %s: %s\n", info.name, reason);
        else
            tallies[count++].info = info;
    }
    if (!known)
        usage_error("no such implementation:", set->implementation);
    return count;
}

static int list(const options *set)
{
    for (int i = 0; i < check_property_count(); i++)
        printf("property %s\n", check_property_name(i));
    for (int i = 0; i < check_fixed_case_count() + set->cases; i++) {
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
    return (check_subject){
        .implementation = counts->info.name, .device = set->device, .seed = set->seed};
}

/* A case on which the reference fails is a failure of the reference, and of no use to others. */
static void run_case(const options *set, int index, tally *tallies, int count,
                     unsigned *reference_failures)
{
    check_trial trial;
    if (check_trial_create(&trial, set->seed, index) != CHECK_PASSED) {
        ++*reference_failures;
        check_trial_free(&trial);
        return;
    }
    for (int i = 0; i < count; i++) {
        check_subject subject = subject_of(&tallies[i], set);
        subject.made = &trial.made;
        snprintf(subject.replay, sizeof subject.replay, "--case %d", index);
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
        count_verdict(&tallies[i], check_property_run(index, &subject), &subject);
    }
}

static unsigned run_all(const options *set, tally *tallies, int count)
{
    unsigned reference_failures = 0;
    for (int i = 0; i < check_property_count(); i++)
        if (set->only_property == EVERYTHING || set->only_property == i)
            run_property(set, i, tallies, count);
    int cases = check_fixed_case_count() + set->cases;
    for (int i = 0; set->only_case == EVERYTHING && i < cases; i++)
        run_case(set, i, tallies, count, &reference_failures);
    if (set->only_case >= 0)
        run_case(set, set->only_case, tallies, count, &reference_failures);
    return reference_failures;
}

static int report(const tally *tallies, int count, unsigned reference_failures)
{
    tally sum = {.failed = reference_failures};
    for (int i = 0; i < count; i++) {
        const tally *one = &tallies[i];
        printf("%-10s %u passed, %u failed, %u skipped", one->info.name, one->passed, one->failed,
               one->skipped);
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

int main(int argc, char **argv)
{
    options set = read_options(argc, argv);
    if (set.list)
        return list(&set);
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0x5a); /* no run finds the rows of the one before it in fresh memory */
#endif
    static tally tallies[IMPLEMENTATIONS_MAX];
    printf("seed %" PRIu64 "\n", set.seed);
    int count = find_implementations(&set, tallies);
    unsigned reference_failures = count > 0 ? run_all(&set, tallies, count) : 0;
    int status = report(tallies, count, reference_failures);
    if (fflush(stdout) != 0)
        return EXIT_FAILED;
    return status;
}
