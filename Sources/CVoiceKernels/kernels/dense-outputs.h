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

// `together` registers from `first` on of a panel, so that a pair is loaded once for all of them and no sum waits for another. After
// `in_panel` of them comes the next panel.
TARGET VK_INLINE void SOME(const panel *of, const int16_t *input, float unit, size_t first, const size_t together, const size_t in_panel) {
    const size_t next = (of->inputs + 1) / 2 * 2 * of->outputs;
    SUMS sums[8];
    memset(sums, 0, sizeof sums);
    const int8_t *row = of->weights + 2 * first;
    for (size_t i = 0; i < of->inputs; i += 2, row += 2 * of->outputs) {
        int32_t pair;
        memcpy(&pair, input + i, sizeof pair);
        for (size_t v = 0; v < together; v++) MULTIPLY(sums[v], row + 2 * (v % in_panel) * STEP + v / in_panel * next, pair);
    }
    for (size_t v = 0; v < together; v++) {
        const size_t at = first + v * STEP;
        WHOLE whole;
        memcpy(&whole, &sums[v], sizeof whole);
        const FLOATS scale = *(const FLOATS *)(of->scale + at) * unit, bias = *(const FLOATS *)(of->bias + at);
        *(FLOATS *)(of->output + at) = bias + scale * __builtin_convertvector(whole, FLOATS);
    }
}

TARGET static void NAME(const panel *of, const int16_t *input, float unit) {
    size_t first = 0;
    // A panel may be too narrow for as many sums as there are registers for.
    if (of->isPair && 8 * STEP == 2 * VK_PANEL) return SOME(of, input, unit, first, 8, 4);
    for (; first + 8 * STEP <= of->outputs; first += 8 * STEP) SOME(of, input, unit, first, 8, 8);
    for (; first + 4 * STEP <= of->outputs; first += 4 * STEP) SOME(of, input, unit, first, 4, 4);
    for (; first + 2 * STEP <= of->outputs; first += 2 * STEP) SOME(of, input, unit, first, 2, 2);
    for (; first + STEP <= of->outputs; first += STEP) SOME(of, input, unit, first, 1, 1);
    // What is left is less than a register: some outputs before it are computed again.
    if (first < of->outputs) SOME(of, input, unit, of->outputs - STEP, 1, 1);
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
