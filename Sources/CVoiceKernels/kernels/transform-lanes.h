// The passes of VK_FRAMES' transform, and what is made of them, for vectors of LANES signals. transform.c includes this once for each width.

#define JOINED(name, lanes) name##lanes
#define EXPANDED(name, lanes) JOINED(name, lanes)
#define NAMED(name) EXPANDED(name, LANES)
#define V NAMED(lanes)
#define GET(at) (*(const V *)(at))
#define PUT(at, value) (*(V *)(at) = (value))

typedef struct {
    _Alignas(64) V re[HALF];
    _Alignas(64) V im[HALF];
} NAMED(signal);

#define SIGNAL NAMED(signal)

typedef int32_t NAMED(whole) __attribute__((vector_size(4 * LANES)));

#define TURN(out_re, out_im, a_re, a_im, index)                                         \
    do {                                                                                \
        const float c_ = tables[COMPLEX_COS + (index)], s_ = tables[COMPLEX_SIN + (index)]; \
        out_re = (a_re) * c_ - (a_im) * s_;                                             \
        out_im = (a_re) * s_ + (a_im) * c_;                                             \
    } while (0)

// Four points of x, `step` apart.
VK_INLINE void NAMED(four)(const V *x_re, const V *x_im, int step, V *re, V *im) {
    const V ar = x_re[0], br = x_re[step], cr = x_re[2 * step], dr = x_re[3 * step];
    const V ai = x_im[0], bi = x_im[step], ci = x_im[2 * step], di = x_im[3 * step];
    const V ur = ar + cr, ui = ai + ci, vr = ar - cr, vi = ai - ci;
    const V wr = br + dr, wi = bi + di, zr = bi - di, zi = dr - br; /* -i (b - d) */
    re[0] = ur + wr;
    im[0] = ui + wi;
    re[1] = vr + zr;
    im[1] = vi + zi;
    re[2] = ur - wr;
    im[2] = ui - wi;
    re[3] = vr - zr;
    im[3] = vi - zi;
}

// One pass over `length` = radix * m points, of which `s` interleaved ones are alike.
VK_INLINE void NAMED(pass4)(const float *tables, const SIGNAL *x, SIGNAL *y, int length, int s) {
    const int m = length / 4;
    V re[4], im[4];
    for (int q = 0; q < s; q++) {
        NAMED(four)(x->re + q, x->im + q, s * m, re, im);
        for (int j = 0; j < 4; j++) {
            y->re[q + j * s] = re[j];
            y->im[q + j * s] = im[j];
        }
    }
    for (int p = 1; p < m; p++)
        for (int q = 0; q < s; q++) {
            const int o = q + 4 * s * p;
            NAMED(four)(x->re + q + s * p, x->im + q + s * p, s * m, re, im);
            y->re[o] = re[0];
            y->im[o] = im[0];
            for (int j = 1; j < 4; j++) TURN(y->re[o + j * s], y->im[o + j * s], re[j], im[j], j * p * s);
        }
}

// The first pass alone has radix 5, so its stride is 1. Winograd's form: five points with five multiplications. From the points a, and the
// sums and differences of the second and the fifth, the third and the fourth.
#define BUTTERFLY5(p, out_re, out_im)                                                                                             \
    do {                                                                                                                          \
        const float c1 = 0.309016994f, c2 = -0.809016994f, s1 = 0.951056516f, s2 = 0.587785252f; /* cos, sin of 72, 144 degrees */\
        const V fr = ar + c1 * br + c2 * cr, fi = ai + c1 * bi + c2 * ci;                                                         \
        const V gr = ar + c2 * br + c1 * cr, gi = ai + c2 * bi + c1 * ci;                                                         \
        const V hr = s1 * di + s2 * ei, hi = -s1 * dr - s2 * er; /* -i (s1 d + s2 e) */                                           \
        const V kr = s2 * di - s1 * ei, ki = -s2 * dr + s1 * er;                                                                  \
        (out_re)[0] = ar + br + cr;                                                                                               \
        (out_im)[0] = ai + bi + ci;                                                                                               \
        TURN((out_re)[1], (out_im)[1], fr + hr, fi + hi, p);                                                                      \
        TURN((out_re)[2], (out_im)[2], gr + kr, gi + ki, 2 * (p));                                                                \
        TURN((out_re)[3], (out_im)[3], gr - kr, gi - ki, 3 * (p));                                                                \
        TURN((out_re)[4], (out_im)[4], fr - hr, fi - hi, 4 * (p));                                                                \
    } while (0)

// The group of points p, p + 32, ... p + 128.
VK_INLINE void NAMED(five)(const float *tables, const V *re, const V *im, int p, V *out_re, V *out_im) {
    const V ar = re[0], ai = im[0];
    const V br = re[1] + re[4], bi = im[1] + im[4], cr = re[2] + re[3], ci = im[2] + im[3];
    const V dr = re[1] - re[4], di = im[1] - im[4], er = re[2] - re[3], ei = im[2] - im[3];
    BUTTERFLY5(p, out_re, out_im);
}

// Frame pair n, for n < HALF / 2, of what was transformed all but the last pass; conjugated.
#define FRAME_RE(n) (x->re[n] + x->re[(n) + HALF / 2])
#define FRAME_IM(n) (-(x->im[n] + x->im[(n) + HALF / 2]))

// The last pass of one transform and the first of the next, with silence in place of the second half between them: of five points the last
// two are none, and of the third only half.
VK_INLINE void NAMED(pass_half)(const float *tables, const SIGNAL *x, SIGNAL *y) {
    const int m = HALF / 5;
    for (int p = 0; p < HALF / 2 - 2 * m; p++) {
        const V ar = FRAME_RE(p), ai = FRAME_IM(p);
        const V br = FRAME_RE(p + m), bi = FRAME_IM(p + m), cr = FRAME_RE(p + 2 * m), ci = FRAME_IM(p + 2 * m);
        const V dr = br, di = bi, er = cr, ei = ci;
        BUTTERFLY5(p, y->re + 5 * p, y->im + 5 * p);
    }
    const V cr = {0}, ci = {0}, er = {0}, ei = {0};
    for (int p = HALF / 2 - 2 * m; p < m; p++) {
        const V ar = FRAME_RE(p), ai = FRAME_IM(p), br = FRAME_RE(p + m), bi = FRAME_IM(p + m), dr = br, di = bi;
        BUTTERFLY5(p, y->re + 5 * p, y->im + 5 * p);
    }
}

// LANES lanes of a real signal's spectrum, the step of a filter: of bin k variance * conj(reference) * error * gain.
typedef struct {
    const float *real, *imaginary;
    const vk_path *of;
    size_t lane;
} NAMED(source);

VK_INLINE void NAMED(get)(const NAMED(source) *from, int k, V *re, V *im) {
    const vk_path *const of = from->of;
    const V xr = GET(of->x_real + k * of->x_stride + from->lane), xi = GET(of->x_imaginary + k * of->x_stride + from->lane);
    const V variance = GET(of->variance + k * of->lanes + from->lane);
    *re = variance * (xr * from->real[k] + xi * from->imaginary[k]);
    *im = variance * (xr * from->imaginary[k] - xi * from->real[k]);
}

// Points k and HALF - k of the complex spectrum whose inverse transform has the even frames as real and the odd ones as imaginary parts, from
// the same bins of the real signal's. Conjugated, so that a forward transform does the inverse.
VK_INLINE void NAMED(join)(const float *tables, const NAMED(source) *from, int k, V *re, V *im, V *mirror_re, V *mirror_im) {
    V ar, ai, br, bi;
    NAMED(get)(from, k, &ar, &ai);
    NAMED(get)(from, HALF - k, &br, &bi);
    const float c = tables[REAL_COS + k], s = tables[REAL_SIN + k];
    const V er = ar + br, ei = ai - bi, dr = ar - br, di = ai + bi;
    const V tr = di * c - dr * s, ti = dr * c + di * s;
    *re = er - tr;
    *im = -ei - ti;
    *mirror_re = er + tr;
    *mirror_im = ei - ti;
}

// What a real signal's spectrum becomes by that and by the first pass. Points that are each other's mirrors are in the same group or in two
// groups, p and HALF / 5 - p.
VK_INLINE void NAMED(join_pass5)(const float *tables, const NAMED(source) *from, SIGNAL *y) {
    const int m = HALF / 5;
    V re[5], im[5], mirror_re[5], mirror_im[5], none_re, none_im;
    NAMED(join)(tables, from, 0, &re[0], &im[0], &none_re, &none_im);
    NAMED(join)(tables, from, m, &re[1], &im[1], &re[4], &im[4]);
    NAMED(join)(tables, from, 2 * m, &re[2], &im[2], &re[3], &im[3]);
    NAMED(five)(tables, re, im, 0, y->re, y->im);
    for (int p = 1; p < m / 2; p++) {
        for (int j = 0; j < 5; j++) NAMED(join)(tables, from, p + j * m, &re[j], &im[j], &mirror_re[4 - j], &mirror_im[4 - j]);
        NAMED(five)(tables, re, im, p, y->re + 5 * p, y->im + 5 * p);
        NAMED(five)(tables, mirror_re, mirror_im, m - p, y->re + 5 * (m - p), y->im + 5 * (m - p));
    }
    NAMED(join)(tables, from, m / 2, &re[0], &im[0], &re[4], &im[4]);
    NAMED(join)(tables, from, m / 2 + m, &re[1], &im[1], &re[3], &im[3]);
    NAMED(join)(tables, from, HALF / 2, &re[2], &im[2], &none_re, &none_im);
    NAMED(five)(tables, re, im, m / 2, y->re + 5 * (m / 2), y->im + 5 * (m / 2));
}

// What vk_learn does with the constrained step of bin k.
typedef struct {
    const vk_path *of;
    size_t lane;
    const float *gain;  // halved, times `keep`
    float keep, renew;
    lanes8 *sums;
} NAMED(learner);

VK_INLINE void NAMED(step)(const NAMED(learner) *is, int k, const V *step) {
    const vk_path *const of = is->of;
    const V least = 1e-9f - (V){0};  // so that no bin stops learning
    const size_t at = k * of->lanes + is->lane;
    const V wr = GET(of->w_real + at) + step[0], wi = GET(of->w_imaginary + at) + step[1];
    const V xr = GET(of->x_real + k * of->x_stride + is->lane), xi = GET(of->x_imaginary + k * of->x_stride + is->lane);
    const V p = GET(of->variance + at);
    const V next = (is->keep - is->gain[k] * (p * (xr * xr + xi * xi))) * p + is->renew * (wr * wr + wi * wi);
    PUT(of->w_real + at, wr);
    PUT(of->w_imaginary + at, wi);
    PUT(of->variance + at, __builtin_elementwise_max(next, least));
    if (!is->sums) return;
    const V re = xr * wr - xi * wi, im = xr * wi + xi * wr;
    is->sums[2 * k] += FOLD(re);
    is->sums[2 * k + 1] += FOLD(im);
}

// The spectrum of the real signal, bins k and HALF - k, from those points, a and b, of half the complex one whose parts are its even and its odd
// frames.
VK_INLINE void NAMED(split)(const float *tables, const NAMED(learner) *is, int k, const V *a, const V *b) {
    const float c = tables[REAL_COS + k], s = tables[REAL_SIN + k];
    const V er = a[0] + b[0], ei = a[1] - b[1], or_ = a[1] + b[1], oi = b[0] - a[0];
    const V tr = or_ * c - oi * s, ti = or_ * s + oi * c;
    const V step[] = {er + tr, ei + ti}, mirror[] = {er - tr, ti - ei};
    NAMED(step)(is, k, step);
    if (k != HALF / 2) NAMED(step)(is, HALF - k, mirror);
}

// The last pass of the transform: points k and k + HALF / 2.
VK_INLINE void NAMED(last)(const SIGNAL *x, int k, V *sum, V *difference) {
    sum[0] = x->re[k] + x->re[k + HALF / 2];
    sum[1] = x->im[k] + x->im[k + HALF / 2];
    difference[0] = x->re[k] - x->re[k + HALF / 2];
    difference[1] = x->im[k] - x->im[k + HALF / 2];
}

// vk_learn for LANES lanes from `lane` on; the new estimate's summands are added to `sums`, a vector of 8 for each bin's real and imaginary
// part, unless that is null. The errors are weighed, and scaled by a quarter of the points' number.
VK_INLINE void NAMED(learn)(
    const float *tables, const vk_path *of, size_t lane, const float *error_real, const float *error_imaginary, const float *gain,
    float keep, lanes8 *sums) {
    SIGNAL y, work;
    const NAMED(source) from = {error_real, error_imaginary, of, lane};
    NAMED(join_pass5)(tables, &from, &work);
    NAMED(pass4)(tables, &work, &y, 32, 5);
    NAMED(pass4)(tables, &y, &work, 8, 20);
    NAMED(pass_half)(tables, &work, &y);
    NAMED(pass4)(tables, &y, &work, 32, 5);
    NAMED(pass4)(tables, &work, &y, 8, 20);
    // Points whose mirrors come of the same two passes are done together.
    const NAMED(learner) is = {of, lane, gain, keep, 1 - keep, sums};
    V low[2], high[2], other_low[2], other_high[2];
    NAMED(last)(&y, 0, low, high);
    NAMED(split)(tables, &is, 0, low, low);
    NAMED(split)(tables, &is, HALF / 2, high, high);
    for (int k = 1; k < HALF / 4; k++) {
        const int other = HALF / 2 - k;
        NAMED(last)(&y, k, low, high);
        NAMED(last)(&y, other, other_low, other_high);
        NAMED(split)(tables, &is, k, low, other_high);
        NAMED(split)(tables, &is, other, other_low, high);
    }
    NAMED(last)(&y, HALF / 4, low, high);
    NAMED(split)(tables, &is, HALF / 4, low, high);
}

// Point k of the complex spectrum of which `join` speaks, of VK_SEARCHED_BINS rows of VK_SEARCHED lanes: above those there is silence, so few
// points are of two bins.
VK_INLINE void NAMED(point)(const float *tables, const float *real, const float *imaginary, int k, V *re, V *im) {
    const float c = tables[REAL_COS + k], s = tables[REAL_SIN + k];
    *re = *im = (V){0};
    if (k < VK_SEARCHED_BINS) {
        const V ar = GET(real + k * VK_SEARCHED), ai = GET(imaginary + k * VK_SEARCHED);
        *re = ar + s * ar - c * ai;
        *im = -ai - s * ai - c * ar;
    }
    if (HALF - k < VK_SEARCHED_BINS) {
        const V br = GET(real + (HALF - k) * VK_SEARCHED), bi = GET(imaginary + (HALF - k) * VK_SEARCHED);
        *re += br - s * br - c * bi;
        *im += bi - s * bi + c * br;
    }
}

// The first two passes of those points: four groups of five, then fours of one of each group.
VK_INLINE void NAMED(first_passes)(const float *tables, const float *real, const float *imaginary, SIGNAL *y) {
    enum { GROUPS = HALF / 5, ROUNDS = GROUPS / 4 };
    for (int round = 0; round < ROUNDS; round++) {
        _Alignas(64) V five_re[20], five_im[20], re[5], im[5];
        UNROLLED for (int j = 0; j < 4; j++) {
            const int p = round + ROUNDS * j;
            UNROLLED for (int i = 0; i < 5; i++) NAMED(point)(tables, real, imaginary, p + GROUPS * i, re + i, im + i);
            NAMED(five)(tables, re, im, p, five_re + 5 * j, five_im + 5 * j);
        }
        for (int q = 0; q < 5; q++) {
            const int o = 20 * round + q;
            NAMED(four)(five_re + q, five_im + q, 5, re, im);
            y->re[o] = re[0];
            y->im[o] = im[0];
            UNROLLED for (int j = 1; j < 4; j++) TURN(y->re[o + 5 * j], y->im[o + 5 * j], re[j], im[j], 5 * j * round);
        }
    }
}

// vk_lags for LANES lanes, of rows of VK_SEARCHED.
VK_INLINE void NAMED(lags)(const float *tables, const float *real, const float *imaginary, float *time, float *largest, float *row, float *sum) {
    enum { STEP = HALF / 8 };
    SIGNAL x;
    NAMED(first_passes)(tables, real, imaginary, &x);
    NAMED(whole) best = {0}, at = {0};  // magnitudes are in the same order as their bits
    V total = {0};
    for (int q = 0; q < STEP; q++) {
        // The last two passes, of the first half of the frames alone; conjugated.
        V re[4], im[4], turned_re[4], turned_im[4];
        NAMED(four)(x.re + q, x.im + q, 2 * STEP, re, im);
        NAMED(four)(x.re + STEP + q, x.im + STEP + q, 2 * STEP, turned_re, turned_im);
        UNROLLED for (int j = 0; j < 4; j++) {
            V more_re, more_im;
            TURN(more_re, more_im, turned_re[j], turned_im[j], STEP * j);
            const V pair[] = {re[j] + more_re, -im[j] - more_im};
            UNROLLED for (int odd = 0; odd < 2; odd++) {
                const int n = 2 * (STEP * j + q) + odd;
                const V magnitude = __builtin_elementwise_abs(pair[odd]);
                const NAMED(whole) bits = (NAMED(whole))magnitude, higher = bits > best;  // all bits where it is higher
                PUT(time + n * VK_SEARCHED, pair[odd]);
                at ^= (at ^ n) & higher;
                best = __builtin_elementwise_max(best, bits);
                total += magnitude;
            }
        }
    }
    PUT(largest, (V)best);
    PUT(row, __builtin_convertvector(at, V));
    PUT(sum, total);
}

#undef FOLD
#undef FRAME_RE
#undef FRAME_IM
#undef FIVE
#undef BUTTERFLY5
#undef TURN
#undef SIGNAL
#undef GET
#undef PUT
#undef V
#undef NAMED
#undef EXPANDED
#undef JOINED
#undef LANES
