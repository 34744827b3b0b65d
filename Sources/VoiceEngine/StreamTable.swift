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
