// What is done to each bin besides filters and networks: plain loops, of which the compiler makes vectors.

#include "simd.h"

VK_INLINE float lower(float a, float b) { return b < a ? b : a; }
VK_INLINE float higher(float a, float b) { return b > a ? b : a; }
// How far a value has come on its way, 0...1.
VK_INLINE float progress(float value, float from, float to) { return lower(1, higher(0, (value - from) / (to - from))); }

AT_LEVEL void KERNEL(vk_powers)(const float *restrict real, const float *restrict imaginary, float *restrict powers, size_t count) {
    for (size_t k = 0; k < count; k++) powers[k] = real[k] * real[k] + imaginary[k] * imaginary[k];
}

AT_LEVEL void KERNEL(vk_products)(
    const float *restrict a_real, const float *restrict a_imaginary, const float *restrict b_real, const float *restrict b_imaginary,
    float *restrict real, float *restrict imaginary, size_t count) {
    for (size_t k = 0; k < count; k++) {
        real[k] = a_real[k] * b_real[k] + a_imaginary[k] * b_imaginary[k];
        imaginary[k] = a_imaginary[k] * b_real[k] - a_real[k] * b_imaginary[k];
    }
}

AT_LEVEL void KERNEL(vk_follow)(const float *restrict values, float weight, float *restrict average, size_t count) {
    for (size_t k = 0; k < count; k++) average[k] += weight * (values[k] - average[k]);
}

AT_LEVEL void KERNEL(vk_follow_powers)(
    const float *restrict real, const float *restrict imaginary, float weight, float *restrict average, size_t count) {
    for (size_t k = 0; k < count; k++) average[k] += weight * (real[k] * real[k] + imaginary[k] * imaginary[k] - average[k]);
}

AT_LEVEL void KERNEL(vk_coherence)(
    const float *restrict real, const float *restrict imaginary, const float *restrict power, const float *restrict other,
    float *restrict coherence, size_t count) {
    for (size_t k = 0; k < count; k++)
        coherence[k] = lower(1, (real[k] * real[k] + imaginary[k] * imaginary[k]) / (power[k] * other[k] + 1e-20f));
}

AT_LEVEL void KERNEL(vk_cosines)(
    const float *restrict real, const float *restrict power, const float *restrict other, float *restrict cosine, size_t count) {
    for (size_t k = 0; k < count; k++) cosine[k] = real[k] / __builtin_elementwise_sqrt(power[k] * other[k] + 1e-20f);
}

AT_LEVEL void KERNEL(vk_whiten)(
    const float *restrict real, const float *restrict imaginary, float *restrict white_real, float *restrict white_imaginary,
    size_t count) {
    for (size_t k = 0; k < count; k++) {
        const float scale = 1 / (__builtin_elementwise_sqrt(real[k] * real[k] + imaginary[k] * imaginary[k]) + 1e-9f);
        white_real[k] = real[k] * scale;
        white_imaginary[k] = imaginary[k] * scale;
    }
}

AT_LEVEL void KERNEL(vk_reciprocals)(
    const float *restrict a, const float *restrict b, float more, float *restrict reciprocals, size_t count) {
    for (size_t k = 0; k < count; k++) reciprocals[k] = 1 / (a[k] + b[k] + more);
}

AT_LEVEL void KERNEL(vk_normalise)(
    const float *restrict values, const float *restrict mean, const float *restrict slope, float *restrict normalised, size_t count) {
    for (size_t k = 0; k < count; k++) normalised[k] = (values[k] - mean[k]) * slope[k];
}

AT_LEVEL void KERNEL(vk_add)(const float *restrict others, float *restrict values, size_t count) {
    for (size_t k = 0; k < count; k++) values[k] += others[k];
}

AT_LEVEL void KERNEL(vk_multiply)(const float *restrict others, float *restrict values, size_t count) {
    for (size_t k = 0; k < count; k++) values[k] *= others[k];
}

AT_LEVEL void KERNEL(vk_fourth_root)(float *values, float least, size_t count) {
    for (size_t k = 0; k < count; k++) values[k] = __builtin_elementwise_sqrt(__builtin_elementwise_sqrt(values[k] + least));
}

AT_LEVEL float KERNEL(vk_largest)(const float *values, size_t count) {
    float largest = values[0];
    size_t k = 0;
    if (count >= VK_LANES) {
        lanes8 most = LOAD(values);
        for (k = VK_LANES; k + VK_LANES <= count; k += VK_LANES) most = __builtin_elementwise_max(most, LOAD(values + k));
        for (size_t v = 0; v < VK_LANES; v++) largest = higher(largest, most[v]);
    }
    for (; k < count; k++) largest = higher(largest, values[k]);
    return largest;
}

AT_LEVEL void KERNEL(vk_scale)(float *values, float factor, float more, size_t count) {
    for (size_t k = 0; k < count; k++) values[k] = values[k] * factor + more;
}

AT_LEVEL void KERNEL(vk_bound)(float *values, float least, float most, size_t count) {
    for (size_t k = 0; k < count; k++) values[k] = lower(most, higher(least, values[k]));
}

AT_LEVEL void KERNEL(vk_band_means)(const float *restrict values, const int32_t *restrict edges, size_t bands, float *restrict means) {
    for (size_t band = 0; band < bands; band++) {
        float sum = 0;
        for (int32_t k = edges[band]; k < edges[band + 1]; k++) sum += values[k];
        means[band] = sum / (float)(edges[band + 1] - edges[band]);
    }
}

AT_LEVEL void KERNEL(vk_residual)(
    const vk_residual_rule *rule, const float *restrict error, const float *restrict echo, const float *restrict usual_error,
    const float *restrict usual_echo, const float *restrict uncertainty, float *restrict leakage, float *restrict floor,
    float *restrict residual, float *restrict gain) {
    const vk_residual_rule is = *rule;
    for (size_t k = 0; k < VK_BINS; k++) {
        const float seen = lower(1, usual_error[k] / (usual_echo[k] + 1e-12f)), now = leakage[k];
        const float next = seen < now ? now + is.fall * (seen - now) : now * is.growth;
        const float leak = usual_echo[k] > is.audible ? lower(is.most, higher(is.least, next)) : now;
        leakage[k] = leak;
        const float fresh = leak * is.over * echo[k] + is.weight * uncertainty[k] + is.elsewhere;
        const float left = higher(is.tail * residual[k], fresh);
        residual[k] = left;
        const float power = error[k], before = floor[k];
        const float seen_noise = power < before ? before + is.noise_fall * (power - before) : before * is.noise_growth;
        const float noise = power < is.silence ? before : seen_noise;
        floor[k] = noise;
        const float posterior = power / (left + 1e-10f);
        const float prior = is.decision * gain[k] * gain[k] * posterior + (1 - is.decision) * higher(posterior - 1, 0);
        const float lowest = higher(is.least_gain, lower(1, __builtin_elementwise_sqrt(noise / (power + 1e-12f))));
        gain[k] = higher(prior / (1 + prior), lowest);
    }
}

AT_LEVEL void KERNEL(vk_talker_floor)(
    const vk_talker_rule *rule, const float *restrict gain, const float *restrict leakage, const float *restrict power,
    const float *restrict noise, float *restrict least, size_t count) {
    const vk_talker_rule is = *rule;
    for (size_t k = 0; k < count; k++) {
        const float over = power[k] / (noise[k] + 1e-12f);
        const float leaks = progress(__builtin_elementwise_sqrt(leakage[k]), is.leakage_from, is.leakage_to);
        least[k] = is.block * leaks * progress(over, is.over_from, is.over_to) * gain[k];
    }
}

AT_LEVEL void KERNEL(vk_scale_not_below)(float *restrict values, const float *restrict by, float least, size_t count) {
    for (size_t k = 0; k < count; k++) values[k] = higher(least, values[k] * by[k]);
}

AT_LEVEL void KERNEL(vk_raise_to_product)(const float *restrict a, const float *restrict b, float *restrict values, size_t count) {
    for (size_t k = 0; k < count; k++) values[k] = higher(values[k], a[k] * b[k]);
}

AT_LEVEL void KERNEL(vk_lower_noise)(
    const float *restrict power, const float *restrict noise, float decision, float least, float *restrict passed, float *restrict gains) {
    for (size_t k = 0; k < VK_BINS; k++) {
        const float posterior = power[k] / (noise[k] + 1e-12f);
        const float prior = decision * passed[k] + (1 - decision) * higher(posterior - 1, 0);
        const float gain = prior / (1 + prior);
        passed[k] = gain * gain * posterior;
        gains[k] = higher(gains[k] * gain, lower(gains[k], least));
    }
}

AT_LEVEL void KERNEL(vk_response)(const float *restrict gain, float least, float share, float *restrict response) {
    float bounded[VK_BINS + 2];
    for (size_t k = 0; k < VK_BINS; k++) bounded[k + 1] = higher(least, gain[k]);
    bounded[0] = bounded[1];
    bounded[VK_BINS + 1] = bounded[VK_BINS];
    for (size_t k = 0; k < VK_BINS; k++)
        response[k] = 1 - share + share * (0.75f * bounded[k + 1] + 0.125f * (bounded[k] + bounded[k + 2]));
}

AT_LEVEL void KERNEL(vk_missing_noise)(
    const float *restrict gains, const float *restrict noise, const float *restrict most, float scale, float *restrict amplitude) {
    for (size_t k = 0; k < VK_BINS; k++) {
        const float taken = higher(0, 1 - gains[k] * gains[k]);
        amplitude[k] = __builtin_elementwise_sqrt(scale * taken * lower(noise[k], most[k]));
    }
}

AT_LEVEL size_t KERNEL(vk_excess)(
    const float *restrict error, const float *restrict other, const float *restrict usual_error, const float *restrict usual_other,
    float ratio, float *restrict excess) {
    int32_t found = 0;
    for (size_t k = 0; k < VK_BINS; k++) {
        const float difference = higher(0, error[k] - other[k]);
        const int isLouder = usual_error[k] > ratio * usual_other[k];
        excess[k] = isLouder ? difference : 0;
        found += isLouder;
    }
    return (size_t)found;
}

AT_LEVEL void KERNEL(vk_difference)(const float *restrict a, const float *restrict b, float *restrict difference, size_t count) {
    for (size_t n = 0; n < count; n++) difference[n] = a[n] - b[n];
}

AT_LEVEL void KERNEL(vk_emphasise)(const float *restrict values, float factor, float last, float *restrict output, size_t count) {
    output[0] = values[0] - factor * last;
    for (size_t n = 1; n < count; n++) output[n] = values[n] - factor * values[n - 1];
}

AT_LEVEL void KERNEL(vk_undo_emphasis)(float *values, float factor, float last, size_t count) {
    // Within a vector by doubling: each number takes up one, two, then four before it; what lies before the vector comes last.
    const lanes8 none = {0};
    const float two = factor * factor, four = two * two, eight = four * four;
    const lanes8 since = {factor, two, two * factor, four, four * factor, four * two, four * two * factor, eight};
    for (size_t n = 0; n < count; n += VK_LANES) {
        lanes8 v = LOAD(values + n);
        v += factor * __builtin_shufflevector(v, none, 8, 0, 1, 2, 3, 4, 5, 6);
        v += two * __builtin_shufflevector(v, none, 8, 8, 0, 1, 2, 3, 4, 5);
        v += four * __builtin_shufflevector(v, none, 8, 8, 8, 8, 0, 1, 2, 3);
        STORE(values + n, v + since * last);
        last = v[7] + eight * last;
    }
}
