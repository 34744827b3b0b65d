/// A time in which nothing real is played: sound is made up, fading to silence, until packets come or are due.
struct Gap: BitwiseCopyable {
    private(set) var isOpen = false
    /// Frames made up so far.
    private(set) var frames = 0
    /// Those of them that stand for no lost packet yet: if the sound was only late, this much of it is behind.
    var held = 0
    /// Whether playout waits for the next packet to be due, as at the start of a stream, instead of taking any at once.
    private(set) var waits = false
    /// Whether the sender is known to be silent, so that nothing is concealed.
    private(set) var isPause = false
    /// Whether the decoder's true state is saved.
    private(set) var hasSavedState = false
    private var isComfortNoise = false

    /// Made-up sound is faded out between these, frames: 100 and 250 ms, about a syllable.
    private static let fadeStart = 4800
    private static let fadeEnd = 12_000
    /// The same for comfort noise, which the sender renews every 400 ms: 1.0 and 1.2 s.
    private static let comfortFadeStart = 48_000
    private static let comfortFadeEnd = 57_600
    /// A gap in which no packet came for this long is a pause, frames (1 s).
    private static let idle = 48_000

    /// Before a stream and after a flush: silence until a packet is due.
    static let silence = Gap(isOpen: true, frames: idle, waits: true, isPause: true)

    init() { self = .silence }

    private init(isOpen: Bool, frames: Int, waits: Bool, isPause: Bool) {
        (self.isOpen, self.frames, self.waits, self.isPause) = (isOpen, frames, waits, isPause)
        isComfortNoise = false
    }

    /// Begins; the decoder's state must be saved by now.
    static func opened(afterAnnouncedSilence: Bool) -> Gap {
        var gap = Gap(isOpen: true, frames: 0, waits: false, isPause: afterAnnouncedSilence)
        gap.hasSavedState = true
        gap.isComfortNoise = afterAnnouncedSilence
        return gap
    }

    /// No gap.
    static let closed = Gap(isOpen: false, frames: 0, waits: false, isPause: false)

    /// Whether all sound made up from here on is silent.
    var isSilent: Bool { frames >= end }

    /// Gain of the sample that is made up `ahead` frames from here.
    func gain(ahead: Int) -> Float {
        let start = isComfortNoise ? Self.comfortFadeStart : Self.fadeStart
        let at = frames + ahead
        if at < start { return 1 }
        return at >= end ? 0 : Float(end - at) / Float(end - start)
    }

    /// Notes made-up sound; `isExpected` when the sender owes none.
    mutating func lengthen(by count: Int, nothingWaits: Bool) {
        frames = min(frames + count, 1 << 40)
        if !waits { held += count }
        if isSilent { wait() }
        if frames >= Self.idle, nothingWaits { isPause = true }
    }

    /// From here on the next packet is played when it is due.
    mutating func wait() {
        waits = true
        held = 0
    }

    /// The sender is known to have paused.
    mutating func becomePause() {
        isPause = true
        wait()
    }

    /// A packet is due.
    mutating func endWait() { waits = false }

    private var end: Int { isComfortNoise ? Self.comfortFadeEnd : Self.fadeEnd }
}
