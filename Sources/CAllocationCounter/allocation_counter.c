#include "allocation_counter.h"

#include <errno.h>
#include <linux_realtime.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

// A sanitizer brings its own allocator, which must not be replaced.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#if !defined(SANITIZED) && defined(__GLIBC__)
static _Thread_local int64_t allocations __attribute__((tls_model("initial-exec")));

// These functions stand before RealtimeSanitizer's own, which therefore would not see the calls.
static void note(const char *function) {
    allocations++;
    dv_watch_notify(function);
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
    note("malloc");
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note("calloc");
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    note("realloc");
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note("aligned_alloc");
    return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
    note("memalign");
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    note("posix_memalign");
    if (alignment % sizeof(void *) || !alignment || alignment & (alignment - 1)) return EINVAL;
    void *memory = __libc_memalign(alignment, size);
    if (!memory) return ENOMEM;
    *out = memory;
    return 0;
}

static int64_t count(void) { return allocations; }

__attribute__((constructor)) static void announce(void) { dv_set_allocation_counter(count); }

int64_t dv_heap_bytes(void) {
    const struct mallinfo2 now = mallinfo2();
    return (int64_t)(now.uordblks + now.hblkhd);
}
#else
int64_t dv_heap_bytes(void) { return -1; }
#endif
