/// What a planner decided is heard next: all that the sound maker has to know, and nothing that it could change.
enum PlayoutPlan: BitwiseCopyable {
    /// Nothing real can be played now: sound is made up, or silence kept, until a packet comes or is due.
    case bridge(Bridge)
    /// A packet's time is played.
    case play(PacketPlan)
}

/// Sound that stands for no packet.
struct Bridge: BitwiseCopyable {
    var frames: Int
    /// How it fades.
    var fade: GapFade
    /// Whether nothing is expected from the sender.
    var isPause: Bool
    /// Whether there is sound that could be continued.
    var continuesSound: Bool
    /// RTP timestamp at which the stream stands still meanwhile.
    var timestamp: Int64
}

/// The time of one packet, from wherever its sound comes.
struct PacketPlan: BitwiseCopyable {
    enum Source: BitwiseCopyable {
        /// The packet itself, or a copy that a later one carried.
        case packet(PacketDecoding)
        /// The redundancy of the packet after it (in-band FEC).
        case redundancy(of: Int64, frames: Int)
        /// Concealment, led over to what follows where that is known.
        case concealment(frames: Int, lead: Lead?)
    }

    /// What concealed sound is led over to.
    struct Lead: BitwiseCopyable {
        /// No more can be looked at ahead of its time, frames (60 ms).
        static let longest = PlayoutBuffer.longestPacketFrames / 2

        var packet: Int64
        /// Frames of the packet's redundancy that follow; nil where the packet itself does.
        var redundantFrames: Int?
    }

    var source: Source
    /// The gap that ends with it; nil where none was open.
    var gap: GapEnd?
    /// What goes through the decoder unheard before it.
    var catchUp: CatchUp
    /// Frames at its beginning that are not played.
    var skipped: Int
    /// Frames that it has, those skipped included.
    var frames: Int
    /// RTP timestamp of the first of them.
    var timestamp: Int64
    /// When its packet came, and when the first frame is played, on the pull clock.
    var arrival: Int64
    var time: Int64
    /// How much later than wanted the first frame is played, frames: so far in may concealed sound be joined to it.
    var lateness: Int
    /// Delay above what is wanted, for which the sound may be stretched, frames; nil where it may not.
    var excess: Int64?

    /// Where the sound comes from, if the decoder takes it.
    var origin: PlayedSegment.Origin {
        switch source {
        case .packet(let decoding): decoding.isCopy ? .redundancy : .packet
        case .redundancy: .redundancy
        case .concealment: .concealment
        }
    }
}

/// A packet on its way through the decoder.
struct PacketDecoding: BitwiseCopyable {
    var sequence: Int64
    var frames: Int
    /// Whether the decoder starts afresh for it.
    var startsStream: Bool
    /// Whether it is a copy that a later packet carried.
    var isCopy: Bool
}

/// How a gap that ends was filled.
struct GapEnd: BitwiseCopyable {
    var fade: GapFade
    /// Whether sound was made up, which has to be joined to what follows.
    var hasSound: Bool
}

/// What goes through the decoder unheard, so that its state is as true as can be where playout goes on.
///
/// At most the last ``PlayoutPlanner/caughtUpPackets`` packets matter, each of which comes itself, as a copy, or
/// concealed.
struct CatchUp: BitwiseCopyable {
    enum Step: BitwiseCopyable {
        case packet(PacketDecoding)
        case redundancy(of: Int64, frames: Int)
        case concealment(frames: Int)
    }

    /// Packets of the last eight, copies among them, and concealment for those and for eight before the first.
    static let capacity = 40
    private var steps = InlineArray<40, Step>(repeating: .concealment(frames: 0))
    private(set) var count = 0

    subscript(index: Int) -> Step { steps.span[index] }

    /// One more; what finds no room would not matter any more.
    mutating func append(_ step: Step) {
        guard count < Self.capacity else { return }
        steps[count] = step
        count += 1
    }
}

/// What became of a plan.
struct MadeSound: BitwiseCopyable {
    /// Frames heard.
    var frames = 0
    /// Those of them that were made up so that the sound before runs on for longer; they come first.
    var extendedFrames = 0
    /// Whether the decoder took what was planned; else it was concealed.
    var isReal = true
    /// Packets that the decoder refused.
    var refusedPackets = 0
}

/// When a piece of sound is produced, on the pull clock.
struct Moment: BitwiseCopyable {
    /// When its first sample is played.
    let time: Int64
    /// When the present pull began.
    let pull: Int64
}
