@testable import VoiceProcessing

extension ProcessingBackend {
    /// The native canceller with a tuning of its own.
    static func native(_ tuning: NativeEchoCanceller.Tuning) -> ProcessingBackend {
        custom("native") { rate, _ in NativeStage(sampleRate: rate, tuning: tuning) }
    }
}

/// Runs a processor over whole signals.
struct ProcessorRun {
    var output: [Float]
    var reports: [ProcessingReport] = []

    init(_ processor: CaptureProcessor, capture: [Float], reference: [Float]? = nil, delay: Int = 0) {
        output = capture
        for number in 0..<capture.count / (processor.sampleRate / 100) {
            process(block: number, with: processor, reference: reference, delay: delay)
        }
    }

    /// A backend by itself at 16 kHz, which cancels softly.
    init(_ backend: ProcessingBackend, capture: [Float], reference: [Float]) throws {
        let settings = ProcessingSettings(echo: .soft)
        self.init(
            try backend.makeProcessor(sampleRate: 16_000, settings: settings), capture: capture, reference: reference)
    }

    /// The same, with `change` called before each block.
    init(
        _ processor: CaptureProcessor, capture: [Float], reference: [Float]? = nil, delay: Int = 0,
        change: (_ block: Int) throws -> Void
    ) rethrows {
        output = capture
        for number in 0..<capture.count / (processor.sampleRate / 100) {
            try change(number)
            process(block: number, with: processor, reference: reference, delay: delay)
        }
    }

    private mutating func process(
        block number: Int, with processor: CaptureProcessor, reference: [Float]?, delay: Int
    ) {
        let frames = processor.sampleRate / 100
        let range = number * frames..<(number + 1) * frames
        var mine = Array(output[range])
        let theirs = reference.map { Array($0[range]) } ?? [Float](repeating: 0, count: frames)
        var span = mine.mutableSpan
        reports.append(processor.run(capture: &span, reference: theirs.span, delay: delay))
        output.replaceSubrange(range, with: mine)
    }
}

/// Runs a chain over whole signals.
struct ChainRun {
    var output: [Float] = []
    var reports: [ProcessingChain.Report] = []

    init(_ chain: consuming ProcessingChain, capture: [Float], reference: [Float]) {
        var chain = chain
        let frames = chain.processor.sampleRate / 100
        for number in 0..<capture.count / frames {
            let range = number * frames..<(number + 1) * frames
            var mine = Array(capture[range])
            var span = mine.mutableSpan
            reports.append(chain.run(capture: &span, reference: reference.span.extracting(range)))
            output += mine
        }
    }
}
