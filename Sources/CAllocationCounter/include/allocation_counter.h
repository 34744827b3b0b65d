// Counts the allocations of each thread. Linking this target replaces malloc, calloc, realloc and the aligned calls of
// the process by glibc's own with a thread-local counter in front (about a nanosecond a call). For programs that
// measure: tests, benchmarks and the `duplex` command; the engine library does not depend on it. Read with
// dv_thread_allocations().
#pragma once

#include <stdint.h>

/// Bytes that the process has allocated and not freed, on all threads, with the allocator's own; -1 where a sanitizer
/// has an allocator of its own.
int64_t dv_heap_bytes(void);
