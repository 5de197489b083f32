#include "io/pnm/header.h"

#include "base/number.h"
#include "base/status.h"
#include "io/raw.h"

#include <math.h>
#include <string.h>

enum { HEADER_BYTES_MAX = 64 * 1024 /* comments included */, WORD_BYTES = 64 };

typedef struct text {
    const unsigned char *bytes;
    size_t size;
    size_t at;
} text;

/* The numbers of a header, as they stand there. */
typedef struct numbers {
    uint32_t width, height, depth, maxval;
    double scale;
    char tuples[WORD_BYTES]; /* the tuple type of a PAM; "" if it has none */
    const char *fault;       /* of the lines of a PAM, or NULL */
} numbers;

/* ---- Words ----------------------------------------------------------------------------------- */

bool gc_pnm_is_blank(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A comment, from # up to the end of the line, if one begins here. */
static void skip_comment(text *t)
{
    if (t->at < t->size && t->bytes[t->at] == '#')
        while (t->at < t->size && t->bytes[t->at] != '\n' && t->bytes[t->at] != '\r')
            t->at++;
}

static void skip_blanks(text *t)
{
    for (skip_comment(t); t->at < t->size && gc_pnm_is_blank(t->bytes[t->at]);) {
        t->at++;
        skip_comment(t);
    }
}

/* What stands for a number that is missing, and for all above INT32_MAX. */
#define NUMBER_MISSING UINT32_MAX
#define NUMBER_TOO_LARGE (UINT32_MAX - 1)

static uint32_t read_number(text *t)
{
    uint64_t value = 0;
    skip_blanks(t);
    size_t first = t->at;
    while (t->at < t->size && t->bytes[t->at] >= '0' && t->bytes[t->at] <= '9') {
        value = 10 * value + (uint64_t)(t->bytes[t->at++] - '0');
        if (value > INT32_MAX)
            value = NUMBER_TOO_LARGE;
    }
    return t->at == first ? NUMBER_MISSING : (uint32_t)value;
}

/* The next word, cut to `room`. */
static void read_word(text *t, char *word, size_t room)
{
    size_t length = 0;
    skip_blanks(t);
    for (; t->at < t->size && !gc_pnm_is_blank(t->bytes[t->at]) && t->bytes[t->at] != '#'; t->at++)
        if (length + 1 < room)
            word[length++] = (char)t->bytes[t->at];
    word[length] = '\0';
}

/* The scale of a PFM; 0 if no number stands there. */
static double read_scale(text *t)
{
    char word[WORD_BYTES];
    double scale;
    read_word(t, word, sizeof word);
    size_t length = strlen(word);
    bool is_number = length > 0 && gc_read_number(word, length, &scale) == length;
    return is_number && isfinite(scale) ? scale : 0;
}

/* ---- PAM ------------------------------------------------------------------------------------- */

/* Reads a tuple type; a line without one says nothing. */
static void read_tuples(text *t, numbers *n)
{
    while (t->at < t->size && (t->bytes[t->at] == ' ' || t->bytes[t->at] == '\t'))
        t->at++;
    skip_comment(t);
    if (t->at == t->size || gc_pnm_is_blank(t->bytes[t->at]))
        return;
    if (n->tuples[0] != '\0')
        n->fault = "the header has several tuple types; a PAM that is read has one or none";
    read_word(t, n->tuples, sizeof n->tuples);
}

/* Reads the value of a line of a PAM. False if the header has no such line. */
static bool read_line(text *t, const char *word, numbers *n)
{
    if (strcmp(word, "WIDTH") == 0)
        n->width = read_number(t);
    else if (strcmp(word, "HEIGHT") == 0)
        n->height = read_number(t);
    else if (strcmp(word, "DEPTH") == 0)
        n->depth = read_number(t);
    else if (strcmp(word, "MAXVAL") == 0)
        n->maxval = read_number(t);
    else if (strcmp(word, "TUPLTYPE") == 0)
        read_tuples(t, n);
    else
        return false;
    return true;
}

/* Parses lines up to ENDHDR. */
static void parse_lines(text *t, numbers *n)
{
    char word[WORD_BYTES];
    for (;;) {
        read_word(t, word, sizeof word);
        if (t->at == t->size || strcmp(word, "ENDHDR") == 0)
            return;
        if (!read_line(t, word, n))
            n->fault = "the header has a line that no PAM has";
        if (n->fault != NULL)
            return;
    }
}

static gconv_status check_tuples(const numbers *n, gconv_error *error)
{
    static const struct {
        const char *name;
        uint32_t depth;
    } types[] = {{"BLACKANDWHITE", 1},       {"GRAYSCALE", 1},       {"RGB", 3},
                 {"BLACKANDWHITE_ALPHA", 2}, {"GRAYSCALE_ALPHA", 2}, {"RGB_ALPHA", 4}};
    bool known = n->tuples[0] == '\0' && n->depth >= 1 && n->depth <= 4;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        known = known || (strcmp(n->tuples, types[i].name) == 0 && n->depth == types[i].depth);
    if (known)
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_FORMAT,
                   "a PAM of %lu channels and the tuple type '%s': grey and RGB are read, each "
                   "with or without alpha",
                   (unsigned long)n->depth, n->tuples);
}

/* ---- The header ------------------------------------------------------------------------------ */

static bool is_pfm(const gc_pnm_header *header)
{
    return header->kind == 'f' || header->kind == 'F';
}

/* Parses the header up to the blank that ends it; false if the text ends before that. The end of a
 * comment right behind the last number is this blank. */
static bool parse(const gc_pnm_header *header, text *t, numbers *n)
{
    *n = (numbers){NUMBER_MISSING, NUMBER_MISSING, NUMBER_MISSING, NUMBER_MISSING, 0, "", NULL};
    t->at = 2;
    if (header->kind == '7') {
        parse_lines(t, n);
        return t->at < t->size;
    }
    n->width = read_number(t);
    n->height = read_number(t);
    n->depth = strchr("36F", header->kind) != NULL ? 3 : 1;
    n->maxval = 1;
    if (is_pfm(header))
        n->scale = read_scale(t);
    else if (header->kind != '1' && header->kind != '4')
        n->maxval = read_number(t);
    skip_comment(t);
    return t->at < t->size;
}

static gconv_status check_numbers(const gc_pnm_header *header, const numbers *n, bool ends_well,
                                  gconv_error *error)
{
    bool whole = ends_well && n->width != NUMBER_MISSING && n->height != NUMBER_MISSING &&
                 n->depth != NUMBER_MISSING && n->maxval != NUMBER_MISSING;
    const char *is_not = "width, height and maximum, three whole numbers";
    if (n->fault != NULL)
        return gc_fail(error, GCONV_ERROR_FORMAT, "%s", n->fault);
    if (is_pfm(header)) {
        whole = whole && n->scale != 0;
        is_not = "width, height and scale, two whole numbers and one that is not 0";
    } else if (header->kind == '7') {
        is_not = "WIDTH, HEIGHT, DEPTH and MAXVAL with whole numbers, and ENDHDR";
    } else if (header->kind == '1' || header->kind == '4') {
        is_not = "width and height, two whole numbers";
    }
    if (!whole)
        return gc_fail(error, GCONV_ERROR_FORMAT, "the header is not %s", is_not);
    if (n->maxval < 1 || n->maxval > UINT16_MAX)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "the header says a maximum that is not within 1 to 65535");
    return header->kind == '7' ? check_tuples(n, error) : GCONV_OK;
}

gconv_status gc_pnm_read_header(gc_decoder *decoder, gc_pnm_header *header, gconv_error *error)
{
    text t = {0};
    numbers n = {0};
    bool complete = false;
    for (size_t wanted = 64; !complete && wanted <= HEADER_BYTES_MAX; wanted *= 4) {
        GC_TRY(gc_input_peek(decoder->input, wanted, &t.bytes, &t.size, error));
        header->kind = (char)t.bytes[1];
        complete = parse(header, &t, &n);
        if (!complete && t.size < wanted)
            return gc_fail(error, GCONV_ERROR_FORMAT, "truncated: the file ends in the header");
    }
    bool ends_well = complete && gc_pnm_is_blank(t.bytes[t.at]);
    GC_TRY(check_numbers(header, &n, ends_well, error));
    gc_input_skip(decoder->input, t.at + 1);
    header->maxval = n.maxval;
    header->scale = n.scale;
    decoder->shape.channels = (int)n.depth;
    decoder->shape.depth = is_pfm(header) ? 32 : n.maxval > UINT8_MAX ? 16 : 8;
    return gc_raw_check_sides(decoder, n.width, n.height, error);
}
