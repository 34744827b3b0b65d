// Eight floats at once, in the widest registers of the level that the kernels are compiled for.
//
// VK_LEVEL, which the including file defines, is that level: 1, 3 or 4 of x86-64 (psABI), 1 on other machines.
#pragma once

#include <stddef.h>

#include "list.h"

#if defined(__x86_64__)
#define VK_LEVELS
#define FOR(level) __attribute__((target(level)))
#else
#define FOR(level)
#endif

// A kernel is named for its level. WIDE functions use registers of 16 floats; they are called only where IS_WIDE says that there are such.
#if VK_LEVEL == 4
#define KERNEL(name) name##_v4
#define AT_LEVEL FOR("arch=x86-64-v4")
#define FULL_WIDTH __attribute__((min_vector_width(512)))
#define WIDE AT_LEVEL FULL_WIDTH __attribute__((noinline))
#define IS_WIDE 1
#define VNNI "avx512vnni"
#define WITH_VNNI FOR("arch=x86-64-v4," VNNI)
#else
#if VK_LEVEL == 3
#define KERNEL(name) name##_v3
#define AT_LEVEL FOR("arch=x86-64-v3")
#define VNNI "avxvnni"
#define WITH_VNNI FOR("arch=x86-64-v3," VNNI)
#else
#define KERNEL(name) name##_v1
#define AT_LEVEL
#endif
#define FULL_WIDTH
#define WIDE AT_LEVEL
#define IS_WIDE 0
#endif
// Whether products of bytes are added as they are made, which no level says. Left out by tools/test-kernels, to test what is there without.
#if defined(VNNI) && !defined(VK_NO_VNNI)
#define HAS_VNNI (__builtin_cpu_supports(VNNI) != 0)
#else
#define HAS_VNNI 0
#endif
#define VK_INLINE static inline __attribute__((always_inline))

#define DECLARE(result, name, parameters, arguments) result KERNEL(name) parameters;
VK_KERNELS(DECLARE)
#undef DECLARE

typedef float lanes4 __attribute__((vector_size(16), aligned(4)));
typedef float lanes8 __attribute__((vector_size(32), aligned(4)));
typedef float lanes16 __attribute__((vector_size(64), aligned(4)));

// By macros, not functions: what a vector is passed in differs between the levels.
#define LOAD(at) (*(const lanes8 *)(at))
#define STORE(at, value) (*(lanes8 *)(at) = (value))
// The numbers of a vector, added up.
#define SUM(v) (((v)[0] + (v)[4]) + ((v)[1] + (v)[5]) + (((v)[2] + (v)[6]) + ((v)[3] + (v)[7])))

// Eight vectors, `step` apart, each added up as by SUM.
VK_INLINE void sum_each(const lanes8 *v, size_t step, float *sums) {
#define HALVES(a, b) \
    (__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) + __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15))
#define NEIGHBOURS(a, b) \
    (__builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) + __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15))
    const lanes8 a = HALVES(v[0], v[4 * step]), b = HALVES(v[step], v[5 * step]);
    const lanes8 c = HALVES(v[2 * step], v[6 * step]), d = HALVES(v[3 * step], v[7 * step]);
    const lanes8 ab = NEIGHBOURS(a, b), cd = NEIGHBOURS(c, d);
    STORE(sums, NEIGHBOURS(ab, cd));
#undef HALVES
#undef NEIGHBOURS
}
