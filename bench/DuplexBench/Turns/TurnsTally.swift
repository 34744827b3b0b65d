import VoiceEngine

/// What many stories add up to. Times in milliseconds.
struct TurnsTally {
    var quiet: [Double] = []
    var silent: [Double] = []
    var errors: [Double] = []
    /// The stages of ``quiet``.
    var decided: [Double] = []
    var told: [Double] = []
    var carriedOut: [Double] = []
    var (interruptions, missed, old) = (0, 0, 0)
    /// For how long answers were quieter or silent for nothing, seconds.
    var softened = 0.0
    /// Stories that never sounded, and tell nothing of what was said into them.
    var untold = 0
    /// Stories that were given up before the person spoke: no interruptions.
    var selfInterrupted = 0
    var (others, falselyDucked, falselyHeld, falselyEnded, cutShort) = (0, 0, 0, 0, 0)

    static func median(_ values: [Double]) -> Double { values.isEmpty ? .nan : Samples(values).median }
    static func p95(_ values: [Double]) -> Double { values.isEmpty ? .nan : Samples(values).quantile(0.95) }

    var missedRatio: Double { Double(missed) / Double(interruptions) }
    var falseRatio: Double { Double(falselyEnded) / Double(others) }

    mutating func addInterruption(_ story: Story) {
        guard story.isTold else { return untold += 1 }
        if let ended = story.ended, ended < story.spoken { return selfInterrupted += 1 }
        interruptions += 1
        guard let ended = story.ended, ended < story.spoken + 2 else { return missed += 1 }
        if let quiet = story.quietAt, let suspected = story.changes.first {
            self.quiet.append(1_000 * (quiet - story.spoken))
            decided.append(1_000 * (suspected.decided - story.spoken))
            told.append(1_000 * (suspected.time - suspected.decided))
            carriedOut.append(1_000 * (quiet - suspected.time))
        }
        silent.append(1_000 * (story.lastSound - story.spoken))
        old += story.soundingFrames(from: ended + 0.04)
        if let error = story.heardError { errors.append(error) }
    }

    mutating func addInterruption(_ story: RemoteStory) {
        if let last = story.lastSound, last < story.spoken { return selfInterrupted += 1 }
        interruptions += 1
        guard let last = story.lastSound, last < story.spoken + 2 else { return missed += 1 }
        if let quiet = story.quietAt { self.quiet.append(1_000 * (quiet - story.spoken)) }
        silent.append(1_000 * (last - story.spoken))
        old += story.oldFrames
    }

    mutating func addOther(_ story: Story) {
        guard story.isTold else { return untold += 1 }
        others += 1
        softened += story.softened
        falselyDucked += story.times(of: .suspected).isEmpty ? 0 : 1
        falselyHeld += story.times(of: .held).isEmpty ? 0 : 1
        falselyEnded += story.ended == nil ? 0 : 1
        cutShort += story.isWhole ? 0 : 1
    }

    mutating func add(_ other: TurnsTally) {
        quiet += other.quiet
        silent += other.silent
        errors += other.errors
        (decided, told, carriedOut) = (decided + other.decided, told + other.told, carriedOut + other.carriedOut)
        (interruptions, missed, old) = (interruptions + other.interruptions, missed + other.missed, old + other.old)
        (others, falselyDucked) = (others + other.others, falselyDucked + other.falselyDucked)
        (falselyHeld, falselyEnded) = (falselyHeld + other.falselyHeld, falselyEnded + other.falselyEnded)
        cutShort += other.cutShort
        softened += other.softened
        untold += other.untold
        selfInterrupted += other.selfInterrupted
    }
}
