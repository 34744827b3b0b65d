// A C face on the echo canceller and the high-pass filter of WebRTC's audio processing module (APM); mono, 10 ms
// blocks.
//
// The library exists in two generations that share a name and little else. Which one is compiled against is found out
// by __has_include in apm.h; webrtc_audio_generation() and webrtc_audio_has_echo_levels() tell, so that a caller can
// say what it asked for and what it got.
//
//   0.3      (Debian 12)   "classic": separate components, three suppression levels, extended filter, delay-agnostic mode
//   1.x/2.x                "config":  AudioProcessing::Config and AEC3, which finds the delay itself and has no levels
//
// Threads: an instance has one owner. webrtc_audio_process() and webrtc_audio_apply() must not run at the same time.
// With 0.3 the making of an instance's canceller stops the processing of all others for some 0.25 ms, once, inside
// webrtc_audio_create(); the thread that makes it inherits the priority of those that wait. Nothing throws across this
// border: every function catches and returns a status.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct webrtc_audio webrtc_audio;

typedef enum webrtc_audio_status : int32_t {
    WEBRTC_AUDIO_OK = 0,
    WEBRTC_AUDIO_BAD_RATE = 1,       // the rate is not 16000, 32000 or 48000 Hz
    WEBRTC_AUDIO_BAD_SETTING = 2,    // a value of webrtc_audio_settings is out of its range
    WEBRTC_AUDIO_NO_MEMORY = 3,      // the library could not allocate
    WEBRTC_AUDIO_UNSUPPORTED = 4,    // this generation of the library has no such function
    WEBRTC_AUDIO_LIBRARY_ERROR = 5,  // the library refused; webrtc_audio_library_error() has its code
    WEBRTC_AUDIO_EXCEPTION = 6,      // the library threw
} webrtc_audio_status;

// Chosen once; classic only.
typedef struct webrtc_audio_options {
    bool extended_filter;   // 128 ms instead of 48 ms of echo tail
    bool delay_agnostic;    // the library looks for the delay itself; always so in the config generation
} webrtc_audio_options;

typedef struct webrtc_audio_settings {
    uint8_t echo;           // 0 off, 1 low, 2 moderate, 3 high suppression
    bool high_pass;
} webrtc_audio_settings;

/// What is known after a block. Unknown is NaN for a float and -1 for an integer, never 0.
typedef struct webrtc_audio_report {
    int8_t may_have_echo;        // 0: this block almost certainly has none
    float echo_return_loss;      // dB, far-end power over echo power
    float echo_enhancement;      // dB, ERLE: echo power over output power
    int32_t delay_median;        // ms, what the library sees between the two streams
    int32_t delay_deviation;     // ms
    float poor_delay_fraction;   // 0...1, share of delay estimates at which it cancels badly
    float residual_echo;         // 0...1, likelihood of residual echo (config generation)
} webrtc_audio_report;

/// Makes an instance and processes silence until the library has allocated what it needs. Allocates; not for a media
/// thread.
webrtc_audio_status webrtc_audio_create(
    int32_t rate, webrtc_audio_options options, const webrtc_audio_settings *settings, webrtc_audio **instance);

/// Frees an instance; NULL is fine.
void webrtc_audio_destroy(webrtc_audio *instance);

/// Changes settings between two blocks. All or nothing: on WEBRTC_AUDIO_BAD_SETTING nothing has changed.
///
/// 0.3: a few microseconds, no allocation. Levels change in place and reset nothing. Switching a component on clears
/// its state and no other's, and changes the delay through the module (VoiceProcessing has the table), so the output
/// skips or falls silent for that long; VoiceProcessing's CaptureProcessor splices over it. AEC3: ApplyConfig
/// allocates; switching the canceller on builds it anew.
webrtc_audio_status webrtc_audio_apply(webrtc_audio *instance, const webrtc_audio_settings *settings);

/// Processes 10 ms: `capture` (rate / 100 frames, full scale +-1) in place against `reference` (as many frames).
/// `delay` is the time in ms from a reference frame's entry here to its echo's arrival in `capture`, 0...500; it is
/// clamped. `report` may be NULL.
webrtc_audio_status webrtc_audio_process(
    webrtc_audio *instance, float *capture, const float *reference, int32_t delay, webrtc_audio_report *report);

/// The library's own code for the last WEBRTC_AUDIO_LIBRARY_ERROR of this instance.
int32_t webrtc_audio_library_error(const webrtc_audio *instance);

/// How often this instance has stopped the processing of all others: once with 0.3, never with AEC3.
int32_t webrtc_audio_exclusions(const webrtc_audio *instance);

/// Whether suppression has levels; if not, any level above off is the same canceller.
bool webrtc_audio_has_echo_levels(void);

/// "0.3" or "AEC3": the generation that was compiled in.
const char *webrtc_audio_generation(void);

#ifdef __cplusplus
}
#endif
