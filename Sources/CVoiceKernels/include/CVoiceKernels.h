// The inner loops of the echo canceller: pure functions over memory of the caller, for the media thread.
//
// Nothing here allocates, locks, blocks or keeps state. On x86-64 each is compiled for AVX-512, for AVX2 with FMA and for
// the baseline (level-*.c, kernels/), and levels.c calls the highest that there is; elsewhere the compiler's vectors are the machine's.
//
// "Lanes" are numbers that the same is done to: eight signals that are transformed at once, or the partitions of a
// filter. They lie side by side, a row of lanes for each frame or frequency bin, so that no loop needs a shuffle.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define VK_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))

/// Frames of a transform, its bins from 0 to half the sample rate, and lanes of a vector.
enum { VK_FRAMES = 320, VK_BINS = 161, VK_LANES = 8 };

/// The level whose kernels run: 4 for AVX-512 (x86-64-v4), 3 for AVX2 with FMA (x86-64-v3), 1 for the baseline. Levels round differently.
/// It is the highest of the processor, unless the environment names a lower one: DUPLEXVOICE_KERNELS=x86-64-v3.
int vk_level(void);

/// Has the kernels of a level run in this process from the next call on. Returns 0, and changes nothing, where the processor lacks it.
int vk_use_level(int level);

/// Lets the calling thread take numbers too small for a Float's full precision as 0, which averages decay to in silence
/// and which take a processor a hundred times longer. Returns what vk_restore_rounding() puts back.
unsigned long vk_flush_subnormals(void) VK_SAFE;

/// Puts back what vk_flush_subnormals() found.
void vk_restore_rounding(unsigned long state) VK_SAFE;

/// Floats that the transform's tables take.
enum { VK_TABLES = 4 * VK_FRAMES };

/// Fills `tables`, VK_TABLES floats, for vk_learn and vk_lags. Not real-time safe: sines by the hundred.
void vk_prepare_tables(float *tables);

/// Floats that the tables for one signal take: 2 * 6 * 40 for its first two passes, 2 * 5 for the third, 2 * 80 to part even from odd.
enum { VK_ALONE_TABLES = 650 };

/// Fills `tables`, VK_ALONE_TABLES floats. Not real-time safe.
void vk_prepare_alone(float *tables);

/// Transforms a real signal of VK_FRAMES frames times a window, or as it is where that is null, to VK_BINS bins. Unscaled.
void vk_forward_alone(const float *tables, const float *signal, const float *window, float *real, float *imaginary) VK_SAFE;

/// The inverse of vk_forward_alone without a window, scaled by 1/VK_FRAMES.
void vk_inverse_alone(const float *tables, const float *real, const float *imaginary, float *signal) VK_SAFE;

/// One pass of a complex transform of 4 * `groups` * `stride` points in Stockham's order, radix 4: `stride` butterflies in each group. The
/// factors are six rows of `groups`: cosine and sine of -2 pi k group / (4 * groups) for k = 1, 2, 3. Input and output do not overlap.
void vk_fourier_pass4(
    const float *factors, const float *in_re, const float *in_im, float *out_re, float *out_im, size_t groups, size_t stride) VK_SAFE;

/// The last pass of one of 2 * `half` points where that is no power of four. Input and output do not overlap.
void vk_fourier_last_pass2(const float *in_re, const float *in_im, float *out_re, float *out_im, size_t half) VK_SAFE;

/// Even frames of a real signal of 2 * `half` become real parts, odd ones imaginary parts; and back, times `scale`.
void vk_real_to_complex(const float *signal, float *re, float *im, size_t half) VK_SAFE;
void vk_complex_to_real(const float *re, const float *im, float scale, float *signal, size_t half) VK_SAFE;

/// The spectrum of a real signal, bins 0 ... `half`, from the complex transform of its vk_real_to_complex; and back,
/// times 2. The tables are cosine and sine of pi bin / `half`. Input and output do not overlap.
void vk_split_spectrum(
    const float *cosines, const float *sines, const float *re, const float *im, float *out_re, float *out_im, size_t half) VK_SAFE;
void vk_join_spectrum(
    const float *cosines, const float *sines, const float *re, const float *im, float *out_re, float *out_im, size_t half) VK_SAFE;

/// Bins of a whole spectrum's row and of one that is searched, from 0 on: whole vectors, with silence after what is in use.
enum { VK_WHOLE_BINS = 176, VK_SEARCHED_BINS = 96 };

/// Spectra in time order, a lane in each of `slots` rows of `stride`: the newest in row `newest`, older ones in the rows after it, and after
/// the last row in the first.
typedef struct {
    const float *real, *imaginary;
    size_t stride, slots, newest;
} vk_history;

/// output = sum over the `lanes` (a multiple of 4) newest lanes of x * w, for VK_BINS bins. Both have rows of VK_WHOLE_BINS.
void vk_filter_history(
    const vk_history *x, const float *w_real, const float *w_imaginary, size_t lanes, float *real, float *imaginary) VK_SAFE;

/// Lanes that are searched at once.
enum { VK_SEARCHED = 16 };

/// sum <- memory * sum + d * conj(u) for VK_SEARCHED lanes of u from `first` on: by the newest d, or, if `blocks` is 2 and not 1, by the one
/// before it and u as it was then, and after that by the newest. u has a lane more. All have rows of VK_SEARCHED_BINS.
void vk_correlate(
    const vk_history *u, const vk_history *d, size_t blocks, float memory, size_t first, float *sum_real, float *sum_imaginary) VK_SAFE;

/// The first VK_FRAMES / 2 frames of the inverse of VK_SEARCHED spectra, rows of VK_SEARCHED_BINS above which there is silence, times
/// VK_FRAMES. `time` has a row of VK_SEARCHED for each frame. For each lane: the largest magnitude of its frames, the frame that has it, and
/// the sum of all.
void vk_lags(const float *tables, const float *real, const float *imaginary, float *time, float *largest, float *row, float *sum) VK_SAFE;

/// Puts `values` (one for each row) in lane `first` of `rows` rows of `stride` lanes, after moving the lanes from
/// `first` on up by one; lane `first + count - 1` drops out. `count` is a multiple of 8.
void vk_push_lane(float *rows, size_t row_count, size_t stride, size_t first, size_t count, const float *values) VK_SAFE;

/// output = sum over lanes of x * w, for VK_BINS bins; x has rows of `x_stride`, w of `lanes` (a multiple of 8).
void vk_filter(
    const float *x_real, const float *x_imaginary, size_t x_stride, const float *w_real, const float *w_imaginary, size_t lanes,
    float *real, float *imaginary) VK_SAFE;

/// A partitioned filter w, the variance of its error, and the reference x: rows of `lanes` (a multiple of 8) partitions for each of VK_BINS
/// bins, in x of `x_stride`.
typedef struct {
    const float *x_real, *x_imaginary;
    size_t x_stride;
    float *w_real, *w_imaginary, *variance;
    size_t lanes;
} vk_path;

/// output = sum over lanes of x * w; uncertainty = half the sum over lanes of variance * |x|^2.
void vk_estimate(const vk_path *path, float *real, float *imaginary, float *uncertainty) VK_SAFE;

/// Kalman step: dw = constrain(variance * conj(x) * e * gain), w += dw, variance <- memory^2 (1 - variance |x|^2 gain / 2) variance +
/// (1 - memory^2) |w|^2; output = sum over lanes of x * w afterwards, unless it is null. The constraint cuts the second half off each
/// partition's impulse response. `tables` are those of vk_prepare_tables.
void vk_learn(
    const float *tables, const vk_path *path, const float *e_real, const float *e_imaginary, const float *gain, float memory, float *real,
    float *imaginary) VK_SAFE;

/// values[k] = |z[k]|^2, and a * conj(b), of `count` bins. Here and below input and output do not overlap unless one is named for both.
void vk_powers(const float *real, const float *imaginary, float *powers, size_t count) VK_SAFE;
void vk_products(
    const float *a_real, const float *a_imaginary, const float *b_real, const float *b_imaginary, float *real, float *imaginary,
    size_t count) VK_SAFE;

/// average += weight * (values - average), or of powers.
void vk_follow(const float *values, float weight, float *average, size_t count) VK_SAFE;
void vk_follow_powers(const float *real, const float *imaginary, float weight, float *average, size_t count) VK_SAFE;

/// Of averages of products z and of both powers: |z|^2 / (power * other), 1 at most; and cos(angle of z) times its root, re z / root(power *
/// other). 1e-20 is added to what is divided by.
void vk_coherence(
    const float *real, const float *imaginary, const float *power, const float *other, float *coherence, size_t count) VK_SAFE;
void vk_cosines(const float *real, const float *power, const float *other, float *cosine, size_t count) VK_SAFE;

/// white = z / (|z| + 1e-9).
void vk_whiten(const float *real, const float *imaginary, float *white_real, float *white_imaginary, size_t count) VK_SAFE;

/// 1 / (a + b + more), a - b, and (values - mean) * slope.
void vk_reciprocals(const float *a, const float *b, float more, float *reciprocals, size_t count) VK_SAFE;
void vk_difference(const float *a, const float *b, float *difference, size_t count) VK_SAFE;
void vk_normalise(const float *values, const float *mean, const float *slope, float *normalised, size_t count) VK_SAFE;

/// values += others, values *= others, and values = values * factor + more.
void vk_add(const float *others, float *values, size_t count) VK_SAFE;
void vk_multiply(const float *others, float *values, size_t count) VK_SAFE;
void vk_scale(float *values, float factor, float more, size_t count) VK_SAFE;

/// values = values between `least` and `most`; values = values * by, not below `least`; values = a * b where that is more.
void vk_bound(float *values, float least, float most, size_t count) VK_SAFE;
void vk_scale_not_below(float *values, const float *by, float least, size_t count) VK_SAFE;
void vk_raise_to_product(const float *a, const float *b, float *values, size_t count) VK_SAFE;

/// The mean of each band, which goes from edges[band] to before edges[band + 1].
void vk_band_means(const float *values, const int32_t *edges, size_t bands, float *means) VK_SAFE;

/// output[n] = values[n] - factor * values[n - 1], `last` being what is before the first of them; `count` is 1 or more.
void vk_emphasise(const float *values, float factor, float last, float *output, size_t count) VK_SAFE;

/// values[n] += factor * values[n - 1], one after the other, `last` being what is before the first; `count` is a multiple of 8.
void vk_undo_emphasis(float *values, float factor, float last, size_t count) VK_SAFE;

/// How the power that is left of an echo is estimated: see ResidualEchoSuppressor.
typedef struct {
    /// The leakage: power of an echo from which it is seen, weight of lower sight, growth, and its range.
    float audible, fall, growth, least, most;
    /// Factors of the echo's power and of the filter's own error, what is added, and what stays of the last block's.
    float over, weight, elsewhere, tail;
    /// The noise floor: weight of lower sight, growth, and the power below which there is no sight: it would fall to what it cannot grow from.
    float noise_fall, noise_growth, silence;
    /// Weight of the past in the prior, and the lowest gain.
    float decision, least_gain;
} vk_residual_rule;

/// Updates leakage, noise floor and residual echo of VK_BINS bins, and the Wiener gains, from a block's powers and averages of them.
void vk_residual(
    const vk_residual_rule *rule, const float *error, const float *echo, const float *usual_error, const float *usual_echo,
    const float *uncertainty, float *leakage, float *floor, float *residual, float *gain) VK_SAFE;

/// The lowest gain of a bin that may be a talker's: see DoubleTalkShare. The block's, and where the ranges of the leakage's root and of the
/// power over the noise begin and end.
typedef struct {
    float block, leakage_from, leakage_to, over_from, over_to;
} vk_talker_rule;

/// least = block * progress of the leakage's root * progress of power / noise * gain.
void vk_talker_floor(
    const vk_talker_rule *rule, const float *gain, const float *leakage, const float *power, const float *noise, float *least, size_t count)
    VK_SAFE;

/// Wiener gains over a noise, decision-directed, of VK_BINS bins: see NoiseBesideEcho. `passed` is what passed of the last block, over the
/// noise.
void vk_lower_noise(const float *power, const float *noise, float decision, float least, float *passed, float *gains) VK_SAFE;

/// response = 1 - share + share * gain, the gain of VK_BINS bins being at least `least` and smoothed by 1/8, 3/4, 1/8.
void vk_response(const float *gain, float least, float share, float *response) VK_SAFE;

/// amplitude = root(scale * (1 - gain^2) * noise), of VK_BINS bins; the noise is no more than `most`.
void vk_missing_noise(const float *gains, const float *noise, const float *most, float scale, float *amplitude) VK_SAFE;

/// excess = error - other, 0 at least, where usual_error > ratio * usual_other, else 0; of VK_BINS bins. Returns where it is so often.
size_t vk_excess(
    const float *error, const float *other, const float *usual_error, const float *usual_other, float ratio, float *excess) VK_SAFE;

/// How a noise is followed: see NoiseTracker. Odds against speech in a bin of no power, the binary logarithm by which they fall with its
/// power over the noise's, weights of a frame, the presence of speech from which a bin is stuck, and the factor of the noise below which a
/// bin holds it.
typedef struct {
    float odds, slope, noise_weight, presence_weight, stuck, held;
} vk_noise_rule;

/// Takes a frame's powers, all above 0.
void vk_track_noise(const vk_noise_rule *rule, const float *power, float *noise, float *presence, size_t count) VK_SAFE;

/// Most bins to each side that vk_mean_power averages over.
enum { VK_REACH = 16 };

/// mean[k] = mean power of those bins from k - reach to k + reach that there are, for VK_BINS bins; reach is at most
/// VK_REACH.
void vk_mean_power(const float *real, const float *imaginary, size_t reach, float *mean) VK_SAFE;

/// output[i] = sum of taps[j] * input[i * step + j] over `tap_count`.
void vk_fir(const float *input, size_t step, const float *taps, size_t tap_count, float *output, size_t count) VK_SAFE;

/// The same with step 1 by two filters, of which the second takes over from the first over the block.
void vk_fir_crossfade(
    const float *input, const float *old_taps, const float *new_taps, size_t tap_count, float *output, size_t count) VK_SAFE;

/// Reads `input` at the positions start, start + step, ... : `phases + 1` rows of `tap_count` (a multiple of 8, 64 at
/// most) taps are the interpolator for the fractions 0, 1/phases, ... 1; between rows the taps are interpolated. A position p
/// takes the frames from floor(p) - tap_count / 2 + 1 to floor(p) + tap_count / 2: the caller sees to it that they are
/// there.
void vk_resample(
    const float *input, double start, double step, const float *rows, size_t phases, size_t tap_count, float *output, size_t count)
    VK_SAFE;

/// A recursive filter of the second order, (b0 + b1/z + b2/z^2) / (1 + a1/z + a2/z^2), with c1 = b1 - a1 b0 and c2 = b2 - a2 b0, and its memory.
typedef struct {
    double b0, c1, c2, a1, a2, z1, z2;
} vk_section;

/// What a section makes of `input`; in place where both are the same.
void vk_biquad(vk_section *section, const float *input, float *output, size_t count) VK_SAFE;

/// Sum of the squares of what the two sections, one behind the other, make of `input`.
double vk_weighted_energy(const float *input, size_t count, vk_section *first, vk_section *second) VK_SAFE;

/// values = fourth root of values + least, which is not negative.
void vk_fourth_root(float *values, float least, size_t count) VK_SAFE;

/// The largest of `count` numbers, 1 or more.
float vk_largest(const float *values, size_t count) VK_SAFE;

/// Sum of a.
float vk_sum(const float *a, size_t count) VK_SAFE;

/// Sum of a * b.
float vk_dot(const float *a, const float *b, size_t count) VK_SAFE;

/// values = 1 / (1 + exp(-values)), and tanh(values); within 1e-6.
void vk_logistic(float *values, size_t count) VK_SAFE;
void vk_hyperbolic_tangent(float *values, size_t count) VK_SAFE;

/// values = log10(values + least), within 1e-6 of what it is or of itself; values + least is a normal number above 0.
void vk_common_logarithm(float *values, float least, size_t count) VK_SAFE;

/// values = values to the power of `exponent`, for values from 1e-30 to 1 and exponents from 0 to 1; within 1e-5 of itself.
void vk_power(float *values, float exponent, size_t count) VK_SAFE;

/// values = values - to, not beyond `most` on either side.
void vk_relative(float *values, const float *to, float most, size_t count) VK_SAFE;

/// The memory of a gated recurrent unit from what its input and its memory make of its three gates: reset, keep, new.
void vk_gated_unit(const float *of_input, const float *of_state, float *state, size_t units) VK_SAFE;

/// What the largest magnitude among a layer's inputs becomes as a byte; and zero, where bytes are unsigned: of inputs of bins, of weights of the
/// other layers. Two products of these and signed bytes never exceed 16 bits.
enum { VK_MOST_WHOLE = 63, VK_INPUT_ZERO = 64, VK_WEIGHT_ZERO = 128 };

/// Most inputs of a layer, and outputs whose weights lie together.
enum { VK_MOST_INPUTS = 1024, VK_PANEL = 64 };

/// A layer of a neural network: output = bias + scale * (weights * input), for at most VK_MOST_INPUTS inputs and a multiple of 8 outputs.
/// `weights`, VK_WEIGHT_ZERO above what they are (-127...127), has a panel for each VK_PANEL outputs, and the last panel what is less than two of
/// them; a panel has a row for each four inputs: four weights for each of its outputs, of which any number stands where there is no input. So
/// they are read as they lie in memory. Inputs are rounded to VK_MOST_WHOLE of the largest of them; with those the sums are exact.
void vk_dense(
    const uint8_t *weights, const float *scale, const float *bias, const float *input, size_t inputs, float *output,
    size_t outputs) VK_SAFE;

/// The same small network for each bin: output += own * features + exit * max(0, bias + weights * features). `features`
/// and `own` have `rows` rows of `bins` (a multiple of 8), `weights` as many of `units`.
void vk_each_bin(
    const float *features, size_t rows, const float *own, const float *weights, const float *bias, const float *exit, size_t units,
    float *output, size_t bins) VK_SAFE;

/// Rows of the networks that are the same for each bin: numbers of a row, and where bin 0 is in it, at the beginning of a cache line. What
/// stands for no bin is zero and stays so, and bins at the edges have neighbours.
enum { VK_ROW = 192, VK_FIRST = 16 };

/// Most inputs and outputs of such a layer.
enum { VK_MOST_BIN_INPUTS = 128, VK_MOST_OUTPUTS = 1024 };

/// Rows of `stride` of VK_BINS features become rows of the networks', normalised: (features - mean) * slope. sums += own * normalised,
/// `own` in rows of `stride`.
void vk_bins_look(
    const float *features, size_t stride, const float *mean, const float *slope, const float *own, size_t rows, float *output, float *sums)
    VK_SAFE;

/// The same layer for each bin: output = bias + scale * (weights * input), and no less than 0 where `rectify` is not 0. A bin's input is
/// `inputs` rows of its lower neighbour (reach 1), then of itself, then of its upper neighbour; or of itself alone (reach 0). `weights`
/// (-127...127) has, for each bin and each four of its inputs, a row of four for each output, 0 where there is no input. `start` of an output is
/// -VK_INPUT_ZERO times the sum of its weights. Inputs are rounded to VK_MOST_WHOLE of the largest of them; with those the sums are exact. Input
/// and output do not overlap.
void vk_bins_dense(
    const int8_t *weights, const int32_t *start, const float *scale, const float *bias, const float *input, size_t inputs, size_t reach,
    float *output, size_t outputs, int rectify) VK_SAFE;

/// The same layer with a memory for each bin: state += logistic(share) * (tanh(new) - state) of `units` rows, -log2(e) share and 2 log2(e) new
/// being outputs 2 u and 2 u + 1 of a layer as above, of reach 0, for row u.
void vk_bins_memory(
    const int8_t *weights, const int32_t *start, const float *scale, const float *bias, const float *input, size_t inputs, float *state,
    size_t units) VK_SAFE;

/// The weights of the network that judges what is left of an echo while both talk, as tools/suppressor/train_double_talk.py writes them, and
/// how many bytes they are.
const void *vk_double_talk_network(size_t *bytes) VK_SAFE;

/// The weights of the network that judges what is left of an echo, as tools/suppressor/train.py writes them, and how
/// many bytes they are.
const void *vk_residual_echo_network(size_t *bytes) VK_SAFE;

/// The weights of the network that hears whether somebody speaks, as tools/speech/train.py writes them, and how many
/// bytes they are.
const void *vk_speech_network(size_t *bytes) VK_SAFE;
