// A layer whose weights are bytes. Inputs become whole numbers of 16 bits, of which two at a time are multiplied and added, and the sums
// are exact: the same in every variant.

#include <string.h>

#include "simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// Outputs of a layer whose weights lie together, row by row.
typedef struct {
    const int8_t *weights;
    const float *scale, *bias;
    float *output;
    size_t inputs, outputs;
    // The next panel, as wide, is done with it.
    int isPair;
} panel;

#if defined(__x86_64__)

#define BYTES(Register, at) (*(const Register *)(at))
typedef __m128i bytes16 __attribute__((aligned(1)));
typedef __m256i bytes32 __attribute__((aligned(1)));

#if VK_LEVEL == 4
#define NAME dense_vnni
#define TARGET FOR("arch=x86-64-v4,avx512vnni")
#define SUMS __m512i
#define STEP 16
#define MULTIPLY(sums, at, pair) sums = _mm512_dpwssd_epi32(sums, _mm512_cvtepi8_epi16(BYTES(bytes32, at)), _mm512_set1_epi32(pair))
#include "dense-outputs.h"

#define NAME dense_v4
#define TARGET FOR("arch=x86-64-v4")
#define SUMS __m512i
#define STEP 16
#define MULTIPLY(sums, at, pair) \
    sums = _mm512_add_epi32(sums, _mm512_madd_epi16(_mm512_cvtepi8_epi16(BYTES(bytes32, at)), _mm512_set1_epi32(pair)))
#include "dense-outputs.h"
#endif

#if VK_LEVEL >= 3
#if VK_LEVEL == 3
#define NAME dense_vnni
#define TARGET FOR("arch=x86-64-v3,avxvnni")
#define SUMS __m256i
#define STEP 8
#define MULTIPLY(sums, at, pair) \
    sums = _mm256_dpwssd_avx_epi32(sums, _mm256_cvtepi8_epi16(BYTES(bytes16, at)), _mm256_set1_epi32(pair))
#include "dense-outputs.h"
#endif

#define NAME dense_v3
#define TARGET FOR("arch=x86-64-v3")
#define SUMS __m256i
#define STEP 8
#define MULTIPLY(sums, at, pair) \
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_cvtepi8_epi16(BYTES(bytes16, at)), _mm256_set1_epi32(pair)))
#include "dense-outputs.h"
#endif

#if VK_LEVEL == 1
// Bytes in the upper halves of words, moved down with their sign.
VK_INLINE __m128i words(const int8_t *at) {
    const __m128i bytes = _mm_loadl_epi64((const __m128i *)at);
    return _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
}

#define NAME dense_plain
#define TARGET
#define SUMS __m128i
#define STEP 4
#define MULTIPLY(sums, at, pair) sums = _mm_add_epi32(sums, _mm_madd_epi16(words(at), _mm_set1_epi32(pair)))
#include "dense-outputs.h"
#endif

#elif defined(__ARM_NEON)

#define NAME dense_plain
#define TARGET
#define SUMS int32x4x2_t
#define STEP 8
#define MULTIPLY(sums, at, pair) sums = multiply(sums, at, pair)

VK_INLINE int32x4x2_t multiply(int32x4x2_t sums, const int8_t *at, int32_t pair) {
    const int8x8x2_t bytes = vld2_s8(at);
    const int16x8_t even = vmovl_s8(bytes.val[0]), odd = vmovl_s8(bytes.val[1]);
    const int16x4_t x = vreinterpret_s16_s32(vdup_n_s32(pair));
    sums.val[0] = vmlal_lane_s16(vmlal_lane_s16(sums.val[0], vget_low_s16(even), x, 0), vget_low_s16(odd), x, 1);
    sums.val[1] = vmlal_lane_s16(vmlal_lane_s16(sums.val[1], vget_high_s16(even), x, 0), vget_high_s16(odd), x, 1);
    return sums;
}
#include "dense-outputs.h"

#else

static void dense_plain(const panel *of, const int16_t *input, float unit) {
    for (size_t o = 0; o < of->outputs; o++) {
        int32_t sum = 0;
        for (size_t i = 0; i < of->inputs; i++) sum += of->weights[2 * (i / 2 * of->outputs + o) + i % 2] * input[i];
        of->output[o] = of->bias[o] + of->scale[o] * unit * (float)sum;
    }
}

#endif

// Inputs as whole numbers, and what one of their steps is. The largest is at most so large that no sum of all products exceeds 31 bits.
AT_LEVEL static float quantise(const float *input, size_t inputs, int16_t *whole) {
    const float most = inputs * 127 * 32767 < INT32_MAX ? 32767 : (float)(INT32_MAX / 127 / inputs);
    lanes8 magnitudes = {0};
    size_t rest = 0;
    for (; rest + VK_LANES <= inputs; rest += VK_LANES)
        magnitudes = __builtin_elementwise_max(magnitudes, __builtin_elementwise_abs(LOAD(input + rest)));
    float largest = 0;
    for (size_t v = 0; v < VK_LANES; v++) largest = magnitudes[v] > largest ? magnitudes[v] : largest;
    for (; rest < inputs; rest++) {
        const float magnitude = __builtin_fabsf(input[rest]);
        largest = magnitude > largest ? magnitude : largest;
    }
    if (largest == 0) {
        memset(whole, 0, inputs * sizeof *whole);
        return 0;
    }
    // Added to 3 * 2^22 a number's nearest whole one stands in the last bits.
    const float scale = most / largest;
    for (size_t i = 0; i < inputs; i++) {
        const union {
            float value;
            int32_t bits;
        } shifted = {.value = input[i] * scale + 12582912.0f};
        whole[i] = (int16_t)shifted.bits;
    }
    return largest / most;
}

void KERNEL(vk_dense)(
    const int8_t *weights, const float *scale, const float *bias, const float *input, size_t inputs, float *output, size_t outputs) {
    int16_t whole[VK_MOST_INPUTS + 1];
    whole[inputs] = 0;  // half a pair, where the number is odd
    const float unit = quantise(input, inputs, whole);
    for (size_t first = 0; first < outputs;) {
        const size_t left = outputs - first, together = left < 2 * VK_PANEL ? left : VK_PANEL;
        const int isPair = VK_LEVEL == 4 && together == VK_PANEL && (left == 2 * VK_PANEL || left >= 3 * VK_PANEL);
        const panel of = {weights, scale + first, bias + first, output + first, inputs, together, isPair};
        first += isPair ? 2 * together : together;
        weights += (inputs + 1) / 2 * 2 * (isPair ? 2 * together : together);
#if VK_LEVEL == 4
        if (together >= 16) {
            if (HAS_VNNI)
                dense_vnni(&of, whole, unit);
            else
                dense_v4(&of, whole, unit);
            continue;
        }
#endif
#if VK_LEVEL == 3
        if (HAS_VNNI) {
            dense_vnni(&of, whole, unit);
            continue;
        }
#endif
#if VK_LEVEL >= 3
        dense_v3(&of, whole, unit);
#else
        dense_plain(&of, whole, unit);
#endif
    }
}
