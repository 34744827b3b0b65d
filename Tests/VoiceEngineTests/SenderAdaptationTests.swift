import TestCases
import Testing
import VoiceCoding
import VoiceSimulation
import VoiceWire

@testable import VoiceEngine

/// Listeners that report once a second of 50 packets each, in simulated time.
private struct Reporters {
    var adaptation: SenderAdaptation
    private var now = Duration.seconds(100)
    private var generator: SeededGenerator

    init(
        _ configured: OpusEncoderSettings = .voice, policy: SenderAdaptationPolicy = .adaptive,
        allowsCopies: Bool = true, seed: UInt64
    ) {
        adaptation = SenderAdaptation(configured, policy: policy, allowsCopies: allowsCopies)
        generator = SeededGenerator(seed: seed)
    }

    /// Lets `seconds` pass, in which each listener loses as told, with this round trip in seconds;
    /// the one at `silent` reports of no packet at all.
    mutating func report(
        _ seconds: Int, _ losses: [PacketLoss], roundTrips: [Double] = [0.04], silent: Int? = nil,
        each: (SenderPlan, Int) -> Void = { _, _ in }
    ) {
        for second in 0..<seconds {
            now += .seconds(1)
            for (index, loss) in losses.enumerated() {
                guard index != silent else {
                    adaptation.note(LossEvidence(), from: UInt32(index + 1), roundTrip: nil, now: now)
                    continue
                }
                var pattern = LossPattern(firstSequenceNumber: 0)
                var isBad = generator.chance(loss.longRunRatio)
                for _ in 0..<50 {
                    pattern.append(!(generator.chance(isBad ? loss.lossInBad : loss.lossInGood)))
                    isBad = isBad ? !generator.chance(loss.leavesBad) : generator.chance(loss.entersBad)
                }
                adaptation.note(
                    LossEvidence(pattern), from: UInt32(index + 1),
                    roundTrip: roundTrips[min(index, roundTrips.count - 1)], now: now)
            }
            each(adaptation.plan, second + 1)
        }
    }

    var plan: SenderPlan { adaptation.plan }
}

@Suite("What the sender makes of reports")
struct SenderAdaptationTests {
    @Test("a clean link: FEC goes within 4 s, nothing else changes", arguments: cases(UInt64(1)...5))
    func clean(seed: UInt64) {
        var reporters = Reporters(seed: seed)
        #expect(reporters.plan == SenderPlan(settings: .voice))
        reporters.report(4, [.none])
        var expected = OpusEncoderSettings.voice
        expected.usesForwardErrorCorrection = false
        expected.expectedLossPercent = 0
        #expect(reporters.plan == SenderPlan(settings: expected))
        // One packet in 200 lost does not bring it back
        reporters.report(60, [.independent(0.005)]) { plan, second in
            #expect(!plan.settings.usesForwardErrorCorrection, "seed \(seed), second \(second)")
        }
    }

    @Test(
        "a tenth lost one by one: FEC within 4 s, with a loss to match, and no copies",
        arguments: cases(UInt64(1)...10))
    func random(seed: UInt64) {
        var reporters = Reporters(seed: seed)
        reporters.report(10, [.none])
        var since: Int?
        reporters.report(4, [.independent(0.1)]) { plan, second in
            if plan.settings.usesForwardErrorCorrection, since == nil { since = second }
        }
        #expect(since != nil, "seed \(seed)")
        var withCopies = 0
        reporters.report(60, [.independent(0.1)]) { plan, second in
            #expect(plan.settings.usesForwardErrorCorrection || plan.copies > 0, "seed \(seed), second \(second)")
            #expect((5...25).contains(plan.settings.expectedLossPercent))
            if plan.copies > 0 { withCopies += 1 }
        }
        #expect(withCopies <= 12, "seed \(seed): copies for \(withCopies) s of 60")
        // When the loss ends, all goes back within 30 s
        reporters.report(30, [.none])
        #expect(!reporters.plan.settings.usesForwardErrorCorrection && reporters.plan.copies == 0, "seed \(seed)")
        #expect(reporters.plan.settings.expectedLossPercent == 0)
    }

    @Test("a tenth lost in bursts of three: copies for most of the time, beside FEC", arguments: cases(UInt64(1)...10))
    func bursts(seed: UInt64) {
        var reporters = Reporters(seed: seed)
        reporters.report(10, [.none])
        reporters.report(15, [.bursts(0.1, meanBurst: 3)])
        var withCopies = 0
        reporters.report(60, [.bursts(0.1, meanBurst: 3)]) { plan, _ in
            if plan.copies >= 2 { withCopies += 1 }
            #expect(plan.copies == 0 || plan.settings.usesForwardErrorCorrection, "seed \(seed)")
        }
        #expect(withCopies >= 36, "seed \(seed): \(withCopies) s of 60")
        reporters.report(40, [.none])
        #expect(reporters.plan.copies == 0)
        // Where the room cannot take copies out for those who do not understand them, there are none
        var plain = Reporters(allowsCopies: false, seed: seed)
        plain.report(40, [.bursts(0.1, meanBurst: 3)]) { plan, _ in #expect(plan.copies == 0) }
    }

    @Test("round trips that grow while packets are lost: the rate falls, then packets become longer, and back")
    func narrow() {
        var reporters = Reporters(seed: 1)
        reporters.report(10, [.none])
        // When the queue takes 120 ms and a twentieth is lost
        var rates: [Int] = []
        reporters.report(14, [.independent(0.08)], roundTrips: [0.16]) { plan, _ in
            rates.append(plan.settings.bitratePerSecond)
            #expect(plan.copies == 0)
        }
        #expect(rates.last == 16_000)
        #expect(zip(rates, rates.dropFirst()).allSatisfy { $0 >= $1 })
        #expect(
            reporters.plan.settings.frameDuration == .milliseconds60
                || reporters.plan.settings.frameDuration == .milliseconds40)
        // When there is room again
        reporters.report(40, [.none])
        #expect(reporters.plan.settings.bitratePerSecond == 32_000)
        #expect(reporters.plan.settings.frameDuration == .milliseconds20)
    }

    @Test("loss without a queue, or a longer route without loss, does not take from the rate")
    func notNarrow() {
        var reporters = Reporters(seed: 2)
        reporters.report(20, [.independent(0.2)])
        #expect(reporters.plan.settings.bitratePerSecond == 32_000)
        var route = Reporters(seed: 2)
        route.report(20, [.none])
        route.report(60, [.none], roundTrips: [0.12])
        #expect(route.plan.settings.bitratePerSecond == 32_000)
        #expect(route.plan.settings.frameDuration == .milliseconds20)
    }

    @Test("copies that fill the path go first, and are not tried again at once")
    func copiesFillThePath() {
        var reporters = Reporters(seed: 3)
        reporters.report(20, [.bursts(0.12, meanBurst: 3)])
        #expect(reporters.plan.copies > 0)
        reporters.report(3, [.bursts(0.12, meanBurst: 3)], roundTrips: [0.3])
        #expect(reporters.plan.copies == 0)
        reporters.report(20, [.bursts(0.12, meanBurst: 3)]) { plan, _ in #expect(plan.copies == 0) }
    }

    @Test("several listeners: a bad link in a small room is served, a slightly bad one in a large room is not")
    func several() {
        let clean = PacketLoss.none
        var small = Reporters(seed: 4)
        small.report(20, [.independent(0.12), clean, clean])
        #expect(small.plan.settings.usesForwardErrorCorrection)
        var large = Reporters(seed: 4)
        large.report(20, [.independent(0.05)] + [PacketLoss](repeating: clean, count: 11))
        #expect(!large.plan.settings.usesForwardErrorCorrection)
        // A path that is narrow for one of two or more is that listener's own: the others would queue behind the
        // sender's
        let loss = PacketLoss.independent(0.08)
        for others in 1...3 {
            var one = Reporters(seed: 4)
            let losses = [loss] + [PacketLoss](repeating: clean, count: others)
            one.report(5, losses, roundTrips: [0.04])
            one.report(14, losses, roundTrips: [0.25, 0.04])
            #expect(one.plan.settings.bitratePerSecond == 32_000, "\(others) others")
            #expect(one.plan.settings.frameDuration == .milliseconds20)
        }
        // One that is narrow for most is the sender's
        var common = Reporters(seed: 4)
        common.report(5, [loss, loss, clean], roundTrips: [0.04])
        common.report(14, [loss, loss, clean], roundTrips: [0.25, 0.25, 0.04])
        #expect(common.plan.settings.bitratePerSecond == 16_000)
    }

    @Test("switched off, or where FEC is not configured, what is configured stays")
    func fixed() {
        var off = Reporters(policy: .fixed, seed: 5)
        off.report(20, [.bursts(0.2, meanBurst: 3)], roundTrips: [0.5])
        #expect(off.plan == SenderPlan(settings: .voice))
        var without = OpusEncoderSettings.voice
        without.usesForwardErrorCorrection = false
        var never = Reporters(without, policy: SenderAdaptationPolicy(maximumCopies: 0), seed: 5)
        never.report(20, [.independent(0.2)]) { plan, _ in
            #expect(!plan.settings.usesForwardErrorCorrection && plan.copies == 0)
        }
    }

    @Test("whoever reports without patterns counts by its share of losses, and whoever falls silent is forgotten")
    func plainReports() {
        var adaptation = SenderAdaptation(.voice, policy: .adaptive, allowsCopies: true)
        for second in 0..<20 {
            adaptation.note(
                LossEvidence(fractionLost: 0.1, packets: 50), from: 1, roundTrip: nil, now: .seconds(second))
        }
        #expect(adaptation.plan.settings.usesForwardErrorCorrection && adaptation.plan.copies == 0)
        // When another comes whose link is clean, and the first is silent
        for second in 40..<70 {
            adaptation.note(LossEvidence(fractionLost: 0, packets: 50), from: 2, roundTrip: nil, now: .seconds(second))
        }
        #expect(!adaptation.plan.settings.usesForwardErrorCorrection)
    }

    @Test(
        "any reports: the plan stays within what the encoder takes and what the policy allows",
        arguments: cases(UInt64(1)...30))
    func anything(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let policy = SenderAdaptationPolicy(maximumFrameDuration: .milliseconds40, maximumCopies: 3)
        var adaptation = SenderAdaptation(.voice, policy: policy, allowsCopies: true)
        var now = Duration.zero
        for _ in 0..<500 {
            now += .seconds(generator.uniform() * 3)
            let evidence = LossEvidence(
                fractionLost: generator.uniform(), packets: Int(generator.uniform(in: 0...300)))
            adaptation.note(
                evidence, from: UInt32(generator.uniform(in: 0...40)),
                roundTrip: generator.chance(0.5) ? generator.uniform() * 2 : nil, now: now)
            let plan = adaptation.plan
            try plan.settings.validate()
            #expect((16_000...32_000).contains(plan.settings.bitratePerSecond), "seed \(seed)")
            #expect((960...1_920).contains(plan.settings.frameDuration.frames) && (0...3).contains(plan.copies))
        }
    }
}

/// What a listener may say that is not so, where all others hear well.
private enum Lie: CaseIterable {
    /// It hears nothing, and a queue grows.
    case hearsNothing
    /// It loses every other packet.
    case everySecond
    /// It loses bursts of three, which copies repair.
    case bursts
    /// A queue grows, and nothing is lost.
    case queue

    var loss: PacketLoss {
        switch self {
        case .hearsNothing: .independent(1)
        case .everySecond: .independent(0.5)
        case .bursts: .bursts(0.3, meanBurst: 3)
        case .queue: .none
        }
    }

    var roundTrip: Double {
        switch self {
        case .hearsNothing, .queue: 2
        case .everySecond, .bursts: 0.04
        }
    }
}

/// A member who lies, among listeners who hear well; see decision 039.
@Suite("One listener who lies")
struct LyingListenerTests {
    private static let honest = PacketLoss.none

    @Test("takes nothing from rate and packet length, and buys no copies and no more FEC than is configured")
    func one() {
        for (lie, others) in Lie.allCases.flatMap({ lie in [2, 3, 7, 15].map { (lie, $0) } }) {
            var reporters = Reporters(seed: 6)
            let listeners = [PacketLoss](repeating: Self.honest, count: others)
            reporters.report(10, [Self.honest] + listeners)
            reporters.report(60, [lie.loss] + listeners, roundTrips: [lie.roundTrip, 0.04]) { plan, second in
                let when = "\(lie) among \(others), second \(second)"
                #expect(plan.copies == 0, "\(when)")
                #expect(plan.settings.bitratePerSecond == 32_000, "\(when)")
                #expect(plan.settings.frameDuration == .milliseconds20, "\(when)")
                #expect(plan.settings.expectedLossPercent <= OpusEncoderSettings.voice.expectedLossPercent, "\(when)")
            }
        }
    }

    @Test("takes nothing from rate and packet length where there is but one other")
    func amongTwo() {
        for lie in Lie.allCases {
            var reporters = Reporters(seed: 6)
            reporters.report(10, [Self.honest, Self.honest])
            reporters.report(60, [lie.loss, Self.honest], roundTrips: [lie.roundTrip, 0.04]) { plan, second in
                #expect(plan.settings.bitratePerSecond == 32_000, "\(lie), second \(second)")
                #expect(plan.settings.frameDuration == .milliseconds20, "\(lie), second \(second)")
            }
        }
    }

    @Test("does not hide what the others need")
    func hides() {
        // Given two who lose bursts, and one who says that it hears all, or says nothing of what it hears
        for silent in [nil, 2] {
            let burst = PacketLoss.bursts(0.12, meanBurst: 3)
            var reporters = Reporters(seed: 7)
            reporters.report(30, [burst, burst, Self.honest], silent: silent)
            #expect(reporters.plan.copies >= 2, "silent: \(String(describing: silent))")
        }
        // Given two behind a narrow path, and one who says that there is room
        var narrow = Reporters(seed: 7)
        let loss = PacketLoss.independent(0.08)
        narrow.report(5, [loss, loss, Self.honest])
        narrow.report(14, [loss, loss, Self.honest], roundTrips: [0.25, 0.25, 0.04])
        #expect(narrow.plan.settings.bitratePerSecond == 16_000)
    }

    @Test("does not keep the rate down once there is room again")
    func keepsDown() {
        var reporters = Reporters(seed: 8)
        let loss = PacketLoss.independent(0.08)
        reporters.report(10, [.none, .none, .none])
        reporters.report(14, [loss, loss, loss], roundTrips: [0.25])
        #expect(reporters.plan.settings.bitratePerSecond == 16_000)
        // When one says that there is still a queue, now and then, so that it is not taken for a longer route
        for second in 0..<40 {
            reporters.report(1, [.none, .none, .none], roundTrips: [second % 2 == 0 ? 0.15 : 0.04, 0.04])
        }
        #expect(reporters.plan.settings.bitratePerSecond == 32_000)
        #expect(reporters.plan.settings.frameDuration == .milliseconds20)
    }
}

@Suite("What losses cost")
struct LossEvidenceTests {
    private func evidence(_ outcomes: String) -> LossEvidence {
        var pattern = LossPattern(firstSequenceNumber: 0)
        for outcome in outcomes { pattern.append(outcome == "x") }
        return LossEvidence(pattern)
    }

    @Test(
        "a burst of three in twenty: each further frame of a gap costs a quarter more, and copies take the last ones away"
    )
    func burst() {
        let evidence = evidence("xxxx...xxxxxxxxxxxxx" + "xxxx")
        #expect(evidence.packets == 20 && evidence.lost == 3)
        let expected = [1 + 1.25 + 1.5, 1 + 1.25, 1, 0, 0]
        for copies in 0...4 {
            #expect(abs(evidence.cost(copies: copies) - expected[copies] / 20) < 1e-12, "\(copies) copies")
        }
    }

    @Test("the last packets are not judged before it is known what follows")
    func tail() {
        #expect(evidence("xxxxxx....").packets == 6)
        #expect(evidence("xxxxxx....").lost == 0)
        #expect(evidence("....").packets == 0)
        #expect(evidence("....").lossRatio == 0)
    }
}
