// A layer's sums for one kind of products. kinds.h includes this for each.

// `together` registers from `first` on of a panel, so that four inputs are loaded once for all of them and no sum waits for another. After
// `in_panel` of them comes the next panel.
TARGET VK_INLINE void KIND(some)(
    const panel *of, const rounded_inputs *input, size_t first, const size_t together, const size_t in_panel) {
    const size_t next = input->fours * 4 * of->outputs;
    byte_sums sums[8];
    for (size_t v = 0; v < together; v++) sums[v] = START(input->start);
    const uint8_t *row = of->weights + 4 * first;
    for (size_t i = 0; i < input->fours; i++, row += 4 * of->outputs)
        for (size_t v = 0; v < together; v++)
            PRODUCTS(sums[v], BYTES(row + 4 * (v % in_panel) * SUM_LANES + v / in_panel * next), ALL(four_at(input->bytes + 4 * i)));
    for (size_t v = 0; v < together; v++) {
        const size_t at = first + v * SUM_LANES;
        const sum_floats scale = *(const sum_floats *)(of->scale + at) * input->unit, bias = *(const sum_floats *)(of->bias + at);
        *(sum_floats *)(of->output + at) = bias + scale * __builtin_convertvector(WHOLE(sums[v]), sum_floats);
    }
}

TARGET static void KIND(dense)(const panel *of, const rounded_inputs *input) {
    size_t first = 0;
    // A panel may be too narrow for as many sums as there are registers for.
    if (of->isPair && 8 * SUM_LANES == 2 * VK_PANEL) return KIND(some)(of, input, first, 8, 4);
    for (; first + 8 * SUM_LANES <= of->outputs; first += 8 * SUM_LANES) KIND(some)(of, input, first, 8, 8);
    for (; first + 4 * SUM_LANES <= of->outputs; first += 4 * SUM_LANES) KIND(some)(of, input, first, 4, 4);
    for (; first + 2 * SUM_LANES <= of->outputs; first += 2 * SUM_LANES) KIND(some)(of, input, first, 2, 2);
    for (; first + SUM_LANES <= of->outputs; first += SUM_LANES) KIND(some)(of, input, first, 1, 1);
    // What is left is less than a register: some outputs before it are computed again.
    if (first < of->outputs) KIND(some)(of, input, of->outputs - SUM_LANES, 1, 1);
}
