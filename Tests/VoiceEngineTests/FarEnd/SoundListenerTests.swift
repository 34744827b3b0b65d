import Synchronization
import Testing
import VoiceRealtime
import VoiceRooms

@testable import VoiceEngine

/// Counts what it hears. The compiler proves that it may do so on a real-time thread.
@safe
final class CountingListener: SoundListener {
    let blocks = Atomic<Int>(0)
    let frames = Atomic<Int>(0)
    /// The number of the last frame, as ``numbered(_:from:)`` has it.
    let last = Atomic<Int>(0)
    let firstTime = Atomic<Int64>(0)
    /// Blocks whose first frame did not follow on, by their numbers or by their times.
    let breaks = Atomic<Int>(0)
    private let nextTime = Atomic<Int64>(0)

    @_noLocks @_noAllocation
    func hear(_ block: Span<Float>, at nanoseconds: Int64) {
        guard block.count > 0 else { return }
        let isFirst = blocks.wrappingAdd(1, ordering: .relaxed).oldValue == 0
        let first = Int(block[0] * 1_000_000 + 0.5)
        let expected = last.load(ordering: .relaxed) &+ 1
        if isFirst {
            firstTime.store(nanoseconds, ordering: .relaxed)
        } else {
            let late = nanoseconds &- nextTime.load(ordering: .relaxed)
            if first != expected || late < -1_000 || late > 1_000 { breaks.wrappingAdd(1, ordering: .relaxed) }
        }
        last.store(Int(block[block.count &- 1] * 1_000_000 + 0.5), ordering: .relaxed)
        frames.wrappingAdd(block.count, ordering: .relaxed)
        nextTime.store(nanoseconds &+ Int64(block.count) &* 1_000_000_000 / 48_000, ordering: .relaxed)
    }

    var heardFrames: Int { frames.load(ordering: .relaxed) }
}

@Suite("Listeners on the media thread")
struct SoundListenerTests {
    @Test("Given listeners at each point of the microphone's way, when it is muted, then each hears what passes there")
    func microphone() throws {
        let rig = try FarEndRig()
        let listeners = [SoundPoint.captured, .processed, .sent].map { (point: $0, hears: CountingListener()) }
        let open = try listeners.map { try rig.core.listen(to: .point($0.point), with: $0.hears) }
        let start = rig.now
        rig.run(blocks: 10) { Float($0 + 1) / 1_000_000 }
        for (point, listener) in listeners {
            #expect(listener.heardFrames == 4_800 && listener.last.load(ordering: .relaxed) == 4_800, "\(point)")
            #expect(listener.breaks.load(ordering: .relaxed) == 0, "\(point)")
            #expect(listener.firstTime.load(ordering: .relaxed) == start.nanoseconds, "\(point)")
        }
        try rig.core.send(.setMuted(true))
        rig.run(blocks: 3) { Float($0 + 1) / 1_000_000 }
        #expect(listeners[1].hears.last.load(ordering: .relaxed) == 6_240)
        #expect(listeners[2].hears.last.load(ordering: .relaxed) == 0 && listeners[2].hears.heardFrames == 6_240)
        withExtendedLifetime(open) {}
    }

    @Test("the mix is heard with the times at which it will be at the DAC, and a tap beside it gets the same")
    func mix() throws {
        let rig = try FarEndRig()
        rig.run(blocks: 5)
        let (listener, tap) = (CountingListener(), try rig.core.openTap(at: .mix, rate: .hertz48000))
        let listening = try rig.core.listen(to: .point(.mix), with: listener)
        let agent = try rig.core.openFarEnd(FarEndConfiguration())
        #expect(agent.offer(numbered(4_800), utterance: 1, isLast: true) == 4_800)
        rig.run(blocks: 20)
        var samples = [Float](repeating: 0, count: 20_000)
        var span = samples.mutableSpan
        let take = tap.take(into: &span)
        #expect(take.frames == listener.heardFrames && take.frames > 4_800)
        #expect(take.nanoseconds == listener.firstTime.load(ordering: .relaxed))
        withExtendedLifetime(listening) {}
    }

    @Test("Given a listener that was closed, when sound goes on, then it hears nothing more and its place is free")
    func closed() throws {
        let rig = try FarEndRig()
        let listener = CountingListener()
        var open = try (0..<SoundListening.maximumListeners).map { _ in
            try rig.core.listen(to: .point(.captured), with: listener)
        }
        #expect(throws: EngineError.self) { try rig.core.listen(to: .point(.captured), with: listener) }
        rig.run(blocks: 2)
        #expect(listener.heardFrames == 4 * 960)
        open[0].close()
        open[0].close()
        rig.run(blocks: 1)
        #expect(listener.heardFrames == 4 * 960 + 3 * 480)
        open.removeAll()
        rig.run(blocks: 2)
        #expect(listener.heardFrames == 4 * 960 + 3 * 480)
        let again = try rig.core.listen(to: .point(.captured), with: listener)
        rig.run(blocks: 1)
        #expect(listener.heardFrames == 4 * 960 + 4 * 480)
        withExtendedLifetime(again) {}
    }

    @Test("Given a participant, when it talks, then its listener hears as much as its sink, and of another nothing")
    func participant() throws {
        let rig = try PipelineRig(.voiceChat)
        try rig.core.send(.addStream(synchronizationSource: 100, participant: 7))
        rig.sources = [100]
        let (heard, other) = (CountingListener(), CountingListener())
        let sink = try rig.core.openSink(of: ParticipantID(rawValue: 7), rate: .hertz48000)
        let open = try [(7, heard), (8, other)].map { try rig.core.listen(to: .participant($0), with: $1) }
        rig.run(periods: 300)
        var samples = [Float](repeating: 0, count: 96_000)
        var (filled, passes) = (0, 0)
        // Gaps part what the sink has.
        while passes < 20 {
            var span = samples.mutableSpan
            filled += sink.take(into: &span).frames
            passes += 1
        }
        #expect(filled > 24_000 && heard.heardFrames == filled && other.heardFrames == 0)
        withExtendedLifetime(open) {}
    }
}
