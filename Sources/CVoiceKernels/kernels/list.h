// Every kernel that is compiled once for each level of the processor: X(result, name, (parameters), (arguments)).
#pragma once

#include "../include/CVoiceKernels.h"

// clang-format off
#define VK_KERNELS(X) \
    X(void, vk_forward_alone, \
      (const float *tables, const float *signal, const float *window, float *real, float *imaginary), \
      (tables, signal, window, real, imaginary)) \
    X(void, vk_inverse_alone, \
      (const float *tables, const float *real, const float *imaginary, float *signal), \
      (tables, real, imaginary, signal)) \
    X(void, vk_fourier_pass4, \
      (const float *factors, const float *in_re, const float *in_im, float *out_re, float *out_im, size_t groups, \
       size_t stride), \
      (factors, in_re, in_im, out_re, out_im, groups, stride)) \
    X(void, vk_fourier_last_pass2, \
      (const float *in_re, const float *in_im, float *out_re, float *out_im, size_t half), \
      (in_re, in_im, out_re, out_im, half)) \
    X(void, vk_real_to_complex, (const float *signal, float *re, float *im, size_t half), (signal, re, im, half)) \
    X(void, vk_complex_to_real, \
      (const float *re, const float *im, float scale, float *signal, size_t half), \
      (re, im, scale, signal, half)) \
    X(void, vk_split_spectrum, \
      (const float *cosines, const float *sines, const float *re, const float *im, float *out_re, float *out_im, \
       size_t half), \
      (cosines, sines, re, im, out_re, out_im, half)) \
    X(void, vk_join_spectrum, \
      (const float *cosines, const float *sines, const float *re, const float *im, float *out_re, float *out_im, \
       size_t half), \
      (cosines, sines, re, im, out_re, out_im, half)) \
    X(void, vk_lags, \
      (const float *tables, const float *real, const float *imaginary, float *time, float *largest, float *row, float *sum), \
      (tables, real, imaginary, time, largest, row, sum)) \
    X(void, vk_push_lane, \
      (float *rows, size_t row_count, size_t stride, size_t first, size_t count, const float *values), \
      (rows, row_count, stride, first, count, values)) \
    X(void, vk_filter_history, \
      (const vk_history *x, const float *w_real, const float *w_imaginary, size_t lanes, float *real, float *imaginary), \
      (x, w_real, w_imaginary, lanes, real, imaginary)) \
    X(void, vk_filter, \
      (const float *x_real, const float *x_imaginary, size_t x_stride, const float *w_real, const float *w_imaginary, \
       size_t lanes, float *real, float *imaginary), \
      (x_real, x_imaginary, x_stride, w_real, w_imaginary, lanes, real, imaginary)) \
    X(void, vk_estimate, \
      (const vk_path *path, float *real, float *imaginary, float *uncertainty), \
      (path, real, imaginary, uncertainty)) \
    X(void, vk_learn, \
      (const float *tables, const vk_path *path, const float *e_real, const float *e_imaginary, const float *gain, \
       float memory, float *real, float *imaginary), \
      (tables, path, e_real, e_imaginary, gain, memory, real, imaginary)) \
    X(void, vk_powers, \
      (const float *real, const float *imaginary, float *powers, size_t count), \
      (real, imaginary, powers, count)) \
    X(void, vk_products, \
      (const float *a_real, const float *a_imaginary, const float *b_real, const float *b_imaginary, float *real, \
       float *imaginary, size_t count), \
      (a_real, a_imaginary, b_real, b_imaginary, real, imaginary, count)) \
    X(void, vk_follow, \
      (const float *values, float weight, float *average, size_t count), \
      (values, weight, average, count)) \
    X(void, vk_follow_powers, \
      (const float *real, const float *imaginary, float weight, float *average, size_t count), \
      (real, imaginary, weight, average, count)) \
    X(void, vk_coherence, \
      (const float *real, const float *imaginary, const float *power, const float *other, float *coherence, size_t count), \
      (real, imaginary, power, other, coherence, count)) \
    X(void, vk_cosines, \
      (const float *real, const float *power, const float *other, float *cosine, size_t count), \
      (real, power, other, cosine, count)) \
    X(void, vk_whiten, \
      (const float *real, const float *imaginary, float *white_real, float *white_imaginary, size_t count), \
      (real, imaginary, white_real, white_imaginary, count)) \
    X(void, vk_reciprocals, \
      (const float *a, const float *b, float more, float *reciprocals, size_t count), \
      (a, b, more, reciprocals, count)) \
    X(void, vk_difference, \
      (const float *a, const float *b, float *difference, size_t count), \
      (a, b, difference, count)) \
    X(void, vk_normalise, \
      (const float *values, const float *mean, const float *slope, float *normalised, size_t count), \
      (values, mean, slope, normalised, count)) \
    X(void, vk_add, (const float *others, float *values, size_t count), (others, values, count)) \
    X(void, vk_multiply, (const float *others, float *values, size_t count), (others, values, count)) \
    X(void, vk_fourth_root, (float *values, float least, size_t count), (values, least, count)) \
    X(float, vk_largest, (const float *values, size_t count), (values, count)) \
    X(void, vk_scale, (float *values, float factor, float more, size_t count), (values, factor, more, count)) \
    X(void, vk_bound, \
      (float *values, float least, float most, size_t count), \
      (values, least, most, count)) \
    X(void, vk_scale_not_below, \
      (float *values, const float *by, float least, size_t count), \
      (values, by, least, count)) \
    X(void, vk_raise_to_product, \
      (const float *a, const float *b, float *values, size_t count), \
      (a, b, values, count)) \
    X(void, vk_band_means, \
      (const float *values, const int32_t *edges, size_t bands, float *means), \
      (values, edges, bands, means)) \
    X(void, vk_emphasise, \
      (const float *values, float factor, float last, float *output, size_t count), \
      (values, factor, last, output, count)) \
    X(void, vk_undo_emphasis, \
      (float *values, float factor, float last, size_t count), \
      (values, factor, last, count)) \
    X(void, vk_residual, \
      (const vk_residual_rule *rule, const float *error, const float *echo, const float *usual_error, \
       const float *usual_echo, const float *uncertainty, float *leakage, float *floor, float *residual, \
       float *gain), \
      (rule, error, echo, usual_error, usual_echo, uncertainty, leakage, floor, residual, gain)) \
    X(void, vk_talker_floor, \
      (const vk_talker_rule *rule, const float *gain, const float *leakage, const float *power, const float *noise, \
       float *least, size_t count), \
      (rule, gain, leakage, power, noise, least, count)) \
    X(void, vk_lower_noise, \
      (const float *power, const float *noise, float decision, float least, float *passed, float *gains), \
      (power, noise, decision, least, passed, gains)) \
    X(void, vk_response, \
      (const float *gain, float least, float share, float *response), \
      (gain, least, share, response)) \
    X(void, vk_missing_noise, \
      (const float *gains, const float *noise, const float *most, float scale, float *amplitude), \
      (gains, noise, most, scale, amplitude)) \
    X(size_t, vk_excess, \
      (const float *error, const float *other, const float *usual_error, const float *usual_other, float ratio, \
       float *excess), \
      (error, other, usual_error, usual_other, ratio, excess)) \
    X(void, vk_track_noise, \
      (const vk_noise_rule *rule, const float *power, float *noise, float *presence, size_t count), \
      (rule, power, noise, presence, count)) \
    X(void, vk_bins_look, \
      (const float *features, size_t stride, const float *mean, const float *slope, const float *own, size_t rows, \
       float *output, float *sums), \
      (features, stride, mean, slope, own, rows, output, sums)) \
    X(void, vk_mean_power, \
      (const float *real, const float *imaginary, size_t reach, float *mean), \
      (real, imaginary, reach, mean)) \
    X(void, vk_correlate, \
      (const vk_history *u, const vk_history *d, size_t blocks, float memory, size_t first, float *sum_real, \
       float *sum_imaginary), \
      (u, d, blocks, memory, first, sum_real, sum_imaginary)) \
    X(void, vk_fir, \
      (const float *input, size_t step, const float *taps, size_t tap_count, float *output, size_t count), \
      (input, step, taps, tap_count, output, count)) \
    X(void, vk_fir_crossfade, \
      (const float *input, const float *old_taps, const float *new_taps, size_t tap_count, float *output, \
       size_t count), \
      (input, old_taps, new_taps, tap_count, output, count)) \
    X(void, vk_resample, \
      (const float *input, double start, double step, const float *rows, size_t phases, size_t tap_count, \
       float *output, size_t count), \
      (input, start, step, rows, phases, tap_count, output, count)) \
    X(void, vk_biquad, \
      (vk_section *section, const float *input, float *output, size_t count), \
      (section, input, output, count)) \
    X(double, vk_weighted_energy, \
      (const float *input, size_t count, vk_section *first, vk_section *second), \
      (input, count, first, second)) \
    X(float, vk_sum, (const float *a, size_t count), (a, count)) \
    X(float, vk_dot, (const float *a, const float *b, size_t count), (a, b, count)) \
    X(void, vk_logistic, (float *values, size_t count), (values, count)) \
    X(void, vk_hyperbolic_tangent, (float *values, size_t count), (values, count)) \
    X(void, vk_common_logarithm, (float *values, float least, size_t count), (values, least, count)) \
    X(void, vk_power, (float *values, float exponent, size_t count), (values, exponent, count)) \
    X(void, vk_relative, (float *values, const float *to, float most, size_t count), (values, to, most, count)) \
    X(void, vk_gated_unit, \
      (const float *of_input, const float *of_state, float *state, size_t units), \
      (of_input, of_state, state, units)) \
    X(void, vk_dense, \
      (const uint8_t *weights, const float *scale, const float *bias, const float *input, size_t inputs, float *output, \
       size_t outputs), \
      (weights, scale, bias, input, inputs, output, outputs)) \
    X(void, vk_each_bin, \
      (const float *features, size_t rows, const float *own, const float *weights, const float *bias, \
       const float *exit, size_t units, float *output, size_t bins), \
      (features, rows, own, weights, bias, exit, units, output, bins)) \
    X(void, vk_bins_dense, \
      (const int8_t *weights, const int32_t *start, const float *scale, const float *bias, const float *input, \
       size_t inputs, size_t reach, float *output, size_t outputs, int rectify), \
      (weights, start, scale, bias, input, inputs, reach, output, outputs, rectify)) \
    X(void, vk_bins_memory, \
      (const int8_t *weights, const int32_t *start, const float *scale, const float *bias, const float *input, \
       size_t inputs, float *state, size_t units), \
      (weights, start, scale, bias, input, inputs, state, units))
// clang-format on
