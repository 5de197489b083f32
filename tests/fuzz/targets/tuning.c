/* The text of the file of tunings. Texts that do not begin with "gconv" get the right header. */
#include "../fuzz.h"

#include "gpu/tunings/tuning.h"

#include <math.h>
#include <string.h>

static gc_tuned_list list, again;

static void check_entry(const gc_tuned *entry)
{
    const gc_tuning *tuning = &entry->tuning;
    FUZZ_REQUIRE(entry->width >= 1 && entry->width <= GCONV_FILTER_SIDE_MAX && entry->height >= 1 &&
                     entry->height <= GCONV_FILTER_SIDE_MAX,
                 "%d x %d", entry->width, entry->height);
    FUZZ_REQUIRE((unsigned)tuning->form < GC_FORM_COUNT, "form %d", (int)tuning->form);
    FUZZ_REQUIRE(tuning->rows >= 1 && tuning->rows <= 32 && tuning->warps >= 1 &&
                     tuning->warps <= 32 && tuning->tiles >= 1 && tuning->tiles <= 64,
                 "%d rows, %d warps, %d tiles", tuning->rows, tuning->warps, tuning->tiles);
    FUZZ_REQUIRE(isfinite(entry->microseconds) && entry->microseconds > 0, "%g us",
                 entry->microseconds);
    FUZZ_REQUIRE(strlen(entry->date) == 10, "date '%s'", entry->date);
    FUZZ_REQUIRE(
        gc_sample_type_name(entry->input) != NULL && gc_sample_type_name(entry->output) != NULL &&
            gc_form_name(tuning->form) != NULL && gc_schedule_name(tuning->schedule) != NULL,
        "no name");
}

/* What is written of a list reads as the same list. */
static void check_written(const gconv_device_info *device)
{
    OWNED char *text;
    gconv_error error;
    size_t size;
    FUZZ_REQUIRE(gc_tuning_write_text(device, &list, &text, &size, &error) == GCONV_OK, "%s",
                 error.message);
    FUZZ_REQUIRE(gc_tuning_read_text(device, text, size, &again), "not read again: %s", text);
    FUZZ_REQUIRE(again.count == list.count, "%d entries became %d", list.count, again.count);
    for (int i = 0; i < list.count; i++)
        FUZZ_REQUIRE(again.entries[i].width == list.entries[i].width &&
                         again.entries[i].tuning.form == list.entries[i].tuning.form &&
                         strcmp(again.entries[i].date, list.entries[i].date) == 0,
                     "entry %d", i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const gconv_device_info device = {.name = "NVIDIA H200", .driver_version = 13000};
    char header[512] = "";
    if (size < 5 || memcmp(data, "gconv", 5) != 0)
        snprintf(header, sizeof header,
                 "gconv tuning 1\ndevice %s\ndriver 13.0\nversion %s\n"
                 "# implementation, width, height, input, output, form, rows, warps, schedule, "
                 "tiles, us, date\n",
                 device.name, gconv_version());
    size_t length = strlen(header);
    char *text = fuzz_allocate(length + size + 1);
    memcpy(text, header, length);
    if (size > 0)
        memcpy(text + length, data, size);
    text[length + size] = '\0';
    if (gc_tuning_read_text(&device, text, length + size, &list)) {
        for (int i = 0; i < list.count; i++)
            check_entry(&list.entries[i]);
        check_written(&device);
    }
    free(text);
    return 0;
}
