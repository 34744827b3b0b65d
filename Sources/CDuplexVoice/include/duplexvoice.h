// DuplexVoice for C and whatever calls C: a duplex voice engine (dv_engine_*) with rooms and agents in the own process (dv_far_end_*); the echo canceller,
// noise suppressor and gain control by themselves (dv_processor_*); the jitter buffer (dv_playout_*); and graphs of stages that are described in JSON
// (dv_graph_*).
//
// Handles. An object is named by a number that is never used again. 0 is none. A call with a number that names nothing (never made, destroyed,
// of another kind) returns DV_INVALID_HANDLE and does nothing, on any thread and at any time.
//
// Threads. Every function says of which side of its object it is: sound or control. Calls of a sound side neither allocate nor lock, wait or call the system,
// but for one write to an eventfd where that is said; with a processor's backend of another library's, as far as that keeps to it (WebRTC's module has mutexes
// of its own). A sound side takes one call at a time, from any thread; one that comes while another runs returns DV_BUSY and does nothing. Sound and control
// never wait for each other, so an audio callback and a window may use the same object. An engine calls no function but a
// dv_sound_listener, on its media thread; its events are fetched with dv_engine_next_event. A graph calls the functions that it was given, on threads of the
// library's and never on a real-time one; from such a function, a dv_graph_* function that would wait for the graph returns DV_WRONG_STATE.
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
    DV_INTERNAL = -8,
    /// The object is not in a state for that: not started, not in a room, somebody else's turn. Make the calls in their order.
    DV_WRONG_STATE = -9,
    /// A right is missing, of the process or of the token. dv_error says which.
    DV_NOT_PERMITTED = -10,
    /// A sound card or a sound file. dv_error says which and what to do.
    DV_DEVICE_FAILED = -11,
    /// The way to the room's server. dv_error says what to do.
    DV_NETWORK_FAILED = -12,
    /// The room refused, or has ended the stay. dv_error says why.
    DV_ROOM_REFUSED = -13,
    /// The machine has no threads, memory, descriptors or time to spare. Free some, then call again.
    DV_EXHAUSTED = -14
} dv_status;

/// A sentence for a status: what is wrong, and what to do. For a number that is no status, a sentence that says so. Never null; the text lasts as long
/// as the library is loaded. Any thread, real-time safe.
const char *dv_status_text(int32_t status);

/// Why a call failed, in words. Kept by the caller; there is no hidden state of a thread. All texts are UTF-8, end in a zero, and are empty after a success.
typedef struct dv_error {
    /// What the function returned.
    dv_status status;
    /// 1: the same call may succeed later with nothing changed. 0: it will not.
    uint32_t is_retryable;
    /// A name that stays the same from version to version, as `device.notFound`: docs/errors.md has them all. Empty where the status says it all.
    char code[40];
    /// A sentence: what, where, what to do.
    char message[304];
    /// What to do, alone. Empty where `message` says it all.
    char remedy[160];
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
    int32_t maximum_gain;
    /// The fixed gain, dB, -40…40.
    int32_t fixed_gain;
    /// 1: what lies below about 75 Hz is taken away; where the microphone rumbles, what lies below up to 130 Hz. 0: it is left.
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

// MARK: Playout

/// A jitter buffer by itself, with its Opus decoder: packets go in as they come, sound comes out as it is played.
///
///     dv_playout_insert ──> ring ──> delay, FEC, concealment, stretching ──> dv_playout_pull
///
/// For one talker's stream, mono, at 48 kHz. Packets may be late, lost, doubled and out of order; arrivals are measured against the pulls, so that the clocks of
/// sender and sound card may differ, and no other handling of drift is needed. It has two sound sides, for packets and for sound, that never wait for each other:
/// a network thread inserts while an audio callback pulls.
///
/// Times are nanoseconds since any beginning, as CLOCK_MONOTONIC's, the same for both sides, from 0 to 2^60.
typedef uint64_t dv_playout;

/// What delay is weighed against sound that is lost.
enum {
    /// A conversation: the smallest delay whose loss of sound listeners do not mind.
    DV_PLAYOUT_CONVERSATION = 0,
    /// People who must be in time with each other, on a good network.
    DV_PLAYOUT_LOW_DELAY = 1,
    /// Listening, transcription and recording: late sound is played.
    DV_PLAYOUT_ROBUST = 2
};

/// What stays as it is as long as a jitter buffer lives.
typedef struct dv_playout_config {
    /// sizeof(dv_playout_config).
    uint32_t size;
    /// DV_PLAYOUT_…
    uint32_t profile;
    /// What the delay that is aimed at never falls below, and rises above: milliseconds, up to 500. 0: 0, and 400.
    uint32_t minimum_delay_ms, maximum_delay_ms;
    /// How many packets may wait, 16…4096; each takes 3100 bytes, and nothing else grows. 0: the profile's, 256 or 512.
    uint32_t packets;
    /// The payload type of Opus in RTP packets, 1…127; others are passed over. 0: any is Opus.
    uint32_t payload_type;
    /// That of packets that repeat earlier ones (RFC 2198), 1…127. 0: there are none.
    uint32_t redundant_payload_type;
} dv_playout_config;

/// Makes a jitter buffer. All its memory is allocated here; that of the ring is locked against page faults where the process may.
///
/// - `config`: may be null: conversation.
/// - `playout`: where the handle goes; 0 after a failure.
///
/// Any thread. DV_INVALID_ARGUMENT, DV_INVALID_SIZE, DV_UNSUPPORTED, DV_TOO_MANY, DV_INTERNAL.
dv_status dv_playout_create(
    const dv_playout_config *DV_NULLABLE config, dv_playout *DV_NULLABLE playout, dv_error *DV_NULLABLE error);

/// Destroys it.
///
/// Any thread. DV_BUSY: a call of either sound side runs; end that call and try again. DV_INVALID_HANDLE.
dv_status dv_playout_destroy(dv_playout playout);

/// The longest packet, bytes.
#define DV_PLAYOUT_PACKET_BYTES 1500

/// Brings an RTP packet (RFC 3550) of Opus (RFC 7587), as it came: already decrypted. It is copied.
///
/// It is read with the next pull: what is no RTP, no Opus, or of another payload type is counted there, and does no harm.
///
/// - `packet`: `count` bytes, 1…DV_PLAYOUT_PACKET_BYTES.
/// - `arrival_ns`: when it came.
///
/// Sound side, packets. Wait-free. DV_EXHAUSTED: as many packets wait as may, since nobody pulls; it is dropped and counted.
/// DV_INVALID_HANDLE, DV_BUSY, DV_INVALID_ARGUMENT: null, another length, a time that is none.
dv_status dv_playout_insert(
    dv_playout playout, const void *DV_NULLABLE packet, size_t count, int64_t arrival_ns);

/// The same of an Opus packet without an RTP header, for those who have it by another way.
///
/// - `payload`: `count` bytes, 1…DV_PLAYOUT_PACKET_BYTES - 12.
/// - `sequence_number`: one more with each packet; wraps.
/// - `timestamp`: where its sound begins, frames of 48 kHz; wraps.
dv_status dv_playout_insert_opus(
    dv_playout playout, const void *DV_NULLABLE payload, size_t count, uint16_t sequence_number, uint32_t timestamp,
    int64_t arrival_ns);

/// Fills `samples` with what is to be played next: 48 kHz, mono, full scale ±1, beyond which decoded peaks may reach.
///
/// All of them are written, whatever is returned, with silence where there is no sound. It reads up to 64 packets and one more for each millisecond that is
/// pulled, so that a flood of them costs no more.
///
/// - `frames`: any number, 480 as a rule.
/// - `now_ns`: when it is asked for. Pulls may jitter by milliseconds; their long-run pace is the clock.
///
/// Sound side, sound. Real-time safe.
/// DV_INVALID_HANDLE, DV_BUSY, DV_INVALID_ARGUMENT: a time that is none; or null, or more than 1048576 frames, and then nothing is written.
dv_status dv_playout_pull(dv_playout playout, float *DV_NULLABLE samples, size_t frames, int64_t now_ns);

/// Makes it as new, for another talker: what was inserted before is not heard. Takes effect with the next pull.
///
/// Control side. Real-time safe. DV_INVALID_HANDLE, DV_BUSY.
dv_status dv_playout_reset(dv_playout playout);

/// What is counted since it was made, or reset. Names and meanings as in W3C's webrtc-stats; frames are of 48 kHz.
typedef struct dv_playout_statistics {
    /// sizeof(dv_playout_statistics).
    uint32_t size;
    /// Packets that wait to be decoded.
    uint32_t waiting_packets;
    /// Packets that came, those that came twice not counted.
    uint64_t packets_received;
    /// Packets that should have come less those that did; falls when a late one comes.
    int64_t packets_lost;
    /// Packets that were not played: too late, too early, or of nothing that was expected; `packets_late` and `packets_malformed` are among them.
    uint64_t packets_discarded, packets_late;
    /// No RTP, or no Opus.
    uint64_t packets_malformed;
    uint64_t packets_duplicated;
    /// Of another payload type.
    uint64_t packets_unknown;
    /// That dv_playout_insert returned DV_EXHAUSTED for, since it was made.
    uint64_t packets_dropped;
    /// Packets with a copy of what was before them, and those whose copy was not needed.
    uint64_t redundancy_received, redundancy_discarded;
    uint64_t pulled_frames;
    /// Of packets, or their copies.
    uint64_t played_frames;
    /// Made up in place of what was lost or late, and how often that began.
    uint64_t concealed_frames, concealments;
    /// Silence or comfort noise where the sender sent nothing.
    uint64_t pause_frames;
    /// Put in to play slower, and taken out to play faster.
    uint64_t inserted_frames, removed_frames;
    /// Passed over, since it came too late or too much waited.
    uint64_t skipped_frames;
    /// How often another stream began.
    uint64_t stream_restarts;
    /// Sum over the played frames of how long each was held, seconds: divided by `played_frames`, the delay.
    double held_s;
    /// What the delay is steered for, above that of the fastest packets, and the sound that waits: milliseconds.
    float target_delay_ms, waiting_ms;
} dv_playout_statistics;

/// Fills `statistics` with what is known after the last pull. `statistics->size` must be set before.
///
/// Control side. Real-time safe. DV_INVALID_HANDLE, DV_BUSY, DV_INVALID_ARGUMENT: null. DV_INVALID_SIZE.
dv_status dv_playout_get_statistics(dv_playout playout, dv_playout_statistics *DV_NULLABLE statistics);

// MARK: Engine

/// A voice engine: it opens the sound, cancels echo, goes into a room or speaks with far ends of this process.
///
///     microphone or dv_send_capture ──> echo, noise, gain ──> room, far ends
///     loudspeaker or dv_pull_playback <── mix <── room, far ends
///
/// Functions of its control side may be called from any number of threads, never from an audio callback: they allocate
/// and wait, most for less than a millisecond; which wait longer is said. One that waits for the network does not hold
/// up others. Beside what is said with each, a text that is no UTF-8 is DV_INVALID_ARGUMENT, and where the media thread
/// does not keep up with what it is told to do DV_EXHAUSTED is returned (`engine.overloaded`). Its sound side has two
/// halves, capture and playback, that take one call at a time each.
typedef uint64_t dv_engine;

/// What an engine is for.
enum {
    /// People on loudspeakers.
    DV_ENGINE_VOICE_CHAT = 0,
    /// A person who talks with a speaking agent and interrupts it.
    DV_ENGINE_VOICE_AGENT = 1,
    /// People with headsets: no echo canceller.
    DV_ENGINE_HEADSET = 2,
    /// The shortest way, for people with headsets on a good network; nothing is done to the microphone.
    DV_ENGINE_LOW_DELAY = 3,
    /// Several people around one loudspeaker.
    DV_ENGINE_SPEAKERPHONE = 4,
    /// Instruments, for people with headphones: 128 kbit/s, and nothing is done to the microphone.
    DV_ENGINE_MUSIC_LESSON = 5,
    /// A path with little room: 16 kbit/s in packets of 60 ms.
    DV_ENGINE_NARROW_BAND = 6,
    /// A car's loudspeakers and the noise of the road.
    DV_ENGINE_CAR = 7
};

/// Where an engine's sound comes from and goes to.
enum {
    /// Sound cards, by the names of their ALSA PCMs.
    DV_SOUND_CARDS = 0,
    /// The caller: dv_send_capture and dv_pull_playback.
    DV_SOUND_CLIENT = 1
};

/// What of the process's memory is locked against page faults.
enum {
    /// The rings between the engine's threads, 3.6 MB; not jitter buffers, codecs, filters or stacks.
    DV_LOCK_RINGS = 0,
    /// All that the process has or will have: for a program that is there for the sound.
    DV_LOCK_PROCESS = 1
};

/// What kind of loudspeaker is in use.
enum {
    /// As the card's name tells.
    DV_ROUTE_AUTOMATIC = 0,
    /// The canceller is transparent.
    DV_ROUTE_HEADSET = 1,
    /// The canceller that the settings ask for.
    DV_ROUTE_SPEAKER = 2
};

/// What stays as it is as long as an engine lives. Strings are UTF-8 and are copied.
typedef struct dv_engine_config {
    /// sizeof(dv_engine_config).
    uint32_t size;
    /// DV_ENGINE_…
    uint32_t preset;
    /// DV_SOUND_…
    uint32_t sound;
    /// DV_BACKEND_…; 0: the preset's, which is native but for low delay's and music lesson's.
    uint32_t backend;
    /// ALSA PCMs, as `hw:CARD=PCH`; null: `default`. Null with DV_SOUND_CLIENT.
    const char *DV_NULLABLE capture_device;
    const char *DV_NULLABLE playback_device;
    /// How many talkers can be heard at once, 1…16. 0: 8.
    uint32_t maximum_talkers;
    /// DV_ROUTE_…, to begin with.
    uint32_t route;
    /// DV_LOCK_…
    uint32_t memory_lock;
    /// SCHED_FIFO priority of the media thread, 2…99; the network thread's is 5 lower, 1 at least. 0: 60. -1: the
    /// ordinary scheduler.
    int32_t priority;
    /// Bits per second that the microphone is sent with, 500…512000. 0: the preset's.
    uint32_t bitrate_bps;
    /// Milliseconds of a packet: 2.5, 5, 10, 20, 40 or 60. 0: the preset's. Below 10 they have no FEC.
    float packet_ms;
    /// On which channels of its card the microphone is, counted from 1, up to 256: the mean of the first to the last is
    /// taken. A last one of 0: the first alone. Both 0: the first two. A card that has fewer is not opened; another that
    /// takes its place while the engine runs is opened with its first two.
    uint32_t first_capture_channel, last_capture_channel;
} dv_engine_config;

/// Makes an engine that does nothing yet.
///
/// - `config`: may be null: voice chat on ALSA's `default`.
/// - `engine`: where the handle goes; 0 after a failure.
///
/// Control side. DV_INVALID_ARGUMENT, DV_INVALID_SIZE, DV_UNSUPPORTED, DV_TOO_MANY, DV_EXHAUSTED: no file descriptor is
/// left.
dv_status dv_engine_create(
    const dv_engine_config *DV_NULLABLE config, dv_engine *DV_NULLABLE engine, dv_error *DV_NULLABLE error);

/// Opens the sound and starts it. Takes as long as the sound cards take, 50 ms as a rule; none with DV_SOUND_CLIENT.
///
/// Control side. DV_WRONG_STATE: it runs already. DV_DEVICE_FAILED, DV_NOT_PERMITTED, DV_INVALID_ARGUMENT,
/// DV_EXHAUSTED, DV_INVALID_HANDLE.
dv_status dv_engine_start(dv_engine engine, dv_error *DV_NULLABLE error);

/// Leaves the room, stops the sound and closes every far end. Does nothing where the engine does not run. It may be
/// started again.
///
/// Control side. Waits up to 2 s for the room, and for the sound cards. DV_INVALID_HANDLE, DV_EXHAUSTED.
dv_status dv_engine_stop(dv_engine engine, dv_error *DV_NULLABLE error);

/// Stops the engine and destroys it. Calls that wait in other threads return, dv_engine_next_event with
/// DV_INVALID_HANDLE. Handles of its far ends, listeners, meters and conversations stay, do nothing more, and count among those
/// that there may be, until each is closed.
///
/// Control side. Waits as dv_engine_stop does. DV_BUSY: a call of a sound side runs; nothing is destroyed, end that
/// call and try again. DV_WRONG_STATE: called from a function that the library calls; nothing is destroyed.
/// DV_INVALID_HANDLE.
dv_status dv_engine_destroy(dv_engine engine);

// MARK: The caller's own sound

/// Brings `frames` of the microphone: 48 kHz, mono, full scale ±1.
///
/// - `time_ns`: when the first of them was at the ADC, CLOCK_MONOTONIC in nanoseconds. 0: the frames are counted from
///   the start of the engine; then capture and playback must begin with it and leave nothing out, or the canceller has
///   to find the offset by ear.
/// - `taken`: how many the engine took, 0 where it does not run; the rest is dropped and counted. May be null.
///
/// Sound side, capture. Wait-free; one non-blocking write to an eventfd wakes the media thread.
/// DV_INVALID_HANDLE, DV_BUSY, DV_INVALID_ARGUMENT: null, more than 1048576 frames, or a time that is none of
/// CLOCK_MONOTONIC: before 0, or from 2^60 on, as CLOCK_REALTIME's. DV_WRONG_STATE: the engine has sound cards.
dv_status dv_send_capture(
    dv_engine engine, const float *DV_NULLABLE samples, size_t frames, int64_t time_ns, size_t *DV_NULLABLE taken);

/// Fills `samples` with what is to be played: 48 kHz, mono.
///
/// All of them are written, whatever is returned, with silence where there is no sound: an audio callback may hand them
/// on unseen.
///
/// - `time_ns`: when the first of them will be at the DAC; see dv_send_capture.
/// - `given`: how many are sound; what lacks is a fade and silence, and counted. May be null.
///
/// Sound side, playback. Wait-free; one non-blocking write to an eventfd.
/// DV_INVALID_HANDLE, DV_BUSY, DV_WRONG_STATE: the engine has sound cards. DV_INVALID_ARGUMENT: a time that is none; or
/// null, or more than 1048576 frames, and then nothing is written.
dv_status dv_pull_playback(
    dv_engine engine, float *DV_NULLABLE samples, size_t frames, int64_t time_ns, size_t *DV_NULLABLE given);

/// Brings what the loudspeaker plays, for a caller that does not play what dv_pull_playback gives as it is. From the
/// first call on it is the canceller's reference in place of that; without a call the engine's own is.
///
/// Sound side, playback; arguments and statuses as dv_send_capture's, with the time at the DAC.
dv_status dv_send_reference(
    dv_engine engine, const float *DV_NULLABLE samples, size_t frames, int64_t time_ns, size_t *DV_NULLABLE taken);

// MARK: Listening

/// Where a dv_sound_listener hears the sound on its way through an engine.
enum {
    /// What the microphone captured, as the device gave it, echo and all.
    DV_POINT_CAPTURED = 1,
    /// The microphone behind canceller, suppressor and gain control; also while muted.
    DV_POINT_PROCESSED = 2,
    /// What a room gets: silent while muted.
    DV_POINT_SENT = 3,
    /// All that is played, mixed and limited, before the output's volume.
    DV_POINT_MIX = 4,
    /// What is heard of one participant, before volume and mix.
    DV_POINT_PARTICIPANT = 5
};

/// A listener of an engine's.
typedef uint64_t dv_listener;

/// Hears a block, on the engine's media thread, which is real-time, one call at a time: all that the engine sends and
/// plays waits for its return. It must not wait, lock, allocate, make system calls, write to a log or a file, or call
/// the engine, and takes a small part of the block's length at most: 0.1 ms is much. What takes longer belongs to
/// another thread, behind an atomic or a wait-free ring. dv_processor and dv_playout may be used in it, whose sound sides
/// are wait-free.
///
/// - `samples`: `frames` of mono at 48 kHz, full scale ±1, up to 480; valid during the call only.
/// - `time_ns`: when the first of them was at the ADC, or, of DV_POINT_MIX and DV_POINT_PARTICIPANT, will be at the DAC,
///   as predicted: CLOCK_MONOTONIC.
typedef void (*dv_sound_listener)(void *DV_NULLABLE context, const float *samples, size_t frames, int64_t time_ns);

/// Has `call` hear a point of the sound's way from now on, until dv_listener_close or the engine's stop; up to 4 at once.
///
/// - `point`: DV_POINT_…
/// - `participant`: of DV_POINT_PARTICIPANT who; 0 otherwise. One who is not in the room gives no sound.
/// - `context`: handed to `call`; must last until dv_listener_close has returned.
/// - `listener`: where the handle goes; 0 after a failure.
///
/// Control side. DV_WRONG_STATE: the engine does not run. DV_INVALID_ARGUMENT: null, another point, or a participant
/// where there is none to be. DV_EXHAUSTED, DV_TOO_MANY, DV_INVALID_HANDLE.
dv_status dv_engine_listen(
    dv_engine engine, uint32_t point, uint32_t participant, dv_sound_listener DV_NULLABLE call,
    void *DV_NULLABLE context, dv_listener *DV_NULLABLE listener, dv_error *DV_NULLABLE error);

/// Ends it. Its function is not called any more once this has returned: waits for a call that runs.
///
/// Control side. DV_WRONG_STATE: called from such a function; nothing is ended. DV_INVALID_HANDLE.
dv_status dv_listener_close(dv_listener listener);

// MARK: Meters

/// A meter of an engine's: how loud both ends are, measured again and again.
typedef uint64_t dv_meter;

/// How loud both ends were during an interval: dBFS, -127…0, RMS and highest sample. What is not known is a NaN, or -1
/// where it is a whole number.
typedef struct dv_levels {
    /// sizeof(dv_levels).
    uint32_t size;
    /// How many intervals were measured so far; 0: none, and nothing else is known.
    uint32_t number;
    /// When the interval ended, CLOCK_MONOTONIC, and how long it was.
    int64_t time_ns, duration_ns;
    /// The microphone as it was captured.
    float captured_rms, captured_peak;
    /// The microphone behind canceller, suppressor and gain control; also while muted.
    float near_rms, near_peak;
    /// All that is played, before the output's volume.
    float far_rms, far_peak;
    /// 1: the near talker spoke in some of it. 0: not. -1: not known, as without voice detection.
    int32_t near_speaks;
    /// 1: 10 ms of what is played were above -50 dBFS. 0: none were.
    int32_t far_speaks;
} dv_levels;

/// Measures levels from now on, until dv_meter_close or the engine's stop; up to 4 at once.
///
/// - `interval_ms`: 10…10000.
/// - `meter`: where the handle goes; 0 after a failure.
///
/// Control side. DV_WRONG_STATE: not started. DV_INVALID_ARGUMENT, DV_EXHAUSTED, DV_TOO_MANY, DV_INVALID_HANDLE.
dv_status dv_engine_open_meter(
    dv_engine engine, uint32_t interval_ms, dv_meter *DV_NULLABLE meter, dv_error *DV_NULLABLE error);

/// Fills `levels` with those of the newest interval, at whatever rate it is asked; after the engine's stop with the last.
/// `levels->size` must be set before.
///
/// Control side. Does not wait. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT: null. DV_INVALID_SIZE.
dv_status dv_meter_read(dv_meter meter, dv_levels *DV_NULLABLE levels);

/// Ends it. Needed also where the engine was destroyed before.
///
/// Control side. DV_INVALID_HANDLE.
dv_status dv_meter_close(dv_meter meter);

// MARK: Events

/// What happened. Which fields of dv_event say more is told with each; the others are 0.
enum {
    /// Nothing within the time-out.
    DV_EVENT_NONE = 0,
    /// `value` events were dropped here, the oldest, since 256 waited: dv_engine_get_snapshot says how to go on.
    DV_EVENT_DROPPED = 1,
    /// The engine is in the room `text`, as `participant`.
    DV_EVENT_JOINED = 2,
    /// The engine is out of the room: `code` and `text` say why.
    DV_EVENT_LEFT = 3,
    /// The room does not answer; the engine tries to come back for up to 30 s.
    DV_EVENT_CONNECTION_LOST = 4,
    /// It is back: as the same participant, unless the room had given it up; the snapshot says as whom. Where that is
    /// another, what was sent and not delivered yet is gone, as DV_EVENT_MESSAGES_DROPPED has told.
    DV_EVENT_RECONNECTED = 5,
    /// `participant`, whose identity is `text`, came in; `data` holds its attributes, as of DV_EVENT_ATTRIBUTES.
    DV_EVENT_PARTICIPANT_JOINED = 6,
    /// `participant` went out. `value`: 1 it left, 2 it was lost, 3 it was removed, 0 unknown.
    DV_EVENT_PARTICIPANT_LEFT = 7,
    /// `participant` is muted (`value` 1) or no more (0).
    DV_EVENT_PARTICIPANT_MUTED = 8,
    /// Something comes of `participant` (`value` 1), or nothing any more (0).
    DV_EVENT_PARTICIPANT_REACHABLE = 9,
    /// The sound of `participant`, who is not muted, stands still (`value` 1) or goes on (0).
    DV_EVENT_STREAM_STALLED = 10,
    /// The way from `participant` to here loses so much that it is heard (`value` 1), or no more (0).
    DV_EVENT_LINK_POOR = 11,
    /// `participant` sent `data`, to this engine alone or to all.
    DV_EVENT_MESSAGE = 12,
    /// `other` interrupted `participant`; `value` is the generation. Where that is this engine, what is still to be
    /// said had better not be.
    DV_EVENT_INTERRUPTED = 13,
    /// `participant` speaks again, in generation `value`, knowing of the interruption.
    DV_EVENT_GENERATION_STARTED = 14,
    /// A request to the room was refused or could not be sent: `code`, `text`.
    DV_EVENT_REQUEST_FAILED = 15,
    /// The near talker began to speak (`value` 1) or fell silent (0), at `time_ns`.
    DV_EVENT_SPEECH = 16,
    /// Whether an interruption can be trusted not to be an echo: `value` is 2 ready, 1 learning, 0 unknown.
    DV_EVENT_ECHO_READINESS = 17,
    /// The canceller's reference has a problem (`value` 1) or no more (0), or changed at once (2): `code` is
    /// `reference.gaps`, `.clipping`, `.lateness`, `.gainChanged`, `.shifted` or `.retimed`.
    DV_EVENT_REFERENCE = 18,
    /// A sound card: `code` is `device.xrun`, `.suspended`, `.recovered`, `.trimmed`, `.fillTargetChanged`,
    /// `.disconnected`, `.failed`, `.schedulingRefused`, `.endOfInput`, `.inputLate` or `.outputLost`; `value` is its
    /// number of frames or errno.
    DV_EVENT_DEVICE = 19,
    /// A sound card has gone away: `text` is its name, `code` why. The call goes on, silently, until
    /// DV_EVENT_ROUTE_CHANGED.
    DV_EVENT_DEVICE_LOST = 20,
    /// A sound card is open again, the same or another: `text` is where the sound comes from and goes to; `code` is
    /// `route.reopened`, `.movedToDefault` or `.selected`.
    DV_EVENT_ROUTE_CHANGED = 21,
    /// The engine works, but not as well as it could: `code` is `degraded.noRealtimePriority`, `.memoryNotLocked`,
    /// `.tooManyStreams`, `.processingRefused`, `.eventsLost` or `.commandLost`; `value` is its errno or count.
    DV_EVENT_DEGRADED = 22,
    /// Blocks are mixed so long before they are played from now on: `duration_ns`.
    DV_EVENT_PLAYOUT_MARGIN = 23,
    /// The first of `utterance` of `far_end` left the DAC at `time_ns`.
    DV_EVENT_UTTERANCE_STARTED = 24,
    /// The receipt: nothing more of `utterance` of `far_end` will be heard. `duration_ns` of it was, the last at
    /// `time_ns`. `value` is 1 where that was all of it, and 0 where it was interrupted.
    DV_EVENT_UTTERANCE_PLAYED = 25,
    /// `far_end` is closed, and so says nothing more.
    DV_EVENT_FAR_END_CLOSED = 26,
    /// A text stream of `participant` has changed: `code` is its name, `utterance` the number of its text, `data` the
    /// first 1024 bytes of what that is now, in UTF-8, `reserved` how many bytes that is in all, and `value` 1 where it
    /// stays so.
    DV_EVENT_TEXT = 27,
    /// Of the conversation of `far_end`, here and below: it is another's turn; `value` is DV_TURN_…
    DV_EVENT_TURN_STATE = 28,
    /// The near talker began to speak in `turn` (`value` 1), or fell silent (0): at `time_ns`; the turn ends
    /// `duration_ns` later unless they go on.
    DV_EVENT_TURN_SPEECH = 29,
    /// The near talker has said what they had to say, from `time_ns` on for `duration_ns`: answer `turn`. `value` is the
    /// turn that it goes on with, 0 for none.
    DV_EVENT_TURN_ENDED = 30,
    /// Nothing comes of `turn`: `value` is DV_END_…
    DV_EVENT_TURN_DROPPED = 31,
    /// The answer to `turn` is not wanted any more: `value` is DV_END_…
    DV_EVENT_ANSWER_CANCELLED = 32,
    /// The answer to `turn` is spoken into, from `time_ns` on: `value` is 1 suspected, and quieter; 2 held, and silent; 3
    /// given up; 0 none, and heard as it was. Where `turn` is 0, what `participant` of the room says is
    /// (dv_engine_set_barge_in).
    DV_EVENT_BARGE_IN = 33,
    /// The first of the answer to `turn` has left the DAC, `duration_ns` after the end of speech;
    /// dv_conversation_latency says where that time went.
    DV_EVENT_ANSWER_STARTED = 34,
    /// Nothing more of the answer to `turn` will be heard: `duration_ns` of it was, the last at `time_ns`. `value` is
    /// DV_END_…
    DV_EVENT_ANSWER_ENDED = 35,
    /// `duration_ns` of `utterance` of `participant` had left the DAC here at `time_ns`; `value`: by how many nanoseconds
    /// that may be wrong. `code` is `heard.final` where nothing more of it will be heard, else `heard.partly`.
    DV_EVENT_UTTERANCE_HEARD = 36,
    /// The same of an utterance of this engine's, as `participant` has heard it; without a time.
    DV_EVENT_HEARD = 37,
    /// Four fifths of the token's time in the room are over, or it was over when the engine came back: the next is
    /// waited for (dv_engine_set_token); without it the stay ends with the token (DV_EVENT_LEFT, `token.expired`).
    DV_EVENT_TOKEN_EXPIRING = 38,
    /// `participant`, which may be this engine, talks from now on (`value` DV_ROLE_TALKER), or only listens
    /// (DV_ROLE_LISTENER).
    DV_EVENT_ROLE = 39,
    /// `participant`, which may be this engine, tells something else of itself: `data` holds all its attributes, each a key
    /// and a value, both UTF-8 and ended by a zero. DV_EVENT_PARTICIPANT_JOINED has those of whoever comes.
    DV_EVENT_ATTRIBUTES = 40,
    /// The stream whose name is `text` stands differently: `value` is DV_PLAY_…, `code` says why: `stream.requesting`,
    /// `.playing`, `.outsideRoom`, `.notPublished`, `.connectionLost` or `.asked`, or why the room refuses it.
    DV_EVENT_STREAM_STATE = 41,
    /// `value` messages of dv_engine_send were dropped: the room had not confirmed them when it gave this engine up in a
    /// break. The last of them; some may have arrived. Send again what must.
    DV_EVENT_MESSAGES_DROPPED = 42,
    /// Of what `participant` says in `utterance`, and tells the words of, more is known or was heard here: `data` holds
    /// the first 1024 bytes of the words that are known, in UTF-8, `reserved` how many bytes those are in all, and
    /// `value` how many of them were heard, to the last whole word. `code` as of DV_EVENT_UTTERANCE_HEARD.
    DV_EVENT_CAPTION = 43
};

/// How a stream stands that is played by its name.
enum {
    /// The room has been asked for it.
    DV_PLAY_REQUESTING = 0,
    DV_PLAY_PLAYING = 1,
    /// It is played as soon as it can be.
    DV_PLAY_WAITING = 2,
    DV_PLAY_STOPPED = 3
};

/// What a participant is in a room.
enum {
    /// It may publish, as far as its token lets it.
    DV_ROLE_TALKER = 0,
    /// It publishes nothing.
    DV_ROLE_LISTENER = 1
};

/// Something that happened, as the caller keeps it.
typedef struct dv_event {
    /// sizeof(dv_event).
    uint32_t size;
    /// DV_EVENT_…; a number that is none of these comes of a newer library, and is to be left alone.
    uint32_t kind;
    uint32_t participant;
    uint32_t other;
    int64_t value;
    /// CLOCK_MONOTONIC.
    int64_t time_ns;
    int64_t duration_ns;
    /// Of the far end that it is about; 0: none.
    uint64_t far_end;
    uint32_t utterance;
    /// Of a conversation.
    uint32_t turn;
    /// Bytes of `data`.
    uint32_t data_bytes;
    /// As the kind says, else 0.
    uint32_t reserved;
    /// A name that stays the same from version to version, ended by a zero.
    char code[40];
    /// UTF-8, ended by a zero. It may hold what others chose: escape it before a terminal sees it.
    char text[304];
    uint8_t data[1024];
} dv_event;

/// Takes the next event, and waits for one for at most `timeout_ms` milliseconds: 0 does not wait, -1 waits without
/// end.
///
/// Fetched, not called back: the caller's own loop decides when and on which thread, and no lock of either side is held
/// meanwhile. The events of a burst stay in their order.
///
/// Control side. DV_OK also where there was none: `kind` is DV_EVENT_NONE then. DV_INVALID_HANDLE, also where the
/// engine is destroyed meanwhile; DV_INVALID_ARGUMENT,
/// DV_INVALID_SIZE.
dv_status dv_engine_next_event(dv_engine engine, int32_t timeout_ms, dv_event *DV_NULLABLE event);

/// A file descriptor that is readable while events wait: for poll, epoll and the loops above them. Only to be waited
/// on; it is the engine's, and is closed with it.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT: null.
dv_status dv_engine_event_descriptor(dv_engine engine, int32_t *DV_NULLABLE descriptor);

// MARK: While it runs

/// Stops (1) or resumes (0) sending the microphone, with a fade of 5 ms; the room is told. May be called before
/// dv_engine_start.
///
/// Control side. DV_ROOM_REFUSED: it is done, and the room could not be told yet; that is tried again.
/// DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_EXHAUSTED.
dv_status dv_engine_set_muted(dv_engine engine, uint32_t muted, dv_error *DV_NULLABLE error);

/// Scales all that is played, 0…1, the canceller's reference included, until the engine stops.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_WRONG_STATE: not started.
dv_status dv_engine_set_output_volume(dv_engine engine, float volume, dv_error *DV_NULLABLE error);

/// Scales what is heard of a participant as long as it stays: 0 silences, 1 leaves it, up to 4.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_WRONG_STATE: in no room. DV_ROOM_REFUSED: nobody of that
/// number is there.
dv_status dv_engine_set_volume(
    dv_engine engine, uint32_t participant, float volume, dv_error *DV_NULLABLE error);

/// Has a participant not be heard here (1), or heard again by its volume (0), as long as it stays. Nobody is told.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_WRONG_STATE: in no room. DV_ROOM_REFUSED: nobody of that
/// number is there.
dv_status dv_engine_set_participant_muted(
    dv_engine engine, uint32_t participant, uint32_t muted, dv_error *DV_NULLABLE error);

/// Has the loudspeaker follow the noise around the near end (1): `range` dB, 0…24, below the volume that was set where
/// the noise at the microphone is `quiet` dBFS, -90…-20, or less, and at that volume where it is `loud` dBFS, up to -10,
/// or more; at most 3 dB a second. 0: no more, and the numbers are not looked at. Ends when the engine stops. Needs
/// processing that measures the noise, as a noise suppressor does. 12, -65 and -40 are usual.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_WRONG_STATE: not started.
dv_status dv_engine_follow_noise(
    dv_engine engine, uint32_t is_on, float range, float quiet, float loud, dv_error *DV_NULLABLE error);

/// Has talkers played at like loudness (1): each is brought towards `target` LUFS, -40…-12, by `range` dB, 0…12, at most,
/// 1.5 dB a second, on top of which the volumes that are set hold. 0: no more, and the numbers are not looked at. -23
/// and 9 are usual. In any order.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_EXHAUSTED.
dv_status dv_engine_level_talkers(
    dv_engine engine, uint32_t is_on, float target, float range, dv_error *DV_NULLABLE error);

/// Changes what is done to the microphone, from the next block of 10 ms on, without a gap, until the engine stops.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_INVALID_SIZE, DV_WRONG_STATE: not started.
dv_status dv_engine_apply(
    dv_engine engine, const dv_processor_settings *DV_NULLABLE settings, dv_error *DV_NULLABLE error);

/// Goes over to another preset, DV_ENGINE_…, without a gap, until the engine stops: what is done to the microphone, the
/// kind of loudspeaker, bit rate and packets. What is fixed at the start stays: device, backend, what the codec optimises
/// for, the jitter buffer's margins.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_WRONG_STATE: not started. DV_EXHAUSTED.
dv_status dv_engine_apply_preset(dv_engine engine, uint32_t preset, dv_error *DV_NULLABLE error);

/// Says what kind of loudspeaker is in use, DV_ROUTE_…; until the engine stops.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_WRONG_STATE: not started.
dv_status dv_engine_set_route(dv_engine engine, uint32_t route, dv_error *DV_NULLABLE error);

/// Goes over to other sound cards until the engine stops, by the names of their PCMs; null: it stays. The call goes on,
/// after about 50 ms of silence. An engine with DV_SOUND_CLIENT goes over to cards where both are named; its own sound
/// is not taken then.
///
/// Control side. DV_DEVICE_FAILED, DV_NOT_PERMITTED: it cannot be opened, and the old ones run again.
/// DV_INVALID_ARGUMENT: one alone is named and the sound is the caller's. DV_WRONG_STATE: not started.
/// DV_INVALID_HANDLE.
dv_status dv_engine_select_devices(
    dv_engine engine, const char *DV_NULLABLE capture, const char *DV_NULLABLE playback, dv_error *DV_NULLABLE error);

// MARK: Room

/// Who may interrupt what this engine says.
enum {
    /// Itself alone, as people in a room want it.
    DV_INTERRUPTIBLE_BY_ITSELF = 0,
    /// Whoever hears it, as a speaking agent wants it.
    DV_INTERRUPTIBLE_BY_ANYONE = 1
};

/// How to go into a room.
typedef struct dv_join_options {
    /// sizeof(dv_join_options).
    uint32_t size;
    /// DV_INTERRUPTIBLE_BY_…
    uint32_t interruptible;
    /// 1: token, messages and sound may cross a network in the clear; needed for `udp://` beyond loopback.
    uint32_t allow_plaintext;
    /// 1: publishes nothing.
    uint32_t listen_only;
    /// The room that is wanted, UTF-8; null: the token's.
    const char *DV_NULLABLE room;
    /// DV_ROLE_…: what it comes as; dv_engine_set_role changes it.
    uint32_t role;
    /// 1: only streams are heard that dv_engine_play_stream names.
    uint32_t by_choice;
} dv_join_options;

/// Joins a room: publishes the microphone there and plays everybody else. What is said from this call on is kept, the
/// last second of it, and sent once the room is there.
///
/// - `url`: `duplex://HOST:PORT/?fingerprint=sha256:…`, as the server prints it; `duplex://HOST` where an authority has
///   signed its certificate; `udp://HOST:PORT` for plaintext.
/// - `token`: see dv_token_create.
/// - `options`: may be null: defaults.
///
/// Control side. Waits until the room has answered, up to 15 s; dv_engine_leave ends that. DV_WRONG_STATE: not started,
/// or in a room. DV_INVALID_ARGUMENT,
/// DV_INVALID_SIZE, DV_NOT_PERMITTED, DV_NETWORK_FAILED, DV_ROOM_REFUSED, DV_EXHAUSTED, DV_INVALID_HANDLE.
dv_status dv_engine_join(
    dv_engine engine, const char *DV_NULLABLE url, const char *DV_NULLABLE token,
    const dv_join_options *DV_NULLABLE options, dv_error *DV_NULLABLE error);

/// Gives the token for the rest of the stay in the room, and for coming back after a break: see
/// DV_EVENT_TOKEN_EXPIRING. One that is given before is kept until then.
///
/// Control side. DV_INVALID_ARGUMENT: null, or longer than a server takes. DV_INVALID_HANDLE.
dv_status dv_engine_set_token(dv_engine engine, const char *DV_NULLABLE token, dv_error *DV_NULLABLE error);

/// Leaves the room; the sound runs on. Does nothing outside a room.
///
/// Control side. Waits up to 2 s. DV_INVALID_HANDLE, DV_EXHAUSTED.
dv_status dv_engine_leave(dv_engine engine, dv_error *DV_NULLABLE error);

/// Sends up to 1024 bytes to one participant, or to all others where `participant` is 0; in order, and again after a
/// break; DV_EVENT_MESSAGES_DROPPED tells where it was dropped.
///
/// Control side. DV_WRONG_STATE: in no room. DV_INVALID_ARGUMENT, DV_ROOM_REFUSED, DV_INVALID_HANDLE.
dv_status dv_engine_send(
    dv_engine engine, uint32_t participant, const void *DV_NULLABLE bytes, size_t count, dv_error *DV_NULLABLE error);

/// Interrupts a participant, or where `participant` is 0 this engine's own speech: nothing more is heard of what was
/// said before, by anybody. DV_EVENT_INTERRUPTED follows at everybody else, the talker included.
///
/// Control side. DV_WRONG_STATE: in no room. DV_ROOM_REFUSED: nobody of that number is there, or too many
/// requests wait. DV_INVALID_HANDLE, DV_EXHAUSTED. Where the talker lets nobody interrupt it, and beyond twice a second,
/// DV_EVENT_REQUEST_FAILED follows.
dv_status dv_engine_interrupt(dv_engine engine, uint32_t participant, dv_error *DV_NULLABLE error);

/// What speech at the microphone does to what a participant says.
enum {
    /// Nothing.
    DV_BARGE_IN_OFF = 0,
    /// It is quieter at once, silent and kept while the speech goes on, and interrupted when it is meant; after a cough
    /// it goes on where it was.
    DV_BARGE_IN_STAGES = 1,
    /// It is interrupted as soon as speech is suspected.
    DV_BARGE_IN_IMMEDIATE = 2
};

/// Has what a participant says, as an agent of the room does, give way to whoever speaks at the microphone, as an answer
/// of a dv_conversation does; DV_EVENT_BARGE_IN tells of it. Of one participant at a time; until DV_BARGE_IN_OFF, or
/// until the participant or this engine leaves. Needs an engine of DV_ENGINE_VOICE_AGENT or the like, and a participant
/// that lets others interrupt it.
///
/// - `policy`: DV_BARGE_IN_…
///
/// Control side. DV_WRONG_STATE: in no room. DV_INVALID_ARGUMENT. DV_ROOM_REFUSED: nobody of that number is there.
/// DV_INVALID_HANDLE, DV_EXHAUSTED.
dv_status dv_engine_set_barge_in(
    dv_engine engine, uint32_t participant, uint32_t policy, dv_error *DV_NULLABLE error);

/// Says that what is captured from now on is this utterance, as an agent does whose microphone is its synthesiser.
/// Where it is interrupted the rest of it is not sent. 0: none; utterances are numbered from 1.
///
/// Control side. DV_WRONG_STATE: not started. DV_INVALID_HANDLE, DV_EXHAUSTED.
dv_status dv_engine_begin_utterance(dv_engine engine, uint32_t utterance, dv_error *DV_NULLABLE error);

/// Plays the stream of this name, now or as soon as there is one; dv_engine_stop_stream does not play it any more.
/// DV_EVENT_STREAM_STATE tells how it stands.
///
/// In any order: before the engine starts or joins, and before anybody publishes the stream. Holds for the rooms that
/// follow.
///
/// - `stream`: 1 to 64 bytes of UTF-8; 256 names at most.
///
/// Control side. DV_INVALID_ARGUMENT: null, no UTF-8, empty or too long. DV_WRONG_STATE: too many names.
/// DV_INVALID_HANDLE.
dv_status dv_engine_play_stream(dv_engine engine, const char *DV_NULLABLE stream, dv_error *DV_NULLABLE error);
dv_status dv_engine_stop_stream(dv_engine engine, const char *DV_NULLABLE stream, dv_error *DV_NULLABLE error);

/// Scales what is heard of the stream of this name, 0 to 4 (+12 dB), on top of its publisher's volume, and of later ones
/// of that name. Arguments and statuses as of dv_engine_play_stream; DV_INVALID_ARGUMENT also of the volume.
dv_status dv_engine_set_stream_volume(
    dv_engine engine, const char *DV_NULLABLE stream, float volume, dv_error *DV_NULLABLE error);

/// Has the stream of this name not be heard here (1), or heard again by its volume (0), and later ones of that name.
/// Nobody is told. Arguments and statuses as of dv_engine_play_stream.
dv_status dv_engine_set_stream_muted(
    dv_engine engine, const char *DV_NULLABLE stream, uint32_t muted, dv_error *DV_NULLABLE error);

/// Publishes the microphone as the stream of this name, from now on and in the rooms that follow; null or empty: without a
/// name, as it is without this call. A name that another stream of the room has is refused: DV_EVENT_REQUEST_FAILED with
/// `room.streamNameTaken`.
///
/// Control side. DV_INVALID_ARGUMENT: no UTF-8, or longer than 64 bytes. DV_INVALID_HANDLE.
dv_status dv_engine_publish(dv_engine engine, const char *DV_NULLABLE stream, dv_error *DV_NULLABLE error);

/// Withdraws the microphone's stream until dv_engine_publish; what is heard goes on.
///
/// Control side. DV_INVALID_HANDLE.
dv_status dv_engine_unpublish(dv_engine engine, dv_error *DV_NULLABLE error);

/// Becomes a talker or a listener, as far as the token lets it; DV_EVENT_ROLE follows, or DV_EVENT_REQUEST_FAILED.
///
/// Control side. DV_WRONG_STATE: in no room. DV_INVALID_ARGUMENT: no DV_ROLE_… DV_ROOM_REFUSED: the room cannot be asked
/// now; a listener is silent all the same, and that is tried again. DV_INVALID_HANDLE.
dv_status dv_engine_set_role(dv_engine engine, uint32_t role, dv_error *DV_NULLABLE error);

/// Tells something of this engine to everybody in the room, whoever comes later too, and in the rooms that follow; a null
/// value takes it back. In any order. In a room some ten times a second.
///
/// - `key`: 1 to 32 bytes of UTF-8; 16 of them at most. `dv.kind` is `agent` of what speaks for a machine, `dv.state` what
///   it does: `listening`, `thinking`, `responding`.
/// - `value`: 512 bytes at most, together with all keys and other values.
///
/// Control side. DV_INVALID_ARGUMENT: null, no UTF-8, or too much. DV_ROOM_REFUSED: the room could not be told yet; that
/// is tried again. DV_INVALID_HANDLE.
dv_status dv_engine_set_attribute(
    dv_engine engine, const char *DV_NULLABLE key, const char *DV_NULLABLE value, dv_error *DV_NULLABLE error);

/// Has the text of a stream of this engine's be `text` from now on, for everybody in the room: what a recogniser has heard
/// so far, say. Others get DV_EVENT_TEXT, whoever comes later too.
///
/// A stream has a name and one text at a time; the first change after a final one begins the next. Only what differs is
/// sent, and of changes that follow each other faster than 40 a second only the last; the last text is the same for all,
/// whatever was lost. Ends with the stay in the room.
///
/// - `stream`: 1 to 32 bytes; eight streams at most.
/// - `text`: up to 64 KiB.
/// - `is_final`: 1: it stays as it is.
///
/// Control side. DV_WRONG_STATE: in no room. DV_INVALID_ARGUMENT: null, no UTF-8, or too long or too many.
/// DV_INVALID_HANDLE.
dv_status dv_engine_set_text(
    dv_engine engine, const char *DV_NULLABLE stream, const char *DV_NULLABLE text, uint32_t is_final,
    dv_error *DV_NULLABLE error);

/// Puts `text` behind the text of a stream, as a model's words come. Arguments and statuses as of dv_engine_set_text.
dv_status dv_engine_append_text(
    dv_engine engine, const char *DV_NULLABLE stream, const char *DV_NULLABLE text, uint32_t is_final,
    dv_error *DV_NULLABLE error);

/// Gives up the text of a stream where it is, as that of an answer that was interrupted: the next change begins the next.
/// Does nothing where there is none.
///
/// Control side. DV_INVALID_ARGUMENT: null, or no UTF-8. DV_INVALID_HANDLE.
dv_status dv_engine_abandon_text(dv_engine engine, const char *DV_NULLABLE stream, dv_error *DV_NULLABLE error);

/// Says which words an utterance of this engine's has (dv_engine_begin_utterance) and where in its sound they lie, piece
/// by piece: everybody in the room gets DV_EVENT_CAPTION as they hear it, whoever comes later too. Travels as the text
/// stream `captions`.
///
/// - `utterance`: 1 or more; another than the last begins captions of its own.
/// - `text`: follows the pieces before as it is: whoever has words adds the spaces.
/// - `start_ms`, `end_ms`: where its sound lies from the utterance's beginning, not before the last piece's start; an end
///   of -1: where the next begins.
/// - `is_last`: 1: these are all its words.
///
/// Control side. DV_WRONG_STATE: in no room. DV_INVALID_ARGUMENT: null, no UTF-8, places that cannot be, or more than
/// 2048 pieces or 64 KiB. DV_INVALID_HANDLE.
dv_status dv_engine_add_caption(
    dv_engine engine, uint32_t utterance, const char *DV_NULLABLE text, uint32_t start_ms, int32_t end_ms,
    uint32_t is_last, dv_error *DV_NULLABLE error);

/// How an engine stands with its room.
enum {
    DV_ROOM_OUTSIDE = 0,
    /// Asked to be let in.
    DV_ROOM_CONNECTING = 1,
    DV_ROOM_CONNECTED = 2,
    /// It does not answer; the engine tries to come back.
    DV_ROOM_RECONNECTING = 3,
    /// Put out, or given up: `end_code` says why.
    DV_ROOM_ENDED = 4
};

/// What an engine is doing: what its events have told so far, in one value.
typedef struct dv_engine_snapshot {
    /// sizeof(dv_engine_snapshot).
    uint32_t size;
    uint32_t is_running;
    uint32_t is_muted;
    /// The near talker speaks.
    uint32_t is_speaking;
    /// Whether an interruption can be trusted not to be an echo: 2 ready, 1 learning, 0 unknown.
    uint32_t echo_readiness;
    /// DV_ROOM_…
    uint32_t connection;
    /// This engine in the room; 0 outside.
    uint32_t own_participant;
    /// Others in the room.
    uint32_t participants;
    /// Far ends that are open.
    uint32_t far_ends;
    /// Not used, 0.
    uint32_t reserved;
    /// Zero-terminated UTF-8, empty where there is none.
    char room[136];
    char capture_device[136];
    char playback_device[136];
    /// Why the stay in the room is over.
    char end_code[40];
} dv_engine_snapshot;

/// Fills `snapshot`. `snapshot->size` must be set before.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_INVALID_SIZE.
dv_status dv_engine_get_snapshot(dv_engine engine, dv_engine_snapshot *DV_NULLABLE snapshot);

/// Gives the numbers of everybody else in the room, rising.
///
/// - `participants`: room for `capacity` of them; may be null where that is 0. A room has 256 at most.
/// - `count`: how many there are, also where more than `capacity`.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT.
dv_status dv_engine_get_participants(
    dv_engine engine, uint32_t *DV_NULLABLE participants, size_t capacity, size_t *DV_NULLABLE count);

/// Somebody in the room.
typedef struct dv_participant {
    /// sizeof(dv_participant).
    uint32_t size;
    uint32_t number;
    /// All that it publishes is muted.
    uint32_t is_muted;
    /// It publishes something.
    uint32_t is_publishing;
    /// Something comes of it.
    uint32_t is_reachable;
    /// Its sound stands still.
    uint32_t is_stalled;
    /// The way from it to here loses so much that it is heard.
    uint32_t is_link_poor;
    /// Not used, 0.
    uint32_t reserved;
    /// Who it is, as its token's `sub` says, and what to call it. Zero-terminated UTF-8, which others chose: escape it
    /// before a terminal sees it.
    char identity[136];
    char name[136];
} dv_participant;

/// Fills `participant` with what is known of one in the room, this engine's own included. `participant->size` must be
/// set before.
///
/// Control side. DV_ROOM_REFUSED: nobody of that number is there. DV_WRONG_STATE: in no room. DV_INVALID_HANDLE,
/// DV_INVALID_ARGUMENT, DV_INVALID_SIZE.
dv_status dv_engine_get_participant(
    dv_engine engine, uint32_t number, dv_participant *DV_NULLABLE participant, dv_error *DV_NULLABLE error);

// MARK: Statistics

/// What is counted and measured since the start. What is not known is a NaN.
typedef struct dv_engine_statistics {
    /// sizeof(dv_engine_statistics).
    uint32_t size;
    /// Talkers that are being played.
    uint32_t talkers;
    /// RTP packets handed to the network, and their bytes.
    uint64_t packets_sent, bytes_sent;
    /// Lost here, because a ring was full or the codec failed.
    uint64_t packets_send_dropped, packets_receive_dropped;
    /// Media packets that came in, and their bytes.
    uint64_t packets_received, bytes_received;
    /// Frames of 48 kHz that the microphone lost, by its times, and that were lost because the media thread did not
    /// keep up.
    uint64_t capture_gap_frames, capture_overflow_frames;
    /// Frames of 48 kHz that lacked when they were due for the loudspeaker.
    uint64_t playback_underrun_frames;
    /// How often the cards ran over or dry.
    uint64_t capture_xruns, playback_xruns;
    /// Runs of the media thread, its CPU time, and the duration of the longest run.
    uint64_t media_runs;
    int64_t media_cpu_ns, media_worst_run_ns;
    /// RMS of the last block from the microphone, and as it leaves: dBFS.
    float input_level, output_level;
    /// Probability that the near talker speaks, 0…1.
    float speech_probability;
    /// Level of the near end's noise, dBFS.
    float noise_level;
    /// The far end's power over that of its echo, and the echo's over that of what is left: dB.
    float echo_return_loss, echo_return_loss_enhancement;
    /// From the ADC to the network, for a packet's first frame; from the jitter buffer to the DAC; half the usual round
    /// trip to the room's server. Milliseconds.
    float microphone_to_network_ms, jitter_buffer_to_speaker_ms, half_round_trip_ms;
    /// How much faster the loudspeaker's clock runs than is played for, parts per million.
    float followed_drift_ppm;
} dv_engine_statistics;

/// Fills `statistics`, which are 100 ms old at most. `statistics->size` must be set before.
///
/// Control side. DV_WRONG_STATE: not started. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_INVALID_SIZE.
dv_status dv_engine_get_statistics(dv_engine engine, dv_engine_statistics *DV_NULLABLE statistics);

/// What is counted of one talker as it is played. What is not known is a NaN.
typedef struct dv_talker_statistics {
    /// sizeof(dv_talker_statistics).
    uint32_t size;
    /// Of its packets.
    uint32_t synchronization_source;
    uint64_t packets_received, packets_lost, packets_late, bytes_received;
    /// Frames of 48 kHz that were played, and that were invented in place of missing ones.
    uint64_t played_frames, concealed_frames;
    /// Variation of the transit times (RFC 3550), what the jitter buffer aims at, and what it lately held a packet for:
    /// milliseconds.
    float jitter_ms, target_delay_ms, jitter_buffer_delay_ms;
    /// The talker's own level in the last packet, dBFS.
    float level;
} dv_talker_statistics;

/// Fills `statistics` with those of a participant's stream. `statistics->size` must be set before.
///
/// Control side. DV_WRONG_STATE: not started. DV_ROOM_REFUSED: none of that number is being played. DV_INVALID_HANDLE,
/// DV_INVALID_ARGUMENT, DV_INVALID_SIZE.
dv_status dv_engine_get_talker(
    dv_engine engine, uint32_t participant, dv_talker_statistics *DV_NULLABLE statistics, dv_error *DV_NULLABLE error);

// MARK: Tokens

/// What an access token says. Strings are zero-terminated UTF-8.
typedef struct dv_token_grants {
    /// sizeof(dv_token_grants).
    uint32_t size;
    /// 1: it does not let anybody in, speak, or listen.
    uint32_t may_not_join, may_not_publish, may_not_subscribe;
    /// Seconds since 1970 from when and until when it holds; `expires` has no default, and is later than `not_before`.
    int64_t not_before, expires;
    /// Who it is, unique in the room: at most 128 bytes, as `room` and `name`.
    char identity[136];
    char room[136];
    /// What to call it; may be empty.
    char name[136];
} dv_token_grants;

/// The longest token, and the zero behind it.
#define DV_TOKEN_BYTES 1001

/// Makes a token: a JSON Web Token signed with HS256, claims as in LiveKit's.
///
/// - `key`, `secret`: those of the room's server; the secret is 32 bytes long at least.
/// - `token`: DV_TOKEN_BYTES bytes; empty after a failure.
///
/// Any thread, control. DV_INVALID_ARGUMENT: null, or a field is empty, too long, or no UTF-8; the secret is too short;
/// it would never hold. DV_INVALID_SIZE.
dv_status dv_token_create(
    const char *DV_NULLABLE key, const char *DV_NULLABLE secret, const dv_token_grants *DV_NULLABLE grants,
    char *DV_NULLABLE token, dv_error *DV_NULLABLE error);

/// Checks a token's signature and time, and says what it grants.
///
/// - `unix_time`: now, in seconds since 1970. A token is taken 10 s earlier and later than it says.
/// - `grants`: filled where it is good; `not_before` is 0, and `expires` includes those 10 s. May be null.
///
/// Any thread, control. DV_NOT_PERMITTED: it is not genuine or not in time; `code` says which. DV_INVALID_ARGUMENT,
/// DV_INVALID_SIZE.
dv_status dv_token_check(
    const char *DV_NULLABLE key, const char *DV_NULLABLE secret, const char *DV_NULLABLE token, int64_t unix_time,
    dv_token_grants *DV_NULLABLE grants, dv_error *DV_NULLABLE error);

// MARK: Far end

/// A far end in this process: an agent, a prompt, whatever else talks to the near end without being in a room. It is
/// mixed with whoever is in the room, is in the canceller's reference, and hears what a room would hear.
typedef uint64_t dv_far_end;

/// What stays as it is as long as a far end is open.
typedef struct dv_far_end_config {
    /// sizeof(dv_far_end_config).
    uint32_t size;
    /// How much sound waits at most, milliseconds, 100…120000. 0: 30000.
    uint32_t queue_ms;
    /// Frames per second at which it hears: 16000, 24000 or 48000. 0: 16000.
    uint32_t near_end_rate;
} dv_far_end_config;

/// Opens a far end; up to 4 in an engine at once. Its events are the engine's.
///
/// - `config`: may be null: defaults.
/// - `far_end`: where the handle goes; 0 after a failure.
///
/// Control side of the engine. DV_WRONG_STATE: not started. DV_EXHAUSTED, DV_TOO_MANY, DV_INVALID_ARGUMENT,
/// DV_INVALID_SIZE, DV_INVALID_HANDLE.
dv_status dv_far_end_open(
    dv_engine engine, const dv_far_end_config *DV_NULLABLE config, dv_far_end *DV_NULLABLE far_end,
    dv_error *DV_NULLABLE error);

/// Publishes a stream that the app feeds, beside the microphone: music, say. Now, or as soon as there is a room, and in
/// the rooms that follow, until dv_far_end_close. Three at once.
///
/// What is offered to `far_end` (dv_far_end_offer) goes to the room as it comes, and is not heard here; there is nothing
/// to take from it, and DV_EVENT_UTTERANCE_PLAYED tells of what was sent. DV_EVENT_REQUEST_FAILED tells where the room has
/// the name already, or no more streams for this engine.
///
/// - `stream`: 1 to 64 bytes of UTF-8.
/// - `is_speech`: 1: 32 kbit/s of speech. 0: 96 kbit/s of whatever there is to hear.
/// - `config`: its queue; null, or a `queue_ms` of 0: 5 s.
///
/// Control side. DV_WRONG_STATE: not started. DV_INVALID_ARGUMENT: null, no UTF-8, empty or too long, or out of its
/// range. DV_EXHAUSTED: there are three. DV_TOO_MANY, DV_INVALID_HANDLE, DV_INVALID_SIZE.
dv_status dv_engine_publish_stream(
    dv_engine engine, const char *DV_NULLABLE stream, uint32_t is_speech,
    const dv_far_end_config *DV_NULLABLE config, dv_far_end *DV_NULLABLE far_end, dv_error *DV_NULLABLE error);

/// Closes it: what it was saying fades out. The handle names nothing any more. Needed also where the engine was
/// destroyed before.
///
/// Control side. DV_BUSY: a call of a sound side runs; end that call and try again. DV_INVALID_HANDLE.
dv_status dv_far_end_close(dv_far_end far_end);

/// Queues sound of an utterance, as much as there is room for. Faster than real time is normal.
///
/// An utterance begins with the first sound of its number, which ends the one before; numbers rise, from 1. What comes
/// of one that is over or was interrupted is taken and dropped, as a cancellation is no error:
/// DV_EVENT_UTTERANCE_PLAYED has told.
///
/// - `samples`: mono, full scale ±1; beyond it is clipped.
/// - `rate`: 16000, 24000 or 48000.
/// - `is_last`: 1: the utterance ends where all was taken. With 0 frames it ends what was offered before.
/// - `taken`: how many were taken: fewer than `frames` where the queue is full. Where the far end's engine has stopped all
///   are, and dropped. May be null.
///
/// Sound side, speaking. Wait-free.
/// DV_INVALID_HANDLE, DV_BUSY, DV_INVALID_ARGUMENT: null, another rate, utterance 0, more than 1048576 frames.
dv_status dv_far_end_offer(
    dv_far_end far_end, const float *DV_NULLABLE samples, size_t frames, uint32_t rate, uint32_t utterance,
    uint32_t is_last, size_t *DV_NULLABLE taken);

/// The same for samples of 16 bits.
dv_status dv_far_end_offer_int16(
    dv_far_end far_end, const int16_t *DV_NULLABLE samples, size_t frames, uint32_t rate, uint32_t utterance,
    uint32_t is_last, size_t *DV_NULLABLE taken);

/// Takes what the microphone heard and a room would get: echo cancelled, noise suppressed, levelled, and silence while
/// muted. Up to 2 s wait; then the newest is dropped.
///
/// - `samples`: room for `frames` of mono at the configured rate.
/// - `taken`: how many there were without a gap between them; DV_OK also where that is 0.
/// - `time_ns`: when the first of them was at the ADC, CLOCK_MONOTONIC. May be null.
///
/// Sound side, hearing. Wait-free.
/// DV_INVALID_HANDLE, DV_BUSY, DV_INVALID_ARGUMENT: null, or more than 1048576 frames.
dv_status dv_far_end_take(
    dv_far_end far_end, float *DV_NULLABLE samples, size_t frames, size_t *DV_NULLABLE taken,
    int64_t *DV_NULLABLE time_ns);

/// Gives up every utterance up to this one, also those that have not begun; 0: all that have. What waits of them is
/// dropped behind a fade of 5 ms. The receipt, DV_EVENT_UTTERANCE_PLAYED, says how much was heard.
///
/// Control side. Wait-free but for a call beside it. DV_INVALID_HANDLE.
dv_status dv_far_end_interrupt(dv_far_end far_end, uint32_t utterance);

/// Scales what is heard of it: 0 silences, 1 leaves it, up to 4.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT.
dv_status dv_far_end_set_volume(dv_far_end far_end, float volume);

// MARK: Conversation

/// A conversation between the near talker and an agent in this process: whose turn it is, when a turn ends, what an
/// interruption does, and how much of each answer was heard. One in an engine at a time.
///
/// Who speaks into an answer makes it quieter at once, silences it while they go on, and ends it when they mean it; a
/// cough or an "mm-hm" does not. Nothing is ever heard of an answer that is over. By a loop over dv_engine_next_event:
///
///     DV_EVENT_TURN_ENDED ──────> dv_conversation_answer ──> dv_conversation_say, again and again ──> dv_conversation_finish
///     DV_EVENT_ANSWER_CANCELLED   say no more of it
///     DV_EVENT_ANSWER_ENDED       how much of it was heard
///
/// What the near talker says comes by dv_far_end_take, for a recogniser; its times say what of it lies in a turn.
///
/// Its functions are of the control side: any thread but an audio callback, and none waits for longer than a call
/// beside it.
typedef uint64_t dv_conversation;

/// How the near talker's turns begin and end.
enum {
    /// With speech and silence; the microphone is always open and may interrupt an answer.
    DV_TALK_DUPLEX = 0,
    /// With a button that is held: dv_conversation_start_speech, dv_conversation_stop_speech.
    DV_TALK_PUSH = 1,
    /// With a button that is tapped, and silence.
    DV_TALK_TAP = 2
};

/// Whose turn it is.
enum {
    DV_TURN_NOBODY = 0,
    /// The near talker's.
    DV_TURN_LISTENING = 1,
    /// The agent's, of whom nothing is heard yet.
    DV_TURN_THINKING = 2,
    /// The agent's, who is heard.
    DV_TURN_RESPONDING = 3
};

/// Why an answer, or a turn, is over.
enum {
    DV_END_COMPLETE = 0,
    /// The near talker spoke into it.
    DV_END_INTERRUPTED = 1,
    /// The near talker went on before it was heard.
    DV_END_CONTINUED = 2,
    /// The program cancelled it.
    DV_END_CANCELLED = 3,
    /// Nobody spoke.
    DV_END_NOTHING_SAID = 4
};

/// What a conversation begins with.
typedef struct dv_conversation_config {
    /// sizeof(dv_conversation_config).
    uint32_t size;
    /// DV_TALK_…
    uint32_t mode;
    /// Milliseconds of silence that end a turn, up to 10000; not with DV_TALK_PUSH. 0: 700.
    uint32_t end_of_turn_ms;
    /// As in dv_far_end_config.
    uint32_t queue_ms, near_end_rate;
} dv_conversation_config;

/// Begins a conversation. Interruptions need an engine of DV_ENGINE_VOICE_AGENT or the like. Its events are the
/// engine's.
///
/// - `config`: may be null: defaults.
/// - `conversation`, `far_end`: where the handles go; 0 after a failure. The far end is for hearing the near talker
///   (dv_far_end_take) and for its volume; what is said belongs to answers, and an utterance that is offered to it
///   under a higher number than any answer has makes the answers after it come too late. Both are closed by
///   dv_conversation_close.
///
/// Control side of the engine. DV_WRONG_STATE: not started, or a conversation is under way. DV_EXHAUSTED, DV_TOO_MANY,
/// DV_INVALID_ARGUMENT, DV_INVALID_SIZE, DV_INVALID_HANDLE.
dv_status dv_conversation_open(
    dv_engine engine, const dv_conversation_config *DV_NULLABLE config, dv_conversation *DV_NULLABLE conversation,
    dv_far_end *DV_NULLABLE far_end, dv_error *DV_NULLABLE error);

/// Ends it: its far end is closed and the microphone is open. Both handles name nothing any more.
///
/// DV_BUSY: a call of the far end's sound side runs; end that call and try again. DV_INVALID_HANDLE.
dv_status dv_conversation_close(dv_conversation conversation);

/// Takes the agent's turn, once for each turn that has ended, and names the utterance that answers it.
///
/// - `turn`: that of DV_EVENT_TURN_ENDED; 0: nobody has the turn, and the agent begins by itself.
///
/// DV_WRONG_STATE: the turn is over, or somebody else's. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT.
dv_status dv_conversation_answer(
    dv_conversation conversation, uint32_t turn, uint32_t *DV_NULLABLE utterance, dv_error *DV_NULLABLE error);

/// Queues sound of an answer, as much as there is room for; what comes of one that is over is taken and dropped.
/// Arguments as of dv_far_end_offer, `utterance` one that dv_conversation_answer has given.
///
/// By one caller at a time: beside another call `taken` is 0. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT.
dv_status dv_conversation_say(
    dv_conversation conversation, const float *DV_NULLABLE samples, size_t frames, uint32_t rate, uint32_t utterance,
    size_t *DV_NULLABLE taken);

/// Says that nothing more comes of an answer: what is queued is heard, and then the agent's turn is over.
///
/// - `utterance`: one that dv_conversation_answer has given; of one that is over nothing happens.
///
/// DV_BUSY: a dv_conversation_say runs; call again. DV_INVALID_ARGUMENT: there is no such answer. DV_INVALID_HANDLE.
dv_status dv_conversation_finish(dv_conversation conversation, uint32_t utterance);

/// The near talker takes the turn with a button; an answer ends at once. Or gives it up.
///
/// DV_WRONG_STATE: the mode has no button, or the button was pressed, or let go, before. DV_INVALID_HANDLE.
dv_status dv_conversation_start_speech(dv_conversation conversation, dv_error *DV_NULLABLE error);
dv_status dv_conversation_stop_speech(dv_conversation conversation, dv_error *DV_NULLABLE error);

/// Puts off the end of a turn that DV_EVENT_TURN_SPEECH told of, to `delay_ms` later than it would be, and at most to 10 s
/// from now: a recogniser, or a model of turns, knows that they have not finished.
///
/// DV_WRONG_STATE: the near talker does not have the turn, or has not fallen silent. DV_INVALID_HANDLE.
dv_status dv_conversation_put_off_end(dv_conversation conversation, uint32_t delay_ms, dv_error *DV_NULLABLE error);

/// Ends the near talker's turn now: they have finished.
///
/// DV_WRONG_STATE: the near talker does not have the turn. DV_INVALID_HANDLE.
dv_status dv_conversation_end_turn(dv_conversation conversation, dv_error *DV_NULLABLE error);

/// Changes how turns begin and end. A turn that is under way is dropped (DV_EVENT_TURN_DROPPED), an answer goes on.
///
/// - `mode`: DV_TALK_…
/// - `end_of_turn_ms`: as in dv_conversation_config.
///
/// DV_INVALID_HANDLE, DV_INVALID_ARGUMENT.
dv_status dv_conversation_set_mode(
    dv_conversation conversation, uint32_t mode, uint32_t end_of_turn_ms, dv_error *DV_NULLABLE error);

/// A recogniser has heard words: what is suspected to be an interruption is one. Does nothing where nothing is
/// suspected.
///
/// DV_INVALID_HANDLE.
dv_status dv_conversation_confirm(dv_conversation conversation);

/// Cancels whatever turn it is: nothing is heard of it any more, and nobody has the turn.
///
/// DV_WRONG_STATE: it is nobody's. DV_INVALID_HANDLE.
dv_status dv_conversation_cancel(dv_conversation conversation, dv_error *DV_NULLABLE error);

/// How much of an answer has left the DAC by now, in nanoseconds, to a period and the buffer of the device: for
/// captions, at whatever rate it is asked. DV_EVENT_ANSWER_ENDED says exactly how much was heard at last; 0 again where a
/// later answer is heard.
///
/// Control side. DV_INVALID_HANDLE, DV_INVALID_ARGUMENT: null.
dv_status dv_conversation_heard(
    dv_conversation conversation, uint32_t utterance, int64_t *DV_NULLABLE heard_ns);

/// Says which words the sound of an answer has that is queued from here on, to the next call or the end:
/// dv_conversation_get_caption says how far they were heard. The words between two calls are taken to be as long as their
/// letters are many. Texts follow each other as they are: whoever has words adds the spaces.
///
/// - `utterance`: one that dv_conversation_answer has given.
///
/// Control side. DV_INVALID_ARGUMENT: null, no UTF-8, or there is no such answer. DV_INVALID_HANDLE.
dv_status dv_conversation_caption(
    dv_conversation conversation, uint32_t utterance, const char *DV_NULLABLE text);

/// Gives the words of an answer, one of the last 16 or the present one, and how far they were heard by now.
///
/// - `text`: room for `capacity` bytes: as many of the words as fit, UTF-8 that ends in a zero. May be null where
///   `capacity` is 0.
/// - `count`: how many bytes all its words are, without the zero; may be null.
/// - `heard`: how many of these bytes were heard, to the last whole word.
///
/// Control side. DV_INVALID_ARGUMENT: null, or there is no such answer. DV_INVALID_HANDLE.
dv_status dv_conversation_get_caption(
    dv_conversation conversation, uint32_t utterance, char *DV_NULLABLE text, size_t capacity,
    size_t *DV_NULLABLE count, size_t *DV_NULLABLE heard);

/// When an agent was done with its own stages of an answer: nanoseconds since it had the whole turn, by a clock of its
/// own. -1 where it does not know, or has no such stage.
typedef struct dv_agent_stages {
    /// sizeof(dv_agent_stages).
    uint32_t size;
    uint32_t reserved;
    /// The recogniser's final text was there; 0 where it was there before the turn had ended.
    int64_t recognised_ns;
    /// The first of the answer's text was there.
    int64_t first_token_ns;
    /// The first of the answer's sound was there, with the agent.
    int64_t first_sound_ns;
} dv_agent_stages;

/// Tells when the agent's own stages of an answer were done: before its first sound is heard, best before that is
/// queued. Told again, the last counts.
///
/// - `utterance`: one that dv_conversation_answer has given.
///
/// Control side. DV_WRONG_STATE: its sound was heard, or it is over. DV_INVALID_ARGUMENT: null, a time below -1 or above
/// 10 minutes, or one before that of the stage that it needs. DV_INVALID_SIZE, DV_INVALID_HANDLE.
dv_status dv_conversation_report_stages(
    dv_conversation conversation, uint32_t utterance, const dv_agent_stages *DV_NULLABLE stages,
    dv_error *DV_NULLABLE error);

/// How long the near talker waited for an answer, by where the time went.
typedef struct dv_answer_latency {
    /// sizeof(dv_answer_latency).
    uint32_t size;
    uint32_t turn;
    /// From the end of speech at the microphone until the turn had ended, from there until the answer's first sound was
    /// queued, and from there until it left the DAC.
    int64_t end_of_turn_ns, agent_ns, playback_ns;
    /// How `agent_ns` divides where the agent has told (dv_conversation_report_stages); each -1 where that is not known.
    int64_t recognition_ns, response_ns, synthesis_ns;
    /// What its own times do not explain of `agent_ns`; -1 where it has told nothing.
    int64_t transfer_ns;
} dv_answer_latency;

/// Where the time went that DV_EVENT_ANSWER_STARTED told of for a turn, one of the last 16.
///
/// Control side. DV_WRONG_STATE: nothing was heard of an answer to it, or that is too long ago. DV_INVALID_HANDLE,
/// DV_INVALID_SIZE, DV_INVALID_ARGUMENT: null.
dv_status dv_conversation_latency(
    dv_conversation conversation, uint32_t turn, dv_answer_latency *DV_NULLABLE latency);

// MARK: Graph

/// Stages that a JSON description connects: microphone or file, mix-down, speech detection, recogniser, chunker, sinks.
/// docs/graph.md has the shape of a description and the types of nodes.
///
///     dv_graph_create(json) ──> dv_graph_add_listener ──> dv_graph_run_file, dv_graph_push or dv_graph_start
///
/// A graph runs once: over a file, over the caller's sound, or on an engine's sound; then it has finished.
///
/// All functions are of the control side: any thread but an audio callback. They allocate and may wait. Functions that
/// the caller gives a graph (listeners, a recogniser, nodes) are called on threads of the library's, never on a
/// real-time thread, and not after dv_graph_destroy has returned. They must return soon, a recogniser excepted.
typedef uint64_t dv_graph;

/// Something by name: a value of an event, or an argument of an action.
typedef struct dv_graph_value {
    /// As docs/graph.md names it: `text`, `start`, `end`, `rmsDb`.
    const char *name;
    /// The text; null where it is a number.
    const char *DV_NULLABLE text;
    /// The number; times are seconds since the start of the sound, and a truth value is 0 or 1. NaN where it is a text.
    double number;
} dv_graph_value;

/// What a node tells. It and all that it points to are valid during the call only.
typedef struct dv_graph_event {
    /// sizeof(dv_graph_event), as the library has it.
    uint32_t size;
    uint32_t reserved;
    /// The node's name; `engine` for what concerns the whole.
    const char *node;
    /// The event's name.
    const char *event;
    /// What came with it, `value_count` of them, sorted by name.
    const dv_graph_value *values;
    size_t value_count;
    /// A chunk's sound, mono at 16 kHz; `frames` is 0 for other events.
    const float *sound;
    size_t frames;
} dv_graph_event;

/// Called for an event of a graph, on a thread of the library's: one call at a time for a graph. It may call
/// dv_graph_call_action, dv_graph_add_listener and dv_graph_remove_listener.
typedef void (*dv_graph_listener)(void *DV_NULLABLE context, const dv_graph_event *event);

/// Room for the text that a dv_graph_recogniser writes, bytes, with the zero behind it.
#define DV_GRAPH_TEXT_BYTES 4096

/// Turns a piece of speech into text, on a thread of its own; may take its time. One piece at a time for a graph.
///
/// - `samples`: `frames` of mono at 16 kHz, full scale ±1.
/// - `text`: room for DV_GRAPH_TEXT_BYTES; UTF-8 that ends in a zero; empty where nothing was understood.
///
/// Returns 0, or any other number where it failed; `text` then says why.
typedef int32_t (*dv_graph_recogniser)(
    void *DV_NULLABLE context, const float *samples, size_t frames, char *text);

/// Processes a block of a node of the caller's, on the graph's thread.
///
/// - `node`: its name in the description, so that one function serves several nodes.
/// - `input`, `output`: `frames` of mono, full scale ±1; two different places.
typedef void (*dv_graph_process)(
    void *DV_NULLABLE context, const char *node, const float *input, float *output, size_t frames);

/// A type of nodes of the caller's with one mono input and one mono output, `input` and `output`, for the nodes of one
/// graph. dv_graph_stage_type has several.
typedef struct dv_graph_node_type {
    /// What `type` says in the description; none that exists.
    const char *name;
    dv_graph_process DV_NULLABLE process;
    void *DV_NULLABLE context;
} dv_graph_node_type;

/// Ports that a side of a dv_graph_stage_type may have, and channels of a port.
#define DV_GRAPH_PORTS 16
#define DV_GRAPH_CHANNELS 8

/// Where sound enters or leaves the nodes of a dv_graph_stage_type.
typedef struct dv_graph_port {
    /// What connections call it: 1 to 64 letters, digits, `_` and `-`; each once among the inputs, and once among the
    /// outputs.
    const char *DV_NULLABLE name;
    /// 1 to DV_GRAPH_CHANNELS. 0: of an input any number; of an output as many as the first input that is connected.
    uint32_t channels;
    /// 1: an input that need not be connected. 0 for outputs.
    uint32_t is_optional;
} dv_graph_port;

/// What a node hears at an input: channel `c` begins at `samples + c * frames` of the block.
typedef struct dv_graph_heard {
    /// Full scale ±1; null where the input is not connected.
    const float *DV_NULLABLE samples;
    /// 0 where it is not connected.
    uint32_t channels;
    uint32_t reserved;
} dv_graph_heard;

/// What a node is to fill at an output: channel `c` begins at `samples + c * frames` of the block. It is silence before.
typedef struct dv_graph_given {
    float *samples;
    uint32_t channels;
    uint32_t reserved;
} dv_graph_given;

/// A block of a node of the caller's. It and all that it points to are valid during the call only.
typedef struct dv_graph_block {
    /// sizeof(dv_graph_block), as the library has it.
    uint32_t size;
    uint32_t reserved;
    /// The node's name in the description, so that one function serves several nodes.
    const char *node;
    /// The first frame, counted from the start of the sound.
    uint64_t position;
    size_t frames;
    /// By input and by output, in the type's order.
    const dv_graph_heard *inputs;
    size_t input_count;
    const dv_graph_given *outputs;
    size_t output_count;
} dv_graph_block;

/// Processes a block of a node of the caller's, on the graph's thread.
typedef void (*dv_graph_stage)(void *DV_NULLABLE context, const dv_graph_block *block);

/// A type of nodes of the caller's with ports of any number and channels, for the nodes of one graph. One side may have
/// none.
typedef struct dv_graph_stage_type {
    /// What `type` says in the description; none that exists.
    const char *DV_NULLABLE name;
    /// Up to DV_GRAPH_PORTS.
    const dv_graph_port *DV_NULLABLE inputs;
    size_t input_count;
    /// Up to DV_GRAPH_PORTS.
    const dv_graph_port *DV_NULLABLE outputs;
    size_t output_count;
    dv_graph_stage DV_NULLABLE process;
    void *DV_NULLABLE context;
} dv_graph_stage_type;

/// A far end that FarEnd nodes know by name. While the graph lives its sound sides are the graph's: dv_far_end_offer,
/// dv_far_end_take and dv_far_end_close return DV_BUSY.
typedef struct dv_graph_far_end {
    const char *name;
    dv_far_end far_end;
} dv_graph_far_end;

/// What a graph has of the world. Strings are UTF-8 and are copied.
typedef struct dv_graph_config {
    /// sizeof(dv_graph_config).
    uint32_t size;
    /// 1: pocketsphinx listens for anything; with `grammar`, where none of its sentences was said.
    uint32_t dictation;
    /// A grammar (JSGF) of what pocketsphinx listens for; null: none.
    const char *DV_NULLABLE grammar;
    /// The caller's own recogniser in place of pocketsphinx; null: none. Without a recogniser, a graph with a
    /// Recogniser node is not made.
    dv_graph_recogniser DV_NULLABLE recogniser;
    void *DV_NULLABLE recogniser_context;
    /// The folder that the paths of nodes are below; null: the working directory.
    const char *DV_NULLABLE folder;
    /// Types of the caller's, up to 64.
    const dv_graph_node_type *DV_NULLABLE node_types;
    size_t node_type_count;
    /// Far ends of FarEnd nodes, up to 4.
    const dv_graph_far_end *DV_NULLABLE far_ends;
    size_t far_end_count;
    /// More types of the caller's, up to 64.
    const dv_graph_stage_type *DV_NULLABLE stage_types;
    size_t stage_type_count;
} dv_graph_config;

/// Makes a graph of a description, and checks all of it first.
///
/// - `json`: the description, UTF-8.
/// - `config`: may be null: no recogniser, and paths below the working directory.
/// - `graph`: where the handle goes; 0 after a failure.
/// - `error`: `message` names the node, the field and what is allowed, for as many faults as it has room for.
///
/// DV_INVALID_ARGUMENT: null, or the description is wrong. DV_INVALID_SIZE, DV_UNSUPPORTED, DV_TOO_MANY, DV_EXHAUSTED.
/// DV_INVALID_HANDLE, DV_BUSY: of a far end.
dv_status dv_graph_create(
    const char *DV_NULLABLE json, const dv_graph_config *DV_NULLABLE config, dv_graph *DV_NULLABLE graph,
    dv_error *DV_NULLABLE error);

/// Stops it and destroys it. Functions that it was given are not called any more once this has returned.
///
/// Waits for such a function that runs. DV_WRONG_STATE: called from one; nothing is destroyed. DV_INVALID_HANDLE.
dv_status dv_graph_destroy(dv_graph graph);

/// What the description says of the whole.
typedef struct dv_graph_info {
    /// sizeof(dv_graph_info).
    uint32_t size;
    /// Frames per second.
    uint32_t sample_rate;
    /// Frames of a block.
    uint32_t block_frames;
    /// Channels of `inputNode`, and of `outputNode`: 0 where nothing is connected to it.
    uint32_t input_channels, output_channels;
} dv_graph_info;

/// Fills `info`. `info->size` must be set before.
///
/// DV_INVALID_HANDLE, DV_INVALID_ARGUMENT, DV_INVALID_SIZE.
dv_status dv_graph_get_info(dv_graph graph, dv_graph_info *DV_NULLABLE info);

/// Has `call` called with each event of this name.
///
/// - `node`: a node's name; `engine` for what concerns the whole; `*` for every one.
/// - `event`: an event of its type, or an alias of one; `*` for every one.
/// - `context`: handed to `call`; must last as long as the listener does.
/// - `listener`: a number to remove it by; may be null.
///
/// DV_INVALID_ARGUMENT: null, no such node or event, or 1024 listen. DV_INVALID_HANDLE.
dv_status dv_graph_add_listener(
    dv_graph graph, const char *DV_NULLABLE node, const char *DV_NULLABLE event, dv_graph_listener DV_NULLABLE call,
    void *DV_NULLABLE context, uint64_t *DV_NULLABLE listener, dv_error *DV_NULLABLE error);

/// Ends it: `call` is not called any more once this has returned. Waits for a listener that runs, unless it is called
/// from a function of a graph's.
///
/// DV_INVALID_ARGUMENT: there is no listener of this number. DV_INVALID_HANDLE.
dv_status dv_graph_remove_listener(dv_graph graph, uint64_t listener);

/// Has a node carry out an action before its next block.
///
/// - `node`, `action`: a node's name, and an action of its type.
/// - `arguments`: `count` numbers that the action takes; null with 0.
///
/// Does not wait. DV_INVALID_ARGUMENT: null, no such node, action or argument, a text in place of a number, or 1024
/// calls wait. DV_INVALID_HANDLE.
dv_status dv_graph_call_action(
    dv_graph graph, const char *DV_NULLABLE node, const char *DV_NULLABLE action,
    const dv_graph_value *DV_NULLABLE arguments, size_t count, dv_error *DV_NULLABLE error);

/// Runs over sound of the caller's, as fast as it goes. Waits while a recogniser is at work; listeners have been called
/// with every event of it when it returns.
///
/// - `samples`: `frames` of the graph's rate, interleaved channels of `inputNode`, full scale ±1.
/// - `frames`: up to 1048576.
/// - `output`: room for what goes out by `outputNode`, interleaved; null where it is not wanted.
/// - `output_frames`: frames that `output` has room for: `frames` and a block at least.
/// - `given`: frames that were written; may be null.
///
/// DV_INVALID_ARGUMENT. DV_WRONG_STATE: it has finished, it runs on an engine's sound, somebody else pushes, it is
/// called from a function of a graph's, or a node cannot be made ready, which `error` names. DV_INVALID_HANDLE,
/// DV_EXHAUSTED.
dv_status dv_graph_push(
    dv_graph graph, const float *DV_NULLABLE samples, size_t frames, float *DV_NULLABLE output, size_t output_frames,
    size_t *DV_NULLABLE given, dv_error *DV_NULLABLE error);

/// Says that no sound follows: completes files and pieces, and tells of them. Arguments as of dv_graph_push; `output`
/// has room for a block at least. Does nothing more where it has finished.
///
/// DV_INVALID_ARGUMENT, DV_WRONG_STATE: called from a function of a graph's. DV_INVALID_HANDLE, DV_EXHAUSTED.
dv_status dv_graph_finish(
    dv_graph graph, float *DV_NULLABLE output, size_t output_frames, size_t *DV_NULLABLE given,
    dv_error *DV_NULLABLE error);

/// Runs over a sound file, in the file's own time, and finishes.
///
/// - `input`: WAV, FLAC and whatever else libsndfile knows, at any rate.
/// - `output`: a WAV file for what goes out; null: none.
/// - `frames`: frames of the graph's rate that were in the file; may be null.
///
/// DV_DEVICE_FAILED: a file, also where `output` or a WavSink's file is `input`. Otherwise as dv_graph_push.
dv_status dv_graph_run_file(
    dv_graph graph, const char *DV_NULLABLE input, const char *DV_NULLABLE output, uint64_t *DV_NULLABLE frames,
    dv_error *DV_NULLABLE error);

/// Runs on an engine's sound until dv_graph_stop: `inputNode` is what a room would get of its microphone, `outputNode`
/// is heard in its mix and is in its echo canceller's reference. An engine that stops, or is destroyed, gives it no more
/// sound; it finishes by dv_graph_stop all the same.
///
/// DV_WRONG_STATE: as of dv_graph_push; the engine or the graph does not fit: not started, already running, a rate that
/// is none of 16, 24 and 48 kHz, several input channels. DV_EXHAUSTED: the engine has four far ends. DV_INVALID_HANDLE.
dv_status dv_graph_start(dv_graph graph, dv_engine engine, dv_error *DV_NULLABLE error);

/// Ends what dv_graph_start began, and finishes.
///
/// DV_WRONG_STATE: called from a function of a graph's. DV_INVALID_HANDLE, DV_EXHAUSTED.
dv_status dv_graph_stop(dv_graph graph, dv_error *DV_NULLABLE error);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif
#ifdef __cplusplus
}
#endif

#endif
