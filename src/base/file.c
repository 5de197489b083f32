#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void gc_random_suffix(char suffix[GC_SUFFIX_BYTES])
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static atomic_uint calls;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t value = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30;
    value ^= (uint64_t)getpid() << 40 ^ (uint64_t)atomic_fetch_add(&calls, 1) << 20;
    value *= UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / golden ratio: spreads the low bits upwards */
    value >>= 24;
    for (int i = 0; i < GC_SUFFIX_BYTES - 1; i++) {
        suffix[i] = digits[value % (sizeof digits - 1)];
        value /= sizeof digits - 1;
    }
    suffix[GC_SUFFIX_BYTES - 1] = '\0';
}

bool gc_read_all(int descriptor, void *buffer, size_t capacity, size_t *length)
{
    *length = 0;
    while (*length < capacity) {
        ssize_t got = read(descriptor, (char *)buffer + *length, capacity - *length);
        if (got == 0)
            break;
        if (got > 0)
            *length += (size_t)got;
        else if (errno != EINTR)
            return false;
    }
    return true;
}

bool gc_write_all(int descriptor, const void *bytes, size_t size)
{
    const char *next = bytes;
    while (size > 0) {
        ssize_t count = write(descriptor, next, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN) { /* another process made the pipe non-blocking */
            poll(&(struct pollfd){.fd = descriptor, .events = POLLOUT}, 1, -1);
            continue;
        }
        if (count < 0)
            return false;
        next += count;
        size -= (size_t)count;
    }
    return true;
}

bool gc_sync(int descriptor)
{
    while (fsync(descriptor) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

int gc_files_left(int wanted)
{
    struct rlimit limit;
    int left = 0;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return wanted;
    for (rlim_t number = 0; number < limit.rlim_cur && left < wanted; number++)
        left += fcntl((int)number, F_GETFD) < 0;
    return left;
}
