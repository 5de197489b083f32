/* Lines, fields and values of a filter text. */
#include "filter/fields.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

gconv_status gc_refuse(const gc_parser *p, int line, const char *format, ...)
{
    char message[sizeof p->error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return gc_fail_line(p->error, line, "%s", message);
}

enum { QUOTE_MAX = 60 };

/* ---- Lines and fields ------------------------------------------------------------------------ */

bool gc_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

gc_span gc_span_trim(gc_span text)
{
    while (text.length > 0 && gc_is_blank(text.text[0])) {
        text.text++;
        text.length--;
    }
    while (text.length > 0 && gc_is_blank(text.text[text.length - 1]))
        text.length--;
    return text;
}

bool gc_next_line(gc_parser *p, gc_span *line)
{
    if (p->next == p->end)
        return false;
    size_t left = (size_t)(p->end - p->next);
    const char *newline = memchr(p->next, '\n', left);
    line->text = p->next;
    line->length = newline == NULL ? left : (size_t)(newline - p->next);
    p->next = newline == NULL ? p->end : newline + 1;
    p->line++;
    if (line->length > 0 && line->text[line->length - 1] == '\r')
        line->length--;
    const char *comment = memchr(line->text, '#', line->length);
    if (comment != NULL)
        line->length = (size_t)(comment - line->text);
    *line = gc_span_trim(*line);
    return true;
}

gc_field_kind gc_next_field(gc_field_list *list, gc_span *field)
{
    list->rest = gc_span_trim(list->rest);
    if (list->rest.length > 0 && list->rest.text[0] == ',') {
        if (list->wants_value)
            return GC_FIELD_EMPTY;
        list->wants_value = true;
        list->rest.text++;
        list->rest.length--;
        return gc_next_field(list, field);
    }
    if (list->rest.length == 0)
        return GC_FIELD_END;
    size_t length = 0;
    while (length < list->rest.length && list->rest.text[length] != ',' &&
           !gc_is_blank(list->rest.text[length]))
        length++;
    *field = (gc_span){list->rest.text, length};
    list->rest.text += length;
    list->rest.length -= length;
    list->wants_value = false;
    return GC_FIELD_VALUE;
}

gconv_status gc_fail_field(const gc_parser *p, gc_field_kind kind)
{
    return gc_refuse(p, p->line,
                     kind == GC_FIELD_EMPTY ? "an empty field: a comma without a weight before it"
                                            : "a trailing comma");
}

/* Whether a group is a number with a decimal comma at `comma`. */
static bool is_decimal(gc_span group, size_t comma)
{
    size_t first = group.text[0] == '-' || group.text[0] == '+';
    for (size_t i = first; i < group.length; i++)
        if (i != comma && (group.text[i] < '0' || group.text[i] > '9'))
            return false;
    return comma > first && comma + 1 < group.length;
}

void gc_count_commas(gc_parser *p, gc_span line)
{
    for (size_t i = 0, end; i < line.length; i = end + 1) {
        int commas = 0;
        size_t comma = 0;
        for (end = i; end < line.length && !gc_is_blank(line.text[end]); end++)
            if (line.text[end] == ',') {
                comma = end - i;
                commas++;
            }
        p->groups += end > i;
        p->commas += commas;
        p->decimal_commas += commas == 1 && is_decimal((gc_span){line.text + i, end - i}, comma);
    }
}

const char *gc_comma_hint(const gc_parser *p)
{
    return p->commas > 0 && p->commas == p->decimal_commas
               ? " (a comma separates weights; a decimal has a point)"
               : "";
}

bool gc_span_is(gc_span text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.text, word, text.length) == 0;
}

int gc_span_quoted(gc_span text)
{
    return (int)(text.length < QUOTE_MAX ? text.length : QUOTE_MAX);
}

/* ---- Values ---------------------------------------------------------------------------------- */

bool gc_names_no_finite(gc_span field)
{
    static const char *const words[] = {"inf", "infinity", "nan"};
    if (field.length > 0 && (field.text[0] == '-' || field.text[0] == '+'))
        field = (gc_span){field.text + 1, field.length - 1};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (field.length == strlen(words[i]) &&
            strncasecmp(field.text, words[i], field.length) == 0)
            return true;
    return false;
}

static bool span_begins(gc_span text, const char *word)
{
    return text.length >= strlen(word) && memcmp(text.text, word, strlen(word)) == 0;
}

static gconv_status fail_not_a_number(const gc_parser *p, gc_span field)
{
    const char *advice = "";
    if (gc_names_no_finite(field))
        return gc_refuse(p, p->line, "'%.*s' is not a finite number", gc_span_quoted(field),
                         field.text);
    if (memchr(field.text, '\r', field.length) != NULL)
        advice = " (lines end in LF or CRLF, this one has a CR inside)";
    else if (memchr(field.text, '/', field.length) != NULL)
        advice = " (a fraction is p/q, without blanks)";
    else if (span_begins(field, "\xe2\x88\x92") || span_begins(field, "\xe2\x80\x93"))
        advice = " (the minus sign is '-')";
    return gc_refuse(p, p->line, "'%.*s' is not a number%s", gc_span_quoted(field), field.text,
                     advice);
}

gconv_status gc_read_value(const gc_parser *p, gc_span field, gc_fraction *number)
{
    if (gc_read_quotient(field.text, field.length, number) != field.length)
        return fail_not_a_number(p, field);
    if (isfinite(number->value))
        return GCONV_OK;
    return gc_refuse(p, p->line,
                     isnan(number->value) ? "'%.*s' divides by zero" : "'%.*s' is too large",
                     gc_span_quoted(field), field.text);
}

gconv_status gc_check_weight(const gc_parser *p, int line, double value)
{
    if (gc_fits_float(value))
        return GCONV_OK;
    return gc_refuse(p, line, "the weight %g is infinite in float32", value);
}

bool gc_is_side(double value)
{
    return value >= 1 && value <= GCONV_FILTER_SIDE_MAX && value == floor(value);
}

const char *gc_weights_word(size_t count)
{
    return count == 1 ? "weight" : "weights";
}
