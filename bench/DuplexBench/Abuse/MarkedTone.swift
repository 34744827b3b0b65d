import Glibc
import VoiceDevices

/// The sound of a well-behaved call: a tone that swells and fades as speech does, between two silences; found again in
/// what was heard.
///
/// Whole numbers of periods of every tone fit into a block, so that one call's tone is not taken for another's, nor
/// anybody's silence for sound.
struct MarkedTone {
    /// Before and after the tone; the two ends of a call begin less than that apart.
    static let silentSeconds = 2.0
    private static let sampleRate = 48_000
    /// 10 ms.
    private static let blockFrames = 480
    private static let amplitude = 0.1
    /// Of the softest moment of the tone this share must be left.
    private static let presence = 0.1
    private static let swellHertz = 4.0
    private static let swellDepth = 0.5
    /// A gap that is no longer than this lies between the two codecs: their look-ahead, their adaptation.
    private static let toleratedMilliseconds = 100

    let hertz: Double
    let seconds: Double

    func write(to path: String) throws {
        let silence = [Float](repeating: 0, count: Int(Self.silentSeconds * Double(Self.sampleRate)))
        let tone = (0..<Int(seconds * Double(Self.sampleRate))).map { frame in
            let time = Double(frame) / Double(Self.sampleRate)
            let swell = 1 - Self.swellDepth * (0.5 + 0.5 * cos(2 * .pi * Self.swellHertz * time))
            return Float(Self.amplitude * swell * sin(2 * .pi * hertz * time))
        }
        try AudioFile.write(silence + tone + silence, to: path)
    }

    /// How much of the tone is not in what was heard, in milliseconds.
    func missingMilliseconds(in path: String) -> Int {
        guard let heard = try? AudioFile.read(path).samples else { return Int(seconds * 1_000) }
        let blocks = heard.count / Self.blockFrames
        let present = (0..<blocks).map { isPresent(heard[$0 * Self.blockFrames..<($0 + 1) * Self.blockFrames]) }
        guard let first = present.firstIndex(of: true), let last = present.lastIndex(of: true) else {
            return Int(seconds * 1_000)
        }
        let gaps = present[first...last].count { !$0 } * 10
        let cut = Int(seconds * 1_000) - (last - first + 1) * 10
        return gaps + (cut > Self.toleratedMilliseconds ? cut : 0)
    }

    /// The power at the tone's own frequency (Goertzel's algorithm) against what the tone has at its softest.
    private func isPresent(_ block: ArraySlice<Float>) -> Bool {
        let coefficient = 2 * cos(2 * .pi * hertz / Double(Self.sampleRate))
        var (one, two) = (0.0, 0.0)
        for sample in block { (one, two) = (Double(sample) + coefficient * one - two, one) }
        let power = one * one + two * two - coefficient * one * two
        let least = Self.presence * Self.amplitude * (1 - Self.swellDepth) * Double(Self.blockFrames) / 2
        return power > least * least
    }
}
