#include "base/temporary.h"

#include "base/file.h"
#include "base/hash.h"

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    NAME_BYTES_KEPT = 108, /* of the final name: the whole stays under every NAME_MAX in use */
    HOST_DIGITS = GC_HOST_TAG_BYTES - 1,
    RANDOM_DIGITS = GC_SUFFIX_BYTES - 1,
    CHECK_DIGITS = 4
};

static const char mark[] = ".gconv-";

/* Linux gives every start of a machine a random identifier. */
static size_t read_boot_id(char *id, size_t room)
{
    int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    if (descriptor < 0)
        return 0;
    bool whole = gc_read_all(descriptor, id, room, &length);
    close(descriptor);
    return whole ? length : 0;
}

static pthread_once_t host_once = PTHREAD_ONCE_INIT;
static char host_tag[GC_HOST_TAG_BYTES];
static bool host_is_known;

static void find_host_tag(void)
{
    char host[256] = "", id[64];
    size_t length = read_boot_id(id, sizeof id);
    host_is_known = length > 0 && gethostname(host, sizeof host - 1) == 0;
    gc_hash hash = gc_hash_bytes(gc_hash_string(gc_hash_start(), host), id, length);
    unsigned digits = host_is_known ? (unsigned)((hash.high ^ hash.low) & 0xffffffff) : 0;
    snprintf(host_tag, sizeof host_tag, "%08x", digits);
}

bool gc_host_tag(char tag[GC_HOST_TAG_BYTES])
{
    pthread_once(&host_once, find_host_tag);
    memcpy(tag, host_tag, sizeof host_tag);
    return host_is_known;
}

static void write_check(const char *name, size_t length, char check[CHECK_DIGITS + 1])
{
    gc_hash hash = gc_hash_bytes(gc_hash_start(), name, length);
    snprintf(check, CHECK_DIGITS + 1, "%04x", (unsigned)((hash.high ^ hash.low) & 0xffff));
}

void gc_temporary_name(const char *tag, const char *name, char buffer[NAME_MAX + 1])
{
    size_t kept = strlen(name);
    if (kept > NAME_BYTES_KEPT) {
        kept = NAME_BYTES_KEPT;
        while (kept > 0 && ((unsigned char)name[kept] & 0xc0) == 0x80) /* no half of a character */
            kept--;
    }
    char suffix[GC_SUFFIX_BYTES];
    gc_random_suffix(suffix);
    int length =
        snprintf(buffer, NAME_MAX + 1, ".%.*s%s%.8s%s", (int)kept, name, mark, tag, suffix);
    write_check(buffer, (size_t)length, buffer + length);
}

bool gc_temporary_is_of(const char *tag, const char *name)
{
    enum { END = sizeof mark - 1 + HOST_DIGITS + RANDOM_DIGITS + CHECK_DIGITS };
    size_t length = strlen(name);
    if (name[0] != '.' || length < END + 2)
        return false;
    const char *end = name + length - END;
    const char *random = end + sizeof mark - 1 + HOST_DIGITS;
    char check[CHECK_DIGITS + 1];
    write_check(name, length - CHECK_DIGITS, check);
    return strncmp(end, mark, sizeof mark - 1) == 0 &&
           strncmp(end + sizeof mark - 1, tag, HOST_DIGITS) == 0 &&
           strspn(random, "abcdefghijklmnopqrstuvwxyz0123456789") >= RANDOM_DIGITS &&
           strcmp(random + RANDOM_DIGITS, check) == 0;
}
