import TestCases
import Testing
import VoicePlayout
import VoiceWire

struct PullGranularityTests {
    @Test(
        "On a local network a packet waits little more than for the next pull", arguments: [48, 120, 240, 480],
        [UInt64(1), 2])
    func localNetwork(block: Int, seed: UInt64) {
        // Given a link whose packets vary by less than half a millisecond, out of step with the pulls
        let trace = Trace(seconds: 5, network: Network(jitterMilliseconds: 0.1), seed: seed)
        var listening = Listening(context: "blocks of \(block), seed \(seed)")
        // When it has run for two seconds
        listening.play(trace, until: 2000, keepsSound: false) { block }
        let early = listening.buffer.statistics
        listening.play(trace, until: 5000, keepsSound: false) { block }
        let late = listening.buffer.statistics
        // Then packets wait for the variation and the pull they are played in, from the first two seconds on
        let wait = Self.meanDelay(from: PlayoutStatistics(), to: early)
        #expect(wait < 2.5 + Double(block) / 48, "\(wait) ms at first, blocks of \(block), seed \(seed)")
        let settled = Self.meanDelay(from: early, to: late)
        #expect(settled < 1.75 + Double(block) / 48, "\(settled) ms, blocks of \(block), seed \(seed)")
        // And that costs nothing
        #expect(late.concealedSamples <= 48 * 10 && late.concealedSamples == early.concealedSamples)
        listening.expectAccounts()
    }

    @Test(
        "The first packet waits for one pull and a small share of its length", arguments: [120, 480], [120, 480, 960])
    func start(block: Int, frames: Int) {
        // Given a clean link in step with nothing
        let trace = Trace(seconds: 1, frames: frames, network: .clean, seed: 1)
        var listening = Listening(context: "blocks of \(block), packets of \(frames)")
        // When the first half second is played
        listening.play(trace, until: 500, keepsSound: false) { block }
        // Then the delay is that of one pull and a twentieth of a packet
        let delay = Self.meanDelay(from: PlayoutStatistics(), to: listening.buffer.statistics)
        #expect(delay < Double(block + frames / 20) / 48 + 1, "\(delay) ms")
        #expect(listening.buffer.statistics.concealedSamples == 0)
    }

    @Test(
        "Sound is made up in pieces of at least 20 ms, however short the pulls",
        arguments: [24, 60, 120, 240, 480, 933])
    func invention(block: Int) {
        // Given a network that loses packets and holds others up, with nothing to restore them from
        let network = Network(jitterMilliseconds: 5, lossRatio: 0.1, stallEveryMilliseconds: 1000)
        let trace = Trace(seconds: 6, network: network, seed: 4)
        var listening = Listening(context: "blocks of \(block)")
        // When it is played
        listening.play(trace, until: 6000, keepsSound: false) { block }
        // Then the decoder was never asked for less than a frame
        #expect(listening.decoder.concealedFrames > 4800)
        #expect(listening.decoder.shortestConcealment >= 960)
        listening.expectAccounts()
    }

    @Test("A buffer that was reset plays another sender as a new one does")
    func reset() {
        // Given a buffer that has played a bad network
        var random = SeededNumbers(seed: 5)
        let bad = Trace(seconds: 5, redundant: true, network: .random(&random), seed: 5)
        var used = Listening(context: "used")
        used.play(bad, until: 5000, keepsSound: false)
        // When it is reset and plays another stream, beside a new one
        used.buffer.reset()
        #expect(used.buffer.statistics == PlayoutStatistics())
        let network = Network(jitterMilliseconds: 8, lossRatio: 0.05)
        let next = Trace(seconds: 5, redundant: true, network: network, seed: 6, source: 7)
        var again = Listening(context: "again")
        var new = Listening(context: "new")
        swap(&again.buffer, &used.buffer)
        again.play(next, until: 5000)
        new.play(next, until: 5000)
        // Then both play the same, to the bit
        let isSame = again.sound == new.sound
        #expect(isSame)
        #expect(again.buffer.statistics == new.buffer.statistics)
    }

    /// Mean time from arrival to playing of what was played between two reports, ms.
    static func meanDelay(from before: PlayoutStatistics, to after: PlayoutStatistics) -> Double {
        let frames = after.jitterBufferEmittedCount - before.jitterBufferEmittedCount
        return 1000 * (after.jitterBufferDelay - before.jitterBufferDelay) / Double(max(frames, 1))
    }

    @Test("A loudspeaker that stops now and then does not move the target", arguments: [UInt64(1), 2])
    func standingStill(seed: UInt64) {
        // Given a calm link
        let trace = Trace(seconds: 20, network: Network(jitterMilliseconds: 0.1), seed: seed)
        var listening = Listening(context: "seed \(seed)")
        listening.play(trace, until: 5000, keepsSound: false) { 120 }
        let calm = listening.buffer.targetDelay
        // When the device stands still for 10 ms every second
        var stops = 0.0
        for second in 5..<19 {
            stops += 10
            listening.pause(milliseconds: 10)
            listening.buffer.playbackStoodStill(480)
            listening.play(trace, until: Double(second + 1) * 1000, keepsSound: false) { 120 }
        }
        // Then the target is that of a calm link, and no packet came late
        #expect(listening.buffer.targetDelay < calm + .milliseconds(2), "seed \(seed)")
        #expect(listening.buffer.statistics.packetsLate == 0)
        #expect(listening.buffer.statistics.concealedSamples == 0)
    }
}
