import ArgumentParser
import VoiceEngine

/// Runs a recorded call again.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Run a recorded call's media thread again, bit for bit.",
        discussion: """
            Takes the folder of --record. Every second of the recording holds a digest of what had passed each stage; a table says which stages were the same to the bit, \
            and when one first was not. With --output each stage is written as DIR/STAGE.wav, 48 kHz, 32-bit floats: captured, processed (behind the canceller), sent, each \
            participant, the mix, what was given to the device (playout), and what that played (playback); and what was decided, and told, as DIR/decisions.ndjson.

            A recording without --record-sound has decisions alone: they are listed, and nothing can be run. The engine's own kernels run at the level that the recording \
            names, whatever this processor has beyond it; other versions of the libraries may round differently.

            Exit codes: 0 every stage was the same, 1 one was not or a part is missing, 66 the folder is no recording or is damaged, or its kernels do not run here, 77 it may not \
            be read.

            For example:

              duplex replay recording --output heard
            """)

    @Argument(help: ArgumentHelp("The folder of a recording.", valueName: "dir"), completion: .directory)
    var recording: String
    @Option(help: "Run so many seconds of it.")
    var until: Double?
    @Option(help: ArgumentHelp("A folder to write sound and decisions into.", valueName: "dir"), completion: .directory)
    var output: String?
    @Flag(help: "Where this processor lacks the kernels of the recording: run those there are; stages may differ.")
    var anyKernels = false
    @Flag(help: "Print NDJSON: each decision, then the summary.")
    var json = false

    func validate() throws {
        if let until, !(until > 0 && until <= 1_000_000) {
            throw ValidationError("--until is \(until); use more than 0 and at most 1000000 seconds")
        }
    }

    func run() async throws {
        try await reportingFailure { try ReplayRun(self).run() }
    }
}
