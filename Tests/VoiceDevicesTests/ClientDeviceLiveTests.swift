import Synchronization
import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("Client device on threads")
struct ClientDeviceLiveTests {
    @Test("From two threads, while it is stopped and started, nothing is torn")
    func threads() throws {
        let device = ClientDevice()
        let transfers = Atomic<Int>(0)
        let strangers = Atomic<Int>(0)
        let sender = try RealtimeThread(name: "client-mic", priority: 0) { stop in
            let frames = [Float](repeating: 0.5, count: 48)
            while !stop.isRaised { transfers.add(device.sendAudioData(frames) > 0 ? 1 : 0, ordering: .relaxed) }
        }
        let puller = try RealtimeThread(name: "client-speaker", priority: 0) { stop in
            var frames = [Float](repeating: 0, count: 48)
            while !stop.isRaised {
                device.pullPlayback(into: &frames)
                // Between the frames and silence lies only the fade.
                if !frames.allSatisfy({ $0 >= 0 && $0 <= 0.25 }) { strangers.add(1, ordering: .relaxed) }
            }
        }
        for _ in 0..<50 {
            let session = try Session()
            var fixture = try PortFixture(session, capacity: 1_024)
            fixture.ends.play([Float](repeating: 0.25, count: 480))
            _ = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
            while fixture.ends.captured.available < 480 { session.wake.wait(timeout: .milliseconds(10)) }
            #expect(fixture.ends.takeCaptured().allSatisfy { $0 == 0.5 })
            device.stop()
        }
        sender.stop()
        puller.stop()
        #expect(strangers.load(ordering: .relaxed) == 0)
        #expect(transfers.load(ordering: .relaxed) >= 50 * 10)
    }
}
