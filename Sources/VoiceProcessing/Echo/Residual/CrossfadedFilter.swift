import CVoiceKernels
import Glibc
import VoiceSignal

/// A linear-phase filter made anew of gains in each block: from one block to the next it is faded over, so that nothing
/// is heard to change.
///
/// Its only delay is ``reach``. Allocates when made and never after.
struct CrossfadedFilter: ~Copyable {
    static let block = 160

    /// Frames on each side of the middle.
    let reach: Int
    private var taper: RealVector
    private var impulse: RealVector
    private var current: RealVector
    private var previous: RealVector
    private var line: DelayLine

    /// A filter with `gain` in every bin until ``take(response:_:)``.
    init(reach: Int, gain: Float) {
        self.reach = reach
        taper = RealVector(count: reach + 1)
        impulse = RealVector(count: reach + 1)
        current = RealVector(count: 2 * reach + 1)
        previous = RealVector(count: 2 * reach + 1)
        line = DelayLine(count: 2 * reach + Self.block)
        for index in 0...reach { taper[index] = 0.5 + 0.5 * cosf(.pi * Float(index) / Float(reach + 1)) }
        current[reach] = gain
        previous[reach] = gain
    }

    /// Takes the real response of the next block's filter.
    mutating func take(response: borrowing Spectrum, _ transform: inout BlockTransform) {
        swap(&current, &previous)
        transform.inverse(response, into: &impulse)
        for index in 0...reach {
            current[reach + index] = impulse[index] * taper[index]
            current[reach - index] = current[reach + index]
        }
    }

    /// Filters a block.
    mutating func run(_ input: borrowing RealVector, into output: inout RealVector) {
        precondition(input.count == Self.block && output.count == Self.block)
        line.push(input)
        unsafe vk_fir_crossfade(line.start, previous.start, current.start, current.count, output.start, Self.block)
    }
}
