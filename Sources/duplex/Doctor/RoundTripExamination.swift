import VoiceEngine

/// The true round trip of each pair of loudspeaker and microphone: a pulse is played, and found in what is heard.
struct RoundTripExamination {
    /// A loudspeaker and a microphone that may hear it.
    struct Pair: Equatable {
        var capture: String
        var playback: String

        var name: String { capture == playback ? capture : "\(playback) to \(capture)" }
    }

    private let pairs: [Pair]
    private let pulses: Int

    init(_ examination: DeviceExamination, pulses: Int) {
        let opens = examination.captureFailure == nil && examination.playbackFailure == nil
        pairs = Self.pairs(of: examination.devices, includingDefault: opens)
        self.pulses = pulses
    }

    /// `default`, and each card through its hardware PCMs: the first that captures and the first that plays now. The
    /// many other names of a card lead to the same converters.
    static func pairs(of devices: [ALSADeviceDescription], includingDefault: Bool) -> [Pair] {
        var pairs = includingDefault ? [Pair(capture: "default", playback: "default")] : []
        var cards: [Substring] = []
        for device in devices {
            guard device.name.hasPrefix("hw:"), let card = device.name.split(separator: ",").first else { continue }
            if !cards.contains(card) { cards.append(card) }
        }
        for card in cards {
            let ports = devices.filter { $0.name.split(separator: ",").first == card }
            guard let capture = ports.first(where: { isUsable($0.capture) }),
                let playback = ports.first(where: { isUsable($0.playback) })
            else { continue }
            pairs.append(Pair(capture: capture.name, playback: playback.name))
        }
        return pairs
    }

    private static func isUsable(_ state: ALSADeviceDescription.State?) -> Bool {
        if case .available = state { true } else { false }
    }

    /// Plays and listens, a pair after the other.
    var findings: [Finding] {
        get async {
            guard !pairs.isEmpty else {
                return [Finding(.ok, "round trip", "not measured: no card that both plays and captures")]
            }
            var findings: [Finding] = []
            for pair in pairs {
                Console.progress("playing pulses through \(pair.name)")
                findings.append(await examine(pair))
            }
            return findings
        }
    }

    private func examine(_ pair: Pair) async -> Finding {
        let card = ALSADeviceConfiguration(capture: pair.capture, playback: pair.playback)
        let loopback = DeviceLoopback(configuration: card, rounds: pulses, seed: .random(in: .min ... .max))
        do {
            let result = try await loopback.run { _, _ in }
            return Self.judge(pair, result)
        } catch {
            return Finding(
                .degraded, "round trip of \(pair.name)", "not measured: \((error as? Failure)?.message ?? "\(error)")",
                remedy: "try 'duplex loopback --capture \(pair.capture) --playback \(pair.playback)'")
        }
    }

    /// What came back, in words.
    static func judge(_ pair: Pair, _ result: DeviceLoopback.Result) -> Finding {
        let (subject, tally) = ("round trip of \(pair.name)", result.tally)
        var values = ["confidence": tally.confidence, "xruns": Double(tally.xruns)]
        values["microphone_dbfs"] = tally.heard.decibels
        let remedy =
            tally.xruns > 0 ? "grant real-time priority, or use longer periods (--period)" : nil
        let xruns = tally.xruns > 0 ? ", with \(tally.xruns) xruns" : ""
        if tally.heard.isDead {
            return Finding(
                .degraded, subject, "not measured: the microphone gives digital silence\(xruns)",
                remedy: HeardLevel.silenceRemedy, values: values)
        }
        guard let latency = tally.latency else {
            let level = tally.heard.decibels.map { ", where the microphone gave \($0.fixed(0)) dBFS" } ?? ""
            return Finding(
                tally.xruns > 0 ? .degraded : .ok, subject,
                "not measured: the pulse was heard in \(tally.found) of \(tally.wanted) rounds\(level); a headset, a muted mixer or no loop\(xruns)",
                remedy: remedy, values: values)
        }
        values["round_trip_p50_ms"] = latency.median
        values["round_trip_max_ms"] = latency.maximum
        values["unreported_ms"] = tally.unreportedMilliseconds
        values["drift_ppm"] = tally.driftPPM
        let unreported =
            tally.unreportedMilliseconds.map { ", of which its time stamps do not tell \($0.fixed(2)) ms" } ?? ""
        return Finding(
            tally.xruns > 0 ? .degraded : .ok, subject,
            "\(latency.median.fixed(2)) ms in periods of \(result.formats.playback?.active.periodFrames ?? 0) frames\(unreported)\(xruns)",
            remedy: remedy, values: values)
    }
}
