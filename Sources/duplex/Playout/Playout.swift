import ArgumentParser
import VoiceDevices
import VoicePlayout

/// Plays a captured call out through the jitter buffer.
struct Playout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "playout",
        abstract: "Play the Opus stream of a captured call through the jitter buffer into a WAV file.",
        discussion: """
            Packets arrive at their capture times; sound is pulled every 5 ms of the same clock. Sample 0 of the WAV is \
            the arrival of the first packet. Of several streams the one with the most packets is played, unless --ssrc \
            names another. Packets of type 112 that repeat earlier ones (RFC 2198) are heard too. What can be read of a \
            damaged capture is played. \
            delay_mean_ms and delay_p95_ms are the time from a packet's arrival to its playout.

            For example:

              duplex playout --pcap call.pcap --out heard.wav --log log.csv
            """)

    @Option(help: ArgumentHelp("A pcap or pcapng capture of unencrypted RTP.", valueName: "file"))
    var pcap: String

    @Option(
        name: [.customLong("out"), .customLong("output")],
        help: ArgumentHelp("The WAV file to write: mono, 16 bits, 48 kHz.", valueName: "file"))
    var out: String

    @Option(help: ArgumentHelp("The RTP payload type of Opus, 0 to 127.", valueName: "number"))
    var payloadType: UInt8 = 111

    @Option(
        help: ArgumentHelp("The stream to play, by its synchronization source.", valueName: "number"),
        transform: { text throws(ValidationError) in try Self.synchronizationSource(text) })
    var ssrc: UInt32?

    @Option(
        help: ArgumentHelp(
            "What delay is worth: conversation (the least that listeners do not mind), lowDelay (for people in time with each other) or robust (every word).",
            valueName: "preset"))
    var preset = PlayoutPreset.conversation

    @Option(
        help: ArgumentHelp(
            "A CSV file to write: every arrival, every decision, target and level at every pull.", valueName: "file"))
    var log: String?

    @Option(help: ArgumentHelp("An SVG file to draw: the same over time.", valueName: "file"))
    var plot: String?

    @Flag(help: "End with one line of JSON.")
    var json = false

    func validate() throws {
        guard payloadType <= 127 else {
            throw ValidationError("RTP has no payload type \(payloadType); choose 0 to 127.")
        }
    }

    func run() async throws {
        try await reportingFailure {
            try InputFile.check(pcap, isReadOnce: true)
            try OutputFile.check(out, option: "--out")
            try OutputFile.check(out, option: "--out", isNoneOf: [pcap])
            try OutputFile.checkIsWAV(out, option: "--out")
            for (path, option) in [(log, "--log"), (plot, "--plot")] {
                guard let path else { continue }
                try OutputFile.check(path, option: option)
                try OutputFile.check(path, option: option, isNoneOf: [pcap])
            }
            try OutputFile.checkAreApart([("--out", out), ("--log", log), ("--plot", plot)])
            let choice = PlayoutCapture.Choice(payloadType: payloadType, source: ssrc)
            let capture = try PlayoutCapture(path: pcap, choice: choice)
            if log != nil || plot != nil { try checkCanBeLogged(capture, log != nil ? "--log" : "--plot") }
            describe(capture)
            let (summary, happened) = try play(capture)
            if let log { try happened?.writeCSV(to: log) }
            if let plot {
                let name = FilePath.name(pcap)
                try happened?.figure(title: "Playout of \(name), \(preset.rawValue)", findings: summary.findings)
                    .write(to: plot, option: "--plot")
            }
            if json { Console.emit(summary) } else { summary.lines.forEach { Console.say($0) } }
        }
    }

    /// Throws where what is to be kept for a log would take gigabytes.
    private func checkCanBeLogged(_ capture: PlayoutCapture, _ option: String) throws(Failure) {
        guard capture.length > PlayoutLog.longest else { return }
        let (hours, most) = (capture.length / .seconds(3_600), PlayoutLog.longest.components.seconds / 3_600)
        throw Failure(
            .inputUnusable,
            "\(pcap): the stream lasts \(hours.fixed(1)) h, and \(option) reaches \(most) h; cut the capture, as by "
                + "'editcap -B', or leave --log and --plot away")
    }

    private func play(_ capture: PlayoutCapture) throws -> (PlayoutSummary, PlayoutLog?) {
        do {
            var recording = try AudioFileWriter(out)
            var session = try PlayoutSession(
                configuration: preset.configuration, keepsLog: log != nil || plot != nil)
            try session.play(capture.packets) { (block) throws(AudioFileError) in try recording.write(block) }
            try recording.close()
            let log = session.log
            return (session.summary(of: capture), log)
        } catch let error as AudioFileError {
            throw Failure(error)
        }
    }

    /// A synchronization source as Wireshark (0x1f2e3d4c) or this command (decimal) writes it.
    private static func synchronizationSource(_ text: String) throws(ValidationError) -> UInt32 {
        let digits = text.lowercased()
        let number = digits.hasPrefix("0x") ? UInt32(digits.dropFirst(2), radix: 16) : UInt32(digits)
        guard let number else {
            throw ValidationError("'\(text)' is no synchronization source; give 32 bits as 1234 or 0x4d2.")
        }
        return number
    }

    private func describe(_ capture: PlayoutCapture) {
        if capture.streams.count > 1, ssrc == nil {
            let all = PlayoutCapture.list(capture.streams)
            Console.complain(
                "note: several streams of payload type \(payloadType), playing \(capture.source); choose with --ssrc "
                    + "among \(all)")
        }
        if let cut = capture.cut { Console.complain("note: \(pcap): \(cut); what is before is played") }
        if !capture.packetsOfOtherTypes.isEmpty {
            let types = PlayoutCapture.list(capture.packetsOfOtherTypes)
            Console.complain("note: the stream has packets that are not heard, of payload type \(types)")
        }
        if capture.otherDatagrams + capture.otherPackets > 0 {
            Console.complain(
                "note: passed over \(capture.otherPackets) packets that are no whole UDP datagram and "
                    + "\(capture.otherDatagrams) datagrams that are no RTP")
        }
    }
}

/// The playout buffer's presets, by name.
enum PlayoutPreset: String, ExpressibleByArgument, CaseIterable {
    case conversation, lowDelay, robust

    var configuration: PlayoutConfiguration {
        switch self {
        case .conversation: .conversation
        case .lowDelay: .lowDelay
        case .robust: .robust
        }
    }
}
