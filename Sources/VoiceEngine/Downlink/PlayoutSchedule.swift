internal import VoiceRealtime

/// Decides when the playout ring is to be refilled: as late as the media thread can be trusted to come.
///
///     take ─────────────────────── period ─────────────────────── take
///      │                                        due ── margin ──── │
///      └─ seen: when its frames leave the DAC    └─► pull ─► ring ─┘
///
/// What is pulled later has given late packets more time, and waits less in the ring. When the playback thread comes
/// is predicted from when the frames that it has taken leave the DAC; how late the media thread may be, from how late
/// it has been. Pure: time comes in.
struct PlayoutSchedule: BitwiseCopyable {
    /// The margin moves in steps of a quarter of a millisecond: less cannot be told from chance.
    private static let step: Int64 = 250_000
    /// Kept above the lateness seen: a step.
    private static let reserve: Int64 = step
    /// What an underrun without lateness adds, if it is the second within the margin's memory: a moment's gap is worth
    /// less than lasting delay.
    private static let raise: Int64 = 1_000_000
    /// Between two steps down passes so much.
    private static let patience: Int64 = 1_000_000_000
    /// How long before the DAC the playback thread comes, and how much it takes, is remembered for so long, or twice
    /// that.
    private static let takeWindow: Int64 = 1_000_000_000
    /// Where the device does not tell how much it takes at a time, until that has been seen: 10 ms.
    private static let unknownPeriod = 480

    /// How far before a take its block is due, in nanoseconds.
    private(set) var margin: Int64
    /// The frames of a take.
    private(set) var period: Int
    private let least: Int64
    private let most: Int64
    private var learnsPeriod: Bool
    private let keepsDeadlines: Bool
    private var end: MonotonicTime?
    private var leads = RecentMaximum(windowNanoseconds: takeWindow)
    private var sizes = RecentMaximum(windowNanoseconds: takeWindow)
    private var lateness: RecentLateness
    private var underruns = 0
    private var wasLate = false
    private var changed = MonotonicTime(nanoseconds: 0)
    /// What was last told to be due.
    private var planned: MonotonicTime?

    /// - Parameters:
    ///   - period: frames that the playback thread takes at a time; 0 where that is not known.
    ///   - keepsDeadlines: whether whoever runs the engine does so when it is due, and not only when a device moves; if
    ///     not, the ring is
    ///     filled at once.
    init(period: Int, margin: PlayoutMargin, keepsDeadlines: Bool) {
        self.margin = margin.initial.nanoseconds
        least = margin.minimum.nanoseconds
        most = margin.maximum.nanoseconds
        lateness = RecentLateness(memory: margin.memory.nanoseconds)
        learnsPeriod = period == 0
        self.period = period == 0 ? Self.unknownPeriod : period
        self.keepsDeadlines = keepsDeadlines
    }

    /// Another device takes over. Discards the timing of the last one; keeps the measured lateness of the media
    /// thread.
    mutating func restart(period: Int) {
        learnsPeriod = period == 0
        self.period = period == 0 ? Self.unknownPeriod : period
        end = nil
        planned = nil
        leads = RecentMaximum(windowNanoseconds: Self.takeWindow)
        sizes = RecentMaximum(windowNanoseconds: Self.takeWindow)
    }

    /// Takes note of what the playback thread has taken, and that it was seen at `now`. Returns how long before the DAC
    /// that was.
    mutating func note(_ take: PlaybackTake, seen now: MonotonicTime) -> Int64 {
        if learnsPeriod {
            sizes.note(Int64(take.frames), at: now)
            period = min(Int(sizes.largest ?? 0), Self.longestPeriod)
        }
        end = take.end
        let lead = take.end.nanoseconds - now.nanoseconds - Duration(frames: period).nanoseconds
        leads.note(lead, at: now)
        return lead
    }

    /// A quarter of the ring: whoever takes more at a time gets it in pieces.
    private static let longestPeriod = 4_096

    /// When the next block must be pulled if `fill` frames lie in the ring; nil while enough do.
    func due(fill: Int) -> MonotonicTime? {
        guard keepsDeadlines, let end, let lead = leads.largest else {
            return fill < period ? MonotonicTime(nanoseconds: 0) : nil
        }
        // A device that has stopped taking is not piled up.
        guard fill < period + Duration.nanoseconds(margin).frames else { return nil }
        let ahead = fill / period * period
        return MonotonicTime(nanoseconds: end.nanoseconds + Duration(frames: ahead).nanoseconds - lead - margin)
    }

    /// When the next block must be pulled; whoever runs the engine is trusted to do so then. Nil while enough lies in
    /// the ring.
    mutating func plan(fill: Int) -> MonotonicTime? {
        planned = end == nil ? nil : due(fill: fill)
        return planned
    }

    /// Takes note that a block that was `due` was there at `now`, and of all the frames so far that were not there in
    /// time. True where the margin has changed.
    mutating func filled(due: MonotonicTime, at now: MonotonicTime, underruns total: Int) -> Bool {
        guard keepsDeadlines, end != nil else { return false }
        let before = margin
        // Nobody is late for what was not yet known to be due.
        let told = max(due, planned ?? now)
        let late = max(now.nanoseconds - told.nanoseconds, 0)
        // An underrun that lateness does not explain: the device came too early.
        let isUnexplained = total > underruns && !wasLate
        lateness.note(isUnexplained ? max(late, margin + Self.raise - Self.reserve) : late, at: now)
        wasLate = late > margin
        let need = lateness.repeated + Self.reserve
        let wanted = min(max((need + Self.step - 1) / Self.step * Self.step, least), most)
        if wanted > margin {
            margin = wanted
            changed = now
        } else if wanted < margin, now.nanoseconds - changed.nanoseconds >= Self.patience {
            margin = max(margin - Self.step, wanted)
            changed = now
        }
        underruns = total
        return margin != before
    }
}
