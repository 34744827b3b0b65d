internal import CDuplexVoice
internal import Synchronization
internal import VoiceCoding
internal import VoiceEngine
internal import VoicePlayout
internal import VoiceRealtime
internal import VoiceWire

/// What the side of the sound tells the control side after each pull.
struct PlayoutNews: BitwiseCopyable, Sendable {
    var statistics = PlayoutStatistics()
    var targetDelay: Duration = .zero
    var waitingFrames = 0
    var waitingPackets = 0
    /// No RTP, or no copies where copies should be.
    var malformed: UInt64 = 0
    /// Of another payload type.
    var unknown: UInt64 = 0
    var dropped = 0
}

/// The object behind a `dv_playout`.
///
///     insert ──> PacketRing ──> pull: PlayoutBuffer, OpusDecoder
///     statistics <── TripleBuffer of news <──┘
///
/// The table of handles lets one call at a time to each side, so none is touched by two threads at once.
@safe
final class Playout: HandledObject, @unchecked Sendable {
    static var handleKind: UInt8 { HandleKind.playout }

    /// Of the side that inserts. By a pointer, since what the compiler proves may check no exclusivity.
    private let packets: UnsafeMutablePointer<PacketProducer>
    private var sound: PlayoutSound
    private var news: TripleBufferReader<PlayoutNews>
    /// Of which life of the buffer a packet is; one more with each reset.
    private let life = Atomic<UInt32>(0)

    private init(
        packets: consuming PacketProducer, sound: consuming PlayoutSound,
        news: consuming TripleBufferReader<PlayoutNews>
    ) {
        unsafe self.packets = .allocate(capacity: 1)
        unsafe self.packets.initialize(to: packets)
        self.sound = sound
        self.news = news
    }

    deinit {
        unsafe packets.deinitialize(count: 1)
        unsafe packets.deallocate()
    }

    /// Allocates.
    static func make(_ choice: PlayoutChoice) throws(Failure) -> Playout {
        let decoder: OpusDecoder
        do throws(OpusError) { decoder = try OpusDecoder() } catch {
            throw Failure(DV_INTERNAL, "libopus makes no decoder: \(error); this is worth a report")
        }
        let ring = PacketRing(minimumSlots: choice.playout.packetCapacity, slotBytes: PlayoutPacket.mostBytes)
        let news = TripleBuffer(PlayoutNews())
        return Playout(
            packets: ring.producer,
            sound: PlayoutSound(
                buffer: PlayoutBuffer(choice.playout), decoder: decoder, packets: ring.consumer, news: news.writer,
                choice: choice),
            news: news.reader)
    }

    // MARK: Packets

    @_noLocks @_noAllocation
    func insert(_ packet: UnsafePointer<UInt8>, _ count: Int, _ arrival: Int64) -> dv_status {
        var slot = unsafe packets.pointee.acquire()
        guard slot.count >= count else { return DV_EXHAUSTED }
        var byte = 0
        while byte < count {
            unsafe slot[byte] = packet[byte]
            byte &+= 1
        }
        unsafe packets.pointee.commit(length: count, tag: tag(arrival, PlayoutPacket.rtp))
        return DV_OK
    }

    /// The same, behind a header of its own.
    @_noLocks @_noAllocation
    func insert(
        _ payload: UnsafePointer<UInt8>, _ count: Int, _ sequenceNumber: UInt16, _ timestamp: UInt32, _ arrival: Int64
    ) -> dv_status {
        var slot = unsafe packets.pointee.acquire()
        guard slot.count >= PlayoutPacket.headerBytes &+ count else { return DV_EXHAUSTED }
        var byte = 0
        while byte < PlayoutPacket.headerBytes {
            slot[byte] = 0
            byte &+= 1
        }
        slot[0] = PlayoutPacket.version
        slot[2] = UInt8(truncatingIfNeeded: sequenceNumber >> 8)
        slot[3] = UInt8(truncatingIfNeeded: sequenceNumber)
        slot[4] = UInt8(truncatingIfNeeded: timestamp >> 24)
        slot[5] = UInt8(truncatingIfNeeded: timestamp >> 16)
        slot[6] = UInt8(truncatingIfNeeded: timestamp >> 8)
        slot[7] = UInt8(truncatingIfNeeded: timestamp)
        byte = 0
        while byte < count {
            unsafe slot[PlayoutPacket.headerBytes &+ byte] = payload[byte]
            byte &+= 1
        }
        let length = PlayoutPacket.headerBytes &+ count
        unsafe packets.pointee.commit(length: length, tag: tag(arrival, PlayoutPacket.opus))
        return DV_OK
    }

    @_noLocks @_noAllocation
    private func tag(_ arrival: Int64, _ kind: UInt32) -> PacketTag {
        PacketTag(
            time: MonotonicTime(nanoseconds: arrival), stream: kind, generation: life.load(ordering: .relaxed))
    }

    // MARK: Sound

    func pull(_ samples: UnsafeMutablePointer<Float>, _ frames: Int, _ now: Int64) {
        var block = unsafe MutableSpan(_unsafeStart: samples, count: frames)
        sound.pull(into: &block, now: .nanoseconds(now), life: life.load(ordering: .acquiring))
    }

    // MARK: Control

    func reset() { life.wrappingAdd(1, ordering: .releasing) }

    func statistics() -> dv_playout_statistics { news.latest().cStatistics }
}

/// The packets in the ring.
enum PlayoutPacket {
    /// What kinds there are: as they came, or behind a header that has nothing but a place.
    static var rtp: UInt32 { @_noLocks @_noAllocation get { 0 } }
    static var opus: UInt32 { @_noLocks @_noAllocation get { 1 } }
    /// RFC 3550, section 5.1: the fixed header; version 2, without anything.
    static var headerBytes: Int { @_noLocks @_noAllocation get { 12 } }
    static var version: UInt8 { @_noLocks @_noAllocation get { 0x80 } }
    /// The longest, with its header.
    static var mostBytes: Int { @_noLocks @_noAllocation get { Int(DV_PLAYOUT_PACKET_BYTES) } }
}

/// What only the side of the sound touches.
struct PlayoutSound: ~Copyable {
    private var buffer: PlayoutBuffer
    private var decoder: OpusDecoder
    private var packets: PacketConsumer
    private var publisher: TripleBufferWriter<PlayoutNews>
    private let choice: PlayoutChoice
    /// What the buffer was last made as new for.
    private var life: UInt32 = 0
    private var malformed: UInt64 = 0
    private var unknown: UInt64 = 0

    /// Packets that a pull reads at most, and one for each millisecond more: four times those of 2.5 ms in 10 ms, and
    /// what has come meanwhile after a freeze within some pulls.
    static let packetsPerPull = 64
    private static let framesPerMillisecond = 48

    init(
        buffer: consuming PlayoutBuffer, decoder: consuming OpusDecoder, packets: consuming PacketConsumer,
        news: consuming TripleBufferWriter<PlayoutNews>, choice: PlayoutChoice
    ) {
        self.buffer = buffer
        self.decoder = decoder
        self.packets = packets
        publisher = news
        self.choice = choice
    }

    mutating func pull(into block: inout MutableSpan<Float>, now: Duration, life wanted: UInt32) {
        begin(wanted)
        takePackets(Self.packetsPerPull + block.count / Self.framesPerMillisecond)
        _ = buffer.pull(into: &block, now: now, decoder: &decoder)
        publisher.publish(
            PlayoutNews(
                statistics: buffer.statistics, targetDelay: buffer.targetDelay, waitingFrames: buffer.bufferedFrames,
                waitingPackets: buffer.waitingPackets, malformed: malformed, unknown: unknown,
                dropped: packets.droppedPackets))
    }

    /// Makes the buffer as new where a life is newer than its own.
    private mutating func begin(_ wanted: UInt32) {
        guard Int32(bitPattern: wanted &- life) > 0 else { return }
        life = wanted
        buffer.reset()
        decoder.reset()
        (malformed, unknown) = (0, 0)
    }

    private mutating func takePackets(_ most: Int) {
        var left = min(most, packets.available)
        while left > 0 {
            let tag = packets.tag()
            // A reset may have come since the pull began.
            begin(tag.generation)
            if tag.generation == life {
                switch Self.hand(packets, tag, to: &buffer, choice) {
                case .taken: break
                case .malformed: malformed += 1
                case .unknown: unknown += 1
                }
            }
            packets.release()
            left -= 1
        }
    }

    private enum Reception {
        case taken, malformed, unknown
    }

    /// Gives the next packet to the buffer, which counts what is no Opus itself.
    private static func hand(
        _ packets: borrowing PacketConsumer, _ tag: PacketTag, to buffer: inout PlayoutBuffer, _ choice: PlayoutChoice
    ) -> Reception {
        let arrival = tag.time.sinceEpoch
        do throws(WireError) {
            let packet = try RTPPacket(parsing: packets.peek())
            let type = packet.header.payloadType
            if tag.stream == PlayoutPacket.rtp, type == choice.redundantPayloadType {
                let audio = try RedundantAudio(parsing: packet.payload)
                guard choice.payloadType == nil || audio.primaryPayloadType == choice.payloadType else {
                    return .unknown
                }
                _ = buffer.insert(audio, header: packet.header, now: arrival)
            } else if tag.stream == PlayoutPacket.opus || choice.payloadType == nil || type == choice.payloadType {
                _ = buffer.insert(packet.payload, header: packet.header, now: arrival)
            } else {
                return .unknown
            }
        } catch {
            return .malformed
        }
        return .taken
    }
}

extension PlayoutNews {
    fileprivate var cStatistics: dv_playout_statistics {
        var filled = dv_playout_statistics()
        filled.size = UInt32(MemoryLayout<dv_playout_statistics>.size)
        filled.waiting_packets = UInt32(waitingPackets)
        filled.packets_received = statistics.packetsReceived
        filled.packets_lost = statistics.packetsLost
        filled.packets_discarded = statistics.packetsDiscarded + malformed
        filled.packets_late = statistics.packetsLate
        filled.packets_malformed = statistics.packetsMalformed + malformed
        filled.packets_duplicated = statistics.packetsDuplicated
        filled.packets_unknown = unknown
        filled.packets_dropped = UInt64(dropped)
        filled.redundancy_received = statistics.fecPacketsReceived
        filled.redundancy_discarded = statistics.fecPacketsDiscarded
        filled.pulled_frames = statistics.pulledSamples
        filled.played_frames = statistics.jitterBufferEmittedCount
        filled.concealed_frames = statistics.concealedSamples
        filled.concealments = statistics.concealmentEvents
        filled.pause_frames = statistics.pauseSamples
        filled.inserted_frames = statistics.insertedSamplesForDeceleration
        filled.removed_frames = statistics.removedSamplesForAcceleration
        filled.skipped_frames = statistics.skippedSamples
        filled.stream_restarts = statistics.streamRestarts
        filled.held_s = statistics.jitterBufferDelay
        filled.target_delay_ms = Float(targetDelay / .milliseconds(1))
        filled.waiting_ms = Float(waitingFrames) / 48
        return filled
    }
}
