// The arithmetic of small neural networks.

#include "include/CVoiceKernels.h"
#include "simd.h"

typedef int8_t bytes8 __attribute__((vector_size(8), aligned(1)));
#define LOAD_BYTES(at) __builtin_convertvector(*(const bytes8 *)(at), lanes8)

VK_CLONES void vk_dense(
    const int8_t *weights, const float *scale, const float *bias, const float *input, size_t inputs, float *output, size_t outputs) {
    enum { TOGETHER = 4 };  // vectors of outputs, so that an input is loaded once for all of them
    size_t first = 0;
    for (; first + TOGETHER * VK_LANES <= outputs; first += TOGETHER * VK_LANES) {
        lanes8 sums[TOGETHER] = {{0}};
        for (size_t i = 0; i < inputs; i++)
            for (size_t v = 0; v < TOGETHER; v++) sums[v] += input[i] * LOAD_BYTES(weights + i * outputs + first + v * VK_LANES);
        for (size_t v = 0; v < TOGETHER; v++) {
            const size_t at = first + v * VK_LANES;
            STORE(output + at, LOAD(bias + at) + LOAD(scale + at) * sums[v]);
        }
    }
    for (; first < outputs; first += VK_LANES) {
        lanes8 sum = {0};
        for (size_t i = 0; i < inputs; i++) sum += input[i] * LOAD_BYTES(weights + i * outputs + first);
        STORE(output + first, LOAD(bias + first) + LOAD(scale + first) * sum);
    }
}

VK_CLONES void vk_each_bin(
    const float *features, size_t rows, const float *own, const float *weights, const float *bias, const float *exit, size_t units,
    float *output, size_t bins) {
    for (size_t k = 0; k < bins; k += VK_LANES) {
        lanes8 sum = LOAD(output + k);
        for (size_t r = 0; r < rows; r++) sum += LOAD(own + r * bins + k) * LOAD(features + r * bins + k);
        for (size_t u = 0; u < units; u++) {
            lanes8 unit = bias[u] - (lanes8){0};
            for (size_t r = 0; r < rows; r++) unit += weights[r * units + u] * LOAD(features + r * bins + k);
            sum += exit[u] * __builtin_elementwise_max(unit, (lanes8){0});
        }
        STORE(output + k, sum);
    }
}
