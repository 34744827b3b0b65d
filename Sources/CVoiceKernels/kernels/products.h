// Sums of products of bytes, four of them in each sum of 32 bits: unsigned bytes times signed ones, as processors have it.
//
//   byte_sums          a register of SUM_LANES sums; registers of bytes have four for each
//   BYTES(at)          those in memory
//   ALL(four)          the same four, in 32 bits, for each sum
//   START(whole)       that number in each sum
//   WHOLE(sums)        what they have become
//   ADD, ADD_VNNI      (sums, u, s) adds to each sum its four of u's bytes times those of s
//
// No two products may exceed 16 bits, where `pmaddubsw` cuts off: layers round their inputs to VK_MOST_WHOLE for that.
#pragma once

#include <string.h>

#include "simd.h"

#if VK_LEVEL == 4
enum { SUM_LANES = 16 };
#elif VK_LEVEL == 3 || !(defined(__x86_64__) || defined(__ARM_NEON))
enum { SUM_LANES = 8 };
#else
enum { SUM_LANES = 4 };
#endif
typedef float sum_floats __attribute__((vector_size(4 * SUM_LANES), aligned(4)));
typedef int32_t sum_whole __attribute__((vector_size(4 * SUM_LANES), aligned(4)));
typedef uint32_t sum_bits __attribute__((vector_size(4 * SUM_LANES), aligned(4)));

#if defined(__x86_64__)
#include <immintrin.h>

#define WHOLE(sums) ((sum_whole)(sums))

#if VK_LEVEL == 4
typedef __m512i byte_sums;
#define BYTES(at) _mm512_loadu_si512(at)
#define ALL(four) _mm512_set1_epi32(four)
#define ADD_VNNI(sums, u, s) sums = _mm512_dpbusd_epi32(sums, u, s)
#define ADD(sums, u, s) sums = _mm512_add_epi32(sums, _mm512_madd_epi16(_mm512_maddubs_epi16(u, s), _mm512_set1_epi16(1)))
#elif VK_LEVEL == 3
typedef __m256i byte_sums;
#define BYTES(at) _mm256_loadu_si256((const __m256i_u *)(at))
#define ALL(four) _mm256_set1_epi32(four)
#define ADD_VNNI(sums, u, s) sums = _mm256_dpbusd_avx_epi32(sums, u, s)
#define ADD(sums, u, s) sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_maddubs_epi16(u, s), _mm256_set1_epi16(1)))
#else
typedef __m128i byte_sums;
#define BYTES(at) _mm_loadu_si128((const __m128i_u *)(at))
#define ALL(four) _mm_set1_epi32(four)
// Every second byte becomes a word, twice.
#define LOW_PRODUCTS(u, s) _mm_madd_epi16(_mm_and_si128(u, _mm_set1_epi16(255)), _mm_srai_epi16(_mm_slli_epi16(s, 8), 8))
#define HIGH_PRODUCTS(u, s) _mm_madd_epi16(_mm_srli_epi16(u, 8), _mm_srai_epi16(s, 8))
#define ADD(sums, u, s) sums = _mm_add_epi32(_mm_add_epi32(sums, LOW_PRODUCTS(u, s)), HIGH_PRODUCTS(u, s))
#endif
#define START(whole) ALL(whole)

#elif defined(__ARM_NEON)
#include <arm_neon.h>

// Two registers: a sum is of two neighbours, one for every second byte.
typedef int32x4x2_t byte_sums;
#define BYTES(at) vld1q_s8((const int8_t *)(at))
#define ALL(four) vreinterpretq_s8_s32(vdupq_n_s32(four))
#define START(whole) start_with(whole)
#define WHOLE(sums) ((sum_whole)vpaddq_s32((sums).val[0], (sums).val[1]))
#define ADD(sums, u, s) sums = add_bytes(sums, u, s)

VK_INLINE byte_sums start_with(int32_t whole) {
    const int32_t halves[] = {whole, 0, whole, 0};
    return (byte_sums){{vld1q_s32(halves), vld1q_s32(halves)}};
}

VK_INLINE byte_sums add_words(byte_sums sums, int16x8_t u, int16x8_t s) {
    sums.val[0] = vmlal_s16(sums.val[0], vget_low_s16(u), vget_low_s16(s));
    sums.val[1] = vmlal_s16(sums.val[1], vget_high_s16(u), vget_high_s16(s));
    return sums;
}

VK_INLINE byte_sums add_bytes(byte_sums sums, int8x16_t u, int8x16_t s) {
    const uint16x8_t words = vreinterpretq_u16_s8(u);
    const int16x8_t signed_words = vreinterpretq_s16_s8(s);
    sums = add_words(sums, vreinterpretq_s16_u16(vandq_u16(words, vdupq_n_u16(255))), vshrq_n_s16(vshlq_n_s16(signed_words, 8), 8));
    return add_words(sums, vreinterpretq_s16_u16(vshrq_n_u16(words, 8)), vshrq_n_s16(signed_words, 8));
}

#else
typedef sum_whole byte_sums;
typedef struct {
    uint8_t of[4 * SUM_LANES];
} sum_bytes;
#define BYTES(at) bytes_at(at)
#define ALL(four) bytes_of((four) + (sum_whole){0})
#define START(whole) ((whole) + (sum_whole){0})
#define WHOLE(sums) (sums)
#define ADD(sums, u, s) sums += products(u, s)

VK_INLINE sum_bytes bytes_at(const void *at) {
    sum_bytes bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

VK_INLINE sum_bytes bytes_of(sum_whole fours) { return bytes_at(&fours); }

VK_INLINE sum_whole products(sum_bytes u, sum_bytes s) {
    sum_whole sums = {0};
    for (size_t i = 0; i < sizeof u.of; i++) sums[i / 4] += u.of[i] * (int8_t)s.of[i];
    return sums;
}
#endif

VK_INLINE int32_t four_at(const void *at) {
    int32_t four;
    memcpy(&four, at, sizeof four);
    return four;
}

// What kinds.h made of that name for this processor.
#if defined(VNNI)
#define CHOSEN(name) (HAS_VNNI ? name##_vnni : name##_plain)
#else
#define CHOSEN(name) name##_plain
#endif

// 3 * 2^22, added to a small number: its nearest whole one, and `more`, then stand in the last bits.
#define WHOLE_IN_BITS(more) (12582912.0f + (more))
