/// How far an utterance was heard.
package struct UtteranceProgress: BitwiseCopyable, Equatable, Sendable {
    /// The number that its talker has given it.
    package var utterance: UInt32
    /// How much of it had left the DAC, in frames of 48 kHz from its beginning; what was lost or skipped on the way
    /// counts as what lies behind it does.
    package var frames: Int
    /// By how many frames that may be wrong, either way.
    package var boundFrames: Int

    /// Progress of an utterance.
    @_noLocks @_noAllocation
    package init(utterance: UInt32, frames: Int, boundFrames: Int) {
        self.utterance = utterance
        self.frames = frames
        self.boundFrames = boundFrames
    }
}

/// How far the utterances of one talker in the room have come at the loudspeaker.
///
///     packets:         RTP timestamp ─► utterance, position ────────────────────┐
///     pull:            RTP timestamp ─► frames of the playout ring ─┐           ▼
///     playback thread: frames of the playout ring ─► time at the DAC ─► runs of an utterance, by the time at which they leave the DAC
///
/// Follows what the jitter buffer says of each pulled frame, so that loss, concealment, stretching and resampling need
/// no correction here; and what the playback thread has taken, so that a stall, a discard or another device needs none
/// either. What remains in doubt is stated: sound that was made up since the last that was real, and the cross-fade
/// behind it; the cross-fade of a jump; sound that is being repeated to gain time, of which more was heard before than
/// sounds now; sound of which no packet has said that it is of the utterance; what was lost and skipped between an
/// utterance's last packet and the first of what follows it; and the delay of the talker's codec.
///
/// Pure; one thread at a time. Nothing is allocated after `init`, and each call does bounded work, whatever the packets
/// say.
@safe
package struct UtteranceLedger: ~Copyable {
    /// What an Opus decoder gives lies so far behind what the encoder took: its look-ahead of 6.5 ms (RFC 6716, section
    /// 2.1: 2.5 ms in the low-delay mode).
    package static var codecDelayFrames: Int { @_noLocks @_noAllocation get { 312 } }
    /// Half a cross-fade of the jitter buffer: sound this near a jump is of both of its sides.
    private static var fadeNanoseconds: Int64 { @_noLocks @_noAllocation get { 4_000_000 } }
    /// A whole cross-fade, which is how long made-up sound goes on beneath the sound that follows it.
    private static var blendNanoseconds: Int64 { @_noLocks @_noAllocation get { 8_000_000 } }
    /// The most that the jitter buffer cuts out of speech at once: 12 ms.
    private static var longestCut: Int { @_noLocks @_noAllocation get { 576 } }
    /// The most that the jitter buffer repeats at once: 16 ms.
    private static var longestRepeat: Int { @_noLocks @_noAllocation get { 768 } }
    /// More than this is not lost at an utterance's end without the talker being lost: 1 s.
    private static var longestGap: Int32 { @_noLocks @_noAllocation get { 48_000 } }
    private static var placeCapacity: Int { @_noLocks @_noAllocation get { 16 } }
    /// As much as is heard again where somebody had spoken into it, `BargeInStages.rewind`: 250 ms. A talker that goes
    /// back further says it anew.
    private static var longestRewind: Int { @_noLocks @_noAllocation get { 12_000 } }
    /// Frames of 48 kHz to nanoseconds.
    private static var nanosecondsPerFrame: Double { @_noLocks @_noAllocation get { 1e9 / 48_000 } }
    /// A run goes on where the one before ended, to a frame.
    private static var tolerance: Int64 { @_noLocks @_noAllocation get { 20_834 } }

    /// The RTP timestamp of an utterance's position 0; or from where on packets say that they are of none.
    private struct Place: BitwiseCopyable {
        var start: UInt32
        var utterance: UInt32
        var isUtterance: Bool
        /// The position up to which packets have said that the sound is of the utterance.
        var known = 0
    }

    private let places: UnsafeMutablePointer<Place>
    private var placeCount = 0
    private var nextPlace = 0
    /// Pulled, and on their way to the DAC.
    private var waiting = HeardRunRing(capacity: 1_024)
    /// The last that left it, or are about to.
    private var heard = HeardRunRing(capacity: 256)
    /// When what was last handed to the device has left the DAC.
    private var renderedEnd = Int64.min / 2

    /// A ledger that knows of no utterance.
    package init() {
        unsafe places = .allocate(capacity: Self.placeCapacity)
        unsafe places.initialize(
            repeating: Place(start: 0, utterance: 0, isUtterance: false), count: Self.placeCapacity)
    }

    deinit { unsafe places.deallocate() }

    /// Makes it as new, for another talker.
    @_noLocks @_noAllocation
    package mutating func reset() {
        (placeCount, nextPlace, renderedEnd) = (0, 0, .min / 2)
        waiting.removeAll()
        heard.removeAll()
    }

    // MARK: What packets say

    /// Whether the talker names its utterances; nothing is kept of one that does not.
    package var isActive: Bool { @_noLocks @_noAllocation get { placeCount > 0 } }

    /// Takes what a packet of this RTP timestamp and length says: that its first frame is at this position of an
    /// utterance.
    @_noLocks @_noAllocation
    package mutating func place(_ utterance: UInt32, position: UInt32, timestamp: UInt32, frames: Int) {
        let start = timestamp &- position
        let end = Int(position) &+ frames
        for index in 0..<placeCount {
            let place = unsafe places[index]
            if place.isUtterance, place.utterance == utterance, place.start == start {
                unsafe places[index].known = max(place.known, end)
                return
            }
        }
        append(Place(start: start, utterance: utterance, isUtterance: true, known: end))
    }

    /// Takes what a packet says that belongs to no utterance.
    @_noLocks @_noAllocation
    package mutating func placeOutside(timestamp: UInt32) {
        guard placeCount > 0, place(of: timestamp, limit: 1).utterance != nil else { return }
        append(Place(start: timestamp, utterance: 0, isUtterance: false))
    }

    @_noLocks @_noAllocation
    private mutating func append(_ place: Place) {
        unsafe places[nextPlace] = place
        nextPlace = (nextPlace &+ 1) % Self.placeCapacity
        placeCount = min(placeCount &+ 1, Self.placeCapacity)
    }

    /// Where a timestamp lies, and for how many frames that holds.
    @_noLocks @_noAllocation
    private func place(of timestamp: UInt32, limit: Int) -> (utterance: UInt32?, position: Int, frames: Int) {
        var found: Place?
        var (distance, frames) = (Int32.max, limit)
        for index in 0..<placeCount {
            let place = unsafe places[index]
            let behind = Int32(bitPattern: timestamp &- place.start)
            if behind < 0 {
                frames = min(frames, Int(behind.magnitude))
            } else if behind <= distance {
                (found, distance) = (place, behind)
            }
        }
        guard let found, found.isUtterance else { return (nil, 0, frames) }
        return (found.utterance, Int(distance), frames)
    }

    // MARK: On the way to the DAC

    /// Takes frames that were pulled and whose timestamps run on with them. Frames that stand still in time are of no
    /// utterance, and left out.
    ///
    /// - Parameters:
    ///   - timestamp: the RTP timestamp of the first.
    ///   - isMadeUp: whether they were made up in place of sound that was lost.
    ///   - ringFrame: where the first lies in the playout ring.
    ///   - scale: how many of the ring's frames each takes.
    @_noLocks @_noAllocation
    package mutating func pulled(timestamp: UInt32, frames: Int, isMadeUp: Bool, ringFrame: Double, scale: Double) {
        guard frames > 0 else { return }
        if waiting.count > 0 {
            let last = waiting.count &- 1
            var run = waiting[last]
            if run.isMadeUp == isMadeUp, run.scale == scale,
                run.first &+ UInt32(truncatingIfNeeded: run.frames) == timestamp,
                run.ringFrame + Double(run.frames) * scale == ringFrame
            {
                run.frames &+= frames
                waiting[last] = run
                return
            }
        }
        var run = HeardRun(first: timestamp, frames: frames, isMadeUp: isMadeUp)
        (run.ringFrame, run.scale) = (ringFrame, scale)
        // There is room for more than the playout ring holds, in the smallest pieces that are pulled.
        waiting.appendReplacing(run)
    }

    // MARK: At the DAC

    /// Takes frames of the playout ring that were handed to the device: the first leaves the DAC at `dacNanoseconds`.
    /// What lies before them was discarded.
    @_noLocks @_noAllocation
    package mutating func rendered(firstFrame: Int, frames: Int, dacNanoseconds: Int64) {
        let spanEnd = firstFrame &+ frames
        renderedEnd = dacNanoseconds &+ Int64(Double(frames) * Self.nanosecondsPerFrame)
        while waiting.count > 0 {
            var run = waiting[0]
            let discarded = run.frames(before: firstFrame)
            let left = run.frames(before: spanEnd)
            if left > discarded {
                let offset = run.ringFrame + Double(discarded) * run.scale - Double(firstFrame)
                leave(
                    run, discarded, left, time: dacNanoseconds &+ Int64(offset * Self.nanosecondsPerFrame))
            }
            guard left == run.frames else {
                run.drop(left)
                waiting[0] = run
                return
            }
            waiting.removeFirst()
        }
    }

    /// The frames of a run from one to before another leave the DAC.
    @_noLocks @_noAllocation
    private mutating func leave(_ run: HeardRun, _ first: Int, _ end: Int, time: Int64) {
        var done = first
        // At most one piece for each place that is known, and one before all of them.
        for _ in 0...placeCount where done < end {
            let (utterance, position, frames) = place(
                of: run.first &+ UInt32(truncatingIfNeeded: done), limit: end &- done)
            if let utterance {
                var piece = HeardRun(
                    first: UInt32(truncatingIfNeeded: position), frames: frames, isMadeUp: run.isMadeUp)
                piece.utterance = utterance
                piece.origin = run.first &+ UInt32(truncatingIfNeeded: done) &- piece.first
                piece.time = time &+ Int64(Double(done &- first) * run.scale * Self.nanosecondsPerFrame)
                hear(piece)
            }
            done &+= frames
        }
    }

    @_noLocks @_noAllocation
    private mutating func hear(_ next: HeardRun) {
        var piece = next
        // Of another utterance nothing was heard.
        piece.jump = Int(piece.first)
        var isBlended = !piece.isMadeUp
        if heard.count > 0 {
            let newest = heard.count &- 1
            var last = heard[newest]
            // What is heard again, because it was held, was heard before.
            let repeated = last.end &- Int(piece.first)
            if last.utterance == piece.utterance, repeated > 0, repeated <= Self.longestRewind {
                guard repeated < piece.frames else { return }
                piece.time &+= Int64(Double(repeated) * Self.nanosecondsPerFrame)
                piece.first &+= UInt32(truncatingIfNeeded: repeated)
                piece.frames &-= repeated
            }
            let isContinued = last.utterance == piece.utterance && last.end == Int(piece.first)
            let difference = piece.time &- last.endTime
            if isContinued, last.isMadeUp == piece.isMadeUp, difference < Self.tolerance, difference > -Self.tolerance {
                last.frames &+= piece.frames
                last.origin = piece.origin
                heard[newest] = last
                return
            }
            if last.utterance == piece.utterance {
                piece.jump = abs(Int(piece.first) &- last.end)
                piece.lastReal = last.isMadeUp ? last.lastReal : last.end
                (piece.blendEnd, piece.blendFrom) = (last.blendEnd, last.blendFrom)
            }
            // What fills a time that stands still is faded out like what was made up in place of a packet; another
            // device may hide how long that was, but no jump that stretching does not make.
            let isEven = abs(difference) < Self.tolerance && piece.jump <= Self.longestCut
            isBlended = !piece.isMadeUp && (last.isMadeUp || !isEven)
        }
        if isBlended { (piece.blendEnd, piece.blendFrom) = (piece.time &+ Self.blendNanoseconds, piece.lastReal) }
        heard.appendReplacing(piece)
    }

    // MARK: What is known

    /// How far an utterance had been heard at a time of the DAC's, at most a second ago; the one that was heard last
    /// where none is named. nil where nothing had.
    @_noLocks @_noAllocation
    package func progress(at nanoseconds: Int64, of utterance: UInt32? = nil) -> UtteranceProgress? {
        var index = heard.count &- 1
        var doubt = 0
        var next: HeardRun?
        while index >= 0 {
            let run = heard[index]
            index &-= 1
            if let utterance, utterance != run.utterance { continue }
            let passed = nanoseconds &- run.time
            guard passed > 0 else {
                doubt = passed > -Self.fadeNanoseconds ? run.jump : 0
                next = run
                continue
            }
            if let next {
                doubt &+= Self.repetition(between: run, and: next, at: nanoseconds)
            } else if renderedEnd &- run.endTime >= Self.tolerance, nanoseconds > run.endTime &- Self.fadeNanoseconds {
                // What follows it stands still, and may repeat it; for how long is not known yet.
                let elapsed = Int(Double(max(0, nanoseconds &- run.endTime)) / Self.nanosecondsPerFrame)
                doubt &+= max(0, Self.longestRepeat &- elapsed)
            }
            if next == nil, nanoseconds > run.endTime &- Self.fadeNanoseconds { doubt &+= gap(behind: run) }
            let frames = min(run.frames, Int(Double(passed) / Self.nanosecondsPerFrame))
            let position = Int(run.first) &+ frames
            var unsure = position &- knownEnd(of: run.utterance)
            if run.isMadeUp {
                // Nothing real was heard since, whatever the made-up sound stands for.
                unsure = max(unsure, abs(position &- run.lastReal))
            } else {
                if nanoseconds < run.blendEnd { unsure = max(unsure, abs(position &- run.blendFrom)) }
                if passed < Self.fadeNanoseconds { unsure = max(unsure, run.jump) }
            }
            doubt &+= max(0, unsure)
            return UtteranceProgress(
                utterance: run.utterance, frames: max(0, position &- Self.codecDelayFrames),
                boundFrames: Self.codecDelayFrames &+ doubt)
        }
        return nil
    }

    /// Up to where packets have said that sound is of an utterance. What lies behind it, until they say what it is of,
    /// was restored or made up in place of packets that were lost, and may be behind the utterance's end.
    @_noLocks @_noAllocation
    private func knownEnd(of utterance: UInt32) -> Int {
        var end = 0
        for index in 0..<placeCount {
            let place = unsafe places[index]
            if place.isUtterance, place.utterance == utterance { end = max(end, place.known) }
        }
        return end
    }

    /// How far what is known to be of no or of another utterance lies behind the end of a run: all packets between them
    /// were lost and skipped, and may have been of the utterance.
    @_noLocks @_noAllocation
    private func gap(behind run: HeardRun) -> Int {
        // What lies behind what packets have said is in doubt already.
        guard knownEnd(of: run.utterance) >= run.end else { return 0 }
        let end = run.origin &+ UInt32(truncatingIfNeeded: run.end)
        var nearest = Int32.max
        for index in 0..<placeCount {
            let place = unsafe places[index]
            if place.isUtterance, place.utterance == run.utterance { continue }
            let distance = Int32(bitPattern: place.start &- end)
            if distance >= 0 { nearest = min(nearest, distance) }
        }
        return nearest <= Self.longestGap ? Int(nearest) : 0
    }

    /// How far what sounds may lie before what was heard, because the end of a run is repeated before the next goes on;
    /// a loudspeaker that stands still there looks the same.
    @_noLocks @_noAllocation
    private static func repetition(between run: HeardRun, and next: HeardRun, at nanoseconds: Int64) -> Int {
        guard next.utterance == run.utterance, next.time &- run.endTime > tolerance,
            nanoseconds > run.endTime &- fadeNanoseconds
        else { return 0 }
        let left = next.time &- max(nanoseconds, run.endTime)
        return min(longestRepeat, Int(Double(left) / nanosecondsPerFrame) &+ 1)
    }

    /// Whether all that was pulled had left the DAC.
    @_noLocks @_noAllocation
    package func isSettled(at nanoseconds: Int64) -> Bool {
        guard waiting.count == 0 else { return false }
        return heard.count == 0 || heard[heard.count &- 1].endTime <= nanoseconds
    }
}
