import VoiceDevices
import VoiceProcessing

/// Two files through the processing, and what can be said of the result.
struct AecRun {
    private let options: Aec
    private let item: AecManifest.Item
    private let microphone: AecInput
    private let reference: AecInput
    private let near: AecInput?
    /// The rate at which everything is processed.
    private let rate: Int

    /// Two files may differ this much in length before it is told, and less than this of a far end says nothing,
    /// seconds.
    private static let second = 1.0

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
        let native: Int
        do throws(AudioFileError) {
            native = try AudioFileReader(item.mic).sampleRate
        } catch {
            throw Failure(error)
        }
        rate = [16_000, 32_000, 48_000].contains(native) ? native : 48_000
        microphone = try AecInput(item.mic, rate: rate)
        reference = try AecInput(item.ref, rate: rate)
        if let path = item.near { near = try AecInput(path, rate: rate) } else { near = nil }
        for input in [microphone, reference] where input.samples.isEmpty {
            throw Failure(.inputUnusable, "'\(input.path)' holds no sound; record it anew")
        }
    }

    /// Processes and writes. Returns with the result what deserves a warning, each in a line.
    func run() throws -> (result: AecResult, warnings: [String]) {
        let result = try AecProcessing(
            settings: options.settings, backend: options.stage == .linear ? .nativeLinear : options.backend,
            expectedDelay: options.delayHint.map { $0 / 1_000 }
        ).run(item, microphone: microphone.samples, reference: reference.samples, near: near?.samples, rate: rate)
        if let out = item.out {
            do throws(AudioFileError) {
                try AudioFile.write(result.output, to: out, sampleRate: rate)
            } catch {
                throw Failure(error)
            }
        }
        return (result, warnings(result))
    }

    private func warnings(_ result: AecResult) -> [String] {
        var warnings = microphone.warnings + reference.warnings + (near?.warnings ?? [])
        let excess = Double(reference.samples.count - microphone.samples.count) / Double(rate)
        if abs(excess) > Self.second {
            warnings.append(
                "warning: '\(reference.path)' is \(abs(excess).fixed(1)) s \(excess > 0 ? "longer" : "shorter") than '\(microphone.path)': "
                    + (excess > 0 ? "the rest of it is not used" : "silence is taken for the rest of it"))
        }
        let (lasts, heard) = (Double(microphone.samples.count) / Double(rate), result.evidence.heardSeconds)
        if lasts < Self.second || heard > 0 && heard < Self.second {
            warnings.append(
                "warning: little can be said of '\(microphone.path)': it lasts \(lasts.fixed(1)) s, and the far end is heard for "
                    + "\(heard.fixed(2)) s of it")
        }
        return warnings + options.unmet(by: result.settings)
    }
}
