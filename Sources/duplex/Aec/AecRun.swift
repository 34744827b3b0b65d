import VoiceDevices
import VoiceProcessing
import VoiceRealtime

/// Two files through the processing, and what can be said of the result.
struct AecRun {
    private let options: Aec
    private let item: AecManifest.Item
    private let microphone: AudioFile
    private let reference: AudioFile
    private let near: AudioFile?
    /// The rate at which everything is processed.
    private let rate: Int

    init(_ options: Aec, _ item: AecManifest.Item) throws {
        self.options = options
        self.item = item
        let inputs = [item.mic, item.ref] + (item.near.map { [$0] } ?? [])
        for path in inputs { try InputFile.check(path) }
        if let out = item.out {
            try OutputFile.check(out, option: "--out")
            try OutputFile.check(out, option: "--out", isNoneOf: inputs)
        }
        do throws(AudioFileError) {
            let native = try AudioFileReader(item.mic).sampleRate
            rate = [16_000, 32_000, 48_000].contains(native) ? native : 48_000
            microphone = try AudioFile.read(item.mic, convertedTo: rate)
            reference = try AudioFile.read(item.ref, convertedTo: rate)
            if let path = item.near { near = try AudioFile.read(path, convertedTo: rate) } else { near = nil }
        } catch {
            throw Failure(error)
        }
        for (path, file) in [(item.mic, microphone), (item.ref, reference)] where file.samples.isEmpty {
            throw Failure(.inputUnusable, "'\(path)' holds no sound; record it anew")
        }
    }

    func run() throws -> AecResult {
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
        var trace = AecTrace(rate: rate, blocks: blocks)
        var times = [Int64]()
        times.reserveCapacity(blocks)
        var last: ProcessingChain.Report?
        for start in stride(from: 0, to: output.count, by: block) {
            if start % (rate * 2) == 0 { Console.progress("echo: \(100 * start / output.count) %") }
            var all = output.mutableSpan
            var capture = all._mutatingExtracting(start..<start + block)
            let before = RealtimeWatch.cpuNanoseconds()
            let report = chain.run(capture: &capture, reference: far.span.extracting(start..<start + block))
            times.append(RealtimeWatch.cpuNanoseconds() - before)
            trace.note(report, reference: far[start..<start + block])
            last = report
        }
        Console.endProgress()
        output.removeLast(output.count - count)
        if let out = item.out {
            do throws(AudioFileError) {
                try AudioFile.write(output, to: out, sampleRate: rate)
            } catch {
                throw Failure(error)
            }
        }
        return AecResult(
            item: item, backend: options.backend.rawValue, library: chain.processor.capabilities.library,
            settings: chain.processor.activeSettings, rate: rate, microphone: microphone.samples,
            reference: Array(far.prefix(count)), near: near?.samples, output: output, trace: trace, last: last,
            times: times)
    }
}
