// The passes of VK_FRAMES' transform, and what is made of them, for vectors of LANES signals. transform.c includes this once for each width.

#define JOINED(name, lanes) name##lanes
#define EXPANDED(name, lanes) JOINED(name, lanes)
#define NAMED(name) EXPANDED(name, LANES)
#define V NAMED(lanes)
#define GET(at) (*(const V *)(at))
#define PUT(at, value) (*(V *)(at) = (value))

typedef struct {
    V re[HALF], im[HALF];
} NAMED(signal);

#define SIGNAL NAMED(signal)

#define TURN(out_re, out_im, a_re, a_im, index)                                         \
    do {                                                                                \
        const float c_ = tables[COMPLEX_COS + (index)], s_ = tables[COMPLEX_SIN + (index)]; \
        out_re = (a_re) * c_ - (a_im) * s_;                                             \
        out_im = (a_re) * s_ + (a_im) * c_;                                             \
    } while (0)

// One pass over `length` = radix * m points, of which `s` interleaved ones are alike. The last one has no factors.
VK_INLINE void NAMED(last_pass2)(const SIGNAL *x, SIGNAL *y) {
    for (int q = 0; q < HALF / 2; q++) {
        const int b = q + HALF / 2;
        y->re[q] = x->re[q] + x->re[b];
        y->im[q] = x->im[q] + x->im[b];
        y->re[b] = x->re[q] - x->re[b];
        y->im[b] = x->im[q] - x->im[b];
    }
}

#define BUTTERFLY4(first)                                                                               \
    const int a = first, b = a + s * m, c = b + s * m, d = c + s * m;                                   \
    const V ur = x->re[a] + x->re[c], ui = x->im[a] + x->im[c];                                         \
    const V vr = x->re[a] - x->re[c], vi = x->im[a] - x->im[c];                                         \
    const V wr = x->re[b] + x->re[d], wi = x->im[b] + x->im[d];                                         \
    const V zr = x->im[b] - x->im[d], zi = x->re[d] - x->re[b] /* -i (b - d) */

VK_INLINE void NAMED(pass4)(const float *tables, const SIGNAL *x, SIGNAL *y, int length, int s) {
    const int m = length / 4;
    for (int q = 0; q < s; q++) {
        BUTTERFLY4(q);
        y->re[q] = ur + wr;
        y->im[q] = ui + wi;
        y->re[q + s] = vr + zr;
        y->im[q + s] = vi + zi;
        y->re[q + 2 * s] = ur - wr;
        y->im[q + 2 * s] = ui - wi;
        y->re[q + 3 * s] = vr - zr;
        y->im[q + 3 * s] = vi - zi;
    }
    for (int p = 1; p < m; p++)
        for (int q = 0; q < s; q++) {
            BUTTERFLY4(q + s * p);
            const int o = q + 4 * s * p;
            y->re[o] = ur + wr;
            y->im[o] = ui + wi;
            TURN(y->re[o + s], y->im[o + s], vr + zr, vi + zi, p * s);
            TURN(y->re[o + 2 * s], y->im[o + 2 * s], ur - wr, ui - wi, 2 * p * s);
            TURN(y->re[o + 3 * s], y->im[o + 3 * s], vr - zr, vi - zi, 3 * p * s);
        }
}

// The first pass alone has radix 5, so its stride is 1. Winograd's form: five points with five multiplications. From the points a, and the
// sums and differences of the second and the fifth, the third and the fourth.
#define BUTTERFLY5(p)                                                                                                             \
    do {                                                                                                                          \
        const float c1 = 0.309016994f, c2 = -0.809016994f, s1 = 0.951056516f, s2 = 0.587785252f; /* cos, sin of 72, 144 degrees */ \
        const V fr = ar + c1 * br + c2 * cr, fi = ai + c1 * bi + c2 * ci;                                                         \
        const V gr = ar + c2 * br + c1 * cr, gi = ai + c2 * bi + c1 * ci;                                                         \
        const V hr = s1 * di + s2 * ei, hi = -s1 * dr - s2 * er; /* -i (s1 d + s2 e) */                                           \
        const V kr = s2 * di - s1 * ei, ki = -s2 * dr + s1 * er;                                                                  \
        const int o = 5 * (p);                                                                                                    \
        y->re[o] = ar + br + cr;                                                                                                  \
        y->im[o] = ai + bi + ci;                                                                                                  \
        TURN(y->re[o + 1], y->im[o + 1], fr + hr, fi + hi, p);                                                                    \
        TURN(y->re[o + 2], y->im[o + 2], gr + kr, gi + ki, 2 * (p));                                                              \
        TURN(y->re[o + 3], y->im[o + 3], gr - kr, gi - ki, 3 * (p));                                                              \
        TURN(y->re[o + 4], y->im[o + 4], fr - hr, fi - hi, 4 * (p));                                                              \
    } while (0)

VK_INLINE void NAMED(pass5)(const float *tables, const SIGNAL *x, SIGNAL *y) {
    const int m = HALF / 5;
    for (int p = 0; p < m; p++) {
        const V ar = x->re[p], ai = x->im[p];
        const V br = x->re[p + m] + x->re[p + 4 * m], bi = x->im[p + m] + x->im[p + 4 * m];
        const V cr = x->re[p + 2 * m] + x->re[p + 3 * m], ci = x->im[p + 2 * m] + x->im[p + 3 * m];
        const V dr = x->re[p + m] - x->re[p + 4 * m], di = x->im[p + m] - x->im[p + 4 * m];
        const V er = x->re[p + 2 * m] - x->re[p + 3 * m], ei = x->im[p + 2 * m] - x->im[p + 3 * m];
        BUTTERFLY5(p);
    }
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
        BUTTERFLY5(p);
    }
    const V cr = {0}, ci = {0}, er = {0}, ei = {0};
    for (int p = HALF / 2 - 2 * m; p < m; p++) {
        const V ar = FRAME_RE(p), ai = FRAME_IM(p), br = FRAME_RE(p + m), bi = FRAME_IM(p + m), dr = br, di = bi;
        BUTTERFLY5(p);
    }
}

// The complex spectrum of even and odd frames as real and imaginary parts, conjugated and scaled so that a forward transform does the
// inverse, from the real signal's: of bin k from those of k and of HALF - k.
#define JOIN(k, ar, ai, br, bi)                                                         \
    do {                                                                                \
        const float scale = 0.5f / HALF, c = tables[REAL_COS + (k)], s = tables[REAL_SIN + (k)]; \
        const V er = (ar) + (br), ei = (ai) - (bi), dr = (ar) - (br), di = (ai) + (bi); \
        x->re[k] = scale * (er - (di * c - dr * s));                                    \
        x->im[k] = -scale * (ei + (dr * c + di * s));                                   \
    } while (0)

VK_INLINE void NAMED(join)(const float *tables, const float *real, const float *imaginary, size_t stride, SIGNAL *x) {
    for (int k = 0; k < HALF; k++) {
        const V ar = GET(real + k * stride), ai = GET(imaginary + k * stride);
        const V br = GET(real + (HALF - k) * stride), bi = GET(imaginary + (HALF - k) * stride);
        JOIN(k, ar, ai, br, bi);
    }
}

// The same of a filter's step, which is of bin k: variance * conj(reference) * error * gain.
#define STEP(k, re, im)                                                                              \
    const V re##_x = GET(of->x_real + (k) * of->x_stride + lane), im##_x = GET(of->x_imaginary + (k) * of->x_stride + lane); \
    const V re##_p = GET(of->variance + (k) * of->lanes + lane);                                     \
    const V re = re##_p * (re##_x * error_real[k] + im##_x * error_imaginary[k]);                    \
    const V im = re##_p * (re##_x * error_imaginary[k] - im##_x * error_real[k])

VK_INLINE void NAMED(join_step)(
    const float *tables, const vk_path *of, size_t lane, const float *error_real, const float *error_imaginary, SIGNAL *x) {
    for (int k = 0; k <= HALF / 2; k++) {
        STEP(k, ar, ai);
        STEP(HALF - k, br, bi);
        JOIN(k, ar, ai, br, bi);
        if (k > 0) JOIN(HALF - k, br, bi, ar, ai);
    }
}

// What vk_learn does to LANES lanes from `lane` on; the new estimate's summands are added to `sums`, a vector of 8 for each bin's real and
// imaginary part.
VK_INLINE void NAMED(learn)(
    const float *tables, const vk_path *of, size_t lane, const float *error_real, const float *error_imaginary, const float *gain,
    float memory, lanes8 *sums) {
    SIGNAL y, work;
    NAMED(join_step)(tables, of, lane, error_real, error_imaginary, &y);
    NAMED(pass5)(tables, &y, &work);
    NAMED(pass4)(tables, &work, &y, 32, 5);
    NAMED(pass4)(tables, &y, &work, 8, 20);
    NAMED(pass_half)(tables, &work, &y);
    NAMED(pass4)(tables, &y, &work, 32, 5);
    NAMED(pass4)(tables, &work, &y, 8, 20);
    NAMED(last_pass2)(&y, &work);
    const SIGNAL *const x = &work;
    const float keep = memory * memory, renew = 1 - keep;
    const V least = 1e-9f - (V){0};  // so that no bin stops learning
    for (int k = 0; k <= HALF; k++) {
        // The spectrum of the real signal from that of the complex one whose parts are its even and its odd frames.
        const int a = k % HALF, b = (HALF - k) % HALF;
        const float c = tables[REAL_COS + k], s = tables[REAL_SIN + k], half_gain = 0.5f * gain[k];
        const V er = 0.5f * (x->re[a] + x->re[b]), ei = 0.5f * (x->im[a] - x->im[b]);
        const V or_ = 0.5f * (x->im[a] + x->im[b]), oi = 0.5f * (x->re[b] - x->re[a]);
        const size_t at = k * of->lanes + lane;
        const V wr = GET(of->w_real + at) + (er + or_ * c - oi * s), wi = GET(of->w_imaginary + at) + (ei + or_ * s + oi * c);
        const V xr = GET(of->x_real + k * of->x_stride + lane), xi = GET(of->x_imaginary + k * of->x_stride + lane);
        const V p = GET(of->variance + at);
        const V next = keep * (1 - half_gain * p * (xr * xr + xi * xi)) * p + renew * (wr * wr + wi * wi);
        PUT(of->w_real + at, wr);
        PUT(of->w_imaginary + at, wi);
        PUT(of->variance + at, __builtin_elementwise_max(next, least));
        const V re = xr * wr - xi * wi, im = xr * wi + xi * wr;
        sums[2 * k] += FOLD(re);
        sums[2 * k + 1] += FOLD(im);
    }
}

// vk_lags for LANES lanes.
VK_INLINE void NAMED(lags)(const float *tables, const float *real, const float *imaginary, size_t stride, float *time, size_t time_stride) {
    SIGNAL y, work;
    NAMED(join)(tables, real, imaginary, stride, &y);
    NAMED(pass5)(tables, &y, &work);
    NAMED(pass4)(tables, &work, &y, 32, 5);
    NAMED(pass4)(tables, &y, &work, 8, 20);
    const SIGNAL *const x = &work;
    for (int n = 0; n < HALF / 2; n++) {
        PUT(time + (size_t)(2 * n) * time_stride, FRAME_RE(n));
        PUT(time + (size_t)(2 * n + 1) * time_stride, FRAME_IM(n));
    }
}

#undef STEP
#undef JOIN
#undef FOLD
#undef FRAME_RE
#undef FRAME_IM
#undef BUTTERFLY4
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
