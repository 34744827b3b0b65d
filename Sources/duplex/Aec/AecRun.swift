import VoiceDevices
import VoiceProcessing
import VoiceRealtime

/// Two files through the processing, and what can be said of the result without knowing the near talker.
struct AecRun {
    private let options: Aec
    private let microphone: AudioFile
    private let reference: AudioFile
    /// The rate at which everything is processed.
    private let rate: Int

    init(_ options: Aec) throws {
        self.options = options
        try InputFile.check(options.mic)
        try InputFile.check(options.ref)
        try OutputFile.check(options.out, option: "--out")
        try OutputFile.check(options.out, option: "--out", isNoneOf: [options.mic, options.ref])
        do throws(AudioFileError) {
            let native = try AudioFileReader(options.mic).sampleRate
            rate = [16_000, 32_000, 48_000].contains(native) ? native : 48_000
            microphone = try AudioFile.read(options.mic, convertedTo: rate)
            reference = try AudioFile.read(options.ref, convertedTo: rate)
        } catch {
            throw Failure(error)
        }
        for (path, file) in [(options.mic, microphone), (options.ref, reference)] where file.samples.isEmpty {
            throw Failure(.inputUnusable, "'\(path)' holds no sound; record it anew")
        }
    }

    func run() throws -> AecSummary {
        var chain: ProcessingChain
        do {
            chain = try ProcessingChain(
                sampleRate: rate, settings: options.settings, backend: options.backend,
                configuration: ProcessingChain.Configuration(expectedDelay: options.delayHint.map { $0 / 1_000 }))
        } catch {
            throw Failure(.unavailable, "the processing could not be set up: \(error)")
        }
        let block = rate / 100
        let count = microphone.samples.count
        let blocks = (count + block - 1) / block
        var output = microphone.samples + Array(repeating: 0, count: blocks * block - count)
        let played = Array(reference.samples.prefix(output.count))
        let far = played + Array(repeating: 0, count: output.count - played.count)
        var times = [Int64]()
        times.reserveCapacity(blocks)
        var last: ProcessingChain.Report?
        for start in stride(from: 0, to: output.count, by: block) {
            if start % (rate * 2) == 0 { Console.progress("echo: \(100 * start / output.count) %") }
            var all = output.mutableSpan
            var capture = all._mutatingExtracting(start..<start + block)
            let before = RealtimeWatch.cpuNanoseconds()
            last = chain.run(capture: &capture, reference: far.span.extracting(start..<start + block))
            times.append(RealtimeWatch.cpuNanoseconds() - before)
        }
        Console.endProgress()
        output.removeLast(output.count - count)
        do throws(AudioFileError) {
            try AudioFile.write(output, to: options.out, sampleRate: rate)
        } catch {
            throw Failure(error)
        }
        let evidence = EchoEvidence(
            microphone: microphone.samples, reference: far, output: output, rate: rate,
            delay: last?.echoDelay?.delay ?? 0, lag: last?.processing.processingDelay ?? 0)
        return AecSummary(
            options: options, library: chain.processor.capabilities.library, rate: rate, report: last,
            evidence: evidence, times: times)
    }
}

/// What was done, in the words of `--json`.
struct AecSummary: JSONLine {
    let schema = "duplexvoice.aec/1"
    let type = "summary"
    var backend: String
    var library: String
    var sampleRate: Int
    var frames: Int
    /// Energy that went while the far end was heard; a near talker who speaks meanwhile lowers it.
    var erleDb: Double?
    /// From playing to recording.
    var delayMs: Double?
    /// By which the delay grew at the end; nil where no drift was found, or the backend does not look for it.
    var driftPpm: Double?
    /// When the echo was first 20 dB lower for half a second.
    var convergenceS: Double?
    /// How much later than the microphone the output is.
    var processingDelayMs: Double
    /// How often the reference was re-timed.
    var retimings: Int
    var usPerFrameP50: Double
    var usPerFrameP99: Double
    var usPerFrameMax: Double

    init(
        options: Aec, library: String, rate: Int, report: ProcessingChain.Report?, evidence: EchoEvidence,
        times: [Int64]
    ) {
        backend = options.backend.rawValue
        self.library = library
        sampleRate = rate
        frames = times.count
        erleDb = evidence.enhancementDecibels
        delayMs = report?.echoDelay.map { Double($0.delay) * 1_000 / Double(rate) }
        driftPpm = report?.processing.echoDriftPPM.map { Double($0) }
        convergenceS = evidence.convergenceSeconds
        processingDelayMs = Double(report?.processing.processingDelay ?? 0) * 1_000 / Double(rate)
        retimings = report?.retimings ?? 0
        let sorted = times.sorted()
        usPerFrameP50 = Double(sorted[sorted.count / 2]) / 1_000
        usPerFrameMax = Double(sorted[sorted.count - 1]) / 1_000
        usPerFrameP99 = Double(sorted[min(sorted.count - 1, sorted.count * 99 / 100)]) / 1_000
    }

    var lines: [String] {
        var table = Table()
        func decimal(_ value: Double?, _ unit: String) -> String {
            value.map { "\($0.rounded(toPlaces: 1)) \(unit)" } ?? "not measured"
        }
        table.add("echo removed while the far end was heard", decimal(erleDb, "dB"))
        table.add("delay from playing to recording", decimal(delayMs, "ms"))
        table.add("time until 20 dB were removed", decimal(convergenceS, "s"))
        table.add("delay added", decimal(processingDelayMs, "ms"))
        table.add(
            "CPU per 10 ms, median / p99",
            "\(usPerFrameP50.rounded(toPlaces: 0)) / \(usPerFrameP99.rounded(toPlaces: 0)) µs")
        table.add("processed by", "\(library), \(frames) blocks at \(sampleRate) Hz")
        return table.lines
    }
}

extension Double {
    func rounded(toPlaces places: Int) -> Double {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        return (self * scale).rounded() / scale
    }
}
