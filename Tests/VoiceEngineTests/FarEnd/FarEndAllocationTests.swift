import CAllocationCounter
import TestCases
import Testing
import VoiceDevices
import VoiceRealtime
import VoiceRooms

@testable import VoiceEngine

@Suite("A far end in this process allocates nothing")
struct FarEndAllocationTests {
    private static let isCounted = RealtimeWatch.allocations != nil

    @Test("neither where it is offered sound, nor where it is pulled, heard and interrupted", .enabled(if: isCounted))
    func ends() throws {
        let line = try FarEndLine(FarEndConfiguration())
        let end = LocalFarEnd(line, number: 1)
        let samples = [Float](repeating: 0.1, count: 700)
        let integers = [Int16](repeating: 1_000, count: 700)
        var output = [Float](repeating: 0, count: 480)
        var near = output
        func round(_ number: UInt32) {
            RealtimeWatch.enter()
            defer { RealtimeWatch.exit() }
            let rate: SoundRate = number % 3 == 0 ? .hertz16000 : number % 3 == 1 ? .hertz24000 : .hertz48000
            let utterance = UtteranceID(rawValue: number / 8)
            _ = end.offer(samples.span, rate: rate, utterance: utterance, isLast: number % 8 == 7)
            _ = end.offer(integers.span, rate: rate, utterance: utterance)
            var outputSpan = output.mutableSpan
            unsafe line.queue.pointer.pointee.pull(into: &outputSpan, ringFrame: Double(number) * 480, scale: 1)
            let dacTime = MonotonicTime(nanoseconds: Int64(number) * 10_000_000)
            unsafe line.queue.pointer.pointee.trail.rendered(
                RenderedSpan(firstFrame: Int(number) * 480, frames: 480, dacTime: dacTime))
            if number % 50 == 0 { end.interrupt() }
            unsafe line.nearEnd.tap.pointer.pointee.write(
                output.span, time: MonotonicTime(nanoseconds: Int64(number) * 10_100_000))
            var nearSpan = near.mutableSpan
            _ = end.takeNearEnd(into: &nearSpan)
        }
        for number in 0..<100 { round(UInt32(number)) }
        let before = RealtimeWatch.allocations
        for number in 100..<2_000 { round(UInt32(number)) }
        let after = RealtimeWatch.allocations
        #expect(after == before)
    }

    @Test(
        "nor do the media thread's runs with it, beside a talker with a sink of its own, taps and a meter",
        .enabled(if: areAllocationsCounted, "needs optimised code and the allocation counter"))
    func ticks() throws {
        let rig = try PipelineRig(.voiceAgent)
        try rig.add(100)
        rig.run(periods: RunCost.warmUp)
        let agent = try rig.core.openFarEnd(FarEndConfiguration())
        let sink = try rig.core.openSink(of: ParticipantID(rawValue: 7), rate: .hertz16000)
        let taps = try SoundPoint.allCases.map { try rig.core.openTap(at: $0, rate: .hertz16000) }
        let meter = try rig.core.openMeter(every: .milliseconds(50))
        for round in 0..<10 {
            let second = [Float](repeating: 0.1, count: 24_000)
            _ = agent.offer(second.span, utterance: UtteranceID(rawValue: UInt32(round)), isLast: round % 2 == 0)
            if round % 3 == 2 { agent.interrupt() }
            rig.run(periods: 100)
            while rig.core.nextEvent() != nil {}
        }
        agent.close()
        sink.close()
        taps.forEach { $0.close() }
        meter.close()
        rig.run(periods: 300)
        #expect(rig.statistics.media.allocations == 0)
        #expect(rig.statistics.farEnds.isEmpty)
    }
}
