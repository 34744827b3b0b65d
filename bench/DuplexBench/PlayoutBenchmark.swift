import VoiceEngine
import VoiceSimulation
import VoiceWire

extension Benchmark {
    /// The jitter buffer against bare decoding with a fixed delay.
    static let playout = Benchmark(
        name: "playout",
        purpose: "delay, concealment and CPU of the jitter buffer, against bare decoding at a fixed delay",
        run: PlayoutBenchmark.run)
}

private enum PlayoutBenchmark {
    static let duration: Duration = .seconds(60)
    static let seed: UInt64 = 1
    /// What the bare decoder waits after the fastest packet, for every packet.
    static let fixedDelayMilliseconds = 60
    private static let networks: [(name: String, conditions: NetworkConditions)] = [
        ("lan", .lan), ("wifi", .wifi), ("wifi_lossy", .wifiLossy), ("lte", .lte), ("bad_mobile", .badMobile),
    ]

    static func run() throws -> BenchmarkResult {
        var table = MarkdownTable(
            "network", "delay ms", "fixed", "made up %", "fixed ", "µs", "bare µs", "above bare", "worst pull µs")
        var summary: [(key: String, value: SummaryValue)] = []
        for network in networks {
            let packets = try SpokenPackets.overNetwork(network.conditions, duration: duration, seed: seed)
            let measured = try PlayoutComparison(packets).measure()
            table.add(
                network.name, measured.delay.fixed(1), measured.fixedDelay.fixed(1), measured.concealed.fixed(2),
                measured.fixedConcealed.fixed(2), measured.ours.median.fixed(1), measured.bare.median.fixed(1),
                measured.above.median.fixed(1), measured.worstPull.fixed(0))
            summary += [
                ("\(network.name)_delay_ms", .number(measured.delay, digits: 2)),
                ("\(network.name)_made_up_percent", .number(measured.concealed, digits: 3)),
                ("\(network.name)_fixed_made_up_percent", .number(measured.fixedConcealed, digits: 3)),
                ("\(network.name)_p50_us", .number(measured.ours.median, digits: 2)),
                ("\(network.name)_bare_p50_us", .number(measured.bare.median, digits: 2)),
                ("\(network.name)_above_bare_p50_us", .number(measured.above.median, digits: 2)),
                ("\(network.name)_worst_pull_us", .number(measured.worstPull, digits: 1)),
            ]
        }
        return BenchmarkResult(
            description: """
                60 s of synthetic speech in packets of 20 ms with in-band FEC, over generated networks. Delay is the mean \
                from a packet's arrival to its playing, in pulls of 5 ms. "fixed" is a decoder that plays every packet \
                \(fixedDelayMilliseconds) ms after the fastest could have come, with FEC and concealment: it knows the clock. \
                CPU per 20 ms is the median of the thread's time, both in turn on the same packets; "above bare" is the \
                median of the difference. Seed \(seed).
                """,
            table: table, summary: summary)
    }
}

/// Speech as it leaves a network.
private enum SpokenPackets {
    struct Packet {
        let number: Int
        let arrival: Duration
        let header: RTPHeader
        let payload: [UInt8]
    }

    static func overNetwork(_ conditions: NetworkConditions, duration: Duration, seed: UInt64) throws -> [Packet] {
        var settings = OpusEncoderSettings.voice
        settings.usesForwardErrorCorrection = true
        settings.expectedLossPercent = 10
        var speech = SyntheticSpeech(seed: seed, voice: .high)
        var encoder = try OpusEncoder(application: .voip, settings: settings)
        var network = try SimulatedLink<[UInt8]>(conditions, seed: seed)
        var block = [Float](repeating: 0, count: settings.frameDuration.frames)
        var room = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketBytes)
        var payloads: [[UInt8]] = []
        let count = Int(duration / .milliseconds(20))
        for number in 0..<count {
            var sound = block.mutableSpan
            speech.read(into: &sound)
            var bytes = room.mutableSpan
            payloads.append(Array(room[..<(try encoder.encode(block.span, into: &bytes))]))
            network.send(payloads[number], now: .milliseconds(20 * number))
        }
        return network.poll(until: duration + .seconds(5)).map { delivery in
            let header = RTPHeader(
                payloadType: 111, sequenceNumber: UInt16(truncatingIfNeeded: delivery.sequence),
                timestamp: UInt32(truncatingIfNeeded: delivery.sequence * 960), synchronizationSource: 1)
            return Packet(
                number: delivery.sequence, arrival: delivery.arrivedAt, header: header,
                payload: payloads[delivery.sequence])
        }
    }
}

/// Plays the same packets through the jitter buffer and through a bare decoder.
private struct PlayoutComparison {
    struct Measured {
        /// Microseconds per 20 ms.
        let ours: Samples
        let bare: Samples
        let above: Samples
        let worstPull: Double
        /// Milliseconds from arrival to playing.
        let delay: Double
        let fixedDelay: Double
        /// Percent of the sound made up.
        let concealed: Double
        let fixedConcealed: Double
    }

    private let packets: [SpokenPackets.Packet]
    /// The first packet's arrival, and the least time on the way.
    private let start: Duration
    private let leastTravel: Duration
    private let count: Int
    /// Steps that do not count: the caches warm up.
    private static let warmUp = 100

    init(_ packets: [SpokenPackets.Packet]) {
        self.packets = packets
        start = packets[0].arrival
        count = (packets.map(\.number).max() ?? 0) + 1
        leastTravel = packets.map { $0.arrival - .milliseconds(20 * $0.number) }.min() ?? .zero
    }

    func measure() throws -> Measured {
        let ours = try BufferedDecoding()
        let bare = try FixedDelayDecoding(
            packets, leastTravel: leastTravel, delay: .milliseconds(PlayoutBenchmark.fixedDelayMilliseconds))
        var (costs, bareCosts) = ([Double](), [Double]())
        for number in 0..<count {
            // Neither always finds the caches as the other left them.
            if number % 2 == 0 { costs.append(ours.step(number, packets, from: start)) }
            bareCosts.append(bare.step(number))
            if number % 2 == 1 { costs.append(ours.step(number, packets, from: start)) }
        }
        let statistics = ours.buffer.statistics
        let sound = statistics.decodedSamples + statistics.concealedSamples
        precondition(statistics.decodedSamples > statistics.pulledSamples / 2, "the jitter buffer played little")
        return Measured(
            ours: Samples(Array(costs[Self.warmUp...])), bare: Samples(Array(bareCosts[Self.warmUp...])),
            above: Samples(zip(costs, bareCosts).dropFirst(Self.warmUp).map { $0 - $1 }), worstPull: ours.worstPull,
            delay: statistics.jitterBufferDelay / Double(max(statistics.jitterBufferEmittedCount, 1)) * 1000,
            fixedDelay: bare.meanDelay, concealed: 100 * Double(statistics.concealedSamples) / Double(max(sound, 1)),
            fixedConcealed: 100 * Double(bare.concealed) / Double(count))
    }
}

private final class BufferedDecoding {
    private(set) var buffer = PlayoutBuffer()
    private(set) var worstPull = 0.0
    private var decoder: OpusDecoder
    private var block = [Float](repeating: 0, count: 240)
    private var next = 0

    init() throws(OpusError) { decoder = try OpusDecoder() }

    /// 20 ms; returns the microseconds they took.
    func step(_ number: Int, _ packets: [SpokenPackets.Packet], from start: Duration) -> Double {
        var nanoseconds: Int64 = 0
        for quarter in 0..<4 {
            let now = start + .milliseconds(20 * number + 5 * quarter)
            var stopwatch = CPUStopwatch()
            while next < packets.count, packets[next].arrival <= now {
                let packet = packets[next]
                _ = buffer.insert(packet.payload.span, header: packet.header, now: packet.arrival)
                next += 1
            }
            nanoseconds += stopwatch.lap()
            var room = block.mutableSpan
            _ = buffer.pull(into: &room, now: now, decoder: &decoder)
            let pull = stopwatch.lap()
            nanoseconds += pull
            if number > 100 { worstPull = max(worstPull, Double(pull) / 1000) }
        }
        return Double(nanoseconds) / 1000
    }
}

/// Decodes every packet at its time: packet, redundancy of the next, concealment, in this order.
private final class FixedDelayDecoding {
    private(set) var concealed = 0
    /// Milliseconds.
    let meanDelay: Double
    private var decoder: OpusDecoder
    private var block = [Float](repeating: 0, count: 5760)
    /// The payload that is there when the packet's time comes.
    private var present: [Int: [UInt8]] = [:]
    /// The payload after it that is there then.
    private var presentNext: [Int: [UInt8]] = [:]

    init(_ packets: [SpokenPackets.Packet], leastTravel: Duration, delay: Duration) throws(OpusError) {
        decoder = try OpusDecoder()
        var (sum, played) = (0.0, 0)
        for packet in packets {
            let due = Duration.milliseconds(20 * packet.number) + leastTravel + delay
            if packet.arrival <= due, present[packet.number] == nil {
                present[packet.number] = packet.payload
                sum += (due - packet.arrival) / .milliseconds(1)
                played += 1
            }
            if packet.arrival <= due - .milliseconds(20) { presentNext[packet.number - 1] = packet.payload }
        }
        meanDelay = sum / Double(max(played, 1))
    }

    /// 20 ms; returns the microseconds they took.
    func step(_ number: Int) -> Double {
        let (packet, next) = (present[number], presentNext[number])
        var stopwatch = CPUStopwatch()
        do {
            if let packet {
                var room = block.mutableSpan
                _ = try decoder.decode(packet.span, into: &room)
            } else {
                try restore(from: next)
            }
        } catch {
            preconditionFailure("the codec refused what its encoder made: \(error)")
        }
        return Double(stopwatch.lap()) / 1000
    }

    private func restore(from next: [UInt8]?) throws(OpusError) {
        var room = block.mutableSpan
        var sound = room._mutatingExtracting(0..<960)
        if let next, let header = try? OpusPacketHeader(parsing: next.span), header.carriesRedundancy {
            _ = try decoder.decodeRedundancy(of: next.span, into: &sound)
        } else {
            concealed += 1
            _ = try decoder.conceal(into: &sound)
        }
    }
}
