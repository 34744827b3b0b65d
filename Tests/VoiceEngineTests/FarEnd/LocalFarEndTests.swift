import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("A far end in this process")
struct LocalFarEndTests {
    @Test("is played to the frame, after what it was given, and tells when it was heard")
    func played() async throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration())
        rig.run(blocks: 5)
        // When it says 100 ms faster than real time, and that this was all
        let words = numbered(4_800)
        #expect(await agent.play(words, utterance: 7))
        await agent.finish(7)
        rig.run(blocks: 20)
        // Then each frame is heard, once and in order
        let heard = rig.speaker.filter { $0.sample != 0 }
        #expect(heard.map { number(of: $0.sample) } == Array(1...4_800))
        // And its events have the times of the DAC
        agent.close()
        rig.run(blocks: 10)
        var events: [FarEndEvent] = []
        for await event in agent.events { events.append(event) }
        let first = try #require(heard.first).time
        let end = try #require(heard.last).time.advanced(byFrames: 1, sampleRate: 48_000)
        try #require(events.count == 2)
        #expect(events[0] == .utteranceStarted(7, time: first.sinceEpoch))
        guard case .utterancePlayed(7, let played) = events[1] else {
            Issue.record("\(events[1])")
            return
        }
        #expect(played.heard == .milliseconds(100))
        #expect(played.isComplete)
        #expect(abs((played.time - end.sinceEpoch) / .nanoseconds(1)) < 1_000)
    }

    @Test("hears what a room would: the microphone with the ADC's times, silence while muted")
    func nearEnd() throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration(nearEndRate: .hertz48000))
        let start = rig.now
        rig.run(blocks: 10) { Float($0 + 1) / 1_000_000 }
        let (samples, take) = agent.take(10_000)
        #expect(samples.map { number(of: $0) } == Array(1...4_800))
        #expect(take.time == start.sinceEpoch)
        #expect(take.isAfterGap)
        // What comes next goes on
        rig.run(blocks: 1) { _ in 0.1 }
        let next = agent.take(10_000).take
        #expect(next.frames == 480 && !next.isAfterGap)
        #expect(next.time == start.advanced(byFrames: 4_800, sampleRate: 48_000).sinceEpoch)
        // And muted there is silence, at its time
        try rig.core.send(.setMuted(true))
        rig.run(blocks: 2) { _ in 0.1 }
        let muted = agent.take(10_000).samples
        #expect(muted.count == 960 && muted.suffix(480).allSatisfy { $0 == 0 })
    }

    @Test("hears it whole where a client's times jitter by 3 ms, as those that are read in a callback do")
    func jitter() throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration(nearEndRate: .hertz16000))
        var gaps: [Int] = []
        for block in 0..<200 {
            rig.run(blocks: 1, late: block % 2 == 0 ? 0 : 3_000_000) { _ in 0.1 }
            if agent.take(1_000).take.isAfterGap { gaps.append(block) }
        }
        // The first late block may have been a gap
        #expect(gaps.allSatisfy { $0 < 4 }, "\(gaps)")
        // And a real one is one
        rig.run(blocks: 1, late: 20_000_000) { _ in 0.1 }
        #expect(agent.take(1_000).take.isAfterGap)
    }

    @Test("what nobody takes is dropped, the newest, counted and told by the times")
    func overflow() throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration(nearEndRate: .hertz48000))
        let start = rig.now
        rig.run(blocks: 250) { Float($0 + 1) / 1_000_000 }
        // 2 s are there, from the first on
        let (samples, take) = agent.take(200_000)
        #expect(samples.map { number(of: $0) } == Array(1...96_000))
        #expect(take.time == start.sinceEpoch)
        #expect(agent.droppedNearEndFrames == 24_000)
        // Then what comes is behind a gap
        rig.run(blocks: 1) { Float($0 + 1) / 1_000_000 }
        let (rest, later) = agent.take(200_000)
        #expect(rest.map { number(of: $0) } == Array(120_001...120_480))
        #expect(later.isAfterGap)
        #expect(later.time == start.sinceEpoch + .milliseconds(2_500))
    }

    @Test("playing waits while the queue is full, and no longer than the engine runs")
    func suspends() async throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration(queue: .milliseconds(200)))
        rig.run(blocks: 5)
        // Given a second of sound for a queue of 0.2 s
        let task = Task { await agent.play(numbered(48_000), utterance: 1) }
        var blocks = 0
        while rig.speaker.last?.sample != 0.048 {
            blocks += 1
            try #require(blocks < 10_000, "in 100 s of the card's time a second of sound was not heard to its end")
            rig.run(blocks: 1)
            await Task.yield()
            #expect(rig.statistics.farEnds.allSatisfy { $0.queued <= .milliseconds(210) })
        }
        #expect(await task.value)
        // When the engine stops while another waits, that is told
        let waiting = Task { await agent.play(numbered(48_000), utterance: 2) }
        rig.core.stopDevice()
        #expect(await waiting.value == false)
    }

    @Test("whose task is cancelled while it plays queues nothing more, and what comes next is heard whole")
    func cancelledPlay() async throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration(queue: .milliseconds(200)))
        rig.run(blocks: 5)
        // Given a second of sound for a queue of 0.2 s, when its task is cancelled while it waits, then it ends without
        // the media thread
        let task = Task { await agent.play(numbered(48_000), utterance: 1) }
        var blocks = 0
        while rig.statistics.farEnds.first?.queued ?? .zero < .milliseconds(150) {
            blocks += 1
            try #require(blocks < 10_000, "in 100 s of the card's time the queue was not filled")
            rig.run(blocks: 1)
            await Task.yield()
        }
        task.cancel()
        #expect(await task.value == false)
        // And what was queued of it is heard, in order, with a fade behind it, and no more
        rig.run(blocks: 60)
        let before = rig.speaker.filter { $0.sample != 0 }.map { number(of: $0.sample) }
        let whole = zip(before, 1...).prefix { $0 == $1 }.count
        #expect((7_200...14_400).contains(whole) && before.count - whole <= 480)
        #expect(await agent.play(numbered(960), utterance: 2))
        rig.run(blocks: 20)
        let next = rig.speaker.filter { $0.sample != 0 }.dropFirst(before.count).prefix(960)
        #expect(next.map { number(of: $0.sample) } == Array(1...960))
    }

    @Test("no more than four at once; a closed one makes room, and its playing ends")
    func bound() async throws {
        let rig = try FarEndRig()
        var open = try (0..<FarEndConfiguration.maximumFarEnds).map { _ in
            try rig.core.openFarEnd(FarEndConfiguration())
        }
        #expect(throws: EngineError.self) { try rig.core.openFarEnd(FarEndConfiguration()) }
        rig.run(blocks: 5)
        for agent in open {
            #expect(agent.offer([Float](repeating: 0.01, count: 48_000), utterance: 5) == 48_000)
        }
        rig.run(blocks: 20)
        // All four are heard at once
        #expect(abs((rig.speaker.last?.sample ?? 0) - 0.04) < 1e-6)
        #expect(rig.statistics.farEnds.count == 4)
        open[0].close()
        #expect(await open[0].play([0.5], utterance: 6) == false)
        rig.run(blocks: 20)
        #expect(abs((rig.speaker.last?.sample ?? 0) - 0.03) < 1e-6)
        _ = try rig.core.openFarEnd(FarEndConfiguration())
        // One that is let go makes room as well
        open.removeLast()
        rig.run(blocks: 20)
        _ = try rig.core.openFarEnd(FarEndConfiguration())
        #expect(throws: EngineError.self) {
            try rig.core.openFarEnd(FarEndConfiguration(queue: .seconds(121)))
        }
    }

    @Test("each has its volume")
    func volume() throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration())
        rig.run(blocks: 5)
        try agent.setVolume(0.5)
        #expect(throws: EngineError.self) { try agent.setVolume(4.1) }
        #expect(throws: EngineError.self) { try agent.setVolume(.nan) }
        _ = agent.offer([Float](repeating: 0.1, count: 9_600), utterance: 1)
        rig.run(blocks: 10)
        #expect(abs((rig.speaker.last?.sample ?? 0) - 0.05) < 1e-6)
    }

    @Test("what is no number is silence, and what is too loud is clipped")
    func bounds() throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration())
        rig.run(blocks: 5)
        #expect(agent.offer([.nan, .infinity, -.infinity, 4, 0.25] + numbered(4_800), utterance: 1) == 4_805)
        rig.run(blocks: 30)
        #expect(rig.speaker.allSatisfy { abs($0.sample) <= 1 })
        #expect(rig.speaker.contains { $0.sample > 0.004 })
    }
}
