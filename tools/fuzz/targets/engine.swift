// modules: CLinuxRealtime VoiceRealtime VoiceWire VoicePlayout VoiceQueue VoiceTurns VoiceText VoicePeers VoiceRooms
// modules: CDTLS CVoiceKernels CRNNoise CWebRTCAudio VoiceSignal VoiceProcessing VoiceCoding VoiceDevices
// modules: VoiceTransport VoiceEngine
// plain: VoiceProcessing VoiceDevices
// length: 800
//
// What a media thread does with datagrams that members of a room send: sound of several talkers and of nobody, with
// copies and without, reports of every kind, any bytes; pulled and mixed by the clock. Nothing may trap, and no
// datagram and no run may cost more than its budget.

import VoiceWire

@testable import VoiceDevices
@testable import VoiceEngine
@testable import VoiceRealtime

/// What one run of the downlink may take, whatever waits in the ring, and one report that is written.
private let running = Budget("a run of the downlink", limit: 3_000_000)
private let receiving = Budget("a report that came", limit: 50_000)
private let writing = Budget("a report that goes", limit: 20_000)

private let ownSource: UInt32 = 1
private let talkers: [UInt32] = [2, 3, 4, 5]

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes else { return 0 }
    var choices = Choices(unsafe Span(_unsafeStart: bytes, count: count))
    do {
        var scene = try Scene()
        while !choices.isEmpty { try scene.step(&choices) }
    } catch {
        fatalError("\(error)")
    }
    return 0
}

func makeSeeds() -> [[UInt8]] {
    let start: [UInt8] = [0, 0, 0, 1, 0, 2, 0, 3]
    let talk = (0..<40).flatMap { _ in
        [1, 0, 1, 0, 20, 0, 3, 0xF8, 1, 1, 1, 1, 1, 0, 20, 2, 3, 0xF8, 1, 1, 15, 40] as [UInt8]
    }
    let long = (0..<20).flatMap { _ in [1, 0, 255, 0, 60, 0, 3, 0xE0, 1, 1, 15, 10] as [UInt8] }
    // A talker of one generation, interrupted, who goes on in the next; and one whose packets are each of another.
    let interrupted = (0..<40).flatMap { number in
        [1, 0, 1, 0, 20, number < 20 ? 2 : 5, 3, 0xF8, 1, 1, 15, 20] + (number == 18 ? [10, 2, 0] : []) as [UInt8]
    }
    let restless: [UInt8] = [
        11, 0, 1, 8, 50, 64, 2, 3, 0xF8, 1, 1, 15, 40, 11, 1, 1, 8, 255, 64, 255, 3, 0xF8, 1, 1, 15, 40,
    ]
    let reports = (0..<20).flatMap { number in
        [4, UInt8(number), 3, 200, 5, UInt8(number), 60, 6, 0, 15, 255] as [UInt8]
    }
    return [
        start + interrupted, start + restless + talk, start + talk, start + long, start + reports,
        start + talk + reports + long,
    ]
}

private struct Scene: ~Copyable {
    private var packets: PacketProducer
    private var sound: FrameConsumer
    private var downlink: Downlink
    private var reports: ReportExchange
    private var events: MediaEventOutlet
    private var streams: StreamTable
    private var farEnds: FarEndTable
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private var sequences = [UInt16](repeating: 65_500, count: talkers.count + 1)
    private var timestamps = [UInt32](repeating: 4_294_900_000, count: talkers.count + 1)

    init() throws {
        let received = PacketRing(minimumSlots: 1_024)
        let playout = try FrameRing(minimumCapacity: 4_096)
        let told = ValueRing<MediaEvent>(minimumCapacity: 16)
        let rendered = ValueRing<RenderedSpan>(minimumCapacity: 16)
        let news = ValueRing<FarEndNews>(minimumCapacity: 16)
        let farEnds = FarEndTable(rendered: rendered.consumer, news: news.producer, wake: nil)
        let configuration = EngineConfiguration()
        let downlink = try Downlink(
            received: received.consumer, playout: playout.producer, configuration: configuration, devicePeriod: 480,
            keepsDeadlines: true)
        let streams = try StreamTable(count: 2, configuration: configuration.playout)
        self.downlink = downlink
        self.streams = streams
        self.farEnds = farEnds
        packets = received.producer
        sound = playout.consumer
        events = MediaEventOutlet(told.producer, wake: nil)
        reports = ReportExchange(configuration.sending)
        reports.begin(
            as: RTPStreamStart(synchronizationSource: ownSource, sequenceNumber: 1, timestamp: 2, mayRepeat: true))
    }

    mutating func step(_ choices: inout Choices) throws {
        switch choices.byte() & 15 {
        case 0:
            let source = talkers[choices.number(below: talkers.count)]
            _ = downlink.addStream(source, of: source, isMuted: false, generation: generation(choices.byte()))
            _ = streams.add(source)
        case 1, 2, 3: sendSound(&choices)
        case 4: sendReport(&choices)
        case 5: sendPatterns(&choices)
        case 6: try writeReport()
        case 7: push([0x80 | choices.byte(), choices.byte()] + choices.bytes(Int(choices.byte())))
        case 8: push(choices.bytes(Int(choices.byte())))
        case 9: downlink.removeStream(talkers[choices.number(below: talkers.count)])
        case 10:
            downlink.flush(generation: generation(choices.byte()), of: talkers[choices.number(below: talkers.count)])
        case 11: floodSound(&choices)
        default: run(milliseconds: Int(choices.byte()))
        }
    }

    /// A generation among the first, or any at all.
    private func generation(_ byte: UInt8) -> UInt32 { byte < 128 ? UInt32(byte) : UInt32(byte) << 24 | 5 }

    // MARK: What comes

    private mutating func push(_ datagram: [UInt8]) {
        guard datagram.count <= 1_500 else { return }
        if datagram.count > 1, 192...223 ~= datagram[1] {
            _ = receiving.spend { reports.receive(datagram.span, arrival: now.sinceEpoch, streams: &streams) }
        }
        _ = packets.push(datagram.span, tag: PacketTag(time: now))
    }

    private mutating func sendSound(_ choices: inout Choices) {
        let who = choices.number(below: talkers.count + 1)
        let step = choices.byte()
        let type: UInt8 = choices.byte() & 1 == 0 ? 111 : 112
        let advance = UInt32(choices.byte()) * 48
        sound(who, step: step, advance: advance, type, origin(choices.byte()), choices.bytes(choices.number(below: 64)))
    }

    /// Nothing, or a generation among the first or any, within an utterance or not.
    private func origin(_ byte: UInt8) -> SpeechOrigin? {
        guard byte != 0 else { return nil }
        let place = SpeechOrigin.Place(utterance: UInt32(byte >> 5), position: UInt32(byte) << 20)
        return SpeechOrigin(generation: byte < 64 ? byte >> 1 : byte, place: byte & 1 == 0 ? nil : place)
    }

    /// As many packets as the ring holds between two runs; of one generation, or each of another.
    private mutating func floodSound(_ choices: inout Choices) {
        let who = choices.number(below: talkers.count + 1)
        let (step, advance, count) = (choices.byte(), UInt32(choices.byte()) * 120, 4 * Int(choices.byte()))
        let (first, rise) = (choices.byte(), choices.byte())
        let payload = choices.bytes(choices.number(below: 64))
        for index in 0..<count {
            sound(
                who, step: step, advance: advance, 111, origin(first &+ UInt8(truncatingIfNeeded: index) &* rise),
                payload)
        }
    }

    private mutating func sound(
        _ who: Int, step: UInt8, advance: UInt32, _ type: UInt8, _ origin: SpeechOrigin?, _ payload: [UInt8]
    ) {
        let isLong = step == 255
        sequences[who] &+= isLong ? 399 : UInt16(bitPattern: Int16(Int8(bitPattern: step)))
        timestamps[who] &+= isLong ? 399 * 120 : advance
        let header = RTPHeader(
            payloadType: type, marker: step & 64 != 0, sequenceNumber: sequences[who], timestamp: timestamps[who],
            synchronizationSource: who < talkers.count ? talkers[who] : 77)
        var bytes = [UInt8](repeating: 0, count: 1_500)
        var span = bytes.mutableSpan
        let level = AudioLevel(voiceActivity: true, level: step & 127)
        guard let length = try? header.write(into: &span, audioLevel: level, origin: origin) else { return }
        push(Array(bytes[..<length]) + payload)
    }

    /// A compound of reports on the own stream, each from whom the input says.
    private mutating func sendReport(_ choices: inout Choices) {
        let first = choices.byte()
        let (count, lost) = (choices.number(below: 40) + 1, choices.byte())
        compound { span in
            var length = 0
            for number in 0..<count where length + 32 <= span.count {
                let block = ReportBlock(
                    synchronizationSource: ownSource, fractionLost: lost, cumulativeLost: Int32(number),
                    extendedHighestSequenceNumber: UInt32(lost) << 8, interarrivalJitter: 5,
                    lastSenderReport: UInt32(first) << 8, delaySinceLastSenderReport: UInt32(lost) << 4)
                length += try ReceiverReport(synchronizationSource: UInt32(first) &+ UInt32(number)).write(
                    into: &span, at: length, reportBlocks: [block].span)
            }
            return length
        }
    }

    /// A report with as many loss patterns as the input wants and fit.
    private mutating func sendPatterns(_ choices: inout Choices) {
        let (reporter, count, seed) = (UInt32(choices.byte()), Int(choices.byte()), choices.byte())
        var pattern = LossPattern(firstSequenceNumber: UInt16(seed))
        for index in 0..<LossPattern.capacity { pattern.append(index % (Int(seed & 7) + 1) == 1) }
        compound { span in
            let block = ReportBlock(
                synchronizationSource: ownSource, fractionLost: seed, cumulativeLost: 1,
                extendedHighestSequenceNumber: 1,
                interarrivalJitter: 1)
            let length = try ReceiverReport(synchronizationSource: reporter).write(
                into: &span, reportBlocks: [block].span)
            var writer = ExtendedReportWriter(synchronizationSource: reporter, at: length, limit: span.count)
            for _ in 0..<count { _ = writer.append(pattern, of: ownSource, to: &span) }
            return length + writer.byteCount
        }
    }

    private mutating func compound(_ write: (inout MutableSpan<UInt8>) throws -> Int) {
        var bytes = [UInt8](repeating: 0, count: 1_400)
        var span = bytes.mutableSpan
        guard let length = try? write(&span) else { return }
        push(Array(bytes[..<length]))
    }

    // MARK: What the media thread does

    private mutating func run(milliseconds: Int) {
        now = MonotonicTime(nanoseconds: now.nanoseconds + Int64(milliseconds) * 1_000_000)
        var target = [Float](repeating: 0, count: min(4_096, milliseconds * 48))
        var span = target.mutableSpan
        _ = sound.read(into: &span)
        for sample in target { precondition(sample.isFinite && abs(sample) <= 1.01, "sound beyond full scale") }
        running.spend {
            var none: RunRecorder?
            _ = downlink.look(&none)
            downlink.run(
                RunClock(start: now, isLive: false, ownsThread: false), take: nil, playback: DirectionCounts(),
                farEnds: &farEnds,
                reports: &reports,
                events: &events)
        }
    }

    private mutating func writeReport() throws {
        var bytes = [UInt8](repeating: 0, count: 1_500)
        var span = bytes.mutableSpan
        try writing.spend {
            let news = downlink.receptionReports(now: now.sinceEpoch)
            _ = try reports.write(news, sender: nil, into: &span)
        }
    }
}
