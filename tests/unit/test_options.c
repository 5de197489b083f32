/* Every row of the table of options has what it needs: nothing else has to be written for an option
 * whose value is a word, a number or a name. */
#include "unit.h"

#include "cli/options/table.h"
#include "cli/options/values.h"

/* Fails with the name of the option. */
#define REQUIRE(what, option)                                                                      \
    do {                                                                                           \
        if (!(what))                                                                               \
            fail_msg("--%s: not %s", (option)->name, #what);                                       \
    } while (0)

static void check_names(const gc_option *option)
{
    REQUIRE(option->name[strspn(option->name, "abcdefghijklmnopqrstuvwxyz0-")] == '\0', option);
    for (int i = 0; gc_option_at(i) != option; i++) {
        REQUIRE(strcmp(gc_option_at(i)->name, option->name) != 0, option);
        REQUIRE(option->letter == 0 || gc_option_at(i)->letter != option->letter, option);
    }
}

/* The help is one sentence, and its first part is short enough for completions. */
static void check_help(const gc_option *option, const char *help)
{
    size_t length = strlen(help), first = strcspn(help, ";(");
    const char *colon = strstr(help, ": ");
    if (colon != NULL && (size_t)(colon - help) < first)
        first = (size_t)(colon - help);
    REQUIRE(length > 0 && help[length - 1] != '.', option);
    REQUIRE(first > 0 && first <= 90, option);
}

/* The words of a value stand in its help. */
static void check_words(const gc_option *option)
{
    const gc_word *words = option->value.words;
    REQUIRE(words == NULL || words[0].name != NULL, option);
    for (; words != NULL && words->name != NULL; words++)
        REQUIRE(strstr(option->help, words->name) != NULL, option);
}

/* It is said whether the recipe of a journal holds the option. */
static void check_marks(const gc_option *option)
{
    unsigned recipe = option->marks & (GC_OPTION_DECIDES | GC_OPTION_KEEPS);
    bool of_images = option->commands == 0 || (option->commands & GC_COMMANDS_OF_IMAGES) != 0;
    REQUIRE(recipe != (GC_OPTION_DECIDES | GC_OPTION_KEEPS), option);
    REQUIRE(!of_images || recipe != 0, option);
    REQUIRE((option->affects != 0) == (option->unless != NULL), option);
}

TEST(rows_are_whole)
{
    assert_non_null(gc_option_at(0)->section);
    for (int i = 0; i < gc_option_count(); i++) {
        const gc_option *option = gc_option_at(i);
        bool flag = option->value.kind == GC_VALUE_SET || option->value.kind == GC_VALUE_CLEAR;
        check_names(option);
        check_help(option, option->help);
        check_words(option);
        check_marks(option);
        REQUIRE(flag == (option->argument == NULL), option);
        REQUIRE((option->value.kind == GC_VALUE_READ) == (option->value.read != NULL), option);
        for (const gc_meaning *m = option->meanings; m != NULL && m->commands != 0; m++) {
            REQUIRE((m->commands & ~option->commands) == 0, option);
            check_help(option, m->help);
        }
    }
}

/* The rows that decide outputs keep their order: the names of recipes in journals depend on it. */
TEST(deciding_rows_keep_their_order)
{
    static const char *const order[] = {
        "kernel",     "threshold", "sigma",       "ink",   "paper",          "lines",      "thin",
        "min-length", "overlay",   "values",      "grey",  "rule",           "invert",     "border",
        "correlate",  "scale",     "offset",      "abs",   "alpha",          "background", "depth",
        "format",     "quality",   "compression", "strip", "no-auto-orient", "tolerant",   "white"};
    size_t found = 0;
    for (int i = 0; i < gc_option_count() && found < COUNT(order); i++)
        found += strcmp(gc_option_at(i)->name, order[found]) == 0;
    assert_int_equal(found, COUNT(order));
}

/* ---- Values ---------------------------------------------------------------------------------- */

static gc_options options;

static gconv_status read_text(const gc_option *option, const char *text)
{
    options = (gc_options){.command = GC_COMMAND_NONE};
    gconv_error error = {.status = GCONV_OK};
    gconv_status status = gc_value_read(&option->value, text, &options, &error);
    REQUIRE(status == error.status, option);
    return status;
}

static gconv_status read_number(const gc_option *option, double number)
{
    char text[64];
    snprintf(text, sizeof text, "%.17g", number);
    return read_text(option, text);
}

static void check_range(const gc_option *option)
{
    bool above = option->value.kind == GC_VALUE_ABOVE;
    double low = option->value.low, high = option->value.high;
    REQUIRE((read_number(option, low) == GCONV_OK) != above, option);
    REQUIRE(read_number(option, high) == GCONV_OK, option);
    REQUIRE(low < -1e300 || read_number(option, low - 1) == GCONV_ERROR_ARGUMENT, option);
    REQUIRE(high > 1e300 || read_number(option, high + 1) == GCONV_ERROR_ARGUMENT, option);
}

/* A row alone says which values are legal. */
TEST(values_are_legal_as_rows_say)
{
    for (int i = 0; i < gc_option_count(); i++) {
        const gc_option *option = gc_option_at(i);
        gc_value_kind kind = option->value.kind;
        const gc_word *words = option->value.words;
        if (kind == GC_VALUE_WHOLE || kind == GC_VALUE_NUMBER || kind == GC_VALUE_FRACTION ||
            kind == GC_VALUE_ABOVE)
            check_range(option);
        if (kind == GC_VALUE_FRACTION) { /* the denominator lies behind the value */
            REQUIRE(read_text(option, "1/3") == GCONV_OK, option);
            const double *field =
                (const double *)(const void *)((char *)&options + option->value.field);
            REQUIRE(field[0] == 1.0 / 3 && field[1] == 3, option);
        }
        for (; words != NULL && words->name != NULL; words++)
            REQUIRE(read_text(option, words->name) == GCONV_OK, option);
        if (option->argument != NULL && kind != GC_VALUE_READ && kind != GC_VALUE_TEXT)
            REQUIRE(read_text(option, "") == GCONV_ERROR_ARGUMENT, option);
        if (option->value.words != NULL || kind == GC_VALUE_COUNT || kind == GC_VALUE_WHOLE)
            REQUIRE(read_text(option, "1.5") == GCONV_ERROR_ARGUMENT, option);
    }
}
