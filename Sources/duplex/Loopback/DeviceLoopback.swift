import VoiceEngine
import VoiceSimulation

/// The round trip of a sound card, from an application's write to its read.
struct DeviceLoopback {
    /// What was measured.
    struct Result {
        var tally: LoopbackTally
        var formats: DeviceFormats
        /// Periods that were queued before the DAC.
        var playbackPeriods: Int
    }

    let configuration: ALSADeviceConfiguration
    let rounds: Int
    let seed: UInt64
    /// How long the device runs before the first pulse, in frames: some amplifiers take so long to wake.
    var settling = 24_000

    /// Opens the card, measures and closes it. Returns early, with what there is, where the task is cancelled.
    func run(report: @escaping (LoopbackRound, _ number: Int) -> Void) async throws -> Result {
        var card = configuration
        // What is measured is the card as configured; a queue that grows after an xrun would be another one.
        card.maximumPlaybackPeriods = card.playbackPeriods
        let device = ALSADevice(card)
        let loop = LoopbackRounds(wanted: rounds, restartsAfterDisturbance: true)
        var formats = DeviceFormats(capture: nil, playback: nil)
        var starts: UInt64 = 0
        let tally = try await loop.run { events in
            let stream = try ProbeStream(device, events: events)
            formats = stream.formats
            starts += 1
            return LoopbackProbe(
                stream, pulse: .wide, scale: .frames, settling: settling, seed: seed &+ starts)
        } report: { round, number in
            report(round, number)
        }
        return Result(tally: tally, formats: formats, playbackPeriods: card.playbackPeriods)
    }
}

extension DeviceLoopback.Result {
    /// Where the round trip is spent. Each stage is known or measured by itself; their sum is the round trip, but for
    /// the moment between the starts of the two directions.
    var stages: [LatencyStage] {
        guard let playback = formats.playback?.active, let unreported = tally.unreportedMilliseconds else { return [] }
        let conversion = [formats.capture, formats.playback].compactMap { $0?.conversionDelay.milliseconds }.reduce(
            0, +)
        let queued = min(playbackPeriods * playback.periodFrames, playback.bufferFrames)
        return [
            LatencyStage(
                "playback buffer", Double(queued) / Double(playback.sampleRate) * 1_000,
                "\(queued) frames are queued when the application has written"),
            LatencyStage("rate conversion", conversion, "between the device's rate and 48 kHz"),
            LatencyStage("converters and air", unreported, "measured; what the time stamps do not tell of"),
        ]
    }
}

/// A part of a way.
struct LatencyStage: Equatable, Encodable {
    var name: String
    var milliseconds: Double
    /// What it consists of, for people.
    var note: String

    init(_ name: String, _ milliseconds: Double, _ note: String) {
        self.name = name
        self.milliseconds = milliseconds
        self.note = note
    }

    /// The stage's key in JSON: `playback_buffer_ms`.
    var key: String { name.split(whereSeparator: { $0 == " " || $0 == "-" }).joined(separator: "_") + "_ms" }
}
