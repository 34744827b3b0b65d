import ArgumentParser
import VoiceProcessing

/// Cancels the echo in a recording.
struct Aec: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aec", abstract: "Cancel the echo in a recorded microphone, given what was played.",
        discussion: """
            Streams both files through the engine's own processing, 10 ms at a time. Any file that libsndfile reads will do; 16, 32 and \
            48 kHz are processed as they are, other rates at 48 kHz. The output has the microphone's rate and length, and lags it by the \
            processing's own delay. Without --delay-hint the delay is searched in the signals.
            """)

    /// How much is suppressed beyond what the filter removes.
    enum Echo: String, CaseIterable, ExpressibleByArgument {
        case off, low, moderate, high

        var setting: ProcessingSettings.EchoSuppression {
            switch self {
            case .off: .off
            case .low: .low
            case .moderate: .moderate
            case .high: .high
            }
        }
    }

    /// How much noise is taken away.
    enum Noise: String, CaseIterable, ExpressibleByArgument {
        case off, low, moderate, high, veryHigh

        var setting: ProcessingSettings.NoiseSuppression {
            switch self {
            case .off: .off
            case .low: .low
            case .moderate: .moderate
            case .high: .high
            case .veryHigh: .veryHigh
            }
        }
    }

    /// How the level is controlled.
    enum Gain: String, CaseIterable, ExpressibleByArgument {
        case off, adaptive, fixed

        var setting: ProcessingSettings.Gain {
            switch self {
            case .off: .off
            case .adaptive: .conversation
            case .fixed: ProcessingSettings.Gain(mode: .fixedDigital)
            }
        }
    }

    @Option(help: "The microphone's recording.", completion: .file())
    var mic: String
    @Option(help: "What was played meanwhile.", completion: .file())
    var ref: String
    @Option(help: "The WAV file to write.", completion: .file())
    var out: String
    @Option(help: "Who processes: \(ProcessingBackend.allCases.map(\.rawValue).joined(separator: ", ")).")
    var backend = ProcessingBackend.native
    @Option(help: "Echo suppression: \(Echo.allCases.map(\.rawValue).joined(separator: ", ")).")
    var echo = Echo.low
    @Option(help: "Noise suppression: \(Noise.allCases.map(\.rawValue).joined(separator: ", ")).")
    var noise = Noise.off
    @Option(help: "Gain control: \(Gain.allCases.map(\.rawValue).joined(separator: ", ")).")
    var gain = Gain.off
    @Option(help: "Milliseconds from a frame's playing to its echo's recording, if known.")
    var delayHint: Double?
    @Flag(help: "Print the summary as one line of JSON.")
    var json = false

    var settings: ProcessingSettings {
        ProcessingSettings(echo: echo.setting, noise: noise.setting, gain: gain.setting, highPass: backend != .bypass)
    }

    func validate() throws {
        if let delayHint, !(0...600).contains(delayHint) {
            throw ValidationError("--delay-hint is \(delayHint); the search and the history reach from 0 to 600 ms")
        }
    }

    func run() async throws {
        try await reportingFailure {
            let summary = try AecRun(self).run()
            if json {
                Console.emit(summary)
            } else {
                summary.lines.forEach { Console.say($0) }
            }
        }
    }
}

extension ProcessingBackend: ExpressibleByArgument {}
