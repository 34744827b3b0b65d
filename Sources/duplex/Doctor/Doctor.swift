import ArgumentParser
import VoiceEngine

/// Says what works here, what does not, and what to do.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what works on this machine, what does not, and what to do.",
        discussion: """
            Tries what it tells of: starts threads at real-time priority, measures for 5 s how late they wake, opens the sound devices, and \
            plays short pulses through each pair of loudspeaker and microphone to find its round trip, which takes about 6 s a pair. A pulse that does \
            not come back says nothing, and is never reported as 0 ms.

            Exit code 1 if anything is failing; 0 if it is at worst degraded.

            For example:

              duplex doctor --quick
            """)

    @Flag(help: "Take a tenth of a second for what else takes a second, and fewer pulses.")
    var quick = false
    @Flag(help: "Play nothing: the round trips are left out.")
    var silent = false
    @Flag(
        help: """
            Play speech for 10 s through the default loudspeaker and say what the canceller makes of what the default microphone hears, as \
            'duplex aec' does; nothing else is examined. Be silent meanwhile.
            """)
    var echo = false
    @Option(help: "The loudspeaker of --echo. (default: default)")
    var playback: String?
    @Option(help: "The microphone of --echo. (default: default)")
    var capture: String?
    @OptionGroup var channels: CaptureChannels
    @Flag(help: "Print NDJSON.")
    var json = false

    func validate() throws {
        guard !echo || !(silent || quick) else {
            throw ValidationError("--echo plays for 10 s; leave --silent and --quick away")
        }
        guard echo || (playback == nil && capture == nil && channels.mix == nil) else {
            throw ValidationError(
                "--playback, --capture and --capture-channels are of --echo; give it, or leave them away")
        }
    }

    func run() async throws {
        var isFailing = false
        try await reportingFailure {
            let findings = echo ? try await examineEcho() : await examine()
            Console.endProgress()
            if json {
                findings.forEach { Console.emit($0) }
                Console.emit(DoctorSummary(findings))
            } else {
                lines(findings).forEach { Console.say($0) }
            }
            isFailing = findings.contains { $0.state == .failing }
        }
        if isFailing { throw ExitCode(Failure.Code.thresholdMissed.rawValue) }
    }

    private func examineEcho() async throws -> [Finding] {
        var card = ALSADeviceConfiguration(capture: capture ?? "default", playback: playback ?? "default")
        channels.apply(to: &card)
        return try await EchoExamination(card).findings
    }

    private func examine() async -> [Finding] {
        var findings = [Finding.realtimePriority, .memoryLock, .kernel, .clock, .governor]
        Console.progress("measuring how late threads wake")
        findings += WakeUpExamination(seconds: quick ? 0.5 : 5).findings
        Console.progress("looking at the sound devices")
        let devices = DeviceExamination()
        findings += devices.findings
        if !silent { findings += await RoundTripExamination(devices, pulses: quick ? 3 : 8).findings }
        return findings + [.processing, .neuralNoise, .codec, .encryption] + Finding.libraries + [.allocationCounter]
    }

    /// A line for each finding, and one below for what to do.
    private func lines(_ findings: [Finding]) -> [String] {
        var table = Table()
        for finding in findings {
            table.add(finding.state.rawValue, finding.subject, finding.detail)
            if let remedy = finding.remedy { table.add("", "", "-> \(remedy)") }
        }
        return table.lines
    }
}
