import VoiceDevices
import VoiceProcessing

/// Cuts the segments out of a recording, each into a file of its own, at the recording's rate.
struct SpeechCut {
    private let segments: [SpeechSegmenter.Segment]
    private let input: String
    /// Frames that are read at a time.
    private static let block = 4_096

    /// Segments in their order, none within another.
    init(_ segments: [SpeechSegmenter.Segment], of input: String) {
        self.segments = segments
        self.input = input
    }

    /// Writes `folder/segment-0001.wav` and so on, in place of what has these names.
    func write(into folder: String) throws {
        var reader = try AudioFileReader(input, convertedTo: nil)
        let rate = reader.sampleRate
        var position = 0
        for (index, segment) in segments.enumerated() {
            let number = String(index + 1)
            let path = "\(folder)/segment-\(String(repeating: "0", count: max(0, 4 - number.count)) + number).wav"
            try OutputFile.check(path, option: "--segments")
            try OutputFile.check(path, option: "--segments", isNoneOf: [input])
            let first = Int((segment.start / .seconds(1) * Double(rate)).rounded())
            let last = Int((segment.end / .seconds(1) * Double(rate)).rounded())
            try pass(first - position, from: &reader) { _ in }
            var file = try AudioFileWriter(path, sampleRate: rate)
            try pass(last - first, from: &reader) { (block) throws(AudioFileError) in try file.write(block) }
            try file.close()
            position = last
        }
    }

    /// Reads so many frames, or as many as there are.
    private func pass(
        _ frames: Int, from reader: inout AudioFileReader, to taker: (Span<Float>) throws(AudioFileError) -> Void
    ) throws(AudioFileError) {
        var left = frames
        while left > 0 {
            var block = [Float](repeating: 0, count: min(left, Self.block))
            var room = block.mutableSpan
            let count = try reader.read(into: &room)
            if count == 0 { break }
            try taker(block.span.extracting(first: count))
            left -= count
        }
    }
}
