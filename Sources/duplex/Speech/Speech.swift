import ArgumentParser
import VoiceDevices
import VoiceProcessing

/// Finds where somebody speaks in a recording.
struct Speech: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "speech",
        abstract: "Find where somebody speaks in a recording.",
        discussion: """
            Prints a line for each stretch of speech: its start and end in seconds and the mean probability, 0 to 1, that it is speech; with --json as NDJSON, \
            a summary last. With --segments each is also written as DIR/segment-0001.wav and so on, mono, 16 bits, at the recording's rate.

            A small network hears the probability of speech every 10 ms, in sound of any rate, without looking ahead. What begins and ends a segment is up to the options. \
            For frames of 32 ms and the parameters that many are used to:

              duplex speech in.wav --frame-ms 32 --threshold 0.5 --hysteresis 0.15 --minimum-speech-ms 250 --minimum-silence-ms 100 --json
            """)

    @Argument(help: ArgumentHelp("A recording: WAV, FLAC, Ogg.", valueName: "file"))
    var input: String

    @Option(help: ArgumentHelp("A folder to write each segment into, as a WAV file.", valueName: "dir"))
    var segments: String?

    @Option(help: "Time over which probabilities are averaged before they are judged, 10 to 100 ms.")
    var frameMs = 20.0

    @Option(help: "Probability from which a frame is speech, above 0 to 1.")
    var threshold: Float = 0.7

    @Option(
        help:
            "How far below the threshold the probability is of silence; between the two nothing changes. 65 % of the threshold unless given."
    )
    var hysteresis: Float?

    @Option(help: "Onset confirmation: speech, silence among it taken off, before a segment begins, 0 to 2000 ms.")
    var onsetMs = 60.0

    @Option(help: "Time from the beginning that speech must have lasted, 0 to 2000 ms: what is shorter is nothing.")
    var minimumSpeechMs = 60.0

    @Option(help: "Silence that ends a segment, 0 to 10000 ms: what is shorter is a pause in it.")
    var minimumSilenceMs = 300.0

    @Option(help: "How much later a segment ends in noise as loud as the speech, 0 to 1000 ms.")
    var noiseHangoverMs = 140.0

    @Option(help: "Sound that is kept before the first speech, 0 to 2000 ms.")
    var preRollMs = 30.0

    @Flag(help: "Print NDJSON: a line for each segment, then a summary.")
    var json = false

    /// What the options say; valid once ``validate()`` has not thrown.
    private var detector: SpeechDetector.Configuration {
        SpeechDetector.Configuration(
            frame: .milliseconds(frameMs), threshold: threshold, hysteresis: hysteresis,
            onsetConfirmation: .milliseconds(onsetMs), minimumSpeech: .milliseconds(minimumSpeechMs),
            minimumSilence: .milliseconds(minimumSilenceMs), noiseHangover: .milliseconds(noiseHangoverMs))
    }

    func validate() throws {
        let times: [(option: String, value: Double, range: ClosedRange<Double>)] = [
            ("--frame-ms", frameMs, 10...100), ("--onset-ms", onsetMs, 0...2_000),
            ("--minimum-speech-ms", minimumSpeechMs, 0...2_000),
            ("--minimum-silence-ms", minimumSilenceMs, 0...10_000),
            ("--noise-hangover-ms", noiseHangoverMs, 0...1_000), ("--pre-roll-ms", preRollMs, 0...2_000),
        ]
        for time in times where !time.range.contains(time.value) {
            let (least, most) = (Int(time.range.lowerBound), Int(time.range.upperBound))
            throw ValidationError("\(time.option) is \(time.value); use \(least) to \(most) ms")
        }
        guard threshold > 0, threshold <= 1 else {
            throw ValidationError("--threshold is \(threshold); use more than 0 and at most 1")
        }
        // Also where it is that of a threshold next to 0.
        guard detector.isValid else {
            throw ValidationError(
                "--hysteresis is \(detector.hysteresis); use 0 to less than --threshold, \(threshold)")
        }
    }

    func run() async throws {
        try await reportingFailure {
            // Segments are cut in a second reading.
            try InputFile.check(input, isReadOnce: segments == nil)
            if let segments { try OutputFolder.make(segments, option: "--segments", for: []) }
            do {
                let search = SpeechSearch(detector: detector, preRoll: .milliseconds(preRollMs))
                let found = try search.run(input) { segment in say(segment) }
                if let segments { try SpeechCut(found.segments, of: input).write(into: segments) }
                say(found)
            } catch let error as AudioFileError {
                throw Failure(error)
            }
        }
    }

    private func say(_ segment: SpeechSegmentLine) {
        guard !json else { return Console.emit(segment) }
        Console.say(
            "\(segment.start.fixed(2)) to \(segment.end.fixed(2)) s, probability \(segment.probability.fixed(2))")
    }

    private func say(_ found: SpeechSearch.Result) {
        guard !json else { return Console.emit(found.summary) }
        let summary = found.summary
        Console.say(
            "\(summary.speechSeconds.fixed(2)) s of speech in \(summary.segments.counted("segment")), of \(summary.seconds.fixed(2)) s"
        )
    }
}
