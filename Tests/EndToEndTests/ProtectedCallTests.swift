import ScriptedPeers
import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoicePeers
import VoiceSimulation

@Suite("Whole calls over paths with the flights, the keys and the timers of DTLS-SRTP")
struct ProtectedCallTests {
    private typealias Call = SimulatedCallOver<Scripted>

    private func call(_ configuration: Call.Configuration) throws -> Call {
        var ends: UInt64 = configuration.seed << 32
        return try Call(configuration) { _ in
            ends += 1
            return Scripted(seed: ends)
        }
    }

    private static func isLost(_ event: EngineEvent) -> Bool { if case .connectionLost = event { true } else { false } }
    private static func isBack(_ event: EngineEvent) -> Bool { if case .reconnected = event { true } else { false } }
    private static func hasLeft(_ event: EngineEvent) -> Bool {
        if case .participantLeft = event { true } else { false }
    }

    private static func ending(_ events: [EngineEvent]) -> RoomSessionEnd? {
        events.compactMap { if case .left(.session(let end)) = $0 { end } else { nil } }.last
    }

    /// The level at which a side hears the other in these seconds, dBFS; nil where it is silent.
    private func level(_ call: Call, at side: Call.Side, _ seconds: ClosedRange<Double>) -> Double? {
        SignalLevel(of: call.recording(side).speaker.span.extracting(frameRange(seconds))).activeDecibels
    }

    @Test(
        "a storm of breaks: both are there at its end, as who they were, and hear each other",
        .enabled(if: isOptimised), arguments: 1...4)
    func storm(seed: Int) throws {
        // Given a call in which both talk
        var configuration = Talk(a: [0.5...48], b: [0.5...48], length: 48, seed: UInt64(seed)).overCables
        configuration.publishing = .anyone
        let call = try call(configuration)
        call.run(for: .seconds(2))
        // When either's network goes and comes again and again, for up to 9 s
        let end = Duration.seconds(26)
        var numbers = SeededGenerator(seed: UInt64(seed) &* 77)
        while call.elapsed < end {
            let side = numbers.next() % 2 == 0 ? Call.Side.a : .b
            call.setConnected(false, side)
            call.run(for: .milliseconds(200 + Int64(numbers.next() % 8_800)))
            call.setConnected(true, side)
            call.run(for: .milliseconds(50 + Int64(numbers.next() % 3_000)))
        }
        call.run(for: .seconds(4))
        let lost = Call.Side.allCases.reduce(0) { $0 + call.events($1).count(Self.isLost) }
        #expect(lost > 0, "seed \(seed): no break was longer than the silence that a session bears")
        for side in Call.Side.allCases {
            // Then each is back as often as it was away, has never left, and nobody has come anew
            let events = call.events(side)
            #expect(events.count(Self.isLost) == events.count(Self.isBack), "seed \(seed), side \(side)")
            #expect(Self.ending(events) == nil, "seed \(seed), side \(side)")
            #expect(events.count(Self.hasLeft) == 0, "seed \(seed), side \(side)")
            #expect(call.statistics(side).streams.count == 1, "seed \(seed), side \(side)")
        }
        // And they hear each other
        let calm = call.elapsed / .seconds(1)
        call.run(for: .seconds(2))
        for side in Call.Side.allCases {
            let heard = try #require(level(call, at: side, calm...(calm + 1.8)), "seed \(seed), side \(side)")
            #expect(heard > Talk.levelDecibels - 4, "seed \(seed), side \(side)")
        }
    }

    @Test("a short break is no break: the path goes on through another socket, without new keys and without a word")
    func shortBreak() throws {
        var configuration = Talk(a: [0.5...10], length: 10, seed: 5).overCables
        configuration.publishing = .anyone
        let call = try call(configuration)
        call.run(for: .seconds(2))
        // When nothing passes for 3.5 s: less than a session takes for the end
        call.setConnected(false, .a)
        call.run(for: .seconds(3.5))
        call.setConnected(true, .a)
        call.run(for: .seconds(4))
        // Then the socket was taken for dead and replaced, and the server has followed
        #expect(call.address(.a).port > 5_000)
        #expect(call.events(.a).count(Self.isLost) == 0)
        #expect(call.events(.b).count(Self.hasLeft) == 0)
        #expect(try #require(level(call, at: .b, 8...9.5)) > Talk.levelDecibels - 3)
    }

    @Test("a restarted server: both come back and hear each other")
    func restart() throws {
        var configuration = Talk(a: [0.5...9], b: [0.5...9], length: 9, seed: 6).overCables
        configuration.publishing = .anyone
        let call = try call(configuration)
        call.run(for: .seconds(2))
        call.restartServer()
        call.run(for: .seconds(7))
        for side in Call.Side.allCases {
            #expect(call.events(side).count(Self.isBack) == 1)
            #expect(try #require(level(call, at: side, 7...9)) > Talk.levelDecibels - 3)
        }
    }

    @Test(
        "a word that is spoken while its talker joins is heard whole, and the delay that it comes with goes in the first pause",
        arguments: cases([25, 50, 100]))
    func firstWord(milliseconds: Int) throws {
        // Given a listener and a talker so many milliseconds from the room, who speaks from the moment at which both
        // begin to join
        var configuration = Talk(length: 5, seed: 7).overCables
        let speech = SyntheticSpeech.samples(
            frames: 6 * 48_000, seed: 7, voice: .high, levelDecibels: Talk.levelDecibels)
        let onset = try #require(speech.firstIndex { abs($0) > 1e-2 })
        configuration.talkers[0] = SpeechSource(Array(speech[onset...]), repetition: .once)
        configuration.network = NetworkConditions()
        configuration.network.baseDelay = .milliseconds(milliseconds)
        configuration.publishing = .anyone
        let call = try call(configuration)
        call.run(for: .seconds(5))
        // When the listener hears the first of it, four round trips, the way there and 30 ms later
        let (said, heard) = (call.recording(.a).near, call.recording(.b).speaker)
        let first = try #require(heard.firstIndex { abs($0) > 1e-3 })
        #expect(abs(first / 48 - (10 * milliseconds + 35)) < 15, "\(first / 48) ms")
        // Then it is the first of what was said, and all that follows
        let whole = try delay(of: first..<first + 33_600, of: heard, behind: said)
        #expect(abs(whole - first) < 480, "begins \(first - whole) frames into the word")
        let playout = call.statistics(.b).streams[0].playout
        #expect(playout.skippedSamples == 0 && playout.concealedSamples == 0 && playout.packetsLate == 0)
        // And after the first pause, of 650 ms, it comes sooner by what was cut out of that, down to the way and a
        // jitter buffer
        let later = try delay(of: 144_000..<163_200, of: heard, behind: said)
        let wanted = max(2 * milliseconds + 40, 10 * milliseconds + 35 - 450)
        #expect(later / 48 < wanted + 20, "\(later / 48) ms")
    }

    /// How much later something is heard than it was said, frames.
    private func delay(of stretch: Range<Int>, of heard: [Float], behind said: [Float]) throws -> Int {
        let earliest = max(0, stretch.lowerBound - 72_000)
        let found = SignalAlignment(
            of: heard.span.extracting(stretch), after: said.span.extracting(earliest..<stretch.upperBound),
            longestDelayFrames: 72_000)
        let alignment = try #require(found)
        try #require(alignment.correlation > 0.8, "\(alignment)")
        return stretch.lowerBound - earliest + alignment.delayFrames
    }
}
