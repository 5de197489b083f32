#include "base/nearest.h"

#include "base/number.h"

#include <string.h>

/* Longer names are near nothing. This bounds the rows of the distance table. */
enum { NAME_MAX_LENGTH = 63 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Shorter beginnings of a name are near nothing. */
enum { BEGINNING_MIN_LENGTH = 3 };

/* Optimal string alignment distance: edits that turn `a` into `b`, no part edited twice. Both of at
 * most NAME_MAX_LENGTH bytes. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    size_t rows[3][NAME_MAX_LENGTH + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *second_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smaller(replaced, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], second_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *gc_nearest_name(const char *text, const char *const *names, size_t count)
{
    size_t length = strlen(text);
    double number;
    if (length > NAME_MAX_LENGTH || gc_parse_number(text, &number))
        return NULL;
    size_t limit = length / 3 > 1 ? length / 3 : 1;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strlen(names[i]) > NAME_MAX_LENGTH)
            continue;
        size_t distance = edit_distance(text, names[i]);
        if (distance <= limit) {
            nearest = names[i];
            if (distance == 0)
                break;
            limit = distance - 1;
        }
    }
    for (size_t i = 0; nearest == NULL && length >= BEGINNING_MIN_LENGTH && i < count; i++)
        if (strncmp(text, names[i], length) == 0)
            nearest = names[i];
    return nearest;
}
