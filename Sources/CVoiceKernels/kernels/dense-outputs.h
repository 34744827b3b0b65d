// A layer's sums for one kind of registers. dense.c includes this once for each, with these macros:
//
//   NAME, TARGET        of the function that is made
//   SUMS, STEP          a register of STEP whole numbers
//   MULTIPLY(sums, at, pair)   adds to the sums what a pair of inputs makes of the STEP pairs of weights at `at`

#define JOINED(name, part) name##part
#define EXPANDED(name, part) JOINED(name, part)
#define FLOATS EXPANDED(NAME, _floats)
#define WHOLE EXPANDED(NAME, _whole)
#define SOME EXPANDED(NAME, _some)

typedef float FLOATS __attribute__((vector_size(4 * STEP), aligned(4)));
typedef int32_t WHOLE __attribute__((vector_size(4 * STEP), aligned(4)));

// `together` registers from `first` on, so that a pair is loaded once for all of them and no sum waits for another.
TARGET VK_INLINE void SOME(const layer *of, const int16_t *input, float unit, float *output, size_t first, const size_t together) {
    SUMS sums[8];
    memset(sums, 0, sizeof sums);
    const int8_t *row = of->weights + 2 * first;
    for (size_t i = 0; i < of->inputs; i += 2, row += 2 * of->outputs) {
        int32_t pair;
        memcpy(&pair, input + i, sizeof pair);
        for (size_t v = 0; v < together; v++) MULTIPLY(sums[v], row + 2 * v * STEP, pair);
    }
    for (size_t v = 0; v < together; v++) {
        const size_t at = first + v * STEP;
        WHOLE whole;
        memcpy(&whole, &sums[v], sizeof whole);
        const FLOATS scale = *(const FLOATS *)(of->scale + at) * unit, bias = *(const FLOATS *)(of->bias + at);
        *(FLOATS *)(output + at) = bias + scale * __builtin_convertvector(whole, FLOATS);
    }
}

TARGET static void NAME(const layer *of, const int16_t *input, float unit, float *output) {
    size_t first = 0;
    for (; first + 8 * STEP <= of->outputs; first += 8 * STEP) SOME(of, input, unit, output, first, 8);
    for (; first + 4 * STEP <= of->outputs; first += 4 * STEP) SOME(of, input, unit, output, first, 4);
    for (; first + 2 * STEP <= of->outputs; first += 2 * STEP) SOME(of, input, unit, output, first, 2);
    for (; first + STEP <= of->outputs; first += STEP) SOME(of, input, unit, output, first, 1);
    // What is left is less than a register: some outputs before it are computed again.
    if (first < of->outputs) SOME(of, input, unit, output, of->outputs - STEP, 1);
}

#undef SOME
#undef WHOLE
#undef FLOATS
#undef EXPANDED
#undef JOINED
#undef NAME
#undef TARGET
#undef SUMS
#undef STEP
#undef MULTIPLY
