// The border: checks what comes in, turns exceptions into statuses.
#include "webrtc_audio.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

#include "apm.h"

struct webrtc_audio {
    std::unique_ptr<Apm> apm;
    int32_t rate = 0;
    int32_t libraryError = 0;
};

namespace {

// Longest delay that 0.3 accepts, ms; beyond it every call would return a warning.
constexpr int32_t longestDelay = 500;

// Silent blocks with everything switched on, so that switching a component on later allocates nothing in 0.3 (measured
// with a counting malloc: 0 in webrtc_audio_process, 0 in webrtc_audio_apply; AEC3 allocates in both, see
// apm_config.cpp).
constexpr int warmUpBlocks = 8;
constexpr webrtc_audio_settings everything{3, true};
constexpr webrtc_audio_settings nothing{};

bool inRange(const webrtc_audio_settings &s) {
    return s.echo <= 3;
}

void forget(webrtc_audio_report &report) {
    report = {-1, NAN, NAN, -1, -1, NAN, NAN};
}

void warmUp(Apm &apm, int rate) {
    std::vector<float> capture(rate / 100), reference(rate / 100);
    webrtc_audio_report report;
    for (int block = 0; block < warmUpBlocks; block++) {
        forget(report);
        apm.process(capture.data(), reference.data(), 0, &report);
    }
}

template <typename Body> webrtc_audio_status guarded(webrtc_audio *instance, Body body) noexcept {
    try {
        body();
        return WEBRTC_AUDIO_OK;
    } catch (const LibraryError &error) {
        if (instance) instance->libraryError = error.code;
        return WEBRTC_AUDIO_LIBRARY_ERROR;
    } catch (const std::bad_alloc &) {
        return WEBRTC_AUDIO_NO_MEMORY;
    } catch (...) {
        return WEBRTC_AUDIO_EXCEPTION;
    }
}

}  // namespace

extern "C" {

webrtc_audio_status webrtc_audio_create(
    int32_t rate, webrtc_audio_options options, const webrtc_audio_settings *settings, webrtc_audio **instance) {
    *instance = nullptr;
    if (rate != 16000 && rate != 32000 && rate != 48000) return WEBRTC_AUDIO_BAD_RATE;
    if (!inRange(*settings)) return WEBRTC_AUDIO_BAD_SETTING;
    return guarded(nullptr, [&] {
        auto made = std::make_unique<webrtc_audio>();
        made->rate = rate;
        made->apm = Apm::make(rate, options);
        made->apm->apply(everything);
        warmUp(*made->apm, rate);
        made->apm->apply(nothing);  // what silence taught it is forgotten when a component is switched on again
        made->apm->apply(*settings);
        if (Apm::rebuildsOnApply()) warmUp(*made->apm, rate);
        *instance = made.release();
    });
}

void webrtc_audio_destroy(webrtc_audio *instance) {
    guarded(nullptr, [&] { delete instance; });
}

webrtc_audio_status webrtc_audio_apply(webrtc_audio *instance, const webrtc_audio_settings *settings) {
    if (!inRange(*settings)) return WEBRTC_AUDIO_BAD_SETTING;
    return guarded(instance, [&] { instance->apm->apply(*settings); });
}

webrtc_audio_status webrtc_audio_process(
    webrtc_audio *instance, float *capture, const float *reference, int32_t delay, webrtc_audio_report *report) {
    if (report) forget(*report);
    return guarded(instance, [&] {
        instance->apm->process(capture, reference, std::clamp<int32_t>(delay, 0, longestDelay), report);
    });
}

int32_t webrtc_audio_library_error(const webrtc_audio *instance) { return instance->libraryError; }

int32_t webrtc_audio_exclusions(const webrtc_audio *instance) { return instance->apm->exclusions(); }

bool webrtc_audio_has_echo_levels(void) { return Apm::hasEchoLevels(); }

const char *webrtc_audio_generation(void) { return Apm::generation(); }

}  // extern "C"
