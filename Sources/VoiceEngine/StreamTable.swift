internal import VoiceCoding
internal import VoicePlayout
internal import VoiceWire

/// The talkers that can be played at once: a fixed number of slots, made beforehand.
@safe
struct StreamTable: ~Copyable {
    /// As many talkers as can be told apart in a conversation, and as ``StreamStatisticsTable`` holds.
    static let maximumStreams = 16

    private let slots: UnsafeMutablePointer<DownlinkStream>
    private let count: Int

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
    }

    deinit {
        unsafe slots.deinitialize(count: count)
        unsafe slots.deallocate()
    }

    /// Takes a free slot for `source`; true also where it has one already, false where none is free.
    mutating func add(_ source: UInt32) -> Bool {
        if slot(of: source) != nil { return true }
        guard let free = slot(of: nil) else { return false }
        unsafe slots[free].begin(source)
        return true
    }

    mutating func remove(_ source: UInt32) {
        if let slot = slot(of: source) { unsafe slots[slot].end() }
    }

    /// Gives `packet` to its stream's jitter buffer; false where nobody plays that stream.
    mutating func insert(_ packet: borrowing RTPPacket, arrival: Duration) -> Bool {
        guard let slot = slot(of: packet.header.synchronizationSource) else { return false }
        unsafe slots[slot].insert(packet, arrival: arrival)
        return true
    }

    /// Gives a packet that repeats earlier ones to its stream; false where nobody plays that stream.
    mutating func insert(
        _ packet: borrowing RTPPacket, repeating audio: borrowing RedundantAudio, arrival: Duration
    ) -> Bool {
        guard let slot = slot(of: packet.header.synchronizationSource) else { return false }
        unsafe slots[slot].insert(packet, repeating: audio, arrival: arrival)
        return true
    }

    /// Takes a sender report, where its stream is played.
    mutating func note(_ report: SenderReport, arrival: Duration) {
        if let slot = slot(of: report.synchronizationSource) { unsafe slots[slot].note(report, arrival: arrival) }
    }

    /// How many are played, and how many of them have sent since the last report.
    var population: (members: Int, senders: Int) {
        var (members, senders) = (0, 0)
        for index in 0..<count where unsafe slots[index].synchronizationSource != nil {
            members += 1
            if unsafe slots[index].hasNews { senders += 1 }
        }
        return (members, senders)
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
        if let slot = slot(of: source) { unsafe slots[slot].flush(generation: generation) }
    }

    /// The device played `frames` frames of silence of its own accord.
    mutating func playbackStoodStill(_ frames: Int) {
        for index in 0..<count where unsafe slots[index].synchronizationSource != nil {
            unsafe slots[index].playbackStoodStill(frames)
        }
    }

    mutating func setVolume(_ gain: Float, of source: UInt32) {
        if let slot = slot(of: source) { unsafe slots[slot].setVolume(gain) }
    }

    mutating func mix(into mix: inout MutableSpan<Float>, scratch: inout MutableSpan<Float>, now: Duration) {
        for index in 0..<count where unsafe slots[index].synchronizationSource != nil {
            unsafe slots[index].mix(into: &mix, scratch: &scratch, now: now)
        }
    }

    mutating func report() -> StreamStatisticsTable {
        var table = StreamStatisticsTable()
        for index in 0..<count where unsafe slots[index].synchronizationSource != nil {
            unsafe table.append(slots[index].report())
        }
        return table
    }

    private func slot(of source: UInt32?) -> Int? {
        for index in 0..<count where unsafe slots[index].synchronizationSource == source { return index }
        return nil
    }
}
