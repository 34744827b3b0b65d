import CAllocationCounter
import SimulatedCalls
import TestCases
import Testing
import VoiceRealtime
import VoiceRooms
import VoiceSimulation
import VoiceWire

@testable import VoiceEngine

/// An engine's core on a sound card in virtual time, whose packets come back to it as if others had sent them.
final class PipelineRig {
    let core: EngineCore
    private let device: SimulatedDevice<ConversationAir>
    /// Whom the packets come back as; each hears all that is sent.
    var sources: [UInt32] = []
    /// The streams that this engine sends, of which they report.
    var ownSources: [UInt32] = [1]
    /// Who of them says nothing: their packets tell a low level, and no speech (RFC 6464).
    var silent: Set<UInt32> = []
    /// Whose packets are on their way and do not arrive, until they are let go of all at once.
    var held: Set<UInt32> = []
    /// Whether the media thread's runs are marked for RealtimeSanitizer.
    var isWatched = false
    /// The sequence numbers of the packets sent, by their sources.
    private(set) var numbers: [UInt32: [UInt16]] = [:]
    private var waiting: [[UInt8]] = []

    init(_ configuration: EngineConfiguration, room: RoomConditions = .office, periodFrames: Int = 240) throws {
        var room = room
        room.bulkDelayFrames = 240
        let air = ConversationAir(
            acoustics: try RoomAcoustics(room, seed: 1), talker: SpeechSource(SyntheticSpeech(seed: 1)),
            longestRecording: 0)
        var card = SimulatedDeviceConfiguration(pacing: .virtual(start: MonotonicTime(nanoseconds: 1_000_000_000)))
        card.periodFrames = periodFrames
        device = try SimulatedDevice(air: air, configuration: card)
        var configuration = configuration
        configuration.device = .custom(device)
        core = try EngineCore(configuration, eventWake: nil) { _ in }
        try core.send(.publish(RTPStreamStart(synchronizationSource: 1, sequenceNumber: 0, timestamp: 0)))
    }

    /// Lets `periods` of the card pass, 5 ms each unless made otherwise.
    func run(periods: Int) {
        for _ in 0..<periods {
            guard let now = device.nextWake else { return }
            _ = device.advance(to: now)
            if isWatched { RealtimeWatch.enter() }
            core.run(now: now)
            if isWatched { RealtimeWatch.exit() }
            returnPackets(now)
        }
    }

    private func returnPackets(_ now: MonotonicTime) {
        while core.link.sending.available > 0 {
            var packet = unsafe Array(core.link.sending.buffer())
            core.link.sending.release()
            guard DatagramKind(of: packet.span) == .rtp else {
                for source in sources { returnReport(of: source, now) }
                continue
            }
            let source = packet[8..<12].reduce(0) { $0 << 8 | UInt32($1) }
            numbers[source, default: []].append(UInt16(packet[2]) << 8 | UInt16(packet[3]))
            for source in sources {
                // The synchronization source of RFC 3550, section 5.1
                for byte in 0..<4 { packet[8 + byte] = UInt8(truncatingIfNeeded: source >> (24 - 8 * byte)) }
                // The only byte of the only header extension element: the V flag and the level
                packet[17] = silent.contains(source) ? 90 : 0x80 | 20
                if held.contains(source) {
                    waiting.append(packet)
                } else {
                    _ = core.link.received.push(packet.span, tag: PacketTag(time: now))
                }
            }
        }
        guard held.isEmpty else { return }
        for packet in waiting { _ = core.link.received.push(packet.span, tag: PacketTag(time: now)) }
        waiting = []
    }

    /// What a listener would say that loses every tenth packet.
    private func returnReport(of source: UInt32, _ now: MonotonicTime) {
        var pattern = LossPattern(firstSequenceNumber: 0)
        for index in 0..<50 { pattern.append(index % 10 != 9) }
        let sent = NetworkTime(sinceUnixEpoch: now.sinceEpoch).compact &- 6_554
        let blocks = ownSources.map { own in
            ReportBlock(
                synchronizationSource: own, fractionLost: 25, cumulativeLost: 5, extendedHighestSequenceNumber: 49,
                interarrivalJitter: 10, lastSenderReport: sent)
        }
        var bytes = [UInt8](repeating: 0, count: 200)
        var span = bytes.mutableSpan
        guard
            let length = try? ReceiverReport(synchronizationSource: source).write(
                into: &span, reportBlocks: blocks.span)
        else { return }
        var writer = ExtendedReportWriter(synchronizationSource: source, at: length, limit: 200)
        for own in ownSources { _ = writer.append(pattern, of: own, to: &span) }
        let report = Array(bytes[..<(length + writer.byteCount)])
        _ = core.link.received.push(report.span, tag: PacketTag(time: now))
    }

    func add(_ source: UInt32) throws {
        sources.append(source)
        try core.send(.addStream(synchronizationSource: source))
    }

    func remove(_ source: UInt32) throws {
        sources.removeAll { $0 == source }
        try core.send(.removeStream(synchronizationSource: source))
    }

    var statistics: EngineStatistics {
        EngineStatistics(core.statistics(), device: core.counters.counts, roundTrip: nil, room: nil)
    }

    var events: [EngineEvent] {
        var events: [EngineEvent] = []
        while let event = core.nextEvent() { if let event = EngineEvent(event) { events.append(event) } }
        return events
    }
}

@Suite("The media pipeline")
struct MediaPipelineTests {
    @Test(
        "allocates nothing once it is warm: two talkers, echo, mute, volumes, settings",
        .enabled(if: areAllocationsCounted, "needs optimised code and the allocation counter"),
        arguments: EngineConfiguration.Preset.allCases)
    func allocations(preset: EngineConfiguration.Preset) throws {
        // Given a warm pipeline with two talkers
        let rig = try PipelineRig(preset.configuration)
        try rig.add(100)
        try rig.add(200)
        rig.run(periods: RunCost.warmUp)
        // When it runs for 5 s and does everything that it may be told
        for round in 0..<10 {
            try rig.core.send(.setMuted(round % 4 == 1))
            try rig.core.send(.setVolume(gain: Float(round) / 4, synchronizationSource: 100))
            try rig.core.send(.setProcessing(round % 2 == 0 ? .voiceAgent : .headset))
            try rig.core.send(.changeCapture)
            try rig.core.send(.changePlayback(periodFrames: round % 3 == 0 ? 480 : 240))
            rig.run(periods: 100)
        }
        // Then nothing was allocated
        #expect(rig.statistics.media.ticks >= 1_190)
        #expect(rig.statistics.media.allocations == 0)
        #expect(rig.statistics.streams.count == 2)
        #expect(rig.statistics.streams.allSatisfy { $0.bytesReceived > 5_000 })
        // Reports among it: what the encoder does was changed by them
        #expect(rig.statistics.reports.sent > 2 && rig.statistics.reports.received > 4)
        #expect(rig.statistics.remoteInbound.count == 2)
    }

    @Test(
        "a talker who comes to a warm pipeline allocates nothing",
        .enabled(if: areAllocationsCounted, "needs optimised code and the allocation counter"))
    func newcomer() throws {
        let rig = try PipelineRig(.voiceChat)
        try rig.add(100)
        rig.run(periods: RunCost.warmUp + 100)
        try rig.add(200)
        rig.run(periods: 200)
        #expect(rig.statistics.streams.count == 2)
        #expect(rig.statistics.media.allocations == 0)
    }

    // Unoptimised code takes some ten times as long.
    #if DEBUG
        private static let playedFrames = 12_000
    #else
        private static let playedFrames = 48_000
    #endif

    @Test(
        "a card of any period that fits the rings is served", .timeLimit(.minutes(10)),
        arguments: [16, 441, 480, 4_096, 8_192])
    func periods(frames: Int) throws {
        var configuration = EngineConfiguration.voiceChat
        configuration.backend = .bypass
        configuration.processing = .bypass
        let rig = try PipelineRig(configuration, periodFrames: frames)
        try rig.add(100)
        rig.run(periods: max(10, Self.playedFrames / frames))
        #expect(rig.core.counters.counts.playback.frames >= 10 * frames)
        // What fits into the rings is played without a gap.
        if frames <= 4_096 { #expect(rig.core.counters.counts.playback.underrunFrames == 0) }
    }

    @Test(
        "packets shorter than the 10 ms that are processed at a time leave nothing out",
        arguments: cases([OpusFrameDuration.milliseconds5, .microseconds2500]))
    func shortPackets(duration: OpusFrameDuration) throws {
        // Given the engine's own canceller, which works in blocks of 10 ms
        var configuration = EngineConfiguration.voiceChat
        configuration.encoder.frameDuration = duration
        let rig = try PipelineRig(configuration)
        try rig.add(100)
        // When a second has passed
        rig.run(periods: 200)
        // Then it was sent whole, and is heard whole by whoever gets it back
        let wanted = 48_000 / duration.frames
        #expect(abs(rig.statistics.uplink.packetsSent - wanted) <= 48_000 / duration.frames / 20)
        let playout = try #require(rig.statistics.streams.first).playout
        #expect(playout.concealedSamples < 4_800)
    }

    @Test("RTP of another payload type is counted and not taken for Opus")
    func foreignPayload() throws {
        let rig = try PipelineRig(.headset)
        try rig.core.send(.addStream(synchronizationSource: 100))
        var packet = [UInt8](repeating: 0, count: 40)
        (packet[0], packet[1], packet[11]) = (0x80, 96, 100)
        for _ in 0..<3 {
            _ = rig.core.link.received.push(
                packet.span, tag: PacketTag(time: MonotonicTime(nanoseconds: 1_000_000_000)))
        }
        rig.run(periods: 20)
        #expect(rig.statistics.downlink.packetsOfUnknownPayload == 3)
        #expect(rig.statistics.streams.first?.bytesReceived == 0)
    }

    @Test("redundancy around anything but Opus is counted and not played", arguments: [72, 112, 0] as [UInt8])
    func foreignPrimary(payloadType: UInt8) throws {
        let rig = try PipelineRig(.headset)
        try rig.core.send(.addStream(synchronizationSource: 100))
        // RTP of type 112, around a copy of Opus silence, 20 ms old, and a primary block of the same bytes (RFC 2198)
        func packet(primary: UInt8, number: UInt8) -> [UInt8] {
            let silence: [UInt8] = [0xF8, 0xFF, 0xFE]
            let header: [UInt8] = [0x80, 112, 0, number, 0, 0, 0, 0, 0, 0, 0, 100]
            let blocks: [UInt8] = [0xEF, 15, 0, 3, primary]
            return header + blocks + silence + silence
        }
        let arrival = PacketTag(time: MonotonicTime(nanoseconds: 1_000_000_000))
        let foreign = packet(primary: payloadType, number: 1)
        _ = rig.core.link.received.push(foreign.span, tag: arrival)
        rig.run(periods: 20)
        #expect(rig.statistics.downlink.packetsOfUnknownPayload == 1)
        #expect(rig.statistics.streams.first?.bytesReceived == 0)
        // As what is around Opus is
        let own = packet(primary: 111, number: 2)
        _ = rig.core.link.received.push(own.span, tag: arrival)
        rig.run(periods: 20)
        #expect(rig.statistics.downlink.packetsOfUnknownPayload == 1)
        #expect(rig.statistics.streams.first?.bytesReceived == own.count - 12)
    }

    @Test("slots go to who is audible: the ninth of nine is heard when it speaks, and so is whoever speaks next")
    func ninth() throws {
        // Given a default engine in a room of nine who all send, and say nothing
        var configuration = EngineConfiguration.voiceChat
        configuration.backend = .bypass
        configuration.processing = .bypass
        let rig = try PipelineRig(configuration)
        let all = (1...UInt32(configuration.maximumStreams) + 1).map { $0 * 100 }
        for source in all { try rig.add(source) }
        rig.silent = Set(all)
        rig.run(periods: 40)
        let heard = { Set(rig.statistics.streams.map(\.synchronizationSource)) }
        #expect(heard() == Set(all.dropLast()))
        // When the ninth speaks, then it is heard, from its first packet on
        rig.silent.remove(900)
        rig.run(periods: 100)
        let ninth = try #require(rig.statistics.streams.first { $0.synchronizationSource == 900 })
        // 25 packets, of which the last 50 ms may not have been published
        #expect(ninth.playout.packetsReceived >= 21)
        let gone = Set(all).subtracting(heard())
        // And whoever made room for it, when they speak
        rig.silent = Set(all).subtracting(gone)
        rig.run(periods: 40)
        #expect(heard().isSuperset(of: gone.union([900])))
        // And nobody who spoke was missed
        #expect(rig.events.count { if case .degraded(.tooManyStreams) = $0 { true } else { false } } == 0)
        #expect(rig.statistics.downlink.packetsOfUnknownStreams == 0)
        #expect(rig.statistics.downlink.packetsWithoutSlot > 0)
    }

    @Test("a flood of packets waits in the ring for later runs, so that what is due is played")
    func flood() throws {
        var configuration = EngineConfiguration.voiceChat
        configuration.backend = .bypass
        configuration.processing = .bypass
        let rig = try PipelineRig(configuration)
        rig.run(periods: 2)
        // Given a ring full of packets of nobody's
        var packet: [UInt8] = [0x80, 111] + [UInt8](repeating: 0, count: 10) + [0xF8, 0xFF, 0xFE]
        packet[11] = 77
        func fill() -> Int {
            var count = 0
            let tag = PacketTag(time: MonotonicTime(nanoseconds: 0))
            while count < 100_000, rig.core.link.received.push(packet.span, tag: tag) { count += 1 }
            return count
        }
        let filled = fill()
        #expect(filled > 4 * Downlink.mostPackets && filled < 100_000)
        // When the pipeline runs once, then so much was taken in, and no more
        for _ in 0..<4 {
            rig.run(periods: 1)
            #expect(fill() == Downlink.mostPackets)
        }
    }

    @Test("one talker more than there are slots is told, and heard when a slot is free")
    func fullTable() throws {
        var configuration = EngineConfiguration.voiceChat
        configuration.maximumStreams = 2
        configuration.backend = .bypass
        configuration.processing = .bypass
        let rig = try PipelineRig(configuration)
        // When three talkers come, one of them twice
        for source in [100, 200, 200, 300] as [UInt32] { try rig.add(source) }
        rig.run(periods: 40)
        // Then that is told once, two are played, and the third's packets are counted
        let refused = rig.events.count { if case .degraded(.tooManyStreams) = $0 { true } else { false } }
        #expect(refused == 1)
        #expect(rig.statistics.streams.map(\.synchronizationSource) == [100, 200])
        #expect(rig.statistics.downlink.packetsWithoutSlot > 0)
        // And when one goes, the third is heard
        try rig.remove(100)
        rig.run(periods: 40)
        #expect(Set(rig.statistics.streams.map(\.synchronizationSource)) == [200, 300])
        #expect(rig.events.count { if case .degraded(.tooManyStreams) = $0 { true } else { false } } == 0)
        // And a slot that is used again knows nothing of who had it before
        let third = try #require(rig.statistics.streams.first { $0.synchronizationSource == 300 })
        #expect(third.playout.packetsReceived > 0 && third.playout.packetsReceived <= 12)
        #expect(third.playout.streamRestarts == 0)
    }

    @Test("what is not RTP, or of nobody, is counted and does no harm", arguments: cases(1...8))
    func hostile(seed: Int) throws {
        let rig = try PipelineRig(.headset, room: .headset)
        try rig.add(100)
        var generator = SeededGenerator(seed: UInt64(seed))
        var malformed = 0
        for _ in 0..<200 {
            rig.run(periods: 1)
            // When noise arrives between the packets, half of it with a talker's header
            var bytes = (0..<Int(generator.uniform(in: 0...200))).map { _ in
                UInt8(truncatingIfNeeded: generator.next() as UInt64)
            }
            if generator.chance(0.5), bytes.count >= 12 {
                bytes.replaceSubrange(0..<12, with: [0x80, 111, 0, 9, 0, 0, 9, 9, 0, 0, 0, 100])
            }
            if bytes.count < 12 { malformed += 1 }
            _ = rig.core.link.received.push(bytes.span, tag: PacketTag(time: MonotonicTime(nanoseconds: 1_000_000_000)))
        }
        rig.run(periods: 100)
        // Then the talker is still played
        #expect(rig.statistics.downlink.packetsMalformed >= malformed, "seed \(seed)")
        let stream = try #require(rig.statistics.streams.first)
        #expect(stream.bytesReceived > 1_000)
        #expect(rig.statistics.device.playback.underrunFrames == 0)
    }

    @Test("reports from strangers, of nonsense or lies do no harm", arguments: cases(1...4))
    func hostileReports(seed: Int) throws {
        let rig = try PipelineRig(.headset, room: .headset)
        try rig.add(100)
        var generator = SeededGenerator(seed: UInt64(seed))
        let arrival = PacketTag(time: MonotonicTime(nanoseconds: 1_000_000_000))
        for round in 0..<400 {
            rig.run(periods: 1)
            // When reports of every kind arrive whose bytes are noise, some with true lengths, from ever other senders
            var bytes = (0..<4 * Int(generator.uniform(in: 2...40))).map { _ in
                UInt8(truncatingIfNeeded: generator.next() as UInt64)
            }
            (bytes[0], bytes[1]) = (0x81, 200 + UInt8(round % 8))
            (bytes[2], bytes[3]) = (0, UInt8(bytes.count / 4 - 1))
            // About this engine's stream
            for offset in [8, 28] where bytes.count >= offset + 24 {
                bytes.replaceSubrange(offset..<offset + 4, with: [0, 0, 0, 1])
            }
            _ = rig.core.link.received.push(bytes.span, tag: arrival)
        }
        rig.run(periods: 100)
        // Then they are counted, no more listeners are kept than there is room for, and sound goes both ways
        let statistics = rig.statistics
        #expect(statistics.reports.malformed > 8 && statistics.reports.received > 100, "seed \(seed)")
        #expect(statistics.remoteInbound.count <= 16)
        #expect(statistics.remoteInbound.allSatisfy { ($0.roundTripTime ?? .zero) < .seconds(30) })
        let encoder = try #require(statistics.uplink.encoder)
        #expect((16_000...32_000).contains(encoder.bitratePerSecond))
        #expect(statistics.uplink.packetsSent > 100)
        #expect(try #require(statistics.streams.first).bytesReceived > 1_000)
    }

    @Test("more commands than the media thread takes are refused, not lost")
    func overload() throws {
        let rig = try PipelineRig(.headset, room: .headset)
        var accepted = 0
        let error = #expect(throws: EngineError.self) {
            for _ in 0..<100_000 {
                try rig.core.send(.setMuted(false))
                accepted += 1
            }
        }
        guard case .overloaded = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(accepted >= 255)
        rig.run(periods: 1)
        try rig.core.send(.setMuted(true))
    }

    @Test("all streams of a room of the largest size come at once, and change: the media thread takes all of it")
    func largestRoom() throws {
        let rig = try PipelineRig(.headset, room: .headset)
        rig.run(periods: 1)
        let streams = RoomProtocol.participantLimit * RoomProtocol.streamLimit
        for source in (0..<streams).map({ UInt32(1_000 + $0) }) {
            try rig.core.send(.addStream(synchronizationSource: source, participant: source))
            try rig.core.send(.setStreamMuted(true, synchronizationSource: source))
        }
        rig.run(periods: 10)
        #expect(rig.events.count { if case .degraded(.tooManyStreams) = $0 { true } else { false } } == 0)
    }

    @Test("in a room of many who are muted nobody is taken for gone who reports as seldom as its share allows")
    func quietRoom() throws {
        // Given a talker whom twenty others hear, muted
        var configuration = EngineConfiguration.voiceChat
        (configuration.backend, configuration.processing) = (.bypass, .bypass)
        let rig = try PipelineRig(configuration)
        let others = (0..<20).map { UInt32(100 + $0) }
        for source in others {
            try rig.core.send(.addStream(synchronizationSource: source, participant: source, isMuted: true))
        }
        rig.run(periods: 20)
        // When each of them reports once, and then not for 4.5 s: among twenty some 5 s are usual, for a talker it is one
        for source in others {
            var report = [UInt8](repeating: 0, count: 8)
            var span = report.mutableSpan
            let length = try ReceiverReport(synchronizationSource: source).write(into: &span)
            #expect(length == 8)
            _ = rig.core.link.received.push(
                report.span, tag: PacketTag(time: MonotonicTime(nanoseconds: 1_100_000_000)))
        }
        rig.run(periods: 900)
        // Then all are there
        var gone = 0
        while let event = rig.core.nextEvent() {
            if case .streamCondition(_, .unreachable) = event { gone += 1 }
        }
        #expect(gone == 0)
        #expect(rig.statistics.reports.received == 20)
    }

    @Test("an interruption drops what waits of one talker, and nothing of another's")
    func interruption() throws {
        // Given two talkers, of whom the path holds the packets back for 200 ms and then brings them at once
        func play(interrupting: Bool) throws -> [EngineStatistics.Stream] {
            var configuration = EngineConfiguration.voiceChat
            configuration.backend = .bypass
            configuration.processing = .bypass
            let rig = try PipelineRig(configuration)
            try rig.add(100)
            try rig.add(200)
            rig.run(periods: 400)
            rig.held = [100, 200]
            rig.run(periods: 40)
            rig.held = []
            rig.run(periods: 2)
            // When one of them is interrupted
            if interrupting { try rig.core.send(.flush(generation: 1, synchronizationSource: 100)) }
            rig.run(periods: 40)
            return rig.statistics.streams
        }
        let (calm, interrupted) = (try play(interrupting: false), try play(interrupting: true))
        // Then at least 100 ms of that one are not played, and of the other all that is played without an interruption
        #expect(calm.count == 2 && interrupted.count == 2)
        let dropped = interrupted[0].playout.skippedSamples - calm[0].playout.skippedSamples
        #expect(dropped > 4_800, "\(dropped)")
        #expect(interrupted[1].playout == calm[1].playout)
    }
}
