/* libvips' text matrices (contract.md, rule 24): a first line W H [SCALE [OFFSET]], then rows. */
#include "filter/fields.h"

#include "base/status.h"

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
