/* Which call fails is said by the environment:
 *     GC_DOUBLE_FAIL=N[:once|from][:CODE]   the N-th call fails, or it and all later ones; CODE is
 *                                           the cudaError_t (999, unknown, unless given)
 *     GC_DOUBLE_FAIL_DEVICE=D               only calls of threads whose device is D count for N
 *     GC_DOUBLE_START=MILLISECONDS          time of cudaGetDeviceCount
 *     GC_DOUBLE_DELAY=MICROSECONDS          each call takes that long
 *     GC_DOUBLE_MEMORY=BYTES                of the device (256 MiB unless given)
 *     GC_DOUBLE_TAKEN=BYTES                 of that are taken, though the device says that they
 *                                           are free
 *     GC_DOUBLE_REPORT=FILE                 is written at the end: calls, failures, what was not
 *                                           freed
 *     GC_DOUBLE_LOG=FILE                    gets a line a call */
#include "state.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

long long gc_double_number(const char *name, long long otherwise)
{
    const char *text = getenv(name);
    return text != nullptr && text[0] != '\0' ? strtoll(text, nullptr, 10) : otherwise;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

struct failure {
    unsigned long call; /* 0: none */
    bool from;
    cudaError_t code;
};

static failure read_failure()
{
    failure wanted = {0, false, cudaErrorUnknown};
    const char *text = getenv("GC_DOUBLE_FAIL");
    if (text == nullptr)
        return wanted;
    char mode[8] = "once";
    int code = cudaErrorUnknown;
    sscanf(text, "%lu:%7[a-z]:%d", &wanted.call, mode, &code);
    wanted.from = strcmp(mode, "from") == 0;
    wanted.code = (cudaError_t)code;
    return wanted;
}

static const failure &wanted_failure()
{
    static const failure wanted = read_failure();
    return wanted;
}

/* Errors after which nothing works until the process ends (cudaError_t in the Runtime API
 * manual). */
static bool stays(cudaError_t code)
{
    return code == cudaErrorIllegalAddress || code == cudaErrorLaunchTimeout ||
           code == cudaErrorECCUncorrectable || (code >= 714 && code <= 719);
}

enum { DEVICES_MAX = 64 };

static std::atomic<unsigned long> calls, failures;
static std::atomic<unsigned long> candidates; /* for a failure: calls, or those of one device */
static std::atomic<int> stayed[DEVICES_MAX];  /* by device: a cudaError_t */
static thread_local cudaError_t last_error;
static thread_local int current_device;

int gc_double_devices()
{
    return (int)gc_double_number("GC_DOUBLE_DEVICES", 1);
}

int gc_double_device()
{
    return current_device;
}

void gc_double_set_device(int index)
{
    current_device = index;
}

static void log_call(unsigned long call, const char *name, cudaError_t code)
{
    static FILE *log =
        getenv("GC_DOUBLE_LOG") != nullptr ? fopen(getenv("GC_DOUBLE_LOG"), "ae") : nullptr;
    if (log == nullptr)
        return;
    fprintf(log, "%lu %s %d %d\n", call, name, (int)code, current_device);
    fflush(log);
}

cudaError_t gc_double_refuse(cudaError_t code)
{
    last_error = code;
    return code;
}

static cudaError_t fail(bool enqueues)
{
    cudaError_t code = wanted_failure().code;
    failures++;
    if (!stays(code))
        return code;
    stayed[current_device] = code;
    return enqueues ? cudaSuccess : code;
}

cudaError_t gc_double_enter(const char *name, bool enqueues)
{
    static const long long delay = gc_double_number("GC_DOUBLE_DELAY", 0);
    const failure &wanted = wanted_failure();
    unsigned long call = ++calls;
    if (delay > 0)
        usleep((useconds_t)delay);
    cudaError_t code = (cudaError_t)stayed[current_device].load();
    static const long long device = gc_double_number("GC_DOUBLE_FAIL_DEVICE", -1);
    unsigned long candidate = device < 0 || device == current_device ? ++candidates : 0;
    if (code == cudaSuccess && wanted.call > 0 &&
        (candidate == wanted.call || (wanted.from && candidate > wanted.call)))
        code = fail(enqueues);
    log_call(call, name, code);
    return code == cudaSuccess ? code : gc_double_refuse(code);
}

extern "C" cudaError_t cudaGetLastError()
{
    cudaError_t code = (cudaError_t)stayed[current_device].load();
    if (code == cudaSuccess)
        code = last_error;
    last_error = cudaSuccess;
    return code;
}

extern "C" cudaError_t cudaPeekAtLastError()
{
    cudaError_t code = (cudaError_t)stayed[current_device].load();
    return code != cudaSuccess ? code : last_error;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

struct pieces {
    std::mutex lock;
    std::map<uintptr_t, size_t> sizes; /* by address */
    std::map<uintptr_t, int> devices;  /* likewise */
    size_t bytes, most;                /* now, and the most there have been */
};

/* Never destroyed: threads of the program may still run at its end. */
static pieces &memory_of(bool pinned)
{
    static pieces *device = new pieces(), *host = new pieces();
    return pinned ? *host : *device;
}

static size_t device_bytes()
{
    return (size_t)gc_double_number("GC_DOUBLE_MEMORY", 256 << 20);
}

void gc_double_memory(size_t *available, size_t *total)
{
    pieces &memory = memory_of(false);
    std::lock_guard<std::mutex> guard(memory.lock);
    *total = device_bytes();
    *available = *total - memory.bytes;
}

static size_t rounded_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

enum { ALIGNMENT = 256 };

/* The pages of a piece: it ends where they end. A page behind them cannot be read or written, so
 * that a kernel that leaves its memory ends the program. */
struct piece_pages {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), taken, bytes;

    explicit piece_pages(size_t piece_bytes)
        : taken(rounded_up(piece_bytes, ALIGNMENT)), bytes(rounded_up(taken, page))
    {
    }

    void *map() const
    {
        void *first = mmap(nullptr, bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (first == MAP_FAILED || mprotect(first, bytes, PROT_READ | PROT_WRITE) != 0)
            return nullptr;
        return (char *)first + bytes - taken;
    }

    void unmap(void *memory) const
    {
        munmap((char *)memory + taken - bytes, bytes + page);
    }
};

cudaError_t gc_double_allocate(void **memory, size_t bytes, bool pinned)
{
    enum { GARBAGE = 0xa5 };
    pieces &all = memory_of(pinned);
    size_t taken = pinned ? 0 : (size_t)gc_double_number("GC_DOUBLE_TAKEN", 0);
    std::lock_guard<std::mutex> guard(all.lock);
    if (!pinned && all.bytes + bytes > device_bytes() - taken)
        return gc_double_refuse(cudaErrorMemoryAllocation);
    if (bytes == 0) {
        *memory = nullptr;
        return cudaSuccess;
    }
    *memory = piece_pages(bytes).map();
    if (*memory == nullptr)
        return gc_double_refuse(cudaErrorMemoryAllocation);
    memset(*memory, GARBAGE, bytes);
    all.sizes[(uintptr_t)*memory] = bytes;
    all.devices[(uintptr_t)*memory] = current_device;
    all.bytes += bytes;
    all.most = all.bytes > all.most ? all.bytes : all.most;
    return cudaSuccess;
}

/* Forgets a piece, and returns its bytes; 0 if there is none. */
static size_t forget(void *memory, bool pinned)
{
    pieces &all = memory_of(pinned);
    std::lock_guard<std::mutex> guard(all.lock);
    auto piece = all.sizes.find((uintptr_t)memory);
    if (piece == all.sizes.end())
        return 0;
    size_t bytes = piece->second;
    all.bytes -= bytes;
    all.sizes.erase(piece);
    return bytes;
}

bool gc_double_release(void *memory, bool pinned)
{
    size_t bytes = forget(memory, pinned);
    if (bytes > 0)
        piece_pages(bytes).unmap(memory);
    return bytes > 0;
}

void gc_double_pin(void *memory, size_t bytes)
{
    pieces &all = memory_of(true);
    std::lock_guard<std::mutex> guard(all.lock);
    all.sizes[(uintptr_t)memory] = bytes;
    all.bytes += bytes;
}

bool gc_double_unpin(void *memory)
{
    return forget(memory, true) > 0;
}

struct variables {
    std::mutex lock;
    std::map<uintptr_t, size_t> sizes;
};

static variables &all_variables()
{
    static variables *all = new variables();
    return *all;
}

void *gc_double_variable(size_t bytes)
{
    void *memory = calloc(1, bytes);
    gc_double_add_variable(memory, bytes);
    return memory;
}

void gc_double_add_variable(void *memory, size_t bytes)
{
    std::lock_guard<std::mutex> guard(all_variables().lock);
    all_variables().sizes[(uintptr_t)memory] = bytes;
}

static bool lies_in(const std::map<uintptr_t, size_t> &sizes, uintptr_t address, size_t bytes)
{
    auto next = sizes.upper_bound(address);
    if (next == sizes.begin())
        return false;
    --next;
    return address - next->first <= next->second && bytes <= next->second - (address - next->first);
}

bool gc_double_holds(const void *memory, size_t bytes, bool pinned)
{
    pieces &all = memory_of(pinned);
    {
        std::lock_guard<std::mutex> guard(all.lock);
        if (lies_in(all.sizes, (uintptr_t)memory, bytes))
            return true;
    }
    std::lock_guard<std::mutex> guard(all_variables().lock);
    return !pinned && lies_in(all_variables().sizes, (uintptr_t)memory, bytes);
}

int gc_double_device_of(const void *memory)
{
    pieces &all = memory_of(false);
    std::lock_guard<std::mutex> guard(all.lock);
    if (!lies_in(all.sizes, (uintptr_t)memory, 1))
        return -1;
    return all.devices[(--all.sizes.upper_bound((uintptr_t)memory))->first];
}

/* ---- The report ------------------------------------------------------------------------------ */

static std::atomic<int> counts[GC_DOUBLE_KINDS];

void gc_double_count(gc_double_kind kind, int difference)
{
    counts[kind] += difference;
}

struct told_lines {
    std::mutex lock;
    std::set<std::string> lines;
};

static told_lines &told()
{
    static told_lines *all = new told_lines();
    return *all;
}

void gc_double_tell(const char *line)
{
    std::lock_guard<std::mutex> guard(told().lock);
    told().lines.insert(line);
}

__attribute__((destructor)) static void report()
{
    const char *path = getenv("GC_DOUBLE_REPORT");
    FILE *file = path != nullptr ? fopen(path, "we") : nullptr;
    if (file == nullptr)
        return;
    fprintf(file, "calls %lu\nfailures %lu\ndevice_bytes %zu\npinned_bytes %zu\n", calls.load(),
            failures.load(), memory_of(false).bytes, memory_of(true).bytes);
    fprintf(file, "most_device_bytes %zu\n", memory_of(false).most);
    fprintf(file, "streams %d\nevents %d\nmodules %d\n", counts[GC_DOUBLE_STREAMS].load(),
            counts[GC_DOUBLE_EVENTS].load(), counts[GC_DOUBLE_MODULES].load());
    for (const std::string &line : told().lines)
        fprintf(file, "%s\n", line.c_str());
    fclose(file);
}
