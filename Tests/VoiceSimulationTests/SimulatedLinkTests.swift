import Testing
import VoiceSimulation

@Suite struct SimulatedLinkTests {
    static let presets: [(name: String, conditions: NetworkConditions)] = [
        ("perfect", .perfect), ("lan", .lan), ("wifi", .wifi), ("wifiLossy", .wifiLossy), ("lte", .lte),
        ("badMobile", .badMobile),
    ]

    /// Sends `count` datagrams, each `interval` after the one before, and returns what arrived.
    private func transmit(
        _ conditions: NetworkConditions, count: Int, every interval: Duration = .milliseconds(20), bytes: Int = 120,
        seed: UInt64 = 1
    ) throws -> (network: SimulatedLink<[UInt8]>, deliveries: [SimulatedLink<[UInt8]>.Delivery]) {
        var network = try SimulatedLink<[UInt8]>(conditions, seed: seed)
        var deliveries: [SimulatedLink<[UInt8]>.Delivery] = []
        for number in 0..<count {
            let now = interval * number
            network.send([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes), now: now)
            deliveries += network.poll(until: now)
        }
        deliveries += network.poll(until: .seconds(100_000))
        return (network, deliveries)
    }

    @Test(arguments: presets.map(\.name))
    func `one seed gives the same arrivals and another seed others`(name: String) throws {
        let conditions = try #require(Self.presets.first { $0.name == name }).conditions
        let first = try transmit(conditions, count: 3_000, seed: 5)
        let second = try transmit(conditions, count: 3_000, seed: 5)
        #expect(first.deliveries == second.deliveries)
        #expect(first.network.statistics == second.network.statistics)
        let other = try transmit(conditions, count: 3_000, seed: 6)
        #expect((other.deliveries == first.deliveries) == (name == "perfect"))
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `what is not lost arrives when it would have without loss`(seed: UInt64) throws {
        // Given a link on which everything can happen, and the same with other loss, holding or duplication
        var conditions = NetworkConditions.badMobile
        conditions.reordering = .init(probability: 0.05, hold: .milliseconds(25) ... .milliseconds(55))
        conditions.duplication = .init(probability: 0.05)
        var lossy = conditions
        conditions.loss = .none
        lossy.loss = .bursts(0.2, meanBurst: 3)
        var still = conditions
        (still.reordering, still.duplication) = (nil, nil)
        // When the same is sent over them
        let whole = try transmit(conditions, count: 3_000, seed: seed)
        let (network, deliveries) = try transmit(lossy, count: 3_000, seed: seed)
        let plain = try transmit(still, count: 3_000, seed: seed)
        // Then whatever arrives, originals and copies, does so at the same times
        func times(_ deliveries: [SimulatedLink<[UInt8]>.Delivery]) -> [String: Duration] {
            Dictionary(uniqueKeysWithValues: deliveries.map { ("\($0.sequence) \($0.isDuplicate)", $0.arrivedAt) })
        }
        let (all, some) = (times(whole.deliveries), times(deliveries))
        #expect(network.statistics.lost > 300)
        #expect(some.allSatisfy { all[$0.key] == $0.value }, "seed \(seed)")
        // And what is not held comes when it would have without holding
        let same = times(plain.deliveries).count { all[$0.key] == $0.value }
        #expect((2_750...2_950).contains(same), "\(same), seed \(seed)")
    }

    @Test func `stalls do not begin again when conditions change`() throws {
        // Given a link with stalls, 20 s of it
        var conditions = NetworkConditions.perfect
        conditions.jitter = .wifi(WiFiJitter())
        var network = try SimulatedLink<[UInt8]>(conditions, seed: 4)
        var delays: [[Duration]] = [[], []]
        for part in 0..<2 {
            for number in 0..<1_000 {
                let now = Duration.milliseconds(20 * (1_000 * part + number))
                network.send([0], now: now)
                if let arrival = network.nextArrival { delays[part].append(arrival - now) }
                _ = network.poll(until: .seconds(1_000))
            }
            // When its jitter becomes all but imperceptibly another
            var wifi = WiFiJitter()
            wifi.contention += .nanoseconds(1)
            conditions.jitter = .wifi(wifi)
            try network.change(to: conditions)
        }
        // Then what follows is no repetition
        let same = zip(delays[0], delays[1]).count { abs(($0 - $1) / .microseconds(1)) < 1 }
        #expect(delays[1].contains { $0 > .milliseconds(20) } && same < 20, "\(same)")
    }

    @Test(arguments: presets.map(\.name))
    func `every datagram is accounted for and none arrives early or changed`(name: String) throws {
        let conditions = try #require(Self.presets.first { $0.name == name }).conditions
        let (network, deliveries) = try transmit(conditions, count: 5_000)
        let statistics = network.statistics
        #expect(statistics.sent == 5_000)
        #expect(statistics.delivered == deliveries.count)
        #expect(
            statistics.sent + statistics.duplicated
                == statistics.delivered + statistics.lost + statistics.droppedByQueue)
        #expect(network.inFlightCount == 0)
        for (earlier, later) in zip(deliveries, deliveries.dropFirst()) {
            #expect(earlier.arrivedAt <= later.arrivedAt)
        }
        for delivery in deliveries {
            #expect(delivery.arrivedAt >= delivery.sentAt + conditions.baseDelay)
            #expect(delivery.datagram.first == UInt8(truncatingIfNeeded: delivery.sequence))
        }
    }

    /// Sending, loss and duplication as asked, over 20,000 packets.
    @Test(arguments: [(0.01, 1.3), (0.1, 2.2), (0.3, 3.2)], [UInt64(1), 2, 3])
    func `loss has the ratio and the burst length asked for`(loss: (ratio: Double, burst: Double), seed: UInt64) throws
    {
        var conditions = NetworkConditions.perfect
        conditions.loss = .bursts(loss.ratio, meanBurst: loss.burst)
        let (network, deliveries) = try transmit(conditions, count: 20_000, seed: seed)
        #expect(abs(conditions.loss.longRunRatio - loss.ratio) < 1e-12)
        let ratio = Double(network.statistics.lost) / 20_000
        // Four standard deviations of a mean of correlated losses.
        let margin = 4 * (loss.ratio * (1 - loss.ratio) * 2 * loss.burst / 20_000).squareRoot()
        #expect(abs(ratio - loss.ratio) < margin, "seed \(seed): \(ratio)")
        let gaps = zip(deliveries, deliveries.dropFirst()).map { $1.sequence - $0.sequence - 1 }.filter { $0 > 0 }
        let burst = Double(gaps.reduce(0, +)) / Double(gaps.count)
        #expect(abs(burst / loss.burst - 1) < 0.25, "seed \(seed): mean burst \(burst)")
    }

    @Test func `independent loss comes without bursts`() throws {
        var conditions = NetworkConditions.perfect
        conditions.loss = .independent(0.1)
        let (network, deliveries) = try transmit(conditions, count: 20_000)
        #expect(abs(Double(network.statistics.lost) / 20_000 - 0.1) < 0.01)
        let gaps = zip(deliveries, deliveries.dropFirst()).map { $1.sequence - $0.sequence - 1 }.filter { $0 > 0 }
        let burst = Double(gaps.reduce(0, +)) / Double(gaps.count)
        #expect(abs(burst - 1 / 0.9) < 0.05)
    }

    @Test func `a perfect link delivers at once and a base delay later`() throws {
        var conditions = NetworkConditions.perfect
        conditions.baseDelay = .milliseconds(35)
        var network = try SimulatedLink<[UInt8]>(conditions, seed: 1)
        network.send([1, 2, 3], now: .seconds(1))
        #expect(network.nextArrival == .milliseconds(1_035))
        let early = network.receive(now: .milliseconds(1_034))
        #expect(early == nil)
        let arrived = network.receive(now: .milliseconds(1_040))
        let delivery = try #require(arrived)
        #expect(delivery.datagram == [1, 2, 3])
        #expect(delivery.arrivedAt == .milliseconds(1_035), "not when it was asked for")
        #expect(network.nextArrival == nil)
    }

    @Test(arguments: presets.map(\.name).filter { $0 != "badMobile" })
    func `jitter alone keeps the order`(name: String) throws {
        var conditions = try #require(Self.presets.first { $0.name == name }).conditions
        conditions.duplication = nil
        let (network, deliveries) = try transmit(conditions, count: 10_000, every: .milliseconds(2))
        #expect(network.statistics.reordered == 0)
        #expect(zip(deliveries, deliveries.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
    }

    @Test func `held datagrams are overtaken and counted`() throws {
        // Given packets each 20 ms and holding that lets exactly the next one or two pass
        var conditions = NetworkConditions.perfect
        conditions.reordering = .init(probability: 0.08, hold: .milliseconds(25) ... .milliseconds(55))
        let (network, deliveries) = try transmit(conditions, count: 20_000)
        var highest = -1
        var late = 0
        for delivery in deliveries {
            late += delivery.sequence < highest ? 1 : 0
            highest = max(highest, delivery.sequence)
        }
        #expect(network.statistics.reordered == late)
        #expect(abs(Double(late) / 20_000 - 0.078) < 0.01, "\(late)")
    }

    @Test func `duplicates come as often as asked and after the original`() throws {
        var conditions = NetworkConditions.lan
        conditions.duplication = .init(probability: 0.1)
        let (network, deliveries) = try transmit(conditions, count: 20_000)
        #expect(abs(Double(network.statistics.duplicated) / 20_000 - 0.1) < 0.01)
        #expect(deliveries.count { $0.isDuplicate } == network.statistics.duplicated)
        var seen = Set<Int>()
        for delivery in deliveries {
            #expect(seen.contains(delivery.sequence) == delivery.isDuplicate)
            seen.insert(delivery.sequence)
        }
    }

    @Test func `a bottleneck passes its rate and delays by no more than its queue`() throws {
        // Given 192 kbit/s offered (480 bytes with headers each 20 ms) to 128 kbit/s with 200 ms of queue
        var conditions = NetworkConditions.perfect
        conditions.rateLimit = .init(bitsPerSecond: 128_000, longestWait: .milliseconds(200))
        let (network, deliveries) = try transmit(conditions, count: 5_000, bytes: 452)
        let seconds = try #require(deliveries.last).arrivedAt / .seconds(1)
        let rate = Double(deliveries.count * 480 * 8) / seconds
        #expect(abs(rate / 128_000 - 1) < 0.005, "\(rate) bit/s")
        #expect(abs(Double(network.statistics.droppedByQueue) / 5_000 - 1.0 / 3) < 0.01)
        let waits = deliveries.map { $0.arrivedAt - $0.sentAt }
        #expect(try #require(waits.max()) <= .milliseconds(200))
        #expect(try #require(waits.max()) > .milliseconds(160))
    }

    @Test func `a route step changes the delay from its time on`() throws {
        var conditions = NetworkConditions.perfect
        conditions.baseDelay = .milliseconds(20)
        conditions.routeSteps = [
            .init(at: .seconds(1), extraDelay: .milliseconds(80)), .init(at: .seconds(2), extraDelay: .zero),
        ]
        let (network, deliveries) = try transmit(conditions, count: 150)
        for delivery in deliveries {
            let detour = delivery.sentAt >= .seconds(1) && delivery.sentAt < .seconds(2)
            #expect(delivery.arrivedAt - delivery.sentAt == .milliseconds(detour ? 100 : 20))
        }
        #expect(network.statistics.reordered == 3, "sent in the last 80 ms of the detour, not at its edges")
    }

    @Test func `Wi-Fi stalls hold packets and let them go together`() throws {
        let (_, deliveries) = try transmit(.wifi, count: 10_000)
        let delays = deliveries.map { ($0.arrivedAt - $0.sentAt) / .milliseconds(1) }.sorted()
        #expect(delays[delays.count / 2] < 13, "half of them see only contention")
        #expect(delays[delays.count * 99 / 100] > 40, "one in a hundred sees a stall")
        let longest = 10.0 + 200 + 30
        #expect(try #require(delays.last) < longest)
    }

    @Test func `LTE delays have the radio link's steps and its handovers`() throws {
        let (_, deliveries) = try transmit(.lte, count: 10_000)
        let delays = deliveries.map { ($0.arrivedAt - $0.sentAt) / .milliseconds(1) }.sorted()
        let median = delays[delays.count / 2]
        #expect((35...70).contains(median), "\(median)")
        #expect(delays[delays.count * 95 / 100] - median > 8)
        #expect(try #require(delays.last) > 75)
    }

    @Test func `conditions change for what is sent later`() throws {
        var network = try SimulatedLink<[UInt8]>(.perfect, seed: 1)
        network.send([1], now: .zero)
        var slow = NetworkConditions.perfect
        slow.baseDelay = .milliseconds(50)
        try network.change(to: slow)
        network.send([2], now: .zero)
        let first = network.poll(until: .milliseconds(49))
        #expect(first.map(\.datagram) == [[1]])
        let second = network.poll(until: .milliseconds(50))
        #expect(second.map(\.datagram) == [[2]])
    }

    /// What cannot be simulated, each with the setting that the error names.
    @Test func `impossible conditions are refused by name`() {
        let cases: [(String, (inout NetworkConditions) -> Void)] = [
            ("baseDelay", { $0.baseDelay = .milliseconds(-1) }),
            ("loss.entersBad", { $0.loss = .bursts(0.9, meanBurst: 1) }),
            ("loss.lossInGood", { $0.loss = .independent(.nan) }),
            ("jitter.shape", { $0.jitter = .gamma(mean: .milliseconds(1), shape: 0) }),
            ("jitter.deviation", { $0.jitter = .gaussian(mean: .zero, deviation: .seconds(-1)) }),
            ("reordering.probability", { $0.reordering = .init(probability: 2, hold: .zero ... .seconds(1)) }),
            ("duplication.delay", { $0.duplication = .init(probability: 1, delay: .seconds(-1) ... .zero) }),
            ("rateLimit.bitsPerSecond", { $0.rateLimit = .init(bitsPerSecond: 0, queueBytes: 1) }),
            ("routeSteps[0].extraDelay", { $0.routeSteps = [.init(at: .zero, extraDelay: .seconds(-1))] }),
        ]
        for (setting, change) in cases {
            var conditions = NetworkConditions.perfect
            change(&conditions)
            let error = #expect(throws: SimulationSettingError.self) { try conditions.validate() }
            #expect(error?.setting == setting)
        }
        for preset in Self.presets {
            #expect(throws: Never.self) { try preset.conditions.validate() }
        }
    }
}
