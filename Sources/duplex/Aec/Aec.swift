import ArgumentParser
import VoiceProcessing

/// Cancels the echo in a recording.
struct Aec: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aec", abstract: "Cancel the echo in recorded microphones, given what was played.",
        discussion: """
            Streams both files through the engine's own processing, 10 ms at a time. Any file that libsndfile reads will do; several channels \
            are mixed to one. A microphone of 16, 32 or 48 kHz is processed as it is, one of another rate at 48 kHz, and the reference is \
            brought to the same rate. The output is a WAV file, mono, 16 bits, of that rate and as long as the microphone, which it lags by \
            the processing's own delay. A recording lasts up to an hour at 16 kHz, and 20 minutes at 48.

            The delay from playing to recording is searched in the signals, up to 600 ms. --delay-hint says where to look first; once the \
            search has found the echo elsewhere, that counts. A right hint can spare some of the first second's echo, most with webRTC; a \
            wrong one costs. The backend native ignores a hint of up to 30 ms, which it spans from the start.

            Every backend takes away what lies below 75 Hz, native and speex what lies below up to 130 Hz where the microphone rumbles.

            --batch takes many recordings: a folder, whose folders hold mic.wav, ref.wav (or far.wav) and perhaps near.wav, or that \
            holds NAME_mic.wav with NAME_ref.wav (or _far, _lpb) beside it; or a manifest, CSV with the heading mic,ref,out,near or a JSON \
            object of these keys on each line, with paths relative to it. What fails is told and does not stop the rest; the exit code is 1 \
            then. Outputs without a name of their own go to the folder --out.

            --report writes a page in HTML for each recording: a verdict, waveforms, spectrograms, what was decided on which evidence, and what \
            was known over time; and the latter as CSV.

            For example:

              duplex aec --mic mic.wav --ref ref.wav --out out.wav --report report
            """)

    /// How much is suppressed beyond what the filter removes.
    enum Echo: String, CaseIterable, ExpressibleByArgument {
        case off, soft, medium, aggressive, auto

        var setting: ProcessingSettings.EchoSuppression {
            switch self {
            case .off: .off
            case .soft: .soft
            case .medium: .medium
            case .aggressive: .aggressive
            case .auto: .auto
            }
        }
    }

    /// How far the native canceller goes.
    enum Stage: String, CaseIterable, ExpressibleByArgument { case full, linear }

    /// How much noise is taken away.
    enum Noise: String, CaseIterable, ExpressibleByArgument {
        case off, low, moderate, high, veryHigh, neural

        var setting: ProcessingSettings.NoiseSuppression {
            switch self {
            case .off: .off
            case .low: .low
            case .moderate: .moderate
            case .high: .high
            // The net decides by itself; only what it takes at most is set.
            case .veryHigh, .neural: .veryHigh
            }
        }

        var method: ProcessingSettings.NoiseMethod { self == .neural ? .neural : .spectral }
    }

    /// How the level is controlled.
    enum Gain: String, CaseIterable, ExpressibleByArgument {
        case off, adaptive, fixed

        var setting: ProcessingSettings.Gain {
            switch self {
            case .off: .off
            case .adaptive: .conversation
            case .fixed: .fixed(decibels: 9)
            }
        }
    }

    @Option(help: "The microphone's recording.", completion: .file())
    var mic: String?
    @Option(help: "What was played meanwhile.", completion: .file())
    var ref: String?
    @Option(
        help: "The near talker alone, as the microphone heard it, if known: tells what the talker lost.",
        completion: .file())
    var near: String?
    @Option(
        name: [.customLong("out"), .customLong("output")],
        help: "The WAV file to write: mono, 16 bits; with --batch, a folder for them.", completion: .file())
    var out: String?
    @Option(help: ArgumentHelp("A folder or a manifest of recordings, instead of --mic and --ref.", valueName: "path"))
    var batch: String?
    @Option(help: ArgumentHelp("A folder to write a report into.", valueName: "folder"))
    var report: String?
    @Option(help: "Who processes: \(ProcessingBackend.builtIn.map(\.name).joined(separator: ", ")).")
    var backend = ProcessingBackend.native
    @Option(
        help: """
            How far the backend native goes: \(Stage.allCases.map(\.rawValue).joined(separator: ", ")). linear writes what its adaptive \
            filter leaves, with all decisions as ever and nothing suppressed; above 8 kHz it is the microphone.
            """)
    var stage = Stage.full
    @Option(help: "Echo suppression: \(Echo.allCases.map(\.rawValue).joined(separator: ", ")). (default: soft)")
    var echo: Echo?
    @Option(
        help: """
            Noise suppression: \(Noise.allCases.map(\.rawValue).joined(separator: ", ")); the last is RNNoise, where it is installed, at \
            48 kHz.
            """)
    var noise = Noise.off
    @Option(help: "Gain control: \(Gain.allCases.map(\.rawValue).joined(separator: ", ")), which is 9 dB.")
    var gain = Gain.off
    @Option(
        parsing: .unconditional,
        help: "Milliseconds, 0 to 600, from a frame's playing to its echo's recording, if known: where to look first.")
    var delayHint: Double?
    @Flag(help: "Print the summary as one line of JSON.")
    var json = false

    var settings: ProcessingSettings {
        ProcessingSettings(
            echo: (echo ?? .soft).setting, noise: noise.setting, noiseMethod: noise.method, gain: gain.setting,
            highPass: true,
            // Who talks is part of the verdict; it changes nothing in the sound.
            voiceDetection: .moderate)
    }

    /// What was asked for and is not done, each in a line.
    func unmet(by active: ProcessingSettings) -> [String] {
        var unmet: [(option: String, instead: String)] = []
        if let echo, echo.setting != active.echo { unmet.append(("--echo \(echo)", "\(active.echo)")) }
        if noise.setting != active.noise { unmet.append(("--noise \(noise)", "\(active.noise)")) }
        if gain.setting != active.gain { unmet.append(("--gain \(gain)", "\(active.gain.mode)")) }
        return unmet.map { "warning: \($0.option) is taken as \($0.instead) by \(backend)" }
    }

    func validate() throws {
        if batch != nil {
            guard mic == nil, ref == nil, near == nil else {
                throw ValidationError("--batch names the recordings; leave --mic, --ref and --near away")
            }
            if batch == "" { throw ValidationError("--batch is empty; name a folder or a manifest") }
        } else {
            for (name, value) in [("mic", mic), ("ref", ref), ("out", out)] where value == nil {
                throw ValidationError("Missing expected argument '--\(name) <\(name)>' (or use --batch)")
            }
        }
        if stage == .linear, backend.name != ProcessingBackend.native.name {
            throw ValidationError("--stage linear is what --backend native has")
        }
        if let delayHint, !(0...600).contains(delayHint) {
            throw ValidationError("--delay-hint is \(delayHint); the search reaches from 0 to 600 ms")
        }
    }

    func run() async throws {
        try await reportingFailure {
            if let batch {
                try AecBatch(self, path: batch).run()
            } else if let mic, let ref, let out {
                if let report { try OutputFolder.make(report, option: "--report", for: ["index.html", "index.csv"]) }
                let run = try AecRun(self, AecManifest.Item(mic: mic, ref: ref, out: out, near: near))
                let (result, warnings) = try run.run()
                warnings.forEach(Console.complain)
                if let report { try AecPage(result).write(to: "\(report)/index") }
                if json { Console.emit(result.summary) } else { result.lines.forEach { Console.say($0) } }
            }
        }
    }
}

extension ProcessingBackend: ExpressibleByArgument {
    /// The one of that name, if there is.
    public init?(argument: String) {
        guard let named = Self.builtIn.first(where: { $0.name == argument }) else { return nil }
        self = named
    }

    /// Its name.
    public var defaultValueDescription: String { name }
    /// The names of all.
    public static var allValueStrings: [String] { builtIn.map(\.name) }
}
