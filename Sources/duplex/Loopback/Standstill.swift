/// Notices a device that has stopped, in either direction: one that only plays on would be listened to for ever.
struct Standstill {
    /// How long a direction may move nothing: some devices take seconds to begin.
    static let patience = Duration.seconds(5)

    private struct Direction {
        var frames = 0
        var idle = Duration.zero

        mutating func look(_ moved: Int, after interval: Duration) {
            idle = moved > frames ? .zero : idle + interval
            frames = moved
        }
    }

    private var playback = Direction()
    private var capture = Direction()

    /// Takes how many frames the device has moved in all, `interval` after it was last looked at; whether it stands
    /// still.
    mutating func look(played: Int, captured: Int, after interval: Duration) -> Bool {
        playback.look(played, after: interval)
        capture.look(captured, after: interval)
        return max(playback.idle, capture.idle) >= Self.patience
    }
}
