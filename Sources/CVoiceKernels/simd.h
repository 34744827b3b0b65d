// Eight floats at once, in the widest registers that the function's target has.
#pragma once

#include <stddef.h>

// Which clone is called is chosen while the program is loaded, by functions that ThreadSanitizer would have count calls
// before it is there.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VK_ONE_CLONE
#endif
#endif

// WIDE functions use registers of 16 floats; they are called only where IS_WIDE says that there are such. A function FOR a level is called
// only on processors of that level.
#if defined(__x86_64__) && defined(__linux__) && !defined(VK_ONE_CLONE)
#define VK_CLONED
#define VK_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define WIDE __attribute__((target("arch=x86-64-v4"), min_vector_width(512), noinline))
#define IS_WIDE (__builtin_cpu_supports("x86-64-v4") != 0)
#define FOR(level) __attribute__((target(level)))
#else
#define VK_CLONES
#define WIDE
#define FOR(level)
#ifdef __AVX512F__
#define IS_WIDE 1
#else
#define IS_WIDE 0
#endif
#endif
#define VK_INLINE static inline __attribute__((always_inline))

typedef float lanes8 __attribute__((vector_size(32), aligned(4)));
typedef float lanes16 __attribute__((vector_size(64), aligned(4)));

// By macros, not functions: what a vector is passed in differs between the clones.
#define LOAD(at) (*(const lanes8 *)(at))
#define STORE(at, value) (*(lanes8 *)(at) = (value))
#define SUM(v) (((v)[0] + (v)[4]) + ((v)[1] + (v)[5]) + (((v)[2] + (v)[6]) + ((v)[3] + (v)[7])))
