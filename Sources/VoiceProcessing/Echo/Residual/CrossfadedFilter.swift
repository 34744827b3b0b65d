import CVoiceKernels
import Glibc
import VoiceSignal

/// A filter made anew of gains in each block: from one block to the next it is faded over, so that nothing is heard to
/// change.
///
/// Its only delay is ``reach``, the frames that it looks ahead. As many back make it a filter of linear phase, in which
/// gains closer together than 250 Hz, at 16 kHz and 64 frames, are one: a talker's harmonics and the echo between them
/// have the same. With detail it looks back by all of ``tail``, and what it may not take of frames ahead, h[n], it takes
/// of those behind instead:
///
///     no detail      h[n] w[n] on both sides of the middle, as far as `reach`
///     all of it      h[n] w[n] ahead, h[n] (2 − w[n]) behind, as far as `tail`
///
/// The sum of both sides is the same, 2 h[n], and so is the size of the ripple that it makes of the response, 2 h[n]
/// cos ωn; what it costs is phase. Figures: docs/decisions/111. Allocates when made and never after. One owner.
struct CrossfadedFilter: ~Copyable {
    static let block = 160

    /// Frames ahead of the middle.
    let reach: Int
    /// Frames behind it, at most.
    let tail: Int
    /// By lag: w, and what it is behind the middle with all detail.
    private var taper: RealVector
    private var detailed: RealVector
    private var impulse: RealVector
    /// From the oldest frame's tap to the newest's, and whether there is anything in those of the tail.
    private var current: Taps
    private var previous: Taps
    private var line: DelayLine

    private struct Taps: ~Copyable {
        var values: RealVector
        var hasTail = false
    }

    /// A filter with `gain` in every bin until ``take(response:detail:_:)``. `tail` is at least `reach`.
    init(reach: Int, tail: Int? = nil, gain: Float) {
        let tail = tail ?? reach
        precondition(reach > 0 && tail >= reach && 2 * tail < BlockTransform.frames)
        self.reach = reach
        self.tail = tail
        taper = RealVector(count: tail + 1)
        detailed = RealVector(count: tail + 1)
        impulse = RealVector(count: tail + 1)
        current = Taps(values: RealVector(count: reach + tail + 1))
        previous = Taps(values: RealVector(count: reach + tail + 1))
        line = DelayLine(count: reach + tail + Self.block)
        for lag in 0...tail {
            taper[lag] = lag <= reach ? Self.fade(Float(lag) / Float(reach + 1)) : 0
            // Its second half fades out.
            detailed[lag] = (2 - taper[lag]) * Self.fade(max(0, 2 * Float(lag) / Float(tail + 1) - 1))
        }
        current.values[tail] = gain
        previous.values[tail] = gain
    }

    private static func fade(_ progress: Float) -> Float { 0.5 + 0.5 * cosf(.pi * progress) }

    /// Takes the real response of the next block's filter, and how much of its detail is to be kept, 0...1.
    mutating func take(response: borrowing Spectrum, detail: Float = 0, _ transform: inout BlockTransform) {
        swap(&current, &previous)
        transform.inverse(response, into: &impulse)
        current.hasTail = detail > 0
        for lag in 0...reach { current.values[tail + lag] = impulse[lag] * taper[lag] }
        for lag in 1...tail {
            current.values[tail - lag] = impulse[lag] * (taper[lag] + detail * (detailed[lag] - taper[lag]))
        }
    }

    /// Filters a block.
    mutating func run(_ input: borrowing RealVector, into output: inout RealVector) {
        precondition(input.count == Self.block && output.count == Self.block)
        line.push(input)
        let first = previous.hasTail || current.hasTail ? 0 : tail - reach
        unsafe vk_fir_crossfade(
            line.start + first, previous.values.start + first, current.values.start + first,
            current.values.count - first, output.start, Self.block)
    }
}
