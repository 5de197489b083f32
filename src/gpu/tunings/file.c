/* The file of tunings that `gconv tune` found on this machine. */
#include "gpu/tunings/tuning.h"

#include "base/cache.h"
#include "base/number.h"
#include "base/status.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 112, HEADER_BYTES = 512, LINE_BYTES = 160, FIELDS = 12 };

/* ---- Words ----------------------------------------------------------------------------------- */

enum { TYPE_COUNT = GC_BIT + 1, SCHEDULE_COUNT = GC_QUEUE + 1 };

const char *gc_sample_type_name(int type)
{
    static const char *const names[] = {
        [GC_FLOAT] = "float32", [GC_BYTE] = "8-bit", [GC_SHORT] = "16-bit", [GC_BIT] = "1-bit"};
    return names[type];
}

static const char *implementation_of(gc_form form)
{
    return form == GC_FORM_TILES        ? "adaptive:unrolled"
           : gc_form_products(form) > 0 ? "separable"
                                        : "direct";
}

/* Sets *value to the number from 0 to count - 1 whose word `text` is; false if there is none. */
static bool read_word(const char *text, const char *(*word)(int), int count, int *value)
{
    for (*value = 0; *value < count; ++*value)
        if (strcmp(word(*value), text) == 0)
            return true;
    return false;
}

static bool read_count(const char *text, int largest, int *value)
{
    long long number;
    bool read = gc_parse_integer(text, 1, largest, &number);
    *value = read ? (int)number : 0;
    return read;
}

/* As strftime writes "%Y-%m-%d". */
static bool is_date(const char *text)
{
    static const char pattern[] = "0000-00-00";
    if (strlen(text) != strlen(pattern))
        return false;
    for (int i = 0; pattern[i] != '\0'; i++)
        if (pattern[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != pattern[i])
            return false;
    return true;
}

/* ---- Its text -------------------------------------------------------------------------------- */

static void write_header(const gconv_device_info *device, char text[HEADER_BYTES])
{
    snprintf(text, HEADER_BYTES,
             "gconv tuning 1\ndevice %s\ndriver %d.%d\nversion %s\n"
             "# implementation, width, height, input, output, form, rows, warps, schedule, tiles, "
             "us, date\n",
             device->name, device->driver_version / 1000, device->driver_version % 1000 / 10,
             gconv_version());
}

/* Microseconds are written by their thousandths, the same in every locale. */
static int write_entry(const gc_tuned *entry, char *text, size_t size)
{
    const gc_tuning *t = &entry->tuning;
    long long thousandths = llrint(1e3 * entry->microseconds);
    return snprintf(text, size, "%-9s %3d %3d %-7s %-7s %-5s %2d %2d %-5s %2d %6lld.%03lld %s\n",
                    implementation_of(t->form), entry->width, entry->height,
                    gc_sample_type_name(entry->input), gc_sample_type_name(entry->output),
                    gc_form_name(t->form), t->rows, t->warps, gc_schedule_name(t->schedule),
                    t->tiles, thousandths / 1000, thousandths % 1000, entry->date);
}

static bool read_tuning(char *fields[FIELDS], gc_tuning *tuning)
{
    int form, schedule;
    bool read = read_word(fields[5], gc_form_name, GC_FORM_COUNT, &form) &&
                read_count(fields[6], 64, &tuning->rows) &&
                read_count(fields[7], 32, &tuning->warps) &&
                read_word(fields[8], gc_schedule_name, SCHEDULE_COUNT, &schedule) &&
                read_count(fields[9], 64, &tuning->tiles);
    bool one_tile = form == GC_FORM_WARP || form == GC_FORM_TILES;
    if (!read || (one_tile && schedule != GC_ONE_TILE))
        return false;
    if (form == GC_FORM_TILES
            ? 32 * tuning->warps % tuning->rows != 0 || tuning->tiles > GC_UNROLLED_FACTOR_MAX
            : tuning->rows > 32)
        return false;
    tuning->form = (gc_form)form;
    tuning->schedule = (gc_schedule)schedule;
    return strcmp(fields[0], implementation_of(tuning->form)) == 0;
}

static bool read_fields(char *fields[FIELDS], gc_tuned *entry)
{
    int input, output;
    bool read = read_tuning(fields, &entry->tuning) &&
                read_count(fields[1], GCONV_FILTER_SIDE_MAX, &entry->width) &&
                read_count(fields[2], GCONV_FILTER_SIDE_MAX, &entry->height) &&
                read_word(fields[3], gc_sample_type_name, GC_BIT, &input) &&
                read_word(fields[4], gc_sample_type_name, TYPE_COUNT, &output) &&
                gc_parse_number(fields[10], &entry->microseconds) && entry->microseconds >= 1e-3 &&
                entry->microseconds <= 1e9 - 1 && is_date(fields[11]);
    if (!read)
        return false;
    entry->input = (gc_sample_type)input;
    entry->output = (gc_sample_type)output;
    memcpy(entry->date, fields[11], sizeof entry->date);
    return true;
}

/* One line without its end. */
static bool read_entry(const char *line, size_t length, gc_tuned *entry)
{
    char copy[LINE_BYTES], *fields[FIELDS], *rest = NULL;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, line, length);
    copy[length] = '\0';
    int count = 0;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (count == FIELDS)
            return false;
        fields[count++] = word;
    }
    return count == FIELDS && read_fields(fields, entry);
}

static int find_same(const gc_tuned_list *list, const gc_tuned *wanted)
{
    for (int i = 0; i < list->count; i++) {
        const gc_tuned *entry = &list->entries[i];
        if (entry->width == wanted->width && entry->height == wanted->height &&
            entry->input == wanted->input && entry->output == wanted->output &&
            gc_forms_compete(entry->tuning.form, wanted->tuning.form))
            return i;
    }
    return -1;
}

bool gc_tuning_read_text(const gconv_device_info *device, const char *text, size_t size,
                         gc_tuned_list *list)
{
    char header[HEADER_BYTES];
    write_header(device, header);
    size_t length = strlen(header);
    list->count = 0;
    if (size < length || memcmp(text, header, length) != 0 || strlen(text) != size)
        return false;
    for (const char *next = text + length; *next != '\0';) {
        const char *end = strchr(next, '\n');
        gc_tuned entry = {0};
        if (end == NULL || list->count == GC_TUNED_MAX ||
            !read_entry(next, (size_t)(end - next), &entry) || find_same(list, &entry) >= 0)
            return false;
        list->entries[list->count++] = entry;
        next = end + 1;
    }
    return true;
}

gconv_status gc_tuning_write_text(const gconv_device_info *device, const gc_tuned_list *list,
                                  char **text, size_t *size, gconv_error *error)
{
    size_t capacity = HEADER_BYTES + (size_t)list->count * LINE_BYTES;
    *text = malloc(capacity);
    if (*text == NULL)
        return gc_fail_memory(error, capacity);
    write_header(device, *text);
    *size = strlen(*text);
    for (int i = 0; i < list->count; i++)
        *size += (size_t)write_entry(&list->entries[i], *text + *size, capacity - *size);
    return GCONV_OK;
}

/* ---- Its place in the cache ------------------------------------------------------------------ */

/* "tuning-nvidia-h200.txt" for "NVIDIA H200". A long name is cut; the header has all of it. */
static void file_name(const gconv_device_info *device, char name[NAME_BYTES])
{
    size_t length = (size_t)snprintf(name, NAME_BYTES, "tuning");
    bool between = true;
    for (const char *next = device->name; *next != '\0' && length < NAME_BYTES - 6; next++) {
        unsigned char c = (unsigned char)*next;
        bool plain = c < 0x80 && isalnum(c);
        if (plain && between)
            name[length++] = '-';
        if (plain)
            name[length++] = (char)tolower(c);
        between = !plain;
    }
    snprintf(name + length, NAME_BYTES - length, ".txt");
}

gconv_status gc_tuning_path(const gconv_device_info *device, char **path, gconv_error *error)
{
    char name[NAME_BYTES];
    file_name(device, name);
    return gc_cache_path(name, path, error);
}

void gc_tuning_read(const gconv_device_info *device, gc_tuned_list *list)
{
    char name[NAME_BYTES], *text;
    size_t size;
    file_name(device, name);
    list->count = 0;
    if (gc_cache_read(name, &text, &size, NULL) != GCONV_OK)
        return;
    if (!gc_tuning_read_text(device, text, size, list))
        list->count = 0;
    free(text);
}

const gc_tuned *gc_tuned_find(const gc_tuned_list *list, const gc_layout *layout)
{
    gc_tuned wanted = {.width = layout->width,
                       .height = layout->height,
                       .input = layout->input,
                       .output = layout->output,
                       .tuning = layout->tuning};
    int found = find_same(list, &wanted);
    return found >= 0 ? &list->entries[found] : NULL;
}

static gconv_status write_file(const gconv_device_info *device, const gc_tuned_list *list,
                               gconv_error *error)
{
    char name[NAME_BYTES], *text;
    size_t size;
    gconv_status status = gc_tuning_write_text(device, list, &text, &size, error);
    if (status != GCONV_OK)
        return status;
    file_name(device, name);
    status = gc_cache_write(name, text, size, error);
    free(text);
    return status;
}

static gconv_status put(gc_tuned_list *list, const gc_tuned *found, gconv_error *error)
{
    int entry = find_same(list, found);
    if (entry < 0 && list->count == GC_TUNED_MAX)
        return gc_fail(error, GCONV_ERROR_LIMIT, "the file of tunings is full");
    list->entries[entry < 0 ? list->count++ : entry] = *found;
    return GCONV_OK;
}

gconv_status gc_tuning_keep(const gconv_device_info *device, const gc_tuned *found,
                            gconv_error *error)
{
    gc_tuned_list *list = malloc(sizeof *list);
    if (list == NULL)
        return gc_fail_memory(error, sizeof *list);
    int lock = -1;
    gconv_status status = gc_cache_lock(&lock, error);
    if (status == GCONV_OK) {
        gc_tuning_read(device, list);
        if (found != NULL)
            status = put(list, found, error);
        if (status == GCONV_OK)
            status = write_file(device, list, error);
        gc_cache_unlock(lock);
    }
    free(list);
    return status;
}
