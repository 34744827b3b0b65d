import ArgumentParser

/// Shows and measures the whole engine without a sound card.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Show the whole engine at work: two engines, a room, two simulated rooms, real speech; then measure it.",
        discussion: """
            A and B talk for a while in real time, through a room server on loopback UDP. Each sits in a simulated room whose loudspeaker \
            is heard by its microphone. First only B speaks, then A, then both, then B again. What A's microphone heard, before and after \
            processing, is judged by what arrived at B, and written as WAV files to listen to.

            For example:

              duplex demo --output heard
            """)

    @Option(help: "How long to talk, in seconds.")
    var seconds = 15.0
    @Option(help: "The folder for the WAV files.", completion: .directory)
    var output = "duplex-demo"
    @Option(help: "Where the simulated rooms' random numbers come from.")
    var seed: UInt64 = 1
    @Flag(help: "Print the summary as one line of JSON.")
    var json = false

    func validate() throws {
        guard (10...120).contains(seconds) else {
            throw ValidationError(
                "--seconds is \(seconds); use 10 to 120, for all parts of the talk to be long enough to measure")
        }
    }

    func run() async throws {
        try await reportingFailure {
            let report = try await DemoRun(self).run()
            if json {
                Console.emit(report)
            } else {
                report.lines.forEach { Console.say($0) }
            }
        }
    }
}
