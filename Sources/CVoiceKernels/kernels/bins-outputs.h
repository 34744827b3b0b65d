// A layer of bins for one kind of products. kinds.h includes this for each.

// `some` outputs from `first` on of `vectors` vectors of bins from `vector` on, so that a row of bins is loaded once for all of them.
TARGET VK_INLINE void KIND(tile)(
    const bins_layer *of, const int hasMemory, size_t first, const size_t some, size_t vector, const size_t vectors) {
    byte_sums sums[TILE_OUTPUTS][TILE_VECTORS];
    for (size_t v = 0; v < some; v++)
        for (size_t j = 0; j < vectors; j++) sums[v][j] = START(of->start[first + v]);
    const size_t k = VK_FIRST + SUM_LANES * vector;
    const int8_t *row = of->weights + 4 * first;
    for (size_t shift = 0; shift < 2 * of->reach + 1; shift++) {
        const uint8_t *from = of->input + 4 * (k + shift - of->reach);
        for (size_t i = 0; i < of->fours; i++, row += 4 * of->outputs, from += 4 * VK_ROW)
            for (size_t v = 0; v < some; v++)
                for (size_t j = 0; j < vectors; j++)
                    PRODUCTS(sums[v][j], BYTES(from + 4 * SUM_LANES * j), ALL(four_at(row + 4 * v)));
    }
    sum_floats made[TILE_OUTPUTS][TILE_VECTORS];
    for (size_t v = 0; v < some; v++)
        for (size_t j = 0; j < vectors; j++)
            made[v][j] = of->bias[first + v] + of->step[first + v] * __builtin_convertvector(WHOLE(sums[v][j]), sum_floats);
    if (hasMemory) {
        for (size_t v = 0; v < some; v += 2)
            remember((sum_floats *)(of->output + (first + v) / 2 * VK_ROW + k), made[v], made[v + 1], vectors);
        return;
    }
    for (size_t v = 0; v < some; v++)
        for (size_t j = 0; j < vectors; j++)
            *(sum_floats *)(of->output + (first + v) * VK_ROW + k + SUM_LANES * j) =
                of->isRectified ? __builtin_elementwise_max(made[v][j], (sum_floats){0}) : made[v][j];
}

TARGET VK_INLINE void KIND(outputs)(const bins_layer *of, const int hasMemory, size_t first, const size_t some) {
    size_t k = 0;
    for (; k + TILE_VECTORS <= VECTORS; k += TILE_VECTORS) KIND(tile)(of, hasMemory, first, some, k, TILE_VECTORS);
    if (k < VECTORS) KIND(tile)(of, hasMemory, first, some, k, VECTORS % TILE_VECTORS);
}

// The sums of the bin behind the whole vectors are of all outputs, whose weights lie side by side.
TARGET static void KIND(bins)(const bins_layer *of, const int hasMemory, int32_t *last) {
    size_t first = 0;
    for (; first + TILE_OUTPUTS <= of->outputs; first += TILE_OUTPUTS)
        if (hasMemory)
            KIND(outputs)(of, 1, first, TILE_OUTPUTS);
        else
            KIND(outputs)(of, 0, first, TILE_OUTPUTS);
    for (; first < of->outputs; first += hasMemory ? 2 : 1)
        if (hasMemory)
            KIND(outputs)(of, 1, first, 2);
        else
            KIND(outputs)(of, 0, first, 1);
    for (first = 0; first + SUM_LANES <= of->outputs; first += SUM_LANES) {
        byte_sums sums = START(0);
        const int8_t *row = of->weights + 4 * first;
        for (size_t shift = 0; shift < 2 * of->reach + 1; shift++)
            for (size_t i = 0; i < of->fours; i++, row += 4 * of->outputs) PRODUCTS(sums, ALL(four_at(last_bin(of, shift, i))), BYTES(row));
        *(sum_whole *)(last + first) = WHOLE(sums) + *(const sum_whole *)(of->start + first);
    }
    for (; first < of->outputs; first++) {
        last[first] = of->start[first];
        const int8_t *row = of->weights + 4 * first;
        for (size_t shift = 0; shift < 2 * of->reach + 1; shift++)
            for (size_t i = 0; i < of->fours; i++, row += 4 * of->outputs)
                for (size_t b = 0; b < 4; b++) last[first] += row[b] * last_bin(of, shift, i)[b];
    }
}
