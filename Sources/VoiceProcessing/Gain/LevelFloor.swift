import Glibc

/// The quietest that a signal was over the last seconds: what stands out of it is somebody, what does not is the room.
///
/// Minimum of the power smoothed over 50 ms, over two windows of 1.5 s that take turns (R. Martin, "Noise power spectral density
/// estimation based on optimal smoothing and minimum statistics", IEEE Trans. SAP 9, 2001, for the idea).
struct LevelFloor: BitwiseCopyable {
    /// Weight of a block of 10 ms.
    private static let weight: Float = 0.2
    /// Blocks in a window.
    private static let window = 150

    private var smooth: Float?
    private var current = Float.infinity
    private var last = Float.infinity
    private var age = 0

    /// Takes a block's power (mean square) and returns the floor, dBFS.
    mutating func take(power: Float) -> Float {
        let next = (smooth ?? power) + Self.weight * (power - (smooth ?? power))
        smooth = next
        current = min(current, next)
        age += 1
        let floor = min(current, last)
        if age == Self.window {
            (last, current, age) = (current, next, 0)
        }
        return 10 * log10f(floor + 1e-20)
    }
}
