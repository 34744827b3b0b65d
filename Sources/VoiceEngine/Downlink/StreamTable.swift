internal import VoiceCoding
internal import VoiceDevices
internal import VoicePlayout
internal import VoiceRealtime
internal import VoiceRooms
internal import VoiceWire

/// The talkers of a room, and who of them is played.
///
///     room: add ─► members (all whom the room told of) ──┬─ with a slot:   jitter buffer, decoder, volume ─► mix
///                                                        └─ without one:   level and times of arrival alone
///
/// There are fewer slots than a room has members. They go to whoever is audible: a member without one that speaks takes
/// that of the one that was silent for longest. Where all speak, whoever has several streams in slots gives one up to
/// whoever has fewer. Packets of members without a slot are dropped. All memory is made beforehand.
///
/// One participant may be watched: what it says goes through a ``StreamHold``, so that it can be spoken into. Of one
/// that publishes several streams that is the one in the lowest slot.
@safe
struct StreamTable: ~Copyable {
    /// As many talkers as can be told apart in a conversation, and as ``StreamStatisticsTable`` holds.
    static let maximumStreams = 16
    /// As many as a room has streams: whoever publishes several keeps nobody who comes later from being heard.
    static let maximumMembers = RoomProtocol.participantLimit * RoomProtocol.streamLimit
    /// A slot is not taken from whoever was audible within this: longer than the pauses between words and sentences.
    static let slotHold: Duration = .seconds(1)

    /// What became of a packet.
    enum Reception { case taken, withoutSlot, unknownStream }

    let slots: UnsafeMutablePointer<DownlinkStream>
    let count: Int
    let members: UnsafeMutablePointer<StreamMember>
    /// The members' synchronization sources, beside each other: what each packet is looked up in.
    private let sources: UnsafeMutablePointer<UInt32>
    private(set) var memberCount = 0
    /// The member in each slot; nil where there is none. What a packet of one without a slot has to look at: sixteen,
    /// however large the room is.
    private var seated = InlineArray<16, Int?>(repeating: nil)
    /// Whom ``examine(now:reportInterval:)`` looks at next.
    var nextExamined = 0
    /// What their streams told of participants who have none left.
    var departed = DepartedTalkers()
    var hold = StreamHold()
    /// Whose stream is to go through it; 0 for nobody's.
    var watched: UInt32 = 0
    /// How talkers are brought to like loudness; nil: not.
    var levelling: TalkerLevelling?
    /// What the streams of one participant sound together.
    private var sum = InlineArray<480, Float>(repeating: 0)

    /// Slots for `count` talkers.
    init(count: Int, configuration: PlayoutConfiguration) throws(OpusError) {
        precondition((1...Self.maximumStreams).contains(count))
        let slots = UnsafeMutablePointer<DownlinkStream>.allocate(capacity: count)
        for index in 0..<count {
            do throws(OpusError) {
                unsafe (slots + index).initialize(to: try DownlinkStream(configuration: configuration))
            } catch {
                unsafe slots.deinitialize(count: index)
                unsafe slots.deallocate()
                throw error
            }
        }
        unsafe self.slots = slots
        self.count = count
        unsafe members = .allocate(capacity: Self.maximumMembers)
        unsafe members.initialize(
            repeating: StreamMember(synchronizationSource: 0, participant: 0, isMuted: false),
            count: Self.maximumMembers)
        unsafe sources = .allocate(capacity: Self.maximumMembers)
        unsafe sources.initialize(repeating: 0, count: Self.maximumMembers)
    }

    deinit {
        unsafe slots.deinitialize(count: count)
        unsafe slots.deallocate()
        unsafe members.deallocate()
        unsafe sources.deallocate()
    }

    // MARK: Who is in the room

    /// Takes a talker in, with a slot where one is free; true also where it is there already, false where there are too
    /// many.
    mutating func add(
        _ source: UInt32, of participant: UInt32 = 0, isMuted: Bool = false, generation: UInt32 = 0
    ) -> Bool {
        if member(of: source) != nil { return true }
        guard memberCount < Self.maximumMembers else { return false }
        let index = memberCount
        memberCount += 1
        unsafe sources[index] = source
        unsafe members[index] = StreamMember(
            synchronizationSource: source, participant: participant, isMuted: isMuted, generation: generation)
        if let told = departed.take(participant) { unsafe members[index].inherit(told) }
        if let free = freeSlot { seat(index, in: free) }
        return true
    }

    /// A talker goes. What waits of it is heard, unless part of it is kept while somebody speaks into it.
    mutating func remove(_ source: UInt32) {
        guard let index = member(of: source) else { return }
        let isKept = hold.source == source && isHoldInUse
        let (participant, told) = unsafe (members[index].participant, members[index].told)
        unseat(index, playsOut: !isKept)
        memberCount -= 1
        unsafe members[index] = members[memberCount]
        unsafe sources[index] = sources[memberCount]
        handOn(told, of: participant)
        if let slot = unsafe members[index].slot { seated[slot] = index }
    }

    /// Its talker stops sending on purpose, or begins again.
    mutating func setMuted(_ isMuted: Bool, of source: UInt32) {
        guard let index = member(of: source) else { return }
        unsafe members[index].setMuted(isMuted)
    }

    // MARK: What arrives

    /// Gives `packet` to its stream's jitter buffer, where it has a slot.
    mutating func insert(_ packet: borrowing RTPPacket, arrival: Duration) -> Reception {
        guard let index = member(of: packet.header.synchronizationSource) else { return .unknownStream }
        guard let slot = slot(of: index, for: packet, arrival: arrival) else { return .withoutSlot }
        unsafe slots[slot].insert(packet, arrival: arrival)
        return .taken
    }

    /// Gives a packet that repeats earlier ones to its stream, where it has a slot.
    mutating func insert(
        _ packet: borrowing RTPPacket, repeating audio: borrowing RedundantAudio, arrival: Duration
    ) -> Reception {
        guard let index = member(of: packet.header.synchronizationSource) else { return .unknownStream }
        guard let slot = slot(of: index, for: packet, arrival: arrival) else { return .withoutSlot }
        unsafe slots[slot].insert(packet, repeating: audio, arrival: arrival)
        return .taken
    }

    /// Takes a sender report, where its stream is played.
    mutating func note(_ report: SenderReport, arrival: Duration) {
        if let slot = slot(of: report.synchronizationSource) { unsafe slots[slot].note(report, arrival: arrival) }
    }

    /// Whoever reports under this source is there.
    mutating func heardReport(of source: UInt32, arrival: Duration) {
        if let index = member(of: source) { unsafe members[index].heard = arrival }
    }

    // MARK: Slots

    /// The slot of a member from which a packet came; nil where it has to wait for one.
    private mutating func slot(of index: Int, for packet: borrowing RTPPacket, arrival: Duration) -> Int? {
        unsafe members[index].receive(
            packet.audioLevel(id: Uplink.audioLevelID),
            generation: packet.speechOrigin(id: Uplink.originID)?.generation, timestamp: packet.header.timestamp,
            arrival: arrival)
        if let slot = unsafe members[index].slot { return slot }
        if let free = freeSlot {
            seat(index, in: free)
            return free
        }
        guard unsafe members[index].audible == arrival else { return nil }
        guard let quietest = quietestMember(now: arrival) ?? surplusMember(beside: index),
            let slot = unsafe members[quietest].slot
        else {
            if unsafe members[index].unheard == .no { unsafe members[index].unheard = .news }
            return nil
        }
        unseat(quietest)
        seat(index, in: slot)
        return slot
    }

    /// Of the members with a slot the one that was audible longest ago, if that is long enough ago.
    private func quietestMember(now: Duration) -> Int? {
        guard let found = longestSilent(of: nil), now - found.audible >= Self.slotHold else { return nil }
        return found.index
    }

    /// Of the participant with most streams in slots the one that was audible longest ago, if the participant of another
    /// member has so few that both have no fewer than the other afterwards: slots do not go back and forth. So nobody
    /// who sends several streams at once, whatever levels they tell, keeps whoever sends one from being heard.
    private func surplusMember(beside index: Int) -> Int? {
        let own = slotCount(of: unsafe members[index].participant)
        var found: (participant: UInt32, slots: Int)?
        for slot in 0..<count where unsafe slots[slot].synchronizationSource != nil {
            let participant = unsafe slots[slot].participant
            let taken = slotCount(of: participant)
            if taken >= own + 2, taken > found?.slots ?? 0 { found = (participant, taken) }
        }
        guard let found else { return nil }
        return longestSilent(of: found.participant)?.index
    }

    /// How many streams of a participant have slots. Of nobody's streams each is a talker of its own.
    private func slotCount(of participant: UInt32) -> Int {
        guard participant != 0 else { return 0 }
        var taken = 0
        for slot in 0..<count where unsafe slots[slot].synchronizationSource != nil {
            if unsafe slots[slot].participant == participant { taken += 1 }
        }
        return taken
    }

    /// Of the members with a slot, or those of one participant, the one that was audible longest ago.
    private func longestSilent(of participant: UInt32?) -> (index: Int, audible: Duration)? {
        var found: (index: Int, audible: Duration)?
        for slot in 0..<count {
            guard let index = seated[slot] else { continue }
            if let participant, unsafe members[index].participant != participant { continue }
            let audible = unsafe members[index].audible ?? .zero
            // Of two the one who came first.
            if let found, (found.audible, found.index) <= (audible, index) { continue }
            found = (index, audible)
        }
        return found
    }

    private mutating func seat(_ index: Int, in slot: Int) {
        unsafe slots[slot].begin(
            members[index].synchronizationSource, of: members[index].participant, gain: members[index].gain,
            generation: members[index].generation)
        unsafe members[index].slot = slot
        seated[slot] = index
        unsafe members[index].unheard = .no
        unsafe members[index].window = nil
    }

    private mutating func unseat(_ index: Int, playsOut: Bool = false) {
        guard let slot = unsafe members[index].slot else { return }
        if playsOut { unsafe slots[slot].playOut() } else { unsafe slots[slot].end() }
        unsafe members[index].slot = nil
        seated[slot] = nil
    }

    /// One that is silent, or else that of a talker who has gone.
    private var freeSlot: Int? {
        var found: Int?
        for index in 0..<count where unsafe slots[index].synchronizationSource == nil {
            guard unsafe slots[index].isPlayed else { return index }
            found = found ?? index
        }
        return found
    }

    func member(of source: UInt32) -> Int? {
        for index in 0..<memberCount where unsafe sources[index] == source { return index }
        return nil
    }

    func slot(of source: UInt32) -> Int? {
        for index in 0..<count where unsafe slots[index].synchronizationSource == source { return index }
        return nil
    }

    // MARK: Reports and sound

    /// How many are in the room, and how many of those who are played have sent since the last report.
    var population: (members: Int, senders: Int) {
        var senders = 0
        for index in 0..<count where unsafe slots[index].synchronizationSource != nil {
            if unsafe slots[index].hasNews { senders += 1 }
        }
        return (memberCount, senders)
    }

    /// What is to be reported of all that sent since the last time.
    mutating func receptionReports(now: Duration) -> ReceptionReports {
        var reports = ReceptionReports()
        for index in 0..<count where unsafe slots[index].synchronizationSource != nil {
            unsafe slots[index].report(to: &reports, now: now)
        }
        return reports
    }

    mutating func flush(generation: UInt32, of source: UInt32) {
        guard let index = member(of: source) else { return }
        unsafe members[index].begin(generation: generation)
        guard let slot = unsafe members[index].slot else { return }
        let drops = unsafe slots[slot].flush(generation: generation)
        if hold.source == source { hold.generationChanged(drops: drops) }
    }

    /// The device played `frames` frames of silence of its own accord.
    mutating func playbackStoodStill(_ frames: Int) {
        for index in 0..<count where unsafe slots[index].isPlayed {
            unsafe slots[index].playbackStoodStill(frames)
        }
    }

    /// Takes what the playback thread has handed to the device.
    mutating func rendered(_ span: RenderedSpan) {
        for index in 0..<count where unsafe slots[index].synchronizationSource != nil {
            unsafe slots[index].rendered(span)
        }
    }

    /// Tells what is news of the talkers' utterances.
    mutating func tellHeard(now: MonotonicTime, _ events: inout MediaEventOutlet) {
        for index in 0..<count where unsafe slots[index].synchronizationSource != nil {
            if let news = unsafe slots[index].nextHeard(now: now) { events.tell(.utteranceHeard(news)) }
        }
    }

    mutating func setVolume(_ gain: Float, of source: UInt32) {
        guard let index = member(of: source) else { return }
        unsafe members[index].gain = gain
        if let slot = unsafe members[index].slot { unsafe slots[slot].setVolume(gain) }
    }

    /// Adds what is played to `mix`, through `scratch` of the same length, and gives each participant's sound, of all
    /// its streams together, to its sinks.
    mutating func mix(
        into mix: inout MutableSpan<Float>, scratch: inout MutableSpan<Float>, now: Duration, sinks: inout FarEndTable,
        at moment: MixMoment
    ) {
        if watched != 0 || hold.source != nil { attachHold() }
        for first in 0..<count where unsafe slots[first].isPlayed && isFirstStream(first) {
            let (participant, hasOthers) = unsafe (slots[first].participant, nextStream(behind: first) != nil)
            var next: Int? = first
            while let index = next {
                pull(index, into: &scratch, now: now, at: moment)
                if sinks.isHeard, hasOthers {
                    for frame in 0..<scratch.count { sum[frame] = scratch[frame] + (index == first ? 0 : sum[frame]) }
                } else if sinks.isHeard {
                    sinks.hear(.participant(participant), scratch.span, time: moment.dacTime)
                }
                unsafe slots[index].level(&scratch, by: levelling)
                unsafe slots[index].add(&scratch, to: &mix)
                next = nextStream(behind: index)
            }
            guard sinks.isHeard, hasOthers else { continue }
            sinks.hear(.participant(participant), sum.span.extracting(first: scratch.count), time: moment.dacTime)
        }
        for index in 0..<count where unsafe slots[index].isPlayedOut { unsafe slots[index].end() }
    }

    private mutating func pull(
        _ index: Int, into scratch: inout MutableSpan<Float>, now: Duration, at moment: MixMoment
    ) {
        if let source = hold.source, unsafe slots[index].synchronizationSource == source {
            unsafe slots[index].pull(into: &scratch, through: &hold, now: now, at: moment)
        } else {
            unsafe slots[index].pull(into: &scratch, now: now, at: moment)
        }
    }

    /// Whether no slot before this one is of the same participant.
    private func isFirstStream(_ index: Int) -> Bool {
        let participant = unsafe slots[index].participant
        guard participant != 0 else { return true }
        for other in 0..<index where unsafe slots[other].isPlayed {
            if unsafe slots[other].participant == participant { return false }
        }
        return true
    }

    /// The next slot of the same participant.
    private func nextStream(behind index: Int) -> Int? {
        let participant = unsafe slots[index].participant
        guard participant != 0 else { return nil }
        for other in index + 1..<count where unsafe slots[other].isPlayed {
            if unsafe slots[other].participant == participant { return other }
        }
        return nil
    }

    mutating func report() -> StreamStatisticsTable {
        var table = StreamStatisticsTable(unused: StreamStatistics())
        for index in 0..<count where unsafe slots[index].synchronizationSource != nil {
            unsafe table.append(slots[index].report())
        }
        return table
    }
}
