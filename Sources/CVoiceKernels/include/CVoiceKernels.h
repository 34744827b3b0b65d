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

/// Lanes that vk_lags and vk_peaks take at once.
enum { VK_SEARCHED = 16 };

/// The first VK_FRAMES / 2 frames of the inverse of VK_SEARCHED spectra, which are neighbouring lanes of rows of `stride`. `time` has a row
/// of VK_SEARCHED for each frame.
void vk_lags(const float *tables, const float *real, const float *imaginary, size_t stride, float *time) VK_SAFE;

/// Puts `values` (one for each row) in lane `first` of `rows` rows of `stride` lanes, after moving the lanes from
/// `first` on up by one; lane `first + count - 1` drops out. `count` is a multiple of 8.
void vk_push_lane(float *rows, size_t row_count, size_t stride, size_t first, size_t count, const float *values) VK_SAFE;

/// Puts `values` in lane `lane` of `row_count` rows of twice `lanes`, and again `lanes` further on: from any lane of the first half on there
/// are `lanes` different ones.
void vk_put_lane(float *rows, size_t row_count, size_t lanes, size_t lane, const float *values) VK_SAFE;

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
/// (1 - memory^2) |w|^2; output = sum over lanes of x * w afterwards. The constraint cuts the second half off each partition's impulse
/// response. `tables` are those of vk_prepare_tables.
void vk_learn(
    const float *tables, const vk_path *path, const float *e_real, const float *e_imaginary, const float *gain, float memory, float *real,
    float *imaginary) VK_SAFE;

/// Most bins to each side that vk_mean_power averages over.
enum { VK_REACH = 16 };

/// mean[k] = mean power of those bins from k - reach to k + reach that there are, for VK_BINS bins; reach is at most
/// VK_REACH.
void vk_mean_power(const float *real, const float *imaginary, size_t reach, float *mean) VK_SAFE;

/// sum <- memory * sum + d * conj(u), for `rows` bins; u has rows of `u_stride`, the sum of `lanes` (a multiple of 8).
void vk_correlate(
    const float *u_real, const float *u_imaginary, size_t u_stride, const float *d_real, const float *d_imaginary, float memory,
    float *sum_real, float *sum_imaginary, size_t lanes, size_t rows) VK_SAFE;

/// For each lane of vk_lags' `time`: the largest magnitude of its frames, the frame that has it, and the sum of all.
void vk_peaks(const float *time, float *largest, float *row, float *sum) VK_SAFE;

/// output[i] = sum of taps[j] * input[i * step + j] over `tap_count`.
void vk_fir(const float *input, size_t step, const float *taps, size_t tap_count, float *output, size_t count) VK_SAFE;

/// The same with step 1 by two filters of which the second takes over from the first over the block.
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

/// Sum of the squares of what the two sections, one behind the other, make of `input`.
double vk_weighted_energy(const float *input, size_t count, vk_section *first, vk_section *second) VK_SAFE;

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

/// Most inputs of a layer.
enum { VK_MOST_INPUTS = 1024 };

/// A layer of a neural network: output = bias + scale * (weights * input), for at most VK_MOST_INPUTS inputs and a multiple of 8 outputs.
/// `weights` has a row for each two inputs: a pair of weights for each output, the second 0 where there is no second input. Inputs are
/// rounded to 16 bits of the largest of them; with those the sums are exact.
void vk_dense(
    const int8_t *weights, const float *scale, const float *bias, const float *input, size_t inputs, float *output,
    size_t outputs) VK_SAFE;

/// The same small network for each bin: output += own * features + exit * max(0, bias + weights * features). `features`
/// and `own` have `rows` rows of `bins` (a multiple of 8), `weights` as many of `units`.
void vk_each_bin(
    const float *features, size_t rows, const float *own, const float *weights, const float *bias, const float *exit, size_t units,
    float *output, size_t bins) VK_SAFE;

/// Rows of the networks that are the same for each bin: numbers of a row, where bin 0 is in it, and how many vectors take from there. What
/// stands for no bin is zero and stays so, and bins at the edges have neighbours.
enum { VK_ROW = 192, VK_FIRST = 8, VK_PADDED_BINS = 176 };

/// The same layer for each bin: output = bias + weights * input, and no less than 0 where `rectify` is not 0. A bin's input is `inputs` rows
/// of its lower neighbour (reach 1), then of itself, then of its upper neighbour; or of itself alone (reach 0). `weights` has a row of
/// `outputs` for each. Input and output do not overlap.
void vk_bins_dense(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, float *output, size_t outputs, int rectify)
    VK_SAFE;

/// Units that follow an input as fast as a gate says: state += logistic(share) * (tanh(new) - state). `driven` has `units` rows of shares,
/// then as many of what is new.
void vk_bins_follow(const float *driven, float *state, size_t units) VK_SAFE;

/// The weights of the network that judges what is left of an echo while both talk, as tools/suppressor/train_double_talk.py writes them, and
/// how many bytes they are.
const void *vk_double_talk_network(size_t *bytes) VK_SAFE;

/// The weights of the network that judges what is left of an echo, as tools/suppressor/train.py writes them, and how
/// many bytes they are.
const void *vk_residual_echo_network(size_t *bytes) VK_SAFE;

/// The weights of the network that hears whether somebody speaks, as tools/speech/train.py writes them, and how many
/// bytes they are.
const void *vk_speech_network(size_t *bytes) VK_SAFE;
