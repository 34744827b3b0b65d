import Glibc
import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("Following the playback clock")
struct ClockFollowerTests {
    private static let hertz = 997.0

    /// What becomes of a tone that is followed at `ppm` from block `begin` on, in blocks of `blockFrames`.
    private func passed(ppm: Double, from begin: Int, blocks: Int, blockFrames: Int) throws -> [Float] {
        let ring = try FrameRing(minimumCapacity: 4_096)
        var producer = ring.producer
        var consumer = ring.consumer
        var follower = ClockFollower()
        var heard: [Float] = []
        for block in 0..<blocks {
            let frames = (0..<blockFrames).map { Self.tone(Double(block * blockFrames + $0)) }
            follower.pass(
                frames.span, driftPPM: block < begin ? nil : ppm, to: &producer, time: MonotonicTime(nanoseconds: 0))
            while consumer.available > 0 {
                heard.append(consumer.peek(1)[0])
                consumer.release(1)
            }
            // The filter's reach and less than a frame wait
            if block >= begin { #expect((14.9...17).contains(follower.pendingFrames)) }
        }
        return heard
    }

    private static func tone(_ frame: Double) -> Float { Float(0.5 * sin(2 * Double.pi * hertz * frame / 48_000)) }

    @Test(
        "each frame is the tone at its own time, from the first one followed on: no seam, no drift",
        arguments: [300.0, -300, 50, -5_000, 0], [24, 120, 480])
    func exact(ppm: Double, blockFrames: Int) throws {
        let begin = 10
        let heard = try passed(ppm: ppm, from: begin, blocks: 4_800 / blockFrames * 10, blockFrames: blockFrames)
        let direct = begin * blockFrames
        var worst: Float = 0
        for (index, frame) in heard.enumerated() {
            // The device plays faster by so much, and so each of its frames is so much less of the sound.
            let time =
                index < direct ? Double(index) : Double(direct) + Double(index - direct) / (1 + ppm * 1e-6)
            worst = max(worst, abs(frame - Self.tone(time)))
        }
        // -74 dB of the tone. Measured: -84 dB
        #expect(worst < 0.5e-4 * 2)
        // And as many frames come as the device wants, less those that wait
        let sound = Double(heard.count - direct) / (1 + ppm * 1e-6)
        #expect(abs(Double(48_000 - direct) - sound - 16.5) < 2)
    }

    @Test("a rate that changes bends the tone and breaks nothing")
    func bend() throws {
        let ring = try FrameRing(minimumCapacity: 4_096)
        var producer = ring.producer
        var consumer = ring.consumer
        var follower = ClockFollower()
        var heard: [Float] = []
        for block in 0..<2_000 {
            let frames = (0..<24).map { Self.tone(Double(block * 24 + $0)) }
            follower.pass(
                frames.span, driftPPM: 400 * sin(Double(block) / 100), to: &producer,
                time: MonotonicTime(nanoseconds: 0))
            while consumer.available > 0 {
                heard.append(consumer.peek(1)[0])
                consumer.release(1)
            }
        }
        // The second difference of a tone is its negative, times the square of the angle of a frame: a step would stand
        // out.
        let angle = 2 * Double.pi * Self.hertz / 48_000
        let bound = Float(0.5 * angle * angle * 1.02)
        for index in 40..<heard.count - 1 {
            #expect(abs(heard[index - 1] - 2 * heard[index] + heard[index + 1]) < bound)
        }
    }

    /// A drift, for how long it is seen, and what is done then.
    struct Case: CustomTestStringConvertible {
        let ppm: Double?
        let seconds: Int
        let prepares: Bool
        let followed: Double?

        init(_ ppm: Double?, for seconds: Int, prepares: Bool = false, followed: Double? = nil) {
            (self.ppm, self.seconds, self.prepares, self.followed) = (ppm, seconds, prepares, followed)
        }

        var testDescription: String { "\(ppm.map { "\($0)" } ?? "unknown") ppm for \(seconds) s" }
    }

    @Test(
        "a drift that lasts is prepared for, and then followed",
        arguments: [
            Case(nil, for: 100), Case(0, for: 100), Case(50, for: 100), Case(-50, for: 100), Case(300, for: 2),
            Case(300, for: 4, prepares: true), Case(300, for: 7, followed: 300), Case(-300, for: 7, followed: -300),
            Case(51, for: 7, followed: 51), Case(20_000, for: 7, followed: 5_000),
        ])
    func decision(_ given: Case) {
        var drift = PlaybackDrift()
        for tick in 0...given.seconds * 100 {
            drift.update(measuredPPM: given.ppm, now: MonotonicTime(nanoseconds: Int64(tick) * 10_000_000))
        }
        #expect(drift.followedPPM == given.followed)
        #expect(drift.isPreparing == given.prepares)
    }

    @Test("a drift that was a mistake of the first seconds is forgotten")
    func mistake() {
        var drift = PlaybackDrift()
        for tick in 0...400 {
            let now = MonotonicTime(nanoseconds: Int64(tick) * 10_000_000)
            drift.update(measuredPPM: tick < 399 ? 80 : 20, now: now)
        }
        #expect(drift.followedPPM == nil)
        #expect(!drift.isPreparing)
    }

    @Test(
        "a drift is followed where it is well known, and not before",
        arguments: [(60, nil), (19, 300)] as [(Double, Double?)])
    func uncertain(uncertainty: Double, followed: Double?) throws {
        let card = SteppedCard()
        let core = try EngineCore(modestConfiguration(device: card), eventWake: nil) { _ in }
        card.tell(driftPPM: 300, uncertaintyPPM: uncertainty)
        var now = MonotonicTime(nanoseconds: 10_000_000_000)
        for _ in 0..<2_000 {
            card.hear(at: now)
            card.play(at: now.advanced(byFrames: 480, sampleRate: 48_000))
            _ = core.run(now: now)
            now = now.advanced(byFrames: SteppedCard.period, sampleRate: 48_000)
        }
        #expect(core.statistics().downlink.followedDriftPPM == followed)
    }

    @Test("what is followed moves no faster than 25 ppm a second, and never stops being followed")
    func slew() throws {
        var drift = PlaybackDrift()
        var now: Int64 = 0
        func pass(_ seconds: Double, ppm: Double) {
            for _ in 0..<Int(seconds * 100) {
                now += 10_000_000
                drift.update(measuredPPM: ppm, now: MonotonicTime(nanoseconds: now))
            }
        }
        pass(7, ppm: 100)
        pass(2, ppm: 300)
        #expect(abs(try #require(drift.followedPPM) - 150) < 1)
        pass(10, ppm: 300)
        #expect(drift.followedPPM == 300)
        pass(20, ppm: 0)
        #expect(drift.followedPPM == 0)
    }
}
