import VoiceDevices

/// Two files through the processing, and what can be said of the result.
struct AecRun {
    private let options: Aec
    private let item: AecManifest.Item
    private let microphone: AudioFile
    private let reference: AudioFile
    private let near: AudioFile?
    /// The rate at which everything is processed.
    private let rate: Int

    /// - Parameter outputOption: what names the item's output, for a complaint.
    init(_ options: Aec, _ item: AecManifest.Item, outputOption: String = "--out") throws {
        self.options = options
        self.item = item
        let inputs = [item.mic, item.ref] + (item.near.map { [$0] } ?? [])
        for path in inputs { try InputFile.check(path) }
        if let out = item.out {
            try OutputFile.check(out, option: outputOption)
            try OutputFile.check(out, option: outputOption, isNoneOf: inputs)
            try OutputFile.checkIsWAV(out, option: outputOption)
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
        let result = try AecProcessing(
            settings: options.settings, backend: options.backend, expectedDelay: options.delayHint.map { $0 / 1_000 }
        ).run(item, microphone: microphone.samples, reference: reference.samples, near: near?.samples, rate: rate)
        if let out = item.out {
            do throws(AudioFileError) {
                try AudioFile.write(result.output, to: out, sampleRate: rate)
            } catch {
                throw Failure(error)
            }
        }
        return result
    }
}
