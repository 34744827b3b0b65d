import Glibc
import VoiceSignal

/// Keeps a block below full scale without look-ahead of its own: it looks at the whole block of 10 ms that it is given.
///
/// The gain is found for each millisecond and runs in straight lines between them, down in time for the peak and up
/// again slowly. Only a peak in a block's first millisecond can come before the gain is down; a soft knee below full
/// scale takes it.
struct PeakLimiter: BitwiseCopyable {
    /// Where limiting begins, -1 dBFS.
    private static let threshold: Float = 0.891
    /// Recovery per millisecond, 0.1 dB.
    private static let recovery: Float = 1.0116
    private static let pieces = 10

    /// Gain at the end of the last block.
    private(set) var gain: Float = 1

    /// Limits a block in place.
    mutating func run(_ block: inout MutableSpan<Float>) {
        let length = block.count / Self.pieces
        var needed = InlineArray<11, Float>(repeating: 1)
        for piece in 0..<Self.pieces {
            let peak = peak(of: block.span.extracting(piece * length..<(piece + 1) * length))
            needed[piece] = peak > Self.threshold ? Self.threshold / peak : 1
        }
        for piece in 0..<Self.pieces {
            let next = min(needed[piece], needed[piece + 1], gain * Self.recovery, 1)
            if gain < 1 || next < 1 { ramp(&block, from: piece * length, count: length, to: next) }
            gain = next
        }
    }

    private func ramp(_ block: inout MutableSpan<Float>, from start: Int, count: Int, to next: Float) {
        let step = (next - gain) / Float(count)
        for index in 0..<count {
            let value = block[start + index] * (gain + step * Float(index))
            block[start + index] = Self.knee(value)
        }
    }

    private static func knee(_ value: Float) -> Float {
        let over = abs(value) - threshold
        guard over > 0 else { return value }
        let room = 1 - threshold
        return (threshold + room * over / (over + room)) * (value < 0 ? -1 : 1)
    }
}
