/* The list of devices: first the CPU, then the devices of the GPU part. */
#include "core/device.h"

#include "base/number.h"
#include "base/sized.h"
#include "base/status.h"
#include "core/gpu.h"
#include "gconv.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert(GCONV_DEVICES_MAX <= 8 * sizeof(gc_device_set), "every device has a bit");

int gconv_device_count(void)
{
    return 1 + gc_gpu_count();
}

/* The largest N of "cuda:N". */
enum { NUMBER_MAX = 1023 };

/* Reads the numbers of "cuda:N,...". False if the text is no such list, or its numbers are too
 * large or too many. */
static bool read_numbers(const char *text, gconv_device_choice *choice)
{
    for (const char *end; text != NULL; text = *end == ',' ? end + 1 : NULL) {
        char number[8];
        long long index;
        end = text + strcspn(text, ",");
        snprintf(number, sizeof number, "%.*s", (int)(end - text), text);
        if (end - text >= (int)sizeof number || choice->count == GCONV_DEVICES_MAX ||
            !gc_parse_integer(number, 0, NUMBER_MAX, &index))
            return false;
        choice->indices[choice->count++] = (int)index;
    }
    choice->index = choice->indices[0];
    return true;
}

static gconv_status refuse_unknown(const char *text, const gconv_device_choice *choice,
                                   gconv_error *error)
{
    if (choice->count == GCONV_DEVICES_MAX)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%.64s...' names more than %d devices", text,
                       GCONV_DEVICES_MAX);
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "unknown device '%s' (auto, cpu, cuda, cuda:N, cuda:N,N or cuda:all, with N up "
                   "to %d)",
                   text, NUMBER_MAX);
}

static gconv_status refuse_twice(const char *text, const gconv_device_choice *choice,
                                 gconv_error *error)
{
    for (int i = 0; i < choice->count; i++)
        for (int j = 0; j < i; j++)
            if (choice->indices[i] == choice->indices[j])
                return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' names device %d twice", text,
                               choice->indices[i]);
    return GCONV_OK;
}

gconv_status gc_device_parse(const char *text, gconv_device_choice *choice, gconv_error *error)
{
    *choice = (gconv_device_choice){.kind = GCONV_DEVICE_CPU};
    if (text == NULL || strcmp(text, "auto") == 0)
        choice->any = true;
    else if (strcmp(text, "cuda") == 0)
        choice->count = 1;
    else if (strcmp(text, "cuda:all") == 0)
        choice->all = true;
    else if (strcmp(text, "cpu") != 0 &&
             (strncmp(text, "cuda:", 5) != 0 || !read_numbers(text + 5, choice)))
        return refuse_unknown(text, choice, error);
    if (choice->count > 0 || choice->all)
        choice->kind = GCONV_DEVICE_CUDA;
    return refuse_twice(text, choice, error);
}

gconv_status gconv_device_parse(const char *text, gconv_device_choice *choice, gconv_error *error)
{
    gconv_device_choice known;
    GC_TRY(gc_device_parse(text, &known, error));
    return gc_sized_fill(choice, "gconv_device_choice", &known, sizeof known, error);
}

void gconv_device_start(const char *text)
{
    gconv_device_choice choice;
    if (gc_device_parse(text, &choice, NULL) != GCONV_OK ||
        (!choice.any && choice.kind == GCONV_DEVICE_CPU))
        return;
    uint64_t devices = choice.any || choice.all ? ~(uint64_t)0 : 0;
    for (int i = 0; i < choice.count; i++)
        if (choice.indices[i] < GCONV_DEVICES_MAX)
            devices |= (uint64_t)1 << choice.indices[i];
    gc_gpu_start(devices);
}

/* ---- Failures -------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Devices that are dropped, in the order of their failures. */
typedef struct loss {
    int index;
    gconv_error failure;
    char message[512]; /* for people */
} loss;
static loss losses[GCONV_DEVICES_MAX];
static int loss_count;

/* NULL if the device is not dropped. The caller holds the lock. */
static const loss *find_loss(int index)
{
    for (int i = 0; i < loss_count; i++)
        if (losses[i].index == index)
            return &losses[i];
    return NULL;
}

static void add_loss(const gconv_device_info *device, const gconv_error *failure)
{
    loss *added = &losses[loss_count++];
    added->index = device->index;
    added->failure = *failure;
    snprintf(added->message, sizeof added->message,
             "cuda:%d (%s) failed and is not used any more: %.300s", device->index, device->name,
             failure->message);
}

bool gc_device_is_dropped(int index)
{
    pthread_mutex_lock(&lock);
    bool dropped = find_loss(index) != NULL;
    pthread_mutex_unlock(&lock);
    return dropped;
}

/* Describes a dropped device as not usable, and says why. */
static void describe_loss(gconv_device_info *info)
{
    pthread_mutex_lock(&lock);
    const loss *found = find_loss(info->index);
    if (found != NULL) {
        info->usable = false;
        snprintf(info->reason, sizeof info->reason, "it failed before: %.200s",
                 found->failure.message);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- Describing ------------------------------------------------------------------------------ */

/* The CPU's name as an x86 processor tells it, else "CPU". /proc/cpuinfo has no other name, but the
 * system takes twice as long to write it. */
static void read_cpu_name(char *name, size_t size)
{
    snprintf(name, size, "CPU");
#ifdef __x86_64__
    unsigned words[13] = {0}, first = 0x80000002; /* three leaves with 16 characters each */
    if ((unsigned)__get_cpuid_max(0x80000000, NULL) < first + 2)
        return;
    for (unsigned i = 0; i < 3; i++)
        __cpuid(first + i, words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
    const char *text = (const char *)words + strspn((const char *)words, " ");
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length > 0)
        snprintf(name, size, "%.*s", (int)length, text);
#endif
}

static gconv_device_info cpu;

static void describe_cpu(void)
{
    gconv_device_info *info = &cpu;
    info->kind = GCONV_DEVICE_CPU;
    info->usable = true;
    read_cpu_name(info->name, sizeof info->name);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    info->processors = processors > 0 ? (int)processors : 1;
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0)
        info->memory_bytes = (uint64_t)pages * (uint64_t)page_bytes;
}

gconv_status gc_device_describe(int index, gconv_device_info *info, gconv_error *error)
{
    if (index > 0) {
        gconv_status status = gc_gpu_describe(index - 1, info, error);
        if (status == GCONV_OK)
            describe_loss(info);
        return status;
    }
    if (index < 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "there is no device %d", index);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, describe_cpu);
    *info = cpu;
    return GCONV_OK;
}

gconv_status gconv_device_describe(int index, gconv_device_info *info, gconv_error *error)
{
    gconv_device_info known;
    GC_TRY(gc_device_describe(index, &known, error));
    return gc_sized_fill(info, "gconv_device_info", &known, sizeof known, error);
}

double gc_device_peak(const gconv_device_info *info)
{
    if (info->kind == GCONV_DEVICE_CPU)
        return 0;
    /* Float32 lanes a multiprocessor: 64 up to compute capability 8.0, 128 later (CUDA C++
     * Programming Guide, arithmetic instructions). */
    bool half = info->compute_major < 8 || (info->compute_major == 8 && info->compute_minor == 0);
    return 2.0 * (half ? 64 : 128) * info->processors * info->clock_khz * 1e3;
}

double gconv_device_peak(const gconv_device_info *given)
{
    gconv_device_info info = gconv_device_info_default();
    gconv_status status = gc_sized_read(given, "gconv_device_info", &info, sizeof info, NULL);
    return status == GCONV_OK ? gc_device_peak(&info) : 0;
}

/* Whether CUDA device `index` is among the devices of a choice. */
static bool stands_for(const gconv_device_choice *choice, int index)
{
    bool found = choice->any || choice->all;
    for (int i = 0; i < choice->count; i++)
        found |= choice->indices[i] == index;
    return found;
}

gconv_status gconv_decoder_check(const char *device, gconv_error *error)
{
    gconv_device_choice choice;
    gconv_device_info info = {.usable = false};
    GC_TRY(gc_device_parse(device, &choice, error));
    const char *reason = gconv_cuda_reason();
    for (int i = 0; i < gc_gpu_count(); i++) {
        if (!stands_for(&choice, i))
            continue;
        if (gc_device_describe(1 + i, &info, NULL) == GCONV_OK && info.usable)
            return GCONV_OK;
        reason = info.reason;
    }
    if (reason[0] == '\0')
        reason = "there is no such GPU";
    return gc_fail(error, GCONV_ERROR_DEVICE, "%s", reason);
}

/* ---- Sets ------------------------------------------------------------------------------------ */

static gc_device_set bit_of(int index)
{
    return (gc_device_set)1 << index;
}

static int count_cuda(void)
{
    return gconv_device_count() - 1;
}

static gconv_status refuse_unusable(int index, const gconv_device_info *info, gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_DEVICE, "device cuda:%d is not usable: %s", index,
                   info->reason);
}

static gconv_status add_named(int index, gc_device_set *set, gconv_error *error)
{
    gconv_device_info info;
    GC_TRY(gc_device_describe(1 + index, &info, error));
    if (info.usable)
        *set |= bit_of(index);
    if (info.usable || gc_device_is_dropped(index))
        return GCONV_OK;
    return refuse_unusable(index, &info, error);
}

static void add_usable(gc_device_set *set)
{
    gconv_device_info info;
    for (int i = 0; i < count_cuda(); i++)
        if (gc_device_describe(1 + i, &info, NULL) == GCONV_OK && info.usable)
            *set |= bit_of(i);
}

gconv_status gc_device_set_of(const gconv_device_choice *choice, gc_device_set *set,
                              gconv_error *error)
{
    *set = 0;
    if ((!choice->any && choice->kind == GCONV_DEVICE_CPU) || count_cuda() == 0)
        return GCONV_OK;
    gconv_status status = GCONV_OK;
    if (choice->any || choice->all)
        add_usable(set);
    for (int i = 0; status == GCONV_OK && i < choice->count; i++)
        status = add_named(choice->indices[i], set, error);
    if (status != GCONV_OK || *set != 0 || choice->any)
        return status;
    gconv_device_info first;
    status = gc_device_describe(1 + choice->index, &first, error);
    return status == GCONV_OK ? refuse_unusable(choice->index, &first, error) : status;
}

gc_device_set gc_device_alone(int index)
{
    return bit_of(index);
}

int gc_device_first(gc_device_set set)
{
    int index = 0;
    while ((set & bit_of(index)) == 0)
        index++;
    return index;
}

gc_device_set gc_devices_like(const gconv_device_info *info, gc_device_set set)
{
    gc_device_set like = set & bit_of(info->index);
    for (int i = 0; i < count_cuda(); i++) {
        gconv_device_info other;
        if ((set & bit_of(i)) == 0 || gc_device_describe(1 + i, &other, NULL) != GCONV_OK)
            continue;
        other.index = info->index;
        if (memcmp(&other, info, sizeof other) == 0)
            like |= bit_of(i);
    }
    return like;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static int plans[GCONV_DEVICES_MAX]; /* that live, by device */

int gc_device_take(gc_device_set set)
{
    int best = gc_device_first(set);
    pthread_mutex_lock(&lock);
    for (int i = best + 1; i < GCONV_DEVICES_MAX; i++)
        if ((set & bit_of(i)) != 0 && plans[i] < plans[best])
            best = i;
    plans[best]++;
    pthread_mutex_unlock(&lock);
    return best;
}

void gc_device_give(int index)
{
    pthread_mutex_lock(&lock);
    plans[index]--;
    pthread_mutex_unlock(&lock);
}

const char *gconv_device_loss(int index)
{
    pthread_mutex_lock(&lock);
    const char *message = index >= 0 && index < loss_count ? losses[index].message : NULL;
    pthread_mutex_unlock(&lock);
    return message;
}

void gc_device_judge(int index, const gconv_error *failure)
{
    gconv_device_info device;
    if (gc_device_is_dropped(index) || gc_device_describe(1 + index, &device, NULL) != GCONV_OK ||
        gc_gpu_works(index))
        return;
    pthread_mutex_lock(&lock);
    if (find_loss(index) == NULL)
        add_loss(&device, failure);
    pthread_mutex_unlock(&lock);
}
