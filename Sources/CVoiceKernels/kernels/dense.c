// A layer whose weights are bytes. Inputs become bytes too, of which four at a time are multiplied and added, and the sums are exact: the same
// in every variant.

#include <string.h>

#include "products.h"
#include "simd.h"

// Outputs of a layer whose weights lie together, row by row.
typedef struct {
    const uint8_t *weights;
    const float *scale, *bias;
    float *output;
    size_t outputs;
    // The next panel, as wide, is done with it.
    int isPair;
} panel;

// A layer's inputs as bytes, what one of their steps is, and what a sum begins with: what the weights are less than their bytes.
typedef struct {
    int8_t bytes[VK_MOST_INPUTS];
    size_t fours;
    float unit;
    int32_t start;
} rounded_inputs;

#define TEMPLATE "dense-outputs.h"
#include "kinds.h"

// A panel narrower than a register.
static void dense_by_one(const panel *of, const rounded_inputs *input) {
    for (size_t o = 0; o < of->outputs; o++) {
        int32_t sum = input->start;
        for (size_t i = 0; i < 4 * input->fours; i++) sum += of->weights[4 * (i / 4 * of->outputs + o) + i % 4] * input->bytes[i];
        of->output[o] = of->bias[o] + of->scale[o] * input->unit * (float)sum;
    }
}

AT_LEVEL static void round_inputs(const float *input, size_t inputs, rounded_inputs *rounded) {
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
    rounded->fours = (inputs + 3) / 4;
    memset(rounded->bytes + 4 * rounded->fours - 4, 0, 4);  // where the last four are less
    rounded->unit = largest / VK_MOST_WHOLE;
    const float scale = largest > 0 ? VK_MOST_WHOLE / largest : 0;
    int32_t sum = 0;
    for (size_t i = 0; i < inputs; i++) {
        const union {
            float value;
            int32_t bits;
        } shifted = {.value = input[i] * scale + WHOLE_IN_BITS(0)};
        rounded->bytes[i] = (int8_t)shifted.bits;
        sum += rounded->bytes[i];
    }
    rounded->start = -VK_WEIGHT_ZERO * sum;
}

void KERNEL(vk_dense)(
    const uint8_t *weights, const float *scale, const float *bias, const float *input, size_t inputs, float *output, size_t outputs) {
    rounded_inputs rounded;
    round_inputs(input, inputs, &rounded);
    for (size_t first = 0; first < outputs;) {
        const size_t left = outputs - first, together = left < 2 * VK_PANEL ? left : VK_PANEL;
        const int isPair = VK_LEVEL == 4 && together == VK_PANEL && (left == 2 * VK_PANEL || left >= 3 * VK_PANEL);
        const panel of = {weights, scale + first, bias + first, output + first, together, isPair};
        const size_t done = isPair ? 2 * together : together;
        first += done;
        weights += 4 * rounded.fours * done;
        if (together < SUM_LANES)
            dense_by_one(&of, &rounded);
        else
            CHOSEN(dense)(&of, &rounded);
    }
}
