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

#if defined(__x86_64__) && defined(__linux__) && !defined(VK_ONE_CLONE)
#define VK_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VK_CLONES
#endif
#define VK_INLINE static inline __attribute__((always_inline))

typedef float lanes8 __attribute__((vector_size(32), aligned(4)));

// By macros, not functions: what a vector is passed in differs between the clones.
#define LOAD(at) (*(const lanes8 *)(at))
#define STORE(at, value) (*(lanes8 *)(at) = (value))
#define SUM(v) (((v)[0] + (v)[4]) + ((v)[1] + (v)[5]) + (((v)[2] + (v)[6]) + ((v)[3] + (v)[7])))
