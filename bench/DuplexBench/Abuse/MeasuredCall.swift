import Foundation

/// A `duplex call` with sound files: one end of a well-behaved call.
final class MeasuredCall {
    /// As whom it calls.
    let identity: String
    private let program: ChildProgram
    private let heard: URL
    private let toneOfPeer: MarkedTone

    /// Calls from now on, with `tone` as its voice; what it hears is compared with `toneOfPeer`.
    init(
        _ duplex: String, identity: String, token: String, port: AttackedPort, tone: MarkedTone, toneOfPeer: MarkedTone,
        folder: URL
    ) throws {
        self.identity = identity
        self.toneOfPeer = toneOfPeer
        let voice = folder.appendingPathComponent("\(identity)-says.wav")
        heard = folder.appendingPathComponent("\(identity)-hears.wav")
        try tone.write(to: voice.path)
        program = try ChildProgram(
            duplex,
            [
                "call", "--server", port.url, "--input", voice.path, "--output", heard.path, "--wait",
                "30",
                "--processing", "off", "--json",
            ], environment: ["DUPLEX_TOKEN": token], output: folder.appendingPathComponent("\(identity).json"))
    }

    /// Whether it has begun to speak: it is in the room, and so is somebody else.
    var hasCompany: Bool {
        program.lines.contains { $0.type == "participant_joined" || $0.type == "participant_present" }
    }

    var isRunning: Bool { program.isRunning }

    /// CPU time of the threads that take in what others send, in nanoseconds.
    var receivingNanoseconds: Int64 {
        program.cpuNanoseconds(ofThreads: "voice-media") + program.cpuNanoseconds(ofThreads: "dv-network")
    }

    /// How the call went.
    struct Outcome {
        /// Packets lost of each talker, by synchronization source.
        var lost: [UInt32: Int] = [:]
        var packetsSentPerSecond = Double.nan
        var silencedMilliseconds = 0
        /// Whether it was put out of the room, for a while or for good.
        var wasPutOut = false
    }

    /// Waits until the call has ended by itself.
    func outcome(within seconds: Double) -> Outcome {
        program.waitUntilEnded(within: seconds)
        program.end()
        var outcome = Outcome()
        let lines = program.lines
        let summary = lines.first { $0.type == "summary" }
        outcome.wasPutOut = summary?.ending != "end of input" || lines.contains { $0.type == "connection_lost" }
        for talker in summary?.talkers ?? [] { outcome.lost[talker.synchronizationSource] = talker.packetsLost }
        if let sent = summary?.packetsSent, let length = summary?.seconds, length > 0 {
            outcome.packetsSentPerSecond = Double(sent) / length
        }
        outcome.silencedMilliseconds = toneOfPeer.missingMilliseconds(in: heard.path)
        return outcome
    }
}
