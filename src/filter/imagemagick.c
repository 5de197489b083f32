/* ImageMagick's form of a filter (contract.md, rule 23): WxH[+X+Y]: and the weights, in one line or
 * several. */
#include "filter/fields.h"

#include <string.h>
#include <strings.h>

/* Reads decimal digits, saturating; returns the bytes used. */
static size_t read_digits(gc_span text, int *number)
{
    size_t used = 0;
    *number = 0;
    for (; used < text.length && text.text[used] >= '0' && text.text[used] <= '9'; used++)
        if (*number <= GCONV_FILTER_SIDE_MAX)
            *number = 10 * *number + (text.text[used] - '0');
    return used;
}

/* Reads `lead` and digits from the front of `text`. */
static bool take_digits(gc_span *text, char lead, int *number)
{
    if (text->length == 0 || text->text[0] != lead)
        return false;
    gc_span rest = {text->text + 1, text->length - 1};
    size_t used = read_digits(rest, number);
    *text = (gc_span){rest.text + used, rest.length - used};
    return used > 0;
}

/* Reads WxH[+X+Y], which stands before the colon. */
static gconv_status read_geometry(gc_parser *p, gc_span text)
{
    int x = 0, y = 0;
    gc_span rest = text;
    size_t used = read_digits(rest, &p->width);
    rest = (gc_span){rest.text + used, rest.length - used};
    bool valid = used > 0 && take_digits(&rest, 'x', &p->height);
    bool has_origin = valid && rest.length > 0;
    if (has_origin)
        valid = take_digits(&rest, '+', &x) && take_digits(&rest, '+', &y) && rest.length == 0;
    if (!valid)
        return gc_refuse(p, p->line,
                         "'%.*s:' is not the beginning of an ImageMagick filter (WxH: or "
                         "WxH+X+Y:)",
                         gc_span_quoted(text), text.text);
    if (!gc_is_side(p->width) || !gc_is_side(p->height))
        return gc_refuse(p, p->line, "the size %.*s: sides are 1 to %d", gc_span_quoted(text),
                         text.text, GCONV_FILTER_SIDE_MAX);
    if (has_origin && p->anchor.line > 0)
        return gc_refuse(p, p->line, "an origin, and an anchor in line %d: leave one out",
                         p->anchor.line);
    if (p->anchor.line > 0)
        return GCONV_OK;
    p->anchor.line = p->line;
    p->anchor_x = has_origin ? x : (p->width - 1) / 2;
    p->anchor_y = has_origin ? y : (p->height - 1) / 2;
    return GCONV_OK;
}

static gconv_status read_imagemagick_value(gc_parser *p, gc_span field)
{
    gc_fraction *number = &p->values[p->value_count];
    if (p->value_count == (size_t)p->width * (size_t)p->height)
        return gc_refuse(p, p->line, "more than the %d %s of %dx%d%s", p->width * p->height,
                         gc_weights_word((size_t)(p->width * p->height)), p->width, p->height,
                         gc_comma_hint(p));
    *number = (gc_fraction){0, 0, 1};
    p->value_count++;
    if (gc_span_is(field, "-") || (field.length == 3 && strncasecmp(field.text, "nan", 3) == 0))
        return GCONV_OK;
    GC_TRY(gc_read_value(p, field, number));
    return gc_check_weight(p, p->line, number->value);
}

gconv_status gc_imagemagick_read(gc_parser *p, gc_span line)
{
    const char *word;
    int vector = gc_vector_line(p, &word);
    if (vector > 0)
        return gc_refuse(p, p->line, "an ImageMagick filter, and a %s in line %d: leave one out",
                         word, vector);
    p->dialect = "an ImageMagick string";
    const char *colon = memchr(line.text, ':', line.length);
    size_t before = (size_t)(colon - line.text);
    GC_TRY(read_geometry(p, (gc_span){line.text, before}));
    gc_field_list list = {.rest = {colon + 1, line.length - before - 1}, .wants_value = true};
    int last_line = p->line;
    do {
        gc_span field;
        gc_field_kind kind;
        gc_count_commas(p, list.rest);
        while ((kind = gc_next_field(&list, &field)) == GC_FIELD_VALUE) {
            GC_TRY(read_imagemagick_value(p, field));
            last_line = p->line;
        }
        if (kind == GC_FIELD_EMPTY)
            return gc_fail_field(p, kind);
    } while (gc_next_line(p, &list.rest));
    p->line = last_line;
    int wanted = p->width * p->height;
    if (list.wants_value && p->value_count > 0)
        return gc_fail_field(p, GC_FIELD_END);
    if (p->value_count < (size_t)wanted)
        return gc_refuse(p, p->line, "%zu %s where %dx%d needs %d", p->value_count,
                         gc_weights_word(p->value_count), p->width, p->height, wanted);
    p->weights = p->values;
    return GCONV_OK;
}
