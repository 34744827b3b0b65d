import Testing
import VoiceSimulation

@Suite struct CapturePathTests {
    /// Hz, and the least and the most loss in dB.
    @Test(arguments: [(100.0, 9.0...11), (900, 14...18), (4_000, 30...45)])
    func `a hand muffles`(hertz: Double, loss: ClosedRange<Double>) throws {
        var path = try CapturePath()
        let tone = sine(hertz: hertz, frames: 48_000).map { $0 * 0.1 }
        let open = run(&path, echo: tone, near: tone).microphone
        #expect(isSame(open, tone.map { $0 + $0 }))
        path.isCovered = true
        let covered = run(&path, echo: tone, near: tone).microphone
        let found = try #require(rms(open)) - #require(rms(Array(covered[24_000...])))
        #expect(loss.contains(found), "\(found) dB")
        path.isCovered = false
        let again = run(&path, echo: tone, near: tone).microphone
        #expect(isSame(Array(again[4_800...]), Array(open[4_800...])))
    }

    /// dB relative to full scale, and where the gain may get it.
    @Test(arguments: [(-45.0, -33.0), (-24, -24), (-10, -20)])
    func `an automatic gain brings the level towards its target as far as it reaches`(level: Double, expected: Double)
        throws
    {
        var path = try CapturePath(automaticGain: AutomaticGain(targetDecibels: -24, rangeDecibels: -10...12))
        let tone = sine(hertz: 500, frames: 192_000).map { $0 * gain(level + 3) }
        let heard = run(&path, echo: tone, near: tone.map { _ in 0 }).microphone
        let found = try #require(rms(Array(heard[144_000...])))
        // It follows a tone's louder moments, up to 3 dB over its mean.
        #expect(abs(found - expected) < 3, "\(found) dB")
    }

    @Test func `it rests while nobody talks`() throws {
        var path = try CapturePath(automaticGain: AutomaticGain())
        let tone = sine(hertz: 500, frames: 96_000).map { $0 * 0.3 }
        let silence = [Float](repeating: 0, count: 96_000)
        let before = run(&path, echo: tone, near: silence).microphone
        _ = run(&path, echo: silence, near: silence)
        let after = run(&path, echo: tone, near: silence).microphone
        let first = try #require(rms(Array(after[..<480])))
        let last = try #require(rms(Array(before[90_000...])))
        #expect(abs(first - last) < 3, "\(first) after a pause, \(last) dB before")
    }

    @Test func `the parts still add up to the whole`() throws {
        var path = try CapturePath(automaticGain: AutomaticGain())
        path.isCovered = true
        let echo = SyntheticSpeech.samples(frames: 48_000, seed: 1)
        let near = SyntheticSpeech.samples(frames: 48_000, seed: 2)
        let parts = run(&path, echo: echo, near: near)
        let sums = zip(parts.echo, parts.near).map { $0 + $1 }
        #expect(zip(parts.microphone, sums).allSatisfy { abs($0 - $1) < 1e-5 })
    }

    @Test func `in a room's recording too, where the talker is far away`() throws {
        var conditions = RoomConditions.anechoic
        conditions.nearGainDecibels = -6
        var room = try RoomAcoustics(conditions, seed: 1)
        var path = try CapturePath()
        let played = SyntheticSpeech.samples(frames: 48_000, seed: 1)
        let talk = SyntheticSpeech.samples(frames: 48_000, seed: 2)
        let made = RoomRecording(in: &room, through: &path, played: played, near: talk, talk: talk) { _, _, _ in }
        let sums = zip(made.echo, made.talk).map { $0 + $1 }
        #expect(zip(made.microphone, sums).allSatisfy { abs($0 - $1) < 1e-5 })
    }

    @Test func `impossible gains are refused by name`() {
        let error = #expect(throws: SimulationSettingError.self) {
            _ = try CapturePath(automaticGain: AutomaticGain(rangeDecibels: 0...100))
        }
        #expect(error?.setting == "automaticGain.rangeDecibels")
    }

    /// The microphone being echo and near talker together.
    private func run(
        _ path: inout CapturePath, echo: [Float], near: [Float]
    ) -> (microphone: [Float], echo: [Float], near: [Float]) {
        var (microphone, echo, near) = (zip(echo, near).map { $0 + $1 }, echo, near)
        var microphoneSpan = microphone.mutableSpan
        var echoSpan = echo.mutableSpan
        var nearSpan = near.mutableSpan
        path.process(microphone: &microphoneSpan, echo: &echoSpan, near: &nearSpan)
        return (microphone, echo, near)
    }
}
