import Glibc
import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceRooms
import VoiceSimulation

/// Streams that an app feeds, beside the microphone.
@Suite("Streams beside the microphone")
struct OutgoingStreamTests {
    private static let seconds = 6
    /// What is left where no stream sounds: the microphone's noise.
    private static let noise: Float = 1e-3

    /// A call whose side A says nothing, over a network of 20 ms, and whose loudspeakers and microphones do nothing of
    /// their own.
    private static func call(seed: UInt64 = 1, longest: Duration = .seconds(14)) throws -> SimulatedCall {
        var configuration = SimulatedCall.Configuration(talkers: [
            SpeechSource([], repetition: .once), SpeechSource([], repetition: .once),
        ])
        configuration.rooms = [RoomConditions(), RoomConditions()]
        configuration.engine.backend = .bypass
        configuration.engine.processing = .bypass
        configuration.engine.codeQuickly()
        configuration.seed = seed
        configuration.longest = longest
        configuration.publishing = .anyone
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(1))
        return call
    }

    /// Gives a stream sound; returns how much was taken.
    private static func feed(_ stream: OutgoingStream, _ samples: ArraySlice<Float>) -> Int {
        stream.offer(samples.span)
    }

    /// RMS of what a side's loudspeaker sounded between two times, seconds.
    private static func loudness(_ call: SimulatedCall, _ seconds: ClosedRange<Double>) -> Float {
        let samples = call.recording(.b).speaker[frameRange(seconds)]
        return (samples.reduce(0) { $0 + $1 * $1 } / Float(samples.count)).squareRoot()
    }

    @Test("Given music beside a silent microphone, when it is fed, then the other side hears it whole, and its name")
    func heard() throws {
        // Given
        let call = try Self.call()
        let said = PositionSearch.samples(seconds: Self.seconds, seed: 5)
        let music = try call.publish(stream: "music", .a, OutgoingStreamConfiguration(queue: .seconds(6)))
        let sink = try #require(try call.openSink(.b))
        call.run(for: .milliseconds(200))
        // When
        #expect(Self.feed(music, said[..<(3 * 48_000)]) == 3 * 48_000)
        let start = call.elapsed
        call.run(for: .seconds(4))
        // Then
        let speaker = call.recording(.b).speaker
        let search = PositionSearch(in: said)
        let first = try #require(speaker.firstIndex { abs($0) > 0.01 })
        #expect(Double(first) / 48_000 - start / .seconds(1) < 0.25)
        // Wherever it can be told what sounds, it is what was fed
        let errors = stride(from: 24_000, to: 130_000, by: 4_800).compactMap { position in
            search.steadyPosition(before: first + position, of: speaker, near: position).map { abs($0 - position) }
        }
        #expect(errors.count >= 15 && errors.allSatisfy { $0 < 960 }, "\(errors)")
        #expect(Self.loudness(call, 4.9...5.1) < Self.noise)
        // And once, though the sink hears all of a participant's streams
        var heard = [Float](repeating: 0, count: 96_000)
        var span = heard.mutableSpan
        let taken = sink.take(into: &span).frames
        let peak = heard[..<taken].reduce(0) { max($0, abs($1)) }
        #expect(taken > 48_000 && peak < 0.4, "\(taken) frames up to \(peak)")
    }

    @Test(
        "Given music, when a listener interrupts, then what waits is dropped everywhere, and what is fed next is heard")
    func interrupted() throws {
        // Given
        let call = try Self.call()
        let said = PositionSearch.samples(seconds: Self.seconds, seed: 5)
        let music = try call.publish(stream: "music", .a, OutgoingStreamConfiguration(queue: .seconds(6)))
        #expect(Self.feed(music, said[..<(5 * 48_000)]) == 5 * 48_000)
        call.run(for: .seconds(1))
        #expect(Self.loudness(call, 1.6...1.9) > 0.05)
        // When
        try call.interrupt(try #require(call.ownStream(.a)), by: .b)
        let interruption = call.elapsed / .seconds(1)
        call.run(for: .seconds(1))
        // Then
        #expect(Self.loudness(call, interruption + 0.1...interruption + 0.9) < Self.noise)
        #expect(call.events(.a).contains { if case .interrupted = $0 { true } else { false } })
        // And
        #expect(Self.feed(music, said[..<48_000]) == 48_000)
        call.run(for: .seconds(2))
        #expect(Self.loudness(call, interruption + 1.3...interruption + 1.8) > 0.05)
        // And nothing behind its end
        call.withdraw(music, .a)
        let end = call.elapsed / .seconds(1)
        call.run(for: .seconds(1))
        #expect(Self.loudness(call, end + 0.3...end + 0.9) < Self.noise)
    }

    /// A call in which A plays music for as long as there is any, and says nothing.
    private struct Concert {
        let call: SimulatedCall
        let music: OutgoingStream
        private var said: ArraySlice<Float>

        init(_ adaptation: SenderAdaptationPolicy, seconds: Int) throws {
            call = try OutgoingStreamTests.call(longest: .seconds(seconds + 2))
            var configuration = OutgoingStreamConfiguration.music
            configuration.adaptation = adaptation
            music = try call.publish(stream: "music", .a, configuration)
            said = SyntheticMusic.samples(frames: seconds * 48_000, seed: 2)[...]
        }

        /// Goes on for so many seconds; the share of what B's loudspeaker sounded of it that was made up.
        mutating func play(_ seconds: Int) throws -> Double {
            let before = try received.playout
            for _ in 0..<seconds * 10 {
                #expect(OutgoingStreamTests.feed(music, said.prefix(4_800)) == 4_800)
                said = said.dropFirst(4_800)
                call.run(for: .milliseconds(100))
            }
            let after = try received.playout
            return Double(after.concealedSamples - before.concealedSamples)
                / Double(max(after.pulledSamples - before.pulledSamples, 1))
        }

        func setNetwork(_ change: (inout NetworkConditions) -> Void) throws {
            var conditions = NetworkConditions.lan
            conditions.baseDelay = .milliseconds(20)
            change(&conditions)
            try call.setNetwork(conditions, .a)
        }

        var sent: EngineStatistics.Outgoing {
            get throws { try #require(call.statistics(.a).outgoing.first) }
        }

        private var received: EngineStatistics.Stream {
            get throws {
                let source = try sent.synchronizationSource
                return try #require(call.statistics(.b).streams.first { $0.synchronizationSource == source })
            }
        }
    }

    @Test(
        "Given music, when a listener reports, then what it says of the music is known apart from the microphone",
        .enabled(if: isOptimised))
    func reports() throws {
        var concert = try Concert(.adaptive, seconds: 9)
        try concert.setNetwork { _ in }
        concert.call.run(for: .milliseconds(500))
        _ = try concert.play(5)
        let listener = try #require(try concert.sent.remoteInbound.first)
        #expect(try concert.sent.remoteInbound.count == 1 && concert.sent.packetsSent > 240)
        #expect(listener.fractionLost == 0 && listener.packetsLost == 0)
        // Four ways of 20 ms, of which B's are the default network's
        let roundTrip = try #require(listener.roundTripTime)
        let own = try #require(concert.call.statistics(.a).remoteInbound.first?.roundTripTime)
        #expect(abs(roundTrip.milliseconds - own.milliseconds) < 10, "\(roundTrip), and \(own) of the microphone")
        #expect(concert.call.statistics(.b).reports.malformed == 0)
        // When the network loses every fifth packet of A's
        try concert.setNetwork { $0.loss = .independent(0.2) }
        _ = try concert.play(3)
        let later = try #require(try concert.sent.remoteInbound.first)
        #expect(later.packetsLost > 10 && later.fractionLost > 0.05, "\(later)")
    }

    @Test(
        "Given music of which bursts are lost, when that is reported, then packets are repeated and less is made up, until nothing is lost any more",
        .enabled(if: isOptimised))
    func bursts() throws {
        var adaptive = try Concert(.adaptive, seconds: 62)
        var fixed = try Concert(.fixed, seconds: 30)
        func lose(_ concert: inout Concert) throws -> Double {
            concert.call.run(for: .milliseconds(500))
            _ = try concert.play(2)
            try concert.setNetwork { $0.loss = .bursts(0.12, meanBurst: 3) }
            _ = try concert.play(12)
            return try concert.play(14)
        }
        let (restored, made) = (try lose(&adaptive), try lose(&fixed))
        #expect(try adaptive.sent.copies > 0 && adaptive.sent.copyBytesSent > 6_000)
        #expect(try fixed.sent.copyBytesSent == 0)
        #expect(made > 0.05 && restored < 0.8 * made, "\(restored) against \(made)")
        try adaptive.setNetwork { _ in }
        _ = try adaptive.play(30)
        #expect(try adaptive.sent.copies == 0)
        // And the microphone is as it was
        #expect(try adaptive.sent.encoder?.bitratePerSecond == 96_000)
    }

    @Test(
        "Given a path that has less than the music takes, when that shows, then it takes less of it",
        .enabled(if: isOptimised))
    func narrow() throws {
        func dropped(_ adaptation: SenderAdaptationPolicy) throws -> (early: Int, late: Int, bitrate: Int) {
            var concert = try Concert(adaptation, seconds: 26)
            concert.call.run(for: .milliseconds(500))
            _ = try concert.play(3)
            try concert.setNetwork { $0.rateLimit = .init(bitsPerSecond: 80_000, longestWait: .milliseconds(200)) }
            _ = try concert.play(6)
            let early = concert.call.network(.a).up.droppedByQueue
            _ = try concert.play(9)
            let before = concert.call.network(.a).up.droppedByQueue
            _ = try concert.play(6)
            let late = concert.call.network(.a).up.droppedByQueue - before
            return (early, late, try concert.sent.encoder?.bitratePerSecond ?? 0)
        }
        let (adaptive, fixed) = (try dropped(.adaptive), try dropped(.fixed))
        #expect(adaptive.early > 20 && fixed.late > 20, "\(adaptive), \(fixed)")
        #expect(adaptive.bitrate < 80_000 && fixed.bitrate == 96_000, "\(adaptive), \(fixed)")
        #expect(adaptive.late < fixed.late / 3, "\(adaptive), \(fixed)")
    }

    @Test(
        "Given a soft and a loud talker, when talkers are levelled, then what was 12 dB apart is played within 2 dB",
        .enabled(if: isOptimised))
    func levelling() throws {
        func level(_ decibels: Float, _ levelling: TalkerLevelling?) throws -> Float {
            let call = try Self.call()
            let said = SyntheticSpeech.samples(
                frames: 11 * 48_000, seed: 3, voice: .low, levelDecibels: Double(decibels))
            let stream = try call.publish(stream: "s", .a, OutgoingStreamConfiguration(queue: .seconds(12)))
            try call.setTalkerLevelling(levelling, .b)
            #expect(Self.feed(stream, said[...]) == said.count)
            call.run(for: .seconds(11))
            return 20 * log10f(Self.loudness(call, 8...11.8))
        }
        // Given what they are without
        let (soft, loud) = (try level(-32, nil), try level(-20, nil))
        #expect(abs(loud - soft - 12) < 1)
        // When
        let levelling = TalkerLevelling(target: -26, range: 9)
        let (softLevelled, loudLevelled) = (try level(-32, levelling), try level(-20, levelling))
        // Then
        #expect(softLevelled > soft + 3 && loudLevelled < loud - 3, "\(soft) \(softLevelled), \(loud) \(loudLevelled)")
        #expect(abs(loudLevelled - softLevelled) < 2, "\(softLevelled), \(loudLevelled)")
    }
}
