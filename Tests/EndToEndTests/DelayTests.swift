import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

/// Long calls, of which an unoptimised build says nothing more.
@Suite("Delay", .enabled(if: isOptimised))
struct DelayTests {
    /// When a call has settled, and is over, in seconds.
    private static let settled = 15.0
    /// How often a loudspeaker is started anew.
    private static let restarts = 8

    @Test(
        "mouth to ear is what the stages say",
        arguments: [(.milliseconds10, 62.0), (.milliseconds20, 72.0)] as [(OpusFrameDuration, Double)])
    func mouthToEar(frame: OpusFrameDuration, boundMilliseconds: Double) throws {
        // Given two people over loudspeakers on a wired network, and A speaks
        let end = Self.settled
        var configuration = Talk(a: [0.5...end], length: end + 0.3, seed: 2).overLoudspeakers
        configuration.engine.encoder.frameDuration = frame
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(end + 0.3))
        // When the way from A's mouth to B's ear is measured by what was said and heard
        let hearing = try #require(Hearing(call, from: .a, while: end - 2.3...end - 0.2))
        // Then it is the sum of the stages, each of which measures itself
        let budget = LatencyBudget(from: call.statistics(.a), to: call.statistics(.b))
        let total = try #require(budget.total).milliseconds
        #expect(abs(hearing.delayMilliseconds - total) < 0.5, "measured \(hearing.delayMilliseconds), \(budget)")
        // And it is within what a conversation bears
        #expect(hearing.delayMilliseconds < boundMilliseconds)
    }

    @Test(
        "packets shorter than 10 ms shorten the way by what they are shorter",
        arguments: [
            (.microseconds2500, 13.5), (.milliseconds5, 16.0), (.milliseconds10, 21.0),
        ] as [(OpusFrameDuration, Double)])
    func shortPackets(frame: OpusFrameDuration, boundMilliseconds: Double) throws {
        // Given two people with headsets who must be in time with each other
        let end = Self.settled
        var configuration = Talk(a: [0.5...end], length: end + 0.3, seed: 2).overCables
        configuration.periodFrames = 120
        configuration.engine.application = .lowDelay
        configuration.engine.playout = .lowDelay
        configuration.engine.encoder.frameDuration = frame
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(end + 0.3))
        // When the way from mouth to ear is measured
        let hearing = try #require(Hearing(call, from: .a, while: end - 2.3...end - 0.2))
        // Then it is the sum of the stages, and short
        let budget = LatencyBudget(from: call.statistics(.a), to: call.statistics(.b))
        let total = try #require(budget.total).milliseconds
        #expect(abs(hearing.delayMilliseconds - total) < 1, "measured \(hearing.delayMilliseconds), \(budget)")
        #expect(hearing.delayMilliseconds < boundMilliseconds, "\(budget)")
        // And all that was said is heard
        let playout = try Scenario.stream(call, at: .b).playout
        #expect(playout.concealedSamples == 0)
        #expect(call.statistics(.b).device.playback.underrunFrames == 0)
    }

    @Test("sound cards that run at different speeds neither underrun nor add delay")
    func drift() throws {
        // Given two sound cards that are 400 ppm apart, of which each hears the other: in 20 s, 8 ms
        var configuration = Talk(a: [0.5...20], b: [0.5...20], length: 20, seed: 2).overCables
        configuration.driftPPM = [200, -200]
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(12))
        let settled = try SimulatedCall.Side.allCases.map { try Scenario.stream(call, at: $0).playout }
        // When they have talked for 8 s more
        call.run(for: .seconds(8))
        for (side, settled) in zip(SimulatedCall.Side.allCases, settled) {
            let playout = try Scenario.stream(call, at: side).playout
            // Then nothing was made up and nothing was missing
            #expect(playout.concealedSamples == 0)
            #expect(call.statistics(side).device.playback.underrunFrames == 0)
            #expect(call.statistics(side).uplink.captureGapFrames == 0)
            // And the delay is within a device's period of what it is without drift. Measured over 60 s: 3.3 to 9.4 ms
            #expect((1...13).contains(Scenario.meanWait(settled, playout)), "side \(side)")
            #expect(playout.packetsLost == 0)
        }
    }

    @Test("a loudspeaker that is started anew now and then makes the delay no longer", arguments: Scenario.few)
    func restarts(seed: UInt64) throws {
        // Given a calm call
        var configuration = Talk(a: [0.5...15], length: 15, seed: seed).overCables
        configuration.playbackDriftPPM = [0, 0]
        configuration.periodFrames = 120
        configuration.engine.encoder.frameDuration = .milliseconds10
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(5))
        let calm = try Scenario.stream(call, at: .b)
        // When B's loudspeaker stands still for 20 ms each second
        for _ in 0..<Self.restarts {
            call.interruptPlayback(periods: 8, .b)
            call.run(for: .seconds(1))
        }
        call.run(for: .seconds(1))
        // Then the jitter buffer's target is what it was: nothing was the network's fault
        let shaken = try Scenario.stream(call, at: .b)
        #expect(shaken.targetDelay < calm.targetDelay + .milliseconds(2), "seed \(seed)")
        #expect(shaken.playout.packetsLate == 0)
        #expect(call.statistics(.b).device.playback.restarts == Self.restarts)
        // And no more waits than before: what came meanwhile was made up for
        call.run(for: .seconds(1))
        #expect(try #require(Scenario.stream(call, at: .b).jitterBufferDelay) < .milliseconds(20), "seed \(seed)")
    }

    @Test("a jitter buffer that grew in a storm comes down again", arguments: Scenario.few)
    func storm(seed: UInt64) throws {
        // Given a call on a calm network
        let call = try SimulatedCall(Talk(a: [0.5...17], length: 17, seed: seed).overCables)
        call.run(for: .seconds(3))
        let calm = try Scenario.stream(call, at: .b).targetDelay
        // When packets come up to 200 ms late for half a second
        var storm = NetworkConditions.lan
        storm.jitter = .gaussian(mean: .milliseconds(40), deviation: .milliseconds(40))
        try call.setNetwork(storm, .a)
        call.run(for: .milliseconds(500))
        try call.setNetwork(.lan, .a)
        call.run(for: .milliseconds(500))
        // Then the delay has grown with them
        let grown = try Scenario.stream(call, at: .b).targetDelay
        #expect(grown > calm + .milliseconds(20), "seed \(seed): from \(calm) to \(grown)")
        // And when all has been calm for 12 s, it is back
        call.run(for: .seconds(11))
        let before = try Scenario.stream(call, at: .b).playout
        call.run(for: .seconds(1))
        let after = try Scenario.stream(call, at: .b)
        #expect(after.targetDelay < .milliseconds(20), "seed \(seed)")
        #expect(Scenario.meanWait(before, after.playout) < 25, "seed \(seed)")
    }
}
