import VoiceSignal

/// The level of the deepest pause of late: within a second a talker has one, however short, and a crowd that has just
/// begun has none any more.
///
/// Least level, smoothed over 50 ms, over two windows that take turns.
struct RecentPause: BitwiseCopyable {
    /// Weight of a block of 10 ms.
    private static let weight: Float = 0.2
    /// Blocks in a window.
    private let window: Int
    private var smooth: Float?
    private var current = Float.infinity
    private var last = Float.infinity
    private var age = 0

    /// A pause of the last one or two windows of so many blocks of 10 ms.
    init(window: Int) { self.window = window }

    /// Takes a block's power (mean square) and returns the pause's level, dBFS.
    mutating func take(power: Float) -> Float {
        let next = (smooth ?? power) + Self.weight * (power - (smooth ?? power))
        smooth = next
        current = min(current, next)
        age += 1
        let least = min(current, last)
        if age == window {
            (last, current, age) = (current, next, 0)
        }
        return decibelsFullScale(ofPower: least)
    }
}
