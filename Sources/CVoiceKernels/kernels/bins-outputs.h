// A layer of bins for one kind of instructions. network.c includes this once for each, with these macros:
//
//   NAME, TARGET        of the function that is made
//   MULTIPLY(sums, at, pair)   adds to the sums what a pair of numbers makes of the ROW_LANES pairs at `at`

#define JOINED(name, part) name##part
#define EXPANDED(name, part) JOINED(name, part)
#define TILE EXPANDED(NAME, _tile)
#define SOME EXPANDED(NAME, _some)

// `some` outputs from `first` on of `vectors` vectors of bins from `vector` on, so that a row of bins is loaded once for all of them.
TARGET VK_INLINE void TILE(
    const bins_layer *of, const int hasMemory, size_t first, const size_t some, size_t vector, const size_t vectors) {
    row_sums sums[TILE_OUTPUTS][TILE_VECTORS];
    memset(sums, 0, sizeof sums);
    const size_t k = VK_FIRST + ROW_LANES * vector;
    const int16_t *row = of->weights + 2 * first;
    for (size_t shift = 0; shift < 2 * of->reach + 1; shift++) {
        const int16_t *from = of->input + 2 * (k + shift - of->reach);
        for (size_t i = 0; i < of->pairs; i++, row += 2 * of->outputs, from += 2 * VK_ROW)
            for (size_t v = 0; v < some; v++) {
                const int32_t pair = pair_at(row + 2 * v);
                for (size_t j = 0; j < vectors; j++) MULTIPLY(sums[v][j], from + 2 * ROW_LANES * j, pair);
            }
    }
    row_vector made[TILE_OUTPUTS][TILE_VECTORS];
    for (size_t v = 0; v < some; v++)
        for (size_t j = 0; j < vectors; j++) {
            row_whole whole;
            memcpy(&whole, &sums[v][j], sizeof whole);
            made[v][j] = of->bias[first + v] + of->step[first + v] * __builtin_convertvector(whole, row_vector);
        }
    if (hasMemory) {
        for (size_t v = 0; v < some; v += 2)
            remember((row_vector *)(of->output + (first + v) / 2 * VK_ROW + k), made[v], made[v + 1], vectors);
        return;
    }
    for (size_t v = 0; v < some; v++)
        for (size_t j = 0; j < vectors; j++)
            *(row_vector *)(of->output + (first + v) * VK_ROW + k + ROW_LANES * j) =
                of->isRectified ? __builtin_elementwise_max(made[v][j], (row_vector){0}) : made[v][j];
}

TARGET VK_INLINE void SOME(const bins_layer *of, const int hasMemory, size_t first, const size_t some) {
    size_t k = 0;
    for (; k + TILE_VECTORS <= VECTORS; k += TILE_VECTORS) TILE(of, hasMemory, first, some, k, TILE_VECTORS);
    if (k < VECTORS) TILE(of, hasMemory, first, some, k, VECTORS % TILE_VECTORS);
}

// The sums of the bin behind the whole vectors are of all outputs, whose weights lie side by side.
TARGET static void NAME(const bins_layer *of, const int hasMemory, int32_t *last) {
    size_t first = 0;
    for (; first + TILE_OUTPUTS <= of->outputs; first += TILE_OUTPUTS)
        if (hasMemory)
            SOME(of, 1, first, TILE_OUTPUTS);
        else
            SOME(of, 0, first, TILE_OUTPUTS);
    for (; first < of->outputs; first += hasMemory ? 2 : 1)
        if (hasMemory)
            SOME(of, 1, first, 2);
        else
            SOME(of, 0, first, 1);
    for (first = 0; first + ROW_LANES <= of->outputs; first += ROW_LANES) {
        row_sums sums;
        memset(&sums, 0, sizeof sums);
        const int16_t *row = of->weights + 2 * first;
        for (size_t shift = 0; shift < 2 * of->reach + 1; shift++)
            for (size_t i = 0; i < of->pairs; i++, row += 2 * of->outputs)
                MULTIPLY(sums, row, pair_at(last_bin(of, shift, i)));
        memcpy(last + first, &sums, sizeof sums);
    }
    for (; first < of->outputs; first++) {
        int32_t sum = 0;
        const int16_t *row = of->weights + 2 * first;
        for (size_t shift = 0; shift < 2 * of->reach + 1; shift++)
            for (size_t i = 0; i < of->pairs; i++, row += 2 * of->outputs)
                sum += row[0] * last_bin(of, shift, i)[0] + row[1] * last_bin(of, shift, i)[1];
        last[first] = sum;
    }
}

#undef SOME
#undef TILE
#undef EXPANDED
#undef JOINED
#undef NAME
#undef TARGET
#undef MULTIPLY
