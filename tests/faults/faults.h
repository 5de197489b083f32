/* What the preloaded library and the program that sweeps over its faults agree on.
 *
 * FAULTS=KINDS:ACTION:N[+] in the environment chooses one fault. KINDS is a list with commas of
 * kinds or `system`, which is all but memory: their calls are counted together, from the start of
 * main. ACTION meets the N-th of them; a plus sign means the later ones too.
 *
 *     fail     the call fails, with the errno of its kind
 *     short    a read or write moves half of its bytes, at most 100
 *     eintr    the call fails with EINTR; with a plus sign every second one does
 *     kill     SIGKILL ends the process before the call
 *     lose     a rename is done, and fails with ENOENT all the same, as where NFS loses the answer
 *
 * FAULTS_COUNTS names a file of a fault_counts that the library updates as it counts. It exists
 * beforehand, and outlives the process. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

typedef enum fault_kind {
    FAULT_MEMORY, /* malloc, calloc, realloc, aligned_alloc, posix_memalign */
    FAULT_OPEN,   /* open, openat, fopen, opendir, fdopendir, dup */
    FAULT_READ,   /* read, pread, fread, readdir */
    FAULT_WRITE,  /* write, pwrite, and fflush of standard output */
    FAULT_SYNC,   /* fsync, fdatasync */
    FAULT_RENAME, /* rename, renameat, renameat2 */
    FAULT_LINK,   /* link, linkat */
    FAULT_CLOSE,  /* close, fclose */
    FAULT_STAT,   /* stat, lstat, fstat, fstatat, faccessat, readlink, readlinkat */
    FAULT_MODE,   /* fchmod, fchown */
    FAULT_MKDIR,  /* mkdir, mkdirat */
    FAULT_UNLINK, /* unlink, unlinkat */
    FAULT_THREAD, /* pthread_create */
    FAULT_KINDS
} fault_kind;

static const char *const fault_kind_names[FAULT_KINDS] = {
    [FAULT_MEMORY] = "memory", [FAULT_OPEN] = "open",   [FAULT_READ] = "read",
    [FAULT_WRITE] = "write",   [FAULT_SYNC] = "sync",   [FAULT_RENAME] = "rename",
    [FAULT_LINK] = "link",     [FAULT_CLOSE] = "close", [FAULT_STAT] = "stat",
    [FAULT_MODE] = "mode",     [FAULT_MKDIR] = "mkdir", [FAULT_UNLINK] = "unlink",
    [FAULT_THREAD] = "thread",
};

/* Whether a word of KINDS stands for this kind. */
static inline bool fault_kind_is(int kind, const char *word)
{
    return strcmp(word, fault_kind_names[kind]) == 0 ||
           (strcmp(word, "system") == 0 && kind != FAULT_MEMORY);
}

typedef struct fault_counts {
    atomic_long calls[FAULT_KINDS];
} fault_counts;
