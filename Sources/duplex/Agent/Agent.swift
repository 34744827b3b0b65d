import ArgumentParser
import VoiceEngine
import VoicePartner
import VoiceTransport

/// Brings a partner into a room.
struct Agent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring a partner into a room: people there speak to it, and interrupt it.",
        discussion: """
            The partner is that of 'duplex talk': --offline on this machine, or --realtime at a server. It hears whoever speaks in the room, answers in it, and is silent \
            as soon as somebody speaks into its answer, or interrupts it by the room's own message. It does not hear other \
            agents, which would be answered, and answer, without end; --hear-agents has it hear them.

            Apps in the room may ask it to say or answer something by messages (docs/protocol.md, section 12).

            Runs until the room is left, --seconds, or Control-C. What was heard of an answer is what has left this machine. With --record DIR there are two \
            recordings, DIR/room and DIR/conversation.

            For example:

              duplex agent --offline --server udp://127.0.0.1:7900 --token-file token
            """)

    @Option(
        help:
            "The room server: the URL that it prints, duplex://HOST:PORT/?fingerprint=…; or udp://HOST:PORT, unprotected."
    )
    var server: String
    @OptionGroup var access: CallToken
    @OptionGroup var partner: TalkPartner
    @Option(help: "Leave the room after this many seconds.") var seconds: Double?
    @Flag(help: "Hear other agents too, and answer them.") var hearAgents = false
    @OptionGroup var recording: RecordOptions
    @Flag(help: "Talk to udp://, beyond loopback, although nothing is protected.") var allowPlaintext = false
    @Flag(help: "Print events and the summary as NDJSON.") var json = false

    func validate() throws {
        if let seconds, !(seconds > 0 && seconds <= 86_400) {
            throw ValidationError("--seconds is \(seconds); use more than 0 and at most 86400 seconds")
        }
    }

    func run() async throws {
        ProcessMemory.keepOutOfCoreDumps()
        try await reportingFailure { try await AgentRun(self).run() }
    }
}
