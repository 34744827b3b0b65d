import ArgumentParser
import Glibc

/// Plays a captured call out through the jitter buffer.
struct Playout: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "playout",
        abstract: "Play the Opus stream of a captured call through the jitter buffer into a WAV file.",
        discussion: """
            Packets arrive at their capture times; sound is pulled every 10 ms of the same clock. Sample 0 of the WAV is \
            the arrival of the first packet. Of several streams the one with the most packets is played. \
            delay_mean_ms and delay_p95_ms are the time from a packet's arrival to its playout.

            Exit status: 0 done, 1 the output could not be written, 64 usage, 66 the capture is missing or not what it claims.
            """)

    @Option(help: ArgumentHelp("A pcap or pcapng capture of unencrypted RTP.", valueName: "file"))
    var pcap: String

    @Option(help: ArgumentHelp("The WAV file to write: mono, 16 bits, 48 kHz.", valueName: "file"))
    var out: String

    @Option(help: ArgumentHelp("The RTP payload type of Opus, 0 to 127.", valueName: "number"))
    var payloadType: UInt8 = 111

    @Flag(help: "End with one line of JSON.")
    var json = false

    func validate() throws {
        guard payloadType <= 127 else {
            throw ValidationError("RTP has no payload type \(payloadType); choose 0 to 127.")
        }
    }

    func run() throws {
        do {
            let capture = try PlayoutCapture(path: pcap, payloadType: payloadType)
            describe(capture)
            let recording = try PlayoutRecording(path: out)
            var session = try PlayoutSession()
            try session.play(capture.packets) { (block) throws(PlayoutFailure) in try recording.write(block) }
            try recording.close()
            let summary = session.summary()
            print(json ? summary.json : summary.text)
        } catch let failure as PlayoutFailure {
            tell("error: \(failure)")
            throw ExitCode(failure.exitStatus)
        }
    }

    private func describe(_ capture: PlayoutCapture) {
        if capture.streams.count > 1 {
            let all = capture.streams.map { "\($0.source) (\($0.packets) packets)" }.joined(separator: ", ")
            tell("note: several streams of payload type \(payloadType), playing the first of: \(all)")
        }
        if capture.otherDatagrams + capture.otherPackets > 0 {
            tell(
                "note: passed over \(capture.otherPackets) packets that are no whole UDP datagram and "
                    + "\(capture.otherDatagrams) datagrams that are no RTP")
        }
    }

    private func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
