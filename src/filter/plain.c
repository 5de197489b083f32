/* gconv's own form of filter texts (contract.md, rules 18 to 21): header lines, then rows. */
#include "filter/fields.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

enum { NAME_BYTES_MAX = 255 };

/* ---- Header lines ---------------------------------------------------------------------------- */

/* Reads exactly `count` values of a header line. */
static gconv_status read_header_values(const gc_parser *p, gc_span text, int count,
                                       const char *usage, gc_fraction *values)
{
    gc_field_list list = {.rest = text, .wants_value = true};
    gc_span field;
    int found = 0;
    gc_field_kind kind;
    while ((kind = gc_next_field(&list, &field)) == GC_FIELD_VALUE) {
        if (found == count)
            break;
        GC_TRY(gc_read_value(p, field, &values[found]));
        found++;
    }
    if (kind != GC_FIELD_END || found != count || list.wants_value)
        return gc_refuse(p, p->line, "write %s and nothing else in the line", usage);
    return GCONV_OK;
}

static gconv_status read_name(gc_parser *p, gc_span text)
{
    char name[NAME_BYTES_MAX + 1], escaped[NAME_BYTES_MAX + 1];
    if (text.length == 0)
        return gc_refuse(p, p->line, "the name is missing: write 'name TEXT'");
    if (text.length > NAME_BYTES_MAX)
        return gc_refuse(p, p->line, "a name of more than %d bytes", NAME_BYTES_MAX);
    memcpy(name, text.text, text.length);
    name[text.length] = '\0';
    if (strcmp(gc_escape(name, escaped, sizeof escaped), name) != 0)
        return gc_refuse(p, p->line, "the name has a control character or is not valid UTF-8");
    p->name_text = text;
    return GCONV_OK;
}

static gconv_status read_divisor(gc_parser *p, gc_span text)
{
    p->divisor_is_sum = gc_span_is(text, "sum");
    if (p->divisor_is_sum)
        return GCONV_OK;
    gconv_status status =
        read_header_values(p, text, 1, "'divisor V' or 'divisor sum'", &p->divisor.number);
    if (status == GCONV_OK && p->divisor.number.value == 0)
        return gc_refuse(p, p->line, "the divisor is zero");
    return status;
}

static gconv_status read_offset(gc_parser *p, gc_span text)
{
    return read_header_values(p, text, 1, "'offset V'", &p->offset.number);
}

static gconv_status read_anchor(gc_parser *p, gc_span text)
{
    gc_fraction values[2];
    GC_TRY(read_header_values(p, text, 2, "'anchor X Y'", values));
    if (values[0].value != floor(values[0].value) || values[1].value != floor(values[1].value))
        return gc_refuse(p, p->line, "the anchor is not two whole numbers");
    p->anchor_x = values[0].value;
    p->anchor_y = values[1].value;
    return GCONV_OK;
}

static gconv_status read_vector(gc_parser *p, gc_span text, const char *word, gc_fraction *values,
                                int *count)
{
    gc_field_list list = {.rest = text, .wants_value = true};
    gc_span field;
    gc_field_kind kind;
    *count = 0;
    gc_count_commas(p, text);
    while ((kind = gc_next_field(&list, &field)) == GC_FIELD_VALUE) {
        if (*count == GCONV_FILTER_VECTOR_MAX)
            return gc_refuse(p, p->line, "more than %d numbers in the %s", GCONV_FILTER_VECTOR_MAX,
                             word);
        GC_TRY(gc_read_value(p, field, &values[*count]));
        GC_TRY(gc_check_weight(p, p->line, values[*count].value));
        (*count)++;
    }
    if (*count == 0 && kind == GC_FIELD_END)
        return gc_refuse(p, p->line, "the numbers are missing: write '%s V V ...'", word);
    if (kind == GC_FIELD_EMPTY || list.wants_value)
        return gc_fail_field(p, kind);
    return GCONV_OK;
}

static gconv_status read_column(gc_parser *p, gc_span text)
{
    return read_vector(p, text, "column", p->column_values, &p->column_length);
}

static gconv_status read_row_vector(gc_parser *p, gc_span text)
{
    return read_vector(p, text, "row", p->row_values, &p->row_length);
}

bool gc_has_header(const gc_parser *p)
{
    return p->name.line + p->divisor.line + p->offset.line + p->anchor.line + p->column.line +
               p->row.line >
           0;
}

int gc_vector_line(const gc_parser *p, const char **word)
{
    bool is_column = p->column.line > 0 && (p->row.line == 0 || p->column.line < p->row.line);
    *word = is_column ? "column" : "row";
    return is_column ? p->column.line : p->row.line;
}

/* Takes the line as a header line: its first word and what follows. */
gconv_status gc_plain_read_header(gc_parser *p, gc_span line)
{
    static const char *const words[] = {"name", "divisor", "offset", "anchor", "column", "row"};
    enum { WORD_COUNT = sizeof words / sizeof words[0] };
    gconv_status (*const readers[])(gc_parser *, gc_span) = {
        read_name, read_divisor, read_offset, read_anchor, read_column, read_row_vector};
    gc_header *const headers[] = {&p->name,   &p->divisor, &p->offset,
                                  &p->anchor, &p->column,  &p->row};

    gc_span word = {line.text, 0};
    while (word.length < line.length && !gc_is_blank(line.text[word.length]))
        word.length++;
    size_t which = 0;
    while (which < WORD_COUNT && !gc_span_is(word, words[which]))
        which++;
    if (which == WORD_COUNT)
        return gc_refuse(p, p->line,
                         "'%.*s' is neither a number nor a header (name, divisor, offset, "
                         "anchor, column, row)",
                         gc_span_quoted(word), word.text);
    if (p->row_count > 0 && (headers[which] == &p->column || headers[which] == &p->row))
        return gc_refuse(p, p->line,
                         "a %s line, and a row of weights in line %d: a filter is rows of "
                         "weights, or a column line and a row line",
                         words[which], p->rows[0].line);
    if (p->row_count > 0)
        return gc_refuse(p, p->line, "a %s line after the rows: move it before them", words[which]);
    if (headers[which]->line > 0)
        return gc_refuse(p, p->line, "a second %s line (the first is line %d)", words[which],
                         headers[which]->line);
    headers[which]->line = p->line;
    gc_span rest = {line.text + word.length, line.length - word.length};
    return readers[which](p, gc_span_trim(rest));
}

/* ---- Rows ------------------------------------------------------------------------------------ */

gconv_status gc_plain_read_row(gc_parser *p, gc_span line)
{
    const char *word;
    int vector = gc_vector_line(p, &word);
    if (vector > 0)
        return gc_refuse(p, p->line,
                         "a row of weights, and a %s in line %d: a filter is rows of weights, "
                         "or a column line and a row line",
                         word, vector);
    if (p->row_count == GC_ROWS_MAX)
        return gc_refuse(p, p->line, "more than %d rows", GCONV_FILTER_SIDE_MAX);
    gc_count_commas(p, line);
    gc_row *current = &p->rows[p->row_count++];
    *current = (gc_row){.line = p->line, .count = 0};
    gc_field_list list = {.rest = line, .wants_value = true};
    gc_span field;
    gc_field_kind kind;
    while ((kind = gc_next_field(&list, &field)) == GC_FIELD_VALUE) {
        if (current->count == GCONV_FILTER_SIDE_MAX)
            return gc_refuse(p, p->line, "more than %d weights in a row", GCONV_FILTER_SIDE_MAX);
        GC_TRY(gc_read_value(p, field, &p->values[p->value_count]));
        p->value_count++;
        current->count++;
    }
    if (kind == GC_FIELD_EMPTY || list.wants_value)
        return gc_fail_field(p, kind);
    return GCONV_OK;
}

int gc_first_ragged(const gc_parser *p, int first)
{
    int i = first;
    while (i < p->row_count && p->rows[i].count == p->rows[first].count)
        i++;
    return i;
}

/* ---- libvips' text matrices ------------------------------------------------------------------ */

/* contract.md, rule 24: a first line W H [SCALE [OFFSET]], then rows. */

bool gc_vips_begins(const gc_parser *p)
{
    return !gc_has_header(p) && p->row_count > 1 && p->rows[0].count >= 2 &&
           p->rows[0].count <= 4 && gc_is_side(p->values[0].value) &&
           gc_is_side(p->values[1].value);
}

gconv_status gc_vips_take(gc_parser *p)
{
    const gc_row *first = &p->rows[0];
    p->width = (int)p->values[0].value;
    p->height = (int)p->values[1].value;
    if (first->count > 2)
        p->divisor = (gc_header){first->line, p->values[2]};
    if (first->count > 3 && p->values[3].value != 0) /* libvips writes 0 if there is none */
        p->offset = (gc_header){first->line, p->values[3]};
    if (first->count > 2 && p->divisor.number.value == 0)
        return gc_refuse(p, first->line, "the scale (the divisor) is zero");
    p->weights = p->values + first->count;
    p->dialect = "a libvips matrix";
    return GCONV_OK;
}
