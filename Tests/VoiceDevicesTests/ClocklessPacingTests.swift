import Testing

@testable import VoiceDevices

@Suite("Pacing of devices without a clock")
struct ClocklessPacingTests {
    private let pacing = ClocklessPacing(
        format: StreamFormat(
            sampleRate: 48_000, channels: 1, periodFrames: 240, bufferFrames: 480, sampleFormat: .float32))

    @Test(
        "A real clock is never held back, however long it runs and however far it drifts",
        arguments: [0, 100, -300, 1_000, 9_000])
    func realClock(ppm: Int) {
        for seconds in [0, 1, 60, 3_600, 360_000] as [Int64] {
            let frames = Int(seconds) * 48_000 + Int(seconds) * 48_000 * ppm / 1_000_000 + 480
            #expect(pacing.pause(frames: frames, lead: 480, elapsedNanoseconds: seconds * 1_000_000_000) == 0)
        }
    }

    @Test("Catching up after a late wake-up is not held back")
    func catchUp() {
        // 35 ms late, then all of it at once.
        #expect(pacing.pause(frames: 480 + 4_800, lead: 480, elapsedNanoseconds: 135_000_000) == 0)
        #expect(pacing.pause(frames: 480 + 6_480, lead: 480, elapsedNanoseconds: 135_000_000) == 0)
    }

    @Test("A device that takes whatever it is given is held to real time")
    func clockless() {
        let pause = pacing.pause(frames: 480 + 4_800, lead: 480, elapsedNanoseconds: 1_000_000)
        #expect(abs(pause - 99_000_000) < 1_000_000)
    }
}
