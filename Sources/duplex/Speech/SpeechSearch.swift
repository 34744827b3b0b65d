import VoiceDevices
import VoiceProcessing
import VoiceSignal

/// A stretch of speech, as a line.
struct SpeechSegmentLine: JSONLine {
    let schema = "duplexvoice.speech/1"
    let type = "segment"
    /// Seconds from the recording's beginning.
    var start: Double
    var end: Double
    /// Mean over the segment, 0...1.
    var probability: Double
}

/// What a search came to, as the last line.
struct SpeechSummary: JSONLine {
    let schema = "duplexvoice.speech/1"
    let type = "summary"
    var segments: Int
    var speechSeconds: Double
    var seconds: Double
}

/// Looks through a recording for speech, once and in constant memory but for what it finds.
struct SpeechSearch {
    struct Result {
        var segments: [SpeechSegmenter.Segment]
        var summary: SpeechSummary
    }

    private static let rate = 48_000
    private static let block = rate / 100

    var detector: SpeechDetector.Configuration
    var preRoll: Duration

    /// Searches the file at `path`; tells each segment as soon as it has ended.
    func run(_ path: String, tell: (SpeechSegmentLine) -> Void) throws -> Result {
        var reader = try AudioFileReader(path, convertedTo: Self.rate)
        var network = SpeechNetwork(sampleRate: Self.rate)
        var segmenter = SpeechSegmenter(detector, preRoll: preRoll)
        var segments: [SpeechSegmenter.Segment] = []
        var block = [Float](repeating: 0, count: Self.block)
        var frames = 0
        func found(_ segment: SpeechSegmenter.Segment) {
            segments.append(segment)
            tell(segment.line)
        }
        while true {
            var room = block.mutableSpan
            let count = try reader.read(into: &room)
            if count == 0 { break }
            frames += count
            // The last block may be short: silence follows a recording.
            for index in count..<Self.block { block[index] = 0 }
            let level = decibelsFullScale(of: block.span)
            if let segment = segmenter.take(network.run(block.span), level: level) { found(segment) }
            if count < Self.block { break }
        }
        guard frames > 0 else { throw Failure(.inputUnusable, "'\(path)' holds no sound; record it anew") }
        let seconds = Double(frames) / Double(Self.rate)
        if var segment = segmenter.finish() {
            segment.end = min(segment.end, .seconds(seconds))
            found(segment)
        }
        let speech = segments.reduce(0) { $0 + $1.line.end - $1.line.start }
        return Result(
            segments: segments,
            summary: SpeechSummary(segments: segments.count, speechSeconds: speech, seconds: seconds))
    }
}

extension SpeechSegmenter.Segment {
    /// Seconds to the millisecond, the probability to the thousandth.
    fileprivate var line: SpeechSegmentLine {
        func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
        return SpeechSegmentLine(
            start: rounded(start / .seconds(1)), end: rounded(end / .seconds(1)),
            probability: rounded(Double(probability)))
    }
}
