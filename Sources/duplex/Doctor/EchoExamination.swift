import VoiceEngine
import VoiceRealtime
import VoiceSimulation

/// What a loudspeaker's sound becomes on its way into a microphone, and what the canceller makes of it: speech is
/// played and recorded.
struct EchoExamination {
    private let card: ALSADeviceConfiguration
    private var capture: String { card.captureName ?? "" }
    private var playback: String { card.playbackName ?? "" }

    /// How long is played, how long the device runs before, and for how long the room is left to ring, in frames of 48
    /// kHz.
    private static let frames = (played: 480_000, settling: 24_000, ringing: 48_000)
    /// Loud enough to stand out of a room's noise, quiet enough for a loudspeaker on a desk; ITU-T P.56 active level,
    /// dBFS.
    private static let level = -20.0
    private static let seed: UInt64 = 1
    /// Between two looks at the device.
    private static let interval = Duration.milliseconds(20)

    /// - Parameter card: names both directions.
    init(_ card: ALSADeviceConfiguration) { self.card = card }

    /// Plays, listens, and judges. Takes 12 s.
    var findings: [Finding] {
        get async throws {
            try await examine(ALSADevice(card)) { try await Task.sleep(for: Self.interval) }
        }
    }

    /// The same with any device. `pause` returns when the device has had the time to move some frames, at most 100 ms.
    func examine(_ device: any AudioDevice, pause: () async throws -> Void) async throws -> [Finding] {
        let (microphone, reference, xruns) = try await record(device, pause: pause)
        Console.progress("looking at what came back")
        let result = try AecProcessing(settings: ProcessingSettings(echo: .soft), backend: .native).run(
            AecManifest.Item(mic: capture, ref: playback, out: nil, near: nil), microphone: microphone,
            reference: reference, near: nil, rate: 48_000)
        let findings = Self.judge(result.summary, subject: "echo of \(playback) in \(capture)", xruns: xruns)
        var heard = HeardLevel()
        heard.add(microphone.span)
        guard heard.isDead else { return findings }
        return findings + [
            Finding(
                .degraded, "microphone \(capture)", "gives digital silence: nothing can be said of its echo",
                remedy: HeardLevel.silenceRemedy)
        ]
    }

    /// What the device heard and what it played, on one clock.
    private func record(_ device: any AudioDevice, pause: () async throws -> Void) async throws
        -> (microphone: [Float], reference: [Float], xruns: Int)
    {
        var stream = try ProbeStream(device) { _ in }
        let speech = SyntheticSpeech.samples(
            frames: Self.frames.played, seed: Self.seed, voice: .low, levelDecibels: Self.level)
        let end = stream.play(speech, after: Self.frames.settling) + Self.frames.ringing
        var standstill = Standstill()
        while stream.framesFetched < end {
            try await pause()
            stream.exchange()
            let (played, captured) = (stream.played.endFrame, stream.captured.endFrame)
            guard !standstill.look(played: played, captured: captured, after: Self.interval) else {
                throw Failure(
                    .unavailable, "the device '\(playback)' or '\(capture)' stands still; try 'duplex loopback'")
            }
            Console.progress("playing speech: \(100 * min(stream.framesFetched, end) / end) %")
        }
        stream.exchange()
        let first = stream.captured.firstFrame
        guard let began = stream.captured.nanoseconds(at: Double(first)), let played = stream.played.frame(at: began)
        else {
            throw Failure(.unavailable, "the device tells no times; record with other tools and use 'duplex aec'")
        }
        // The reference's frames are those that left the DAC when the microphone's came in.
        let skipped = max(0, played - stream.played.firstFrame)
        let missing = max(0, stream.played.firstFrame - played)
        let reference = [Float](repeating: 0, count: missing) + stream.played.samples.dropFirst(skipped)
        return (stream.captured.samples, reference, stream.xruns)
    }

    /// The verdict of `duplex aec` as the doctor's findings, and what to do.
    static func judge(_ summary: AecSummary, subject: String, xruns: Int) -> [Finding] {
        var values: [String: Double] = ["xruns": Double(xruns), "clipped_ratio": summary.microphoneClippedRatio]
        values["erle_db"] = summary.erleDb
        values["echo_return_loss_db"] = summary.echoReturnLossDb
        values["delay_ms"] = summary.delayMs
        values["drift_ppm"] = summary.driftPpm
        values["tail_ms"] = summary.echoTailMs
        values["linear_ratio"] = summary.linearEchoRatio
        values["convergence_s"] = summary.convergenceS
        let verdict = AecVerdict(summary)
        let findings = verdict.findings.enumerated().map { number, finding in
            let isBad = finding.grade == .poor
            return Finding(
                isBad ? .degraded : .ok, subject, finding.text,
                remedy: isBad
                    ? "turn the loudspeaker down, move it away from the microphone, or wear a headset" : nil,
                values: number == 0 ? values : nil)
        }
        guard xruns > 0 else { return findings }
        return findings + [
            Finding(
                .degraded, subject, "\(xruns) xruns tore the recording: what is said above is worse than it is",
                remedy: "grant real-time priority, close what keeps the processors busy, and try again")
        ]
    }
}
