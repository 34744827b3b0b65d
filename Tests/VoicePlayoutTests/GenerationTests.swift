import TestCases
import Testing
import VoiceWire

@testable import VoicePlayout

@Suite("Generations of a stream")
struct GenerationTests {
    @Test(
        "what a packet says is taken for the nearest to the generation in force",
        arguments: [0, 5, 300, UInt32.max - 1])
    func nearest(number: UInt32) {
        var generations = GenerationInForce(number)
        for distance in -128...127 {
            let generation = number &+ UInt32(bitPattern: Int32(distance))
            #expect(generations.generation(of: UInt8(truncatingIfNeeded: generation)) == generation)
            #expect(generations.isOver(generation) == (distance < 0))
        }
        #expect(generations.generation(of: nil) == number)
        let isNewer = [number &+ 1, number &+ 1].map { generations.put($0) }
        #expect(isNewer == [true, false])
        #expect(generations.isOver(number))
        let isOlderNewer = generations.put(number)
        #expect(!isOlderNewer)
        #expect(!generations.isOver(number))
    }

    @Test("an interrupted generation is silent at once, what was under way is refused, and the next one is heard whole")
    func interrupted() {
        // Given an utterance that plays, its packets under way for 200 ms more, and another one right behind it
        var trace = Trace(seconds: 4, network: Network(jitterMilliseconds: 20), seed: 4)
        let first = trace.packets.firstIndex { $0.milliseconds > 2200 } ?? 0
        for index in trace.packets.indices { trace.packets[index].generation = index < first ? 255 : 0 }
        var listening = Listening()
        listening.buffer.reset(generation: 255)
        listening.play(trace, until: 2000)
        let heard = listening.buffer.statistics.decodedSamples
        // When it is interrupted, twice by the same message
        let answers = [listening.buffer.flush(generation: 256), listening.buffer.flush(generation: 256)]
        #expect(answers == [true, false])
        let start = listening.sound.count
        listening.play(trace, until: 4000)
        listening.expectAccounts()
        // Then the old one is silent after 5 ms, and nothing is made up for it
        #expect(!listening.sound[(start + 240)..<(start + 190 * 48)].contains { $0 != 0 })
        #expect(listening.largestStep(from: 1900) < ToneDecoder.amplitude * 2 * .pi / Float(ToneDecoder.period) * 3)
        // And the new one is played from its first packet on, without marker or silence before it
        let played = Int(listening.buffer.statistics.decodedSamples - heard) / 960
        #expect(played >= trace.packets.count - first - 10, "\(played) of \(trace.packets.count - first) packets")
    }

    @Test("what has come of the new generation before the word is kept")
    func packetsBeforeTheWord() {
        // Given 300 ms of the old one that wait, and behind them the new one, since the room's word is late
        var trace = Trace(seconds: 4, network: .clean, seed: 4)
        for index in trace.packets.indices {
            if trace.packets[index].milliseconds >= 1700 { trace.packets[index].milliseconds = 2000 }
            trace.packets[index].generation = index < 95 ? 0 : 1
        }
        let waiting = trace.packets.indices.filter { trace.packets[$0].milliseconds == 2000 }
        trace.packets.removeSubrange((waiting[waiting.startIndex] + 30)...)
        var listening = Listening()
        listening.play(trace, until: 2010)
        let before = listening.buffer.statistics
        let newPackets = trace.packets.filter { $0.generation == 1 }.count
        #expect(newPackets > 10 && listening.buffer.waitingPackets >= newPackets)
        // When the word comes
        listening.buffer.flush(generation: 1)
        // Then of what waits exactly the old one is dropped
        #expect(listening.buffer.waitingPackets == newPackets)
        listening.play(trace, until: 3000)
        let played = Int(listening.buffer.statistics.decodedSamples - before.decodedSamples) / 960
        #expect(played == newPackets)
        listening.expectAccounts()
    }

    @Test("a refused interruption lets what is said be heard again")
    func refused() {
        var trace = Trace(seconds: 4, network: .clean, seed: 4)
        for index in trace.packets.indices { trace.packets[index].generation = 7 }
        var listening = Listening()
        listening.buffer.reset(generation: 7)
        listening.play(trace, until: 1000, keepsSound: false)
        listening.buffer.flush(generation: 8)
        listening.play(trace, until: 1500, keepsSound: false)
        let silent = listening.buffer.statistics.decodedSamples
        listening.buffer.flush(generation: 7)
        listening.play(trace, until: 2500, keepsSound: false)
        #expect(listening.buffer.statistics.decodedSamples - silent >= 48_000 * 9 / 10)
        listening.expectAccounts()
    }

    @Test(
        "over any order of sending, interrupting, coming late and leaving, nothing of an old generation is decoded or heard",
        arguments: cases(1...40))
    func anyOrder(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let talker = Talker(seed: seed, &random)
        var buffer = PlayoutBuffer()
        var decoder = GenerationDecoder()
        buffer.reset(generation: talker.firstGeneration)
        var inForce = talker.firstGeneration
        var (words, packets) = (talker.words[...], talker.packets[...])
        var framesSinceWord = Int.max / 2
        for tick in 0..<4000 {
            let now = Double(tick) * 5
            while let packet = packets.first, packet.milliseconds <= now {
                packets.removeFirst()
                _ = buffer.insert(
                    packet.payload.span, header: packet.header, generation: packet.generation, now: packet.time)
            }
            while let word = words.first, word.milliseconds <= now {
                words.removeFirst()
                if word.leaves {
                    // Another takes the place, and the talker comes back to it with its generation.
                    buffer.reset(generation: word.generation)
                    decoder.reset()
                    decoder.newest = nil
                } else {
                    if buffer.flush(generation: word.generation) { framesSinceWord = 0 }
                }
                inForce = word.generation
            }
            decoder.decoded = []
            var block = [Float](repeating: .nan, count: 240)
            var room = block.mutableSpan
            _ = buffer.pull(into: &room, now: .nanoseconds(Int64(now * 1e6)), decoder: &decoder)
            // Then nothing older goes through the decoder
            let old = decoder.decoded.filter { Int32(bitPattern: $0 &- inForce) < 0 }
            #expect(old.isEmpty, "\(old) in generation \(inForce) at \(now) ms, seed \(seed)")
            // And 5 ms after the word nothing of it sounds: until the new one has begun it is silent
            let hasBegun = decoder.newest.map { Int32(bitPattern: $0 &- inForce) >= 0 } ?? false
            if framesSinceWord >= 240, !hasBegun {
                #expect(block.allSatisfy { $0 == 0 }, "sound at \(now) ms of generation \(inForce), seed \(seed)")
            }
            framesSinceWord += 240
        }
        // And there was something to hear, also where much of it was given up: 21,120 samples at least in 40 seeds
        #expect(buffer.statistics.decodedSamples > 9_600, "seed \(seed)")
        #expect(packets.isEmpty && words.isEmpty)
    }

    @Test(
        "whatever packets say of their generation, the buffer stays within its bounds, and goes on",
        arguments: cases(1...10))
    func lies(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var trace = Trace(seconds: 10, network: Network(jitterMilliseconds: 20, reorderRatio: 0.1), seed: seed)
        for index in trace.packets.indices where index < trace.packets.count / 2 {
            trace.packets[index].generation =
                Bool.random(using: &random) ? .random(in: 0 ... .max, using: &random) : nil
        }
        var listening = Listening(context: "seed \(seed)")
        for step in 1...50 {
            listening.play(trace, until: Double(step) * 100, keepsSound: false, timestampsMayJump: true)
            if step % 5 == 0 { listening.buffer.flush(generation: UInt32(truncatingIfNeeded: random.next())) }
            #expect(listening.buffer.waitingPackets <= max(16, listening.buffer.configuration.packetCapacity))
        }
        // And whoever tells the truth again is heard
        let before = listening.buffer.statistics.decodedSamples
        listening.play(trace, until: 9900, keepsSound: false, timestampsMayJump: true)
        #expect(listening.buffer.statistics.decodedSamples - before > 48_000 * 4, "seed \(seed)")
        listening.expectAccounts()
    }
}

/// A talker who is interrupted now and then: its packets as they arrive, and the words that put a generation in force,
/// before or after them.
private struct Talker {
    struct Word {
        var milliseconds: Double
        var generation: UInt32
        /// Whether the listener forgets the talker, and meets it anew.
        var leaves: Bool
    }

    let firstGeneration: UInt32
    var packets: [Arriving]
    var words: [Word] = []

    init(seed: UInt64, _ random: inout SeededNumbers) {
        firstGeneration = [0, 250, .max - 1].randomElement(using: &random) ?? 0
        let network = Network(jitterMilliseconds: 15, lossRatio: 0.05, reorderRatio: 0.1, duplicateRatio: 0.05)
        packets = Trace(seconds: 18, redundant: Bool.random(using: &random), network: network, seed: seed).packets
        var (generation, start) = (firstGeneration, 0.0)
        var changes: [(timestamp: Double, generation: UInt32)] = []
        while true {
            start += Double.random(in: 60...3000, using: &random)
            guard start < 17_500 else { break }
            generation &+= 1
            changes.append((start, generation))
            // The word comes before what is said anew, or after some of it has come; never after the next one.
            let time = max(words.last?.milliseconds ?? 0, start + Double.random(in: -200...200, using: &random))
            words.append(Word(milliseconds: time, generation: generation, leaves: random.next() % 5 == 0))
            if random.next() % 4 == 0 { words.append(words[words.endIndex - 1]) }
        }
        let base = packets.map { Self.media($0) }.min() ?? 0
        for index in packets.indices {
            let media = Self.media(packets[index]) - base
            let packetGeneration = changes.last { $0.timestamp <= media }?.generation ?? firstGeneration
            let isFirst = changes.contains { $0.timestamp <= media && $0.timestamp > media - 20 }
            packets[index].generation = UInt8(truncatingIfNeeded: packetGeneration)
            packets[index].payload = GenerationDecoder.payload(
                packetGeneration, redundant: packets[index].payload[1] != 0 && !isFirst)
        }
    }

    /// When a packet was said, ms; the trace's first timestamps lie before the wrap.
    private static func media(_ packet: Arriving) -> Double {
        Double(packet.header.timestamp &- 4_294_900_000) / 48
    }
}

/// Knows of which generation everything is that goes through it.
private struct GenerationDecoder: SpeechDecoder, ~Copyable {
    enum Refusal: Error { case notOurs }

    var decoded: [UInt32] = []
    var newest: UInt32?

    static func payload(_ generation: UInt32, redundant: Bool) -> [UInt8] {
        TonePacket.payload(position: Int64(generation), frames: 960, redundant: redundant)
    }

    private mutating func note(_ packet: Span<UInt8>) throws(Refusal) {
        guard let position = TonePacket.position(in: packet) else { throw .notOurs }
        decoded.append(UInt32(truncatingIfNeeded: position))
        newest = UInt32(truncatingIfNeeded: position)
    }

    private func fill(_ sound: inout MutableSpan<Float>, _ frames: Int) {
        for frame in 0..<frames { sound[frame] = 0.1 + 0.1 * ToneDecoder.sample(Int64(frame)) }
    }

    mutating func decode(_ packet: Span<UInt8>, into sound: inout MutableSpan<Float>) throws(Refusal) -> Int {
        try note(packet)
        fill(&sound, 960)
        return 960
    }

    mutating func decodeRedundancy(of next: Span<UInt8>, into sound: inout MutableSpan<Float>) throws(Refusal) -> Int {
        try note(next)
        fill(&sound, sound.count)
        return sound.count
    }

    mutating func conceal(into sound: inout MutableSpan<Float>) throws(Refusal) -> Int {
        fill(&sound, sound.count)
        return sound.count
    }

    mutating func reset() {}
    mutating func saveState(at place: Int) {}
    mutating func restoreState(from place: Int) {}
}
