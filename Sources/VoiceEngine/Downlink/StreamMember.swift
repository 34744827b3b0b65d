internal import VoiceWire

/// What has changed about a participant as the media thread sees it.
package enum StreamCondition: UInt8, BitwiseCopyable, Sendable {
    /// Neither sound nor reports come any more.
    case unreachable
    /// Something comes again.
    case reachable
    /// Reports come, but no sound, although it is not muted.
    case stalled
    /// Sound comes again.
    case flowing
    /// Many packets are lost on the way here.
    case poorLink
    /// Few are, again.
    case goodLink
}

/// A talker of the room, whether it is played or not: what of it must outlive its slot, and when what was heard of it.
struct StreamMember: BitwiseCopyable {
    /// Whoever sends sound, some fifty packets a second, and sends nothing for this long is gone or cut off.
    static let patience: Duration = .seconds(2)
    /// Whoever is muted, or at rest, is heard by its reports alone. An interval may be 1.23 times the mean
    /// (``ReportSchedule``), and two in a row may be lost.
    static let quietReports = 3.7
    /// A packet without speech is audible all the same from here on, dB below overload: music, a crowd. A room's noise
    /// is softer.
    static let audibleLevel: UInt8 = 40
    /// Nothing softer can be told (RFC 6464, section 3).
    private static let digitalSilence: UInt8 = 127
    /// Who has no more to say sends so many frames of it at most (``StreamSender``), 200 ms; who sends more goes on.
    private static let longestRest: UInt32 = 9_600
    /// What is older than another packet by so many frames at most, 1 s, was overtaken by it; what is older still is of a
    /// sender that counts anew.
    private static let longestOvertaking: Int32 = 48_000

    /// A link is judged over so long,
    static let linkWindow: Duration = .seconds(2)
    /// of so many packets at least: half of those of 20 ms,
    static let leastPackets: Int64 = 50
    /// and is poor from this share of lost packets on: copies and FEC do not hide it any more.
    static let poorLoss = 0.1
    /// It is good again below this.
    static let goodLoss = 0.03

    let synchronizationSource: UInt32
    /// 0 where it is nobody's.
    let participant: UInt32
    var gain: Float = 1
    /// Which generation of it is in force.
    private(set) var generation: UInt32
    /// Where it is played; nil while it is not.
    var slot: Int?
    /// Whether it speaks without being played.
    enum Unheard: BitwiseCopyable {
        case no
        /// It does, and that is to be told.
        case news
        case told
    }

    var unheard = Unheard.no

    /// What was told of the participant and holds until the contrary is. Where the stream goes another has to tell that.
    struct Told: BitwiseCopyable {
        var isUnreachable = false
        var isStalled = false
        var isPoor = false

        var isNothing: Bool { !isUnreachable && !isStalled && !isPoor }

        /// Adds what another stream has told.
        mutating func add(_ other: Told) {
            isUnreachable = isUnreachable || other.isUnreachable
            isStalled = isStalled || other.isStalled
            isPoor = isPoor || other.isPoor
        }
    }

    /// When sound or a report last came, counted from the first look on where none has.
    var heard: Duration?
    /// When sound last came, the same way; from the unmuting on.
    var media: Duration?
    /// When it was last audible.
    var audible: Duration?
    private var isMuted: Bool
    /// Whether more is to come: not before the first packet, of a button that nobody has pressed so far or of a stream
    /// that an app feeds; not behind a little digital silence, with which a sender comes to rest that has no more to say,
    /// nor behind an interruption.
    private var isAwaited = false
    /// The RTP timestamp of the newest packet, and that at which the digital silence began that came last; nil where
    /// something else did. Packets may arrive long after each other.
    private var newest: UInt32?
    private var silentSince: UInt32?

    /// Where the present judgement of the link began.
    var window: (start: Duration, expected: Int64, received: Int64)?
    private(set) var told = Told()

    init(synchronizationSource: UInt32, participant: UInt32, isMuted: Bool, generation: UInt32 = 0) {
        self.synchronizationSource = synchronizationSource
        self.participant = participant
        self.generation = generation
        self.isMuted = isMuted
    }

    /// Tells the contrary of what was told by a stream that has gone, where that is so.
    mutating func inherit(_ told: Told) { self.told.add(told) }

    mutating func setMuted(_ isMuted: Bool) {
        self.isMuted = isMuted
        media = nil
        isAwaited = true
    }

    /// Puts a generation in force. Who is interrupted may have no more to say.
    mutating func begin(generation: UInt32) {
        if Int32(bitPattern: generation &- self.generation) > 0 { (isAwaited, silentSince) = (false, nil) }
        self.generation = generation
    }

    /// Takes the level of a packet that has arrived, without which it counts as audible, and the lowest eight bits of its
    /// generation, without which it is of the one in force.
    mutating func receive(_ level: AudioLevel?, generation said: UInt8?, timestamp: UInt32, arrival: Duration) {
        (heard, media) = (arrival, arrival)
        if !isOvertaken(said, timestamp) {
            newest = timestamp
            silentSince = level?.level == Self.digitalSilence ? silentSince ?? timestamp : nil
            isAwaited = silentSince.map { timestamp &- $0 > Self.longestRest } ?? true
        }
        guard let level else {
            audible = arrival
            return
        }
        guard level.level < Self.digitalSilence, level.voiceActivity || level.level <= Self.audibleLevel else { return }
        audible = arrival
    }

    /// Whether a packet tells nothing of what is to come: it is of an older generation, or another came before it.
    private func isOvertaken(_ said: UInt8?, _ timestamp: UInt32) -> Bool {
        if let said, Int8(bitPattern: said &- UInt8(truncatingIfNeeded: generation)) < 0 { return true }
        guard let newest else { return false }
        return (-Self.longestOvertaking..<0).contains(Int32(bitPattern: timestamp &- newest))
    }

    /// Whether sound is to come of it.
    var isExpected: Bool { !isMuted && isAwaited }

    /// What has become of the participant.
    ///
    /// - Parameters:
    ///   - isFirst: whether this is the first of the participant's streams, which speaks for it.
    ///   - heard: when anything last came on any of them.
    ///   - isAwaited: whether sound is to come on any of them.
    mutating func examine(
        now: Duration, isFirst: Bool, heard: Duration?, isAwaited: Bool, reportInterval: Duration
    ) -> StreamCondition? {
        if self.heard == nil { self.heard = now }
        if media == nil { media = now }
        let patience = isAwaited ? Self.patience : max(Self.patience, reportInterval * Self.quietReports)
        let isSilent = now - (heard ?? now) >= patience
        if isSilent != told.isUnreachable {
            told.isUnreachable = isSilent
            // What was lost meanwhile is told.
            window = nil
            if isFirst { return isSilent ? .unreachable : .reachable }
        }
        guard !told.isUnreachable else { return nil }
        let hasStopped = isExpected && now - (media ?? now) >= Self.patience
        guard hasStopped != told.isStalled else { return nil }
        told.isStalled = hasStopped
        return hasStopped ? .stalled : .flowing
    }

    /// What has become of the way from the participant to here, by the packets that should have come and those that
    /// did.
    mutating func examineLink(expected: Int64, received: Int64, now: Duration) -> StreamCondition? {
        // A sequence that began anew is counted from there.
        guard let window, expected >= window.expected else {
            self.window = (now, expected, received)
            return nil
        }
        let due = expected - window.expected
        guard now - window.start >= Self.linkWindow, due >= Self.leastPackets else { return nil }
        self.window = (now, expected, received)
        let loss = 1 - Double(received - window.received) / Double(due)
        guard told.isPoor ? loss < Self.goodLoss : loss >= Self.poorLoss else { return nil }
        told.isPoor.toggle()
        return told.isPoor ? .poorLink : .goodLink
    }
}
