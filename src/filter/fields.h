/* What the readers of filter texts share: lines, fields and values, and what is read so far. */
#pragma once

#include "base/number.h"
#include "base/status.h"
#include "filter/filter.h"

enum { GC_ROWS_MAX = GCONV_FILTER_SIDE_MAX + 1 }; /* a libvips matrix has one line more than rows */

/* A part of the text; not NUL-terminated. */
typedef struct gc_span {
    const char *text;
    size_t length;
} gc_span;

typedef struct gc_row {
    int line;
    int count; /* of values */
} gc_row;

/* A header line may occur once. `line` is its line in the text; 0: it does not occur. */
typedef struct gc_header {
    int line;
    gc_fraction number;
} gc_header;

typedef struct gc_parser {
    const char *next; /* the first byte that is not read yet */
    const char *end;
    int line; /* the line read last, from 1 */
    gconv_error *error;

    gc_fraction *values; /* of all rows, one after the other; room for GC_ROWS_MAX rows */
    size_t value_count;
    gc_row rows[GC_ROWS_MAX];
    int row_count;

    gc_header name, divisor, offset, anchor, column, row;
    gc_span name_text;
    bool divisor_is_sum;
    double anchor_x, anchor_y;  /* valid if anchor.line is not 0 */
    gc_fraction *column_values; /* column_length of them, if column.line is not 0 */
    gc_fraction *row_values;    /* row_length of them; room for GCONV_FILTER_VECTOR_MAX in each */
    int column_length, row_length;

    int groups;         /* of characters between blanks, in the lines of weights */
    int commas;         /* in these lines */
    int decimal_commas; /* of groups such as "-0,5": digits on both sides of their only comma */

    /* The filter, once the dialect is known. */
    const char *dialect; /* as in gconv_filter, and so are the next two */
    int vips_width, vips_height;
    int width, height;
    const gc_fraction *weights; /* NULL if the filter is a column and a row */
} gc_parser;

/* Refuses the text because of a line, with a message. */
gconv_status gc_refuse(const gc_parser *p, int line, const char *format, ...) GC_PRINTF(3, 4);

/* ---- Lines and fields ------------------------------------------------------------------------ */

bool gc_is_blank(char c);
gc_span gc_span_trim(gc_span text);
bool gc_span_is(gc_span text, const char *word);

/* How many bytes of the span a message quotes. */
int gc_span_quoted(gc_span text);

/* The next line without its end, comment and outer blanks; false at the end of the text. */
bool gc_next_line(gc_parser *p, gc_span *line);

/* Values, separated by blanks or by one comma. To go on in the next line, replace `rest`. */
typedef struct gc_field_list {
    gc_span rest;
    bool wants_value; /* at the beginning and after a comma */
} gc_field_list;

typedef enum gc_field_kind { GC_FIELD_VALUE, GC_FIELD_EMPTY, GC_FIELD_END } gc_field_kind;

gc_field_kind gc_next_field(gc_field_list *list, gc_span *field);
gconv_status gc_fail_field(const gc_parser *p, gc_field_kind kind);

/* Counts the groups and commas of a line of weights. */
void gc_count_commas(gc_parser *p, gc_span line);

/* The end of a message about a wrong number of weights: a hint if all commas look decimal. */
const char *gc_comma_hint(const gc_parser *p);

/* ---- Values ---------------------------------------------------------------------------------- */

/* Whether the field is a name that C reads as an infinity or NaN, with or without a sign. */
bool gc_names_no_finite(gc_span field);

/* Reads a finite number or a fraction p/q. */
gconv_status gc_read_value(const gc_parser *p, gc_span field, gc_fraction *number);

gconv_status gc_check_weight(const gc_parser *p, int line, double value);
bool gc_is_side(double value);
const char *gc_weights_word(size_t count);

/* ---- Dialects -------------------------------------------------------------------------------- */

/* Read a line of a filter in gconv's own form: a header line, or a row of weights. */
gconv_status gc_plain_read_header(gc_parser *p, gc_span line);
gconv_status gc_plain_read_row(gc_parser *p, gc_span line);

/* Whether there are header lines. */
bool gc_has_header(const gc_parser *p);

/* The line of the first `column` or `row` line, 0 if there is none; *word names it. */
int gc_vector_line(const gc_parser *p, const char **word);

/* The first row whose length differs from that of row `first`; row_count if there is none. */
int gc_first_ragged(const gc_parser *p, int first);

/* True when row 0 can be the first line of a libvips matrix: W H [SCALE [OFFSET]]. */
bool gc_vips_begins(const gc_parser *p);

/* Makes the filter from the rows, read as a libvips matrix. */
gconv_status gc_vips_take(gc_parser *p);

/* Reads an ImageMagick filter from a line with a colon and all lines after it. */
gconv_status gc_imagemagick_read(gc_parser *p, gc_span line);
