/* Which sanitizers a test is built with. They take memory and time that limits and bounds do not
 * allow for, and ThreadSanitizer allows no thread in a child process. */
#pragma once

#if defined(__has_feature) /* clang */
#define SANITIZES_ADDRESSES __has_feature(address_sanitizer)
#define SANITIZES_THREADS __has_feature(thread_sanitizer)
#else
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZES_ADDRESSES 1
#else
#define SANITIZES_ADDRESSES 0
#endif
#if defined(__SANITIZE_THREAD__)
#define SANITIZES_THREADS 1
#else
#define SANITIZES_THREADS 0
#endif
#endif

#define SANITIZED (SANITIZES_ADDRESSES || SANITIZES_THREADS)

/* How many of `count` trials that differ by chance: sanitizers slow them down four times and more,
 * and the other tree has them all. */
#define TRIALS(count) (SANITIZED ? (count) / 4 : (count))
