/// Tells the time in frames pulled, between the pulls too.
///
/// Arrivals are measured on it, so that drift between sender and sound card shows as drift of the packets' offsets, and
/// the delay follows it without knowing either clock. A first-order loop smooths the scheduling of the pulls.
struct PullClock: BitwiseCopyable {
    /// Frames pulled so far.
    private(set) var pulled: Int64 = 0
    /// Frames by which pulls have lately come ahead of the smoothed clock, at most.
    private(set) var earliness: Double = 0
    private var anchor: (now: Duration, frames: Double)?
    private var hasPulled = false

    /// Time constant of the smoothing, frames: 0.5 s.
    private static let smoothing = 24_000.0
    /// A pull this far from where it was expected starts the clock anew, frames: 60 ms.
    private static let jump = 2880.0
    /// How fast a former earliness is forgotten: 1 ms in a second.
    private static let forgetting = 0.001

    /// The time at `now`; may lie before 0 until the first pull.
    mutating func frames(at now: Duration) -> Int64 {
        guard let anchor else {
            self.anchor = (now, 0)
            return 0
        }
        return Int64((anchor.frames + Self.frames(now - anchor.now)).rounded(.down))
    }

    /// Notes a pull of `count` frames; returns by how much times told before must be moved to fit those told from now
    /// on.
    mutating func willPull(_ count: Int, now: Duration) -> Int64 {
        guard let anchor else {
            self.anchor = (now, Double(pulled))
            hasPulled = true
            return 0
        }
        let expected = anchor.frames + Self.frames(now - anchor.now)
        let error = Double(pulled) - expected
        guard hasPulled, abs(error) < Self.jump else {
            self.anchor = (now, Double(pulled))
            hasPulled = true
            earliness = 0
            return Int64(error)
        }
        self.anchor = (now, expected + error * min(1, Double(count) / Self.smoothing))
        earliness = max(error, earliness - Self.forgetting * Double(count), 0)
        return 0
    }

    /// Takes note that playback has stood still for the time of `frames` frames; times told before must be moved back
    /// by as much.
    mutating func standStill(_ frames: Int) {
        guard let anchor else { return }
        self.anchor = (anchor.now, anchor.frames - Double(frames))
    }

    /// Whether somebody pulls: the last time was less than 100 ms before `now`.
    func isRunning(at now: Duration) -> Bool {
        guard hasPulled, let anchor else { return false }
        return now - anchor.now < .milliseconds(100)
    }

    mutating func didPull(_ count: Int) { pulled += Int64(count) }

    private static func frames(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return min(max(Double(seconds) + Double(attoseconds) * 1e-18, -86_400), 86_400) * Double(Frames.perSecond)
    }
}
