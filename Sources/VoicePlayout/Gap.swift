/// A time in which nothing real is played: sound is made up, fading to silence, until packets come or are due.
struct Gap {
    private(set) var isOpen = false
    /// Frames made up so far.
    private(set) var frames = 0
    /// Those of them that stand for no lost packet yet: if the sound was only late, this much of it is behind.
    var held = 0
    /// Whether playout waits for the next packet to be due, as at the start of a stream, instead of taking any at once.
    private(set) var waits = false
    /// Whether the sender is known to be silent, so that nothing is concealed.
    private(set) var isPause = false
    /// Whether sound was due when it began, and nothing has told since that the sender had paused.
    private var lacksSound = false
    /// Where made-up sound begins and ends to fade, frames from the gap's beginning.
    private var fadeRange: (start: Int, end: Int)

    /// Made-up sound is faded out between these, frames: 1.0 and 1.2 s. Codecs let speech sink to comfort noise by
    /// themselves, which the sender of a pause renews every 400 ms.
    private static let usualFade = (start: 48_000, end: 57_600)
    /// After this the next packet is played when it is due, not as soon as it comes, frames (250 ms): what was late is
    /// another syllable.
    private static let longest = 12_000
    /// A gap in which no packet came for this long is a pause, frames (1 s).
    private static let idle = 48_000

    /// Before a stream and after a flush: silence until a packet is due.
    static let silence = Gap(isOpen: true, frames: idle, waits: true, isPause: true)

    init() { self = .silence }

    private init(
        isOpen: Bool, frames: Int, waits: Bool, isPause: Bool, fade: (start: Int, end: Int) = (0, 0)
    ) {
        (self.isOpen, self.frames, self.waits, self.isPause) = (isOpen, frames, waits, isPause)
        fadeRange = fade
    }

    /// Begins, to conceal, or while the sender is known to be silent.
    static func opened(isPause: Bool) -> Gap {
        var gap = Gap(isOpen: true, frames: 0, waits: false, isPause: isPause, fade: usualFade)
        gap.lacksSound = !isPause
        return gap
    }

    /// Whether sound that was due has not come for so long that what was made up does not stand for it any more.
    var isFreeze: Bool { waits && lacksSound }

    /// Begins, or goes on, after all that waited was dropped: silence after a fade of `frames`.
    mutating func release(fading frames: Int) {
        if !isOpen { self = Gap(isOpen: true, frames: 0, waits: true, isPause: true) }
        (isPause, lacksSound) = (true, false)
        if !fade.isSilent || self.frames == 0 { fadeRange = (self.frames, self.frames + frames) }
        wait()
    }

    /// No gap.
    static let closed = Gap(isOpen: false, frames: 0, waits: false, isPause: false)

    /// How sound fades that is made up from here on.
    var fade: GapFade { GapFade(frames: frames, start: fadeRange.start, end: fadeRange.end) }

    /// Notes made-up sound.
    mutating func lengthen(by count: Int, nothingWaits: Bool) {
        frames = min(frames + count, 1 << 40)
        if !waits { held += count }
        if fade.isSilent || frames >= Self.longest { wait() }
        if frames >= Self.idle, nothingWaits { isPause = true }
    }

    /// From here on the next packet is played when it is due.
    mutating func wait() {
        waits = true
        held = 0
    }

    /// The sender is known to have paused.
    mutating func becomePause() {
        (isPause, lacksSound) = (true, false)
        wait()
    }

    /// A packet is due.
    mutating func endWait() { waits = false }
}

/// How made-up sound fades in a gap that has lasted for a while.
struct GapFade: BitwiseCopyable {
    /// Frames made up so far.
    var frames: Int
    /// Where the fade begins and ends, frames from the gap's beginning.
    var start: Int
    var end: Int

    /// Whether all sound made up from here on is silent.
    var isSilent: Bool { frames >= end }

    /// Gain of the sample that is made up `ahead` frames from here.
    func gain(ahead: Int) -> Float {
        let at = frames + ahead
        if at < start { return 1 }
        return at >= end ? 0 : Float(end - at) / Float(end - start)
    }
}
