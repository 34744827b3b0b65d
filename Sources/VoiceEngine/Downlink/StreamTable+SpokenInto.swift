internal import VoiceRealtime

// The one participant who can be spoken into: what it says goes through the hold.

extension StreamTable {
    /// Has a participant's stream be one that can be spoken into; 0: nobody's. What was kept of the one before is heard
    /// first.
    mutating func watch(_ participant: UInt32) { watched = participant }

    /// What is known of the talker who is watched: nothing while what was kept of the one before is still heard.
    var watchedTalker: WatchedTalker {
        mutating get {
            guard isHoldWatched else { return WatchedTalker() }
            return WatchedTalker(
                isSounding: hold.isSounding, isUnderWay: hold.isUnderWay, isGivenUp: hold.delivery == .givenUp)
        }
    }

    /// Whether it is the watched participant's stream that goes through the hold.
    private var isHoldWatched: Bool {
        mutating get {
            guard let source = hold.source, let slot = slot(of: source) else { return false }
            return unsafe slots[slot].participant == watched
        }
    }

    /// Whether something is kept in the hold, or would be.
    var isHoldInUse: Bool { mutating get { hold.lag > 0 || hold.delivery != .playing } }

    /// Holds that ended because the ring was full.
    var holdOverflows: Int { hold.overflows }

    /// Does what somebody who speaks into the watched stream brings about. Of a participant with several streams one is
    /// kept; the others are silent meanwhile.
    mutating func change(_ delivery: SpeechDelivery) {
        guard let source = hold.source, let slot = slot(of: source) else { return }
        let (factor, frames) = delivery.toOthers
        duckOthers(of: slot, by: factor, over: frames)
        switch delivery {
        case .whole(let rewind, let frames):
            hold.release(rewind: rewind)
            unsafe slots[slot].duck(by: 1, over: frames)
        // Of the one before, what was begun is only undone.
        case _ where !isHoldWatched: break
        case .ducked(let factor, let frames):
            // It may have been held a block ago.
            hold.release(rewind: 0)
            unsafe slots[slot].duck(by: factor, over: frames)
        case .held: hold.hold()
        case .givenUp(let frames):
            hold.giveUp()
            unsafe slots[slot].duck(by: 1, over: frames)
        }
    }

    /// Has the other streams of a slot's participant be quieter by a factor.
    private mutating func duckOthers(of slot: Int, by factor: Float, over frames: Int) {
        let participant = unsafe slots[slot].participant
        guard participant != 0 else { return }
        for index in 0..<count where unsafe slots[index].participant == participant {
            if index != slot { unsafe slots[index].duck(by: factor, over: frames) }
        }
    }

    /// Has the hold go with the watched participant's stream, when nothing is kept of the one before.
    mutating func attachHold() {
        // Nor does it leave one stream of theirs for another, which may be ducked.
        if let source = hold.source, slot(of: source) != nil, isHoldInUse || isHoldWatched { return }
        var wanted: UInt32?
        if watched != 0 {
            for index in 0..<count where unsafe slots[index].synchronizationSource != nil {
                if unsafe slots[index].participant == watched {
                    wanted = unsafe slots[index].synchronizationSource
                    break
                }
            }
        }
        if hold.source != wanted { hold.restart(wanted) }
    }
}

extension SpeechDelivery {
    /// What it does to streams that are not kept: a factor, and within how many frames.
    fileprivate var toOthers: (factor: Float, frames: Int) {
        switch self {
        // What is given up is dropped by its generation.
        case .whole(_, let frames), .givenUp(let frames): (1, frames)
        case .ducked(let factor, let frames): (factor, frames)
        case .held: (0, GainRamp.rampFrames)
        }
    }
}
