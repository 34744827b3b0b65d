import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("The clock's readings of one run")
struct ClockTapeTests {
    @Test(
        "Given packets of 2.5 ms and a button that is pressed at the end of a stall, when all that was kept goes at once, then each reading is on the tape"
    )
    func stall() throws {
        // Given 600 ms, of which 500 are kept
        let wake = try WakeSignal()
        let captured = try FrameRing(minimumCapacity: MediaRings.captureFrames)
        let reference = try FrameRing(minimumCapacity: MediaRings.captureFrames)
        let sending = PacketRing(minimumSlots: 1_024)
        let rendered = ValueRing<RenderedSpan>(minimumCapacity: 512)
        let farEndNews = ValueRing<FarEndNews>(minimumCapacity: 256)
        let told = ValueRing<MediaEvent>(minimumCapacity: 256)
        var configuration = EngineConfiguration.voiceChat
        (configuration.backend, configuration.processing) = (.bypass, .bypass)
        configuration.encoder.frameDuration = .microseconds2500
        var uplink = try Uplink(
            capture: captured.consumer, reference: reference.consumer, configuration: configuration,
            sending: sending.producer, networkWake: wake.handle)
        var capture = captured.producer
        var farEnds = FarEndTable(
            rendered: rendered.consumer, news: farEndNews.producer, wake: nil)
        var watch = NearEndWatch()
        var events = MediaEventOutlet(told.producer, wake: nil)
        var recorder: RunRecorder?
        let tape = ClockTape.make()
        defer { tape.free() }
        uplink.publish(RTPStreamStart(synchronizationSource: 1, sequenceNumber: 0, timestamp: 0))
        uplink.closeGate(keeping: 24_000)
        var time = MonotonicTime(nanoseconds: 1_000_000_000)
        for run in 0..<7 {
            // When it is pressed, and the capture ring is full
            if run == 6 { uplink.openGate() }
            let frames = run == 6 ? MediaRings.captureFrames : 4_800
            let sound = [Float](repeating: 0.1, count: frames)
            let written = capture.write(sound.span, time: time)
            #expect(written == frames)
            time = time.advanced(byFrames: frames, sampleRate: 48_000)
            _ = uplink.look(&recorder)
            tape.clear()
            let clock = RunClock(start: time, isLive: true, ownsThread: false).keeping(readingsOn: tape)
            uplink.run(clock, farEnds: &farEnds, watch: &watch, events: &events)
        }
        // Then there are two of each packet
        #expect(tape.count >= 2 * 330 && !tape.isShort)
        withExtendedLifetime(wake) {}
    }
}
