// DuplexVoice for C and whatever calls C: the echo canceller, noise suppressor and gain control by themselves.
//
// Handles. An object is named by a number that is never used again. 0 is none. A call with a number that names nothing (never made, destroyed,
// of another kind) returns DV_INVALID_HANDLE and does nothing, on any thread and at any time.
//
// Threads. Every object has two sides, said with each function: sound and control. Each side takes one call at a time, from any thread; one that
// comes while another of its side runs returns DV_BUSY and does nothing. The two sides never wait for each other, so an audio callback
// and a window may use the same object. Calls of the sound side neither allocate nor lock, wait or call the system; with a backend of another
// library's, as far as that keeps to it (WebRTC's module has mutexes of its own).
//
// Structures. `size` is set to `sizeof` by the caller. A library older than the caller takes a longer structure as long as what it does not know is
// zero, and else returns DV_UNSUPPORTED; a newer one takes a shorter structure for one whose further fields are zero. Zero is the default of every
// configuration's field that has one. Of a structure that a library fills it sets `size` to how much of it that was.
//
// Errors. Every function returns a dv_status, of which dv_status_text has a sentence. Functions that can fail for more than one reason of a kind
// also write a dv_error, where one is given, that names the field, its value, and what to do. A call that fails changes nothing: neither an
// object nor, unless it is said, what it was to write.
#ifndef DUPLEXVOICE_H
#define DUPLEXVOICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __clang__
#pragma clang assume_nonnull begin
#define DV_NULLABLE _Nullable
#else
#define DV_NULLABLE
#endif

// MARK: Version

/// The version of this header, by parts and as dv_version gives that of the library.
#define DV_VERSION_MAJOR 0
#define DV_VERSION_MINOR 1
#define DV_VERSION_PATCH 0
#define DV_VERSION ((uint32_t)(DV_VERSION_MAJOR << 16 | DV_VERSION_MINOR << 8 | DV_VERSION_PATCH))

/// The library's version: major << 16 | minor << 8 | patch. Before 1.0 a library serves programs that were built with the same minor version.
/// Any thread, real-time safe.
uint32_t dv_version(void);

// MARK: Status

/// What became of a call: 0, or what the caller can do about it.
typedef enum dv_status {
    /// Done.
    DV_OK = 0,
    /// The handle names no object of this kind: it was never made, or is destroyed. Make one.
    DV_INVALID_HANDLE = -1,
    /// Another call of the same side of the object runs. Call from one thread, or again.
    DV_BUSY = -2,
    /// An argument is null that must not be, or out of its range. Correct the call.
    DV_INVALID_ARGUMENT = -3,
    /// A structure's `size` is none that any version had. Set it to `sizeof`.
    DV_INVALID_SIZE = -4,
    /// This library cannot do what is asked: it is older than the caller, or was built without. Ask for less, or take a newer one.
    DV_UNSUPPORTED = -5,
    /// As many objects exist as there may be: 256 in a process. Destroy one.
    DV_TOO_MANY = -6,
    /// There is no memory. Free some.
    DV_OUT_OF_MEMORY = -7,
    /// A library below refused. This is worth a report.
    DV_INTERNAL = -8
} dv_status;

/// A sentence for a status: what is wrong, and what to do. For a number that is no status, a sentence that says so. Never null; the text lasts as long
/// as the library is loaded. Any thread, real-time safe.
const char *dv_status_text(int32_t status);

/// Why a call failed, in words. Kept by the caller; there is no hidden state of a thread.
typedef struct dv_error {
    /// What the function returned.
    dv_status status;
    /// A sentence in UTF-8 that ends in a zero: what, where, what to do. Empty after a success.
    char message[252];
} dv_error;

// MARK: Processor

/// A microphone's way: echo canceller, noise suppression, gain control.
///
///     capture ───> mono ─> rate ─┐
///                                ├─> blocks of 10 ms: echo ─> high-pass, noise, gain ─> rate ─> output
///     reference ─> mono ─> rate ─┘
///
/// Inside, sound is mono, at 16, 32 or 48 kHz, in blocks of 10 ms. 8, 11.025 and 12 kHz are brought to 16 kHz, 22.05 and 24 to 32, 44.1 to 48. Several
/// channels are mixed to one: their mean.
typedef uint64_t dv_processor;

/// Who cancels the echo.
enum {
    /// DuplexVoice's own canceller: finds the echo by itself however late it comes, follows drift and jumps.
    DV_BACKEND_NATIVE = 0,
    /// WebRTC's audio processing module.
    DV_BACKEND_WEBRTC = 1,
    /// speexdsp's canceller.
    DV_BACKEND_SPEEXDSP = 2,
    /// Nobody: levels are measured.
    DV_BACKEND_BYPASS = 3
};

/// How hard what the echo canceller's filter leaves is suppressed.
enum {
    /// No echo canceller: for headsets.
    DV_ECHO_OFF = 0,
    /// Least: keeps most of a talker who speaks at the same time.
    DV_ECHO_SOFT = 1,
    DV_ECHO_MEDIUM = 2,
    /// Most.
    DV_ECHO_AGGRESSIVE = 3,
    /// As much as the loudspeaker needs. Backends other than native take it for medium.
    DV_ECHO_AUTO = 4
};

/// How much of a noise is taken away at most.
enum {
    DV_NOISE_OFF = 0,
    /// 10 dB.
    DV_NOISE_LOW = 1,
    /// 18 dB.
    DV_NOISE_MODERATE = 2,
    /// 24 dB.
    DV_NOISE_HIGH = 3,
    /// 30 dB.
    DV_NOISE_VERY_HIGH = 4
};

/// Who takes the noise away.
enum {
    /// A spectral suppressor of steady noise; 5 ms of delay.
    DV_NOISE_SPECTRAL = 0,
    /// RNNoise: all that is no speech; 10 or 20 ms of delay. At 44.1 and 48 kHz where librnnoise is installed, and else as spectral.
    DV_NOISE_NEURAL = 1
};

/// How the gain is found.
enum {
    DV_GAIN_OFF = 0,
    /// Always `fixed_gain`.
    DV_GAIN_FIXED = 1,
    /// Brings the talker's speech to `target_level`.
    DV_GAIN_ADAPTIVE = 2
};

/// How readily speech is told to have begun.
enum {
    /// `voice_activity` stays unknown.
    DV_VOICE_OFF = 0,
    DV_VOICE_VERY_LOW = 1,
    DV_VOICE_LOW = 2,
    DV_VOICE_MODERATE = 3,
    DV_VOICE_HIGH = 4
};

/// What is done to the sound; may change while it runs.
typedef struct dv_processor_settings {
    /// sizeof(dv_processor_settings).
    uint32_t size;
    /// DV_ECHO_…
    uint32_t echo;
    /// DV_NOISE_…: how much.
    uint32_t noise;
    /// DV_NOISE_SPECTRAL or DV_NOISE_NEURAL.
    uint32_t noise_method;
    /// DV_GAIN_…
    uint32_t gain;
    /// The adaptive gain's goal for speech, dBFS RMS, -40…-10. 0: -20, whatever the gain.
    int32_t target_level;
    /// The most that the adaptive gain raises speech by, dB, 1…40. 0: 32.
    int32_t largest_gain;
    /// The fixed gain, dB, -40…40.
    int32_t fixed_gain;
    /// 1: what lies below about 80 Hz is taken away. 0: it is left.
    uint32_t high_pass;
    /// DV_VOICE_…
    uint32_t voice_detection;
} dv_processor_settings;

/// Settings that belong together.
enum {
    /// Nothing is done.
    DV_PRESET_BYPASS = 0,
    /// A talk with a speaking agent that may be interrupted: soft echo suppression, moderate noise suppression, adaptive gain, high-pass.
    DV_PRESET_VOICE_AGENT = 1,
    /// People on loudspeakers: the same with as much echo suppression as is needed.
    DV_PRESET_VOICE_CHAT = 2,
    /// No echo canceller.
    DV_PRESET_HEADSET = 3
};

/// Fills `settings` with a preset.
///
/// Any thread. `settings->size` must be set before.
/// DV_INVALID_ARGUMENT: `settings` is null, or `preset` none. DV_INVALID_SIZE.
dv_status dv_processor_preset(uint32_t preset, dv_processor_settings *DV_NULLABLE settings);

/// What stays as it is as long as a processor lives.
typedef struct dv_processor_config {
    /// sizeof(dv_processor_config).
    uint32_t size;
    /// Frames per second of capture, reference and output: 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100 or 48000. Has no default.
    uint32_t sample_rate;
    /// Channels of the capture, interleaved, 1…32. 0: 1.
    uint32_t capture_channels;
    /// Channels of the reference, interleaved, 1…32. 0: 1.
    uint32_t reference_channels;
    /// Every call brings a multiple of so many frames, 1…1048576: the fewer frames of delay are needed to make blocks of 10 ms of them. 10 ms, or a
    /// multiple of that, needs none. 0: calls may bring any number, for almost 10 ms of delay.
    uint32_t block_frames;
    /// DV_BACKEND_…
    uint32_t backend;
    /// Milliseconds, up to 600, from a reference frame's entry to the arrival of its echo, where that is known beforehand. 0: it is not. The delay is
    /// searched in any case, from 0 to 600 ms; a right hint spares the echo of the first half second, and a wrong one costs.
    float expected_delay_ms;
} dv_processor_config;

/// Makes a processor.
///
/// - `config`, `settings`: see there. `settings` may be null: voice chat's.
/// - `processor`: where the handle goes; 0 after a failure.
/// - `error`: where the reason of a failure goes; may be null.
///
/// Any thread. Allocates, takes milliseconds: never from an audio callback.
/// DV_INVALID_ARGUMENT, DV_INVALID_SIZE, DV_UNSUPPORTED, DV_TOO_MANY, DV_OUT_OF_MEMORY, DV_INTERNAL.
dv_status dv_processor_create(
    const dv_processor_config *DV_NULLABLE config, const dv_processor_settings *DV_NULLABLE settings,
    dv_processor *DV_NULLABLE processor, dv_error *DV_NULLABLE error);

/// Destroys it. Frees memory: never from an audio callback.
///
/// Any thread. DV_BUSY: a call of either side runs; nothing is destroyed, end that call and try again. DV_INVALID_HANDLE: there is none, as after it was
/// destroyed before.
dv_status dv_processor_destroy(dv_processor processor);

/// Processes the next frames of the microphone against what was played meanwhile.
///
/// The output is delayed by dv_processor_delay. Frames that are no number are taken for silence, and what is beyond ±2 for ±2.
///
/// - `capture`: `frames` of the microphone, interleaved, full scale ±1.
/// - `reference`: as many frames of what was handed to the loudspeaker, interleaved, after the last volume control; null where nothing was. Its echo may
///   come up to 600 ms later, and never before it.
/// - `output`: `frames` of mono. May be `capture`.
/// - `frames`: up to 1048576, a multiple of the configured `block_frames`; 0 does nothing.
///
/// Sound side. Real-time safe.
/// DV_INVALID_HANDLE, DV_BUSY, DV_INVALID_ARGUMENT: a null pointer, or a number of frames that is none of these. `output` is untouched then.
dv_status dv_processor_run(
    dv_processor processor, const float *DV_NULLABLE capture, const float *DV_NULLABLE reference,
    float *DV_NULLABLE output, size_t frames);

/// The same for samples of 16 bits. What is louder than full scale is clipped.
dv_status dv_processor_run_int16(
    dv_processor processor, const int16_t *DV_NULLABLE capture, const int16_t *DV_NULLABLE reference,
    int16_t *DV_NULLABLE output, size_t frames);

/// Changes what is done, from the next block of 10 ms on, without a click.
///
/// What the backend or the rate cannot do is left out; dv_processor_get_active says what is done.
///
/// Control side. Neither waits nor allocates but for the words of an error.
/// DV_INVALID_HANDLE, DV_BUSY, DV_INVALID_ARGUMENT, DV_INVALID_SIZE, DV_UNSUPPORTED; the old settings stay.
dv_status dv_processor_apply(
    dv_processor processor, const dv_processor_settings *DV_NULLABLE settings, dv_error *DV_NULLABLE error);

/// Frames by which the output lags the capture: what makes blocks of 10 ms out of the caller's, what converts the rate, and the processing in the settings that
/// were active at the last block. At 48 kHz in blocks of 10 ms: that of the processing alone.
///
/// Control side. Real-time safe. DV_INVALID_HANDLE, DV_BUSY, DV_INVALID_ARGUMENT: `frames` is null.
dv_status dv_processor_delay(dv_processor processor, uint32_t *DV_NULLABLE frames);

/// What is known after a block of 10 ms. What is not known is a NaN, or -1 where it is a whole number.
typedef struct dv_processor_report {
    /// sizeof(dv_processor_report).
    uint32_t size;
    /// 1: somebody at the near end speaks. 0: nobody. -1: not known, as without voice detection.
    int32_t voice_activity;
    /// Blocks of 10 ms that were processed since the processor was made.
    uint64_t blocks;
    /// Those of them that a library failed on and that passed as they were.
    uint64_t failed_blocks;
    /// RMS of the last block as it came, of the reference, and as it leaves: dBFS, -127…0.
    float input_level, reference_level, output_level;
    /// RMS of the echo in the microphone as it is estimated, dBFS.
    float echo_level;
    /// The reference's power over that of its echo, dB.
    float echo_return_loss;
    /// The echo's power over that of what is left, dB.
    float echo_return_loss_enhancement;
    /// From a reference frame's entry to its echo's arrival, milliseconds, where it was found.
    float echo_delay_ms;
    /// How much slower the loudspeaker's clock runs than the microphone's, parts per million.
    float echo_drift_ppm;
    /// How sure it is that the microphone hears the loudspeaker, 0…1.
    float echo_presence;
    /// How far what is left can be taken for the near end, 0…1, so that an interruption can be told from an echo.
    float echo_readiness;
    /// Probability of near speech in the block, 0…1, what may be left of an echo discounted.
    float speech_probability;
    /// Level of the near talker before the gain, dBFS RMS over speech.
    float speech_level;
    /// Level of the near end's noise before its suppression, dBFS.
    float noise_level;
    /// The gain at the end of the block, dB.
    float gain;
    /// What the limiter took at the end of the block, dB.
    float limiting;
    /// Loudness of what leaves over 400 ms, LUFS (ITU-R BS.1770-4), -70 at least.
    float momentary_loudness;
} dv_processor_report;

/// Fills `report` with what is known after the last block.
///
/// Before the first block, levels are -127 and the rest is not known. `report->size` must be set before.
///
/// Control side. Real-time safe. DV_INVALID_HANDLE, DV_BUSY, DV_INVALID_ARGUMENT: `report` is null. DV_INVALID_SIZE.
dv_status dv_processor_get_report(dv_processor processor, dv_processor_report *DV_NULLABLE report);

/// Fills `settings` with what was done to the last block: what was asked for, as far as backend and rate can do it. `settings->size` must be set before.
///
/// Control side. Real-time safe. DV_INVALID_HANDLE, DV_BUSY, DV_INVALID_ARGUMENT: `settings` is null. DV_INVALID_SIZE.
dv_status dv_processor_get_active(dv_processor processor, dv_processor_settings *DV_NULLABLE settings);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif
#ifdef __cplusplus
}
#endif

#endif
