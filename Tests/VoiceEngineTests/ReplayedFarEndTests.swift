import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("A far end in a replay")
struct ReplayedFarEndTests {
    /// A view of a far end of this number, in which nothing waits.
    private func view(of number: UInt8, isClosed: Bool = true) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 40)
        bytes[0] = number
        let gain = (1 as Float).bitPattern
        for byte in 0..<4 { bytes[24 + byte] = UInt8(truncatingIfNeeded: gain >> UInt32(8 * byte)) }
        bytes[32] = isClosed ? 1 : 0
        return bytes
    }

    @Test(
        "Given one whose end could not be told at once where it was recorded, when it is gone here, then what is recorded of it is passed over"
    )
    func gone() throws {
        let stages = StageWatch.make()
        defer { stages.free() }
        let tape = ClockTape.make()
        defer { tape.free() }
        var configuration = EngineConfiguration.voiceChat
        (configuration.backend, configuration.processing) = (.bypass, .bypass)
        let settings = RecordedSettings(
            configuration, includesSound: true, devicePeriod: 480, keepsDeadlines: true)
        var pipeline = try ReplayedPipeline(settings, stages: stages)
        // Given a far end that is closed, and gone 20 ms later
        try pipeline.send(.openFarEnd(3))
        for milliseconds in [1_000, 1_010, 1_050] as [Int64] {
            let bytes = view(of: 3, isClosed: milliseconds > 1_000)
            try pipeline.take(.farEndView, bytes.span)
            let start = MonotonicTime(nanoseconds: milliseconds * 1_000_000)
            pipeline.run(RunClock(start: start, replaying: tape))
            pipeline.collect { _ in }
        }
        // When the recording still has it, then that is no damage
        let late = view(of: 3)
        try pipeline.take(.farEndView, late.span)
        // And one that never was is
        let unknown = view(of: 4)
        var fault: RecordingFault?
        do throws(RecordingFault) { try pipeline.take(.farEndView, unknown.span) } catch { fault = error }
        #expect(fault == .malformed("an unknown far end"))
    }
}
