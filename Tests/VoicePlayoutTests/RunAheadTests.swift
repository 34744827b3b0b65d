import Testing
import VoicePlayout
import VoiceWire

/// A synthesiser sends utterances faster than they are spoken.
struct RunAheadTests {
    /// How a synthesiser counts its timestamps across the silence between utterances.
    enum Counting: CaseIterable { case onlyWhatIsSent, wallClock }

    /// Utterances of `length` ms that begin every `every` ms, each sent `speed` times faster than it is spoken.
    private func utterances(_ count: Int, length: Double, every: Double, speed: Double, _ counting: Counting) -> Trace {
        var trace = Trace(seconds: 0, network: .clean, seed: 1)
        var sequence: UInt16 = 65_500
        for utterance in 0..<count {
            let start = Double(utterance) * every
            let media = counting == .wallClock ? start : Double(utterance) * length
            for index in 0..<Int(length / 20) {
                let position = Int64((media + Double(index) * 20) * 48)
                trace.packets.append(
                    Arriving(
                        milliseconds: start + Double(index) * 20 / speed,
                        header: RTPHeader(
                            payloadType: 111, marker: index == 0, sequenceNumber: sequence,
                            timestamp: UInt32(truncatingIfNeeded: position), synchronizationSource: 1),
                        payload: TonePacket.payload(position: position, frames: 960)))
                sequence &+= 1
            }
        }
        return trace
    }

    @Test(
        "Every word of a synthesiser that runs ahead is played in order, and none late", arguments: Counting.allCases,
        [2.0, 10, 1000])
    func burst(counting: Counting, speed: Double) {
        // Given three utterances of three seconds
        let trace = utterances(3, length: 3000, every: 5000, speed: speed, counting)
        var listening = Listening(context: "\(counting), \(speed) times")
        // When they are played
        listening.play(trace, until: 15_000)
        listening.expectAccounts()
        // Then each packet was played, none was cut or skipped, and only the ends ring out
        let statistics = listening.buffer.statistics
        #expect(statistics.decodedSamples == 9 * 48_000, "\(statistics.decodedSamples) samples played")
        #expect(statistics.skippedSamples == 0 && statistics.packetsDiscarded == 0)
        #expect(statistics.removedSamplesForAcceleration <= 48 * 40, "\(statistics.removedSamplesForAcceleration)")
        #expect(statistics.insertedSamplesForDeceleration == 0 && statistics.streamRestarts == 0)
        // And every utterance begins within 40 ms of its first packet
        for utterance in 0..<3 {
            let from = (utterance * 5000 + 40) * 48
            let sounds = listening.sound[from..<from + 48].contains { abs($0) > 0.01 }
            #expect(sounds, "utterance \(utterance), \(counting), \(speed) times")
        }
    }

    @Test("A sender that runs ahead of all room is told so, and what waits is kept")
    func overrun() {
        // Given room for 64 packets, and an utterance of 3 s sent at once
        var configuration = PlayoutConfiguration.conversation
        configuration.packetCapacity = 64
        let trace = utterances(1, length: 3000, every: 5000, speed: 1e6, .wallClock)
        var listening = Listening(configuration)
        // When somebody listens
        listening.pull(480, at: 0)
        var outcomes: [InsertOutcome] = []
        for packet in trace.packets {
            outcomes.append(listening.buffer.insert(packet.payload.span, header: packet.header, now: .milliseconds(5)))
        }
        // Then the first 64 wait, and the rest is refused
        #expect(outcomes.filter { $0 == .stored }.count == 64)
        #expect(outcomes.suffix(86).allSatisfy { $0 == .overrun })
        for step in 1..<150 { listening.pull(480, at: Double(step) * 10) }
        #expect(listening.buffer.statistics.decodedSamples == 64 * 960)
        listening.expectAccounts()
    }

    @Test("A route that has become 300 ms shorter is followed within two seconds")
    func shorterRoute() {
        // Given a route that loses 300 ms after 4 s
        var network = Network(jitterMilliseconds: 0.3)
        network.step = (0, 4000, 300)
        let trace = Trace(seconds: 8, network: network, seed: 1)
        var listening = Listening()
        // When 2 s have passed, then the delay is small again
        listening.play(trace, until: 6000, keepsSound: false)
        let before = listening.buffer.statistics
        listening.play(trace, until: 8000, keepsSound: false)
        let delay = PullGranularityTests.meanDelay(from: before, to: listening.buffer.statistics)
        #expect(delay < 25, "\(delay) ms")
    }
}
