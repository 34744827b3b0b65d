import Testing
import VoiceRealtime
import VoiceWire

@testable import VoiceEngine

@Suite("What packets say of their origin")
struct OutgoingSpeechTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    /// An utterance that was named at 0 ms and is being said at 10 ms.
    private func saying(_ utterance: UInt32, generation: UInt32 = 0) -> OutgoingSpeech {
        var speech = OutgoingSpeech(generation: generation)
        speech.begin(utterance: utterance, at: Self.time(0))
        _ = speech.reach(Self.time(10))
        return speech
    }

    @Test("an utterance counts from its first packet, across the wrap of timestamps and whatever lies between")
    func place() {
        var speech = saying(9, generation: 0x1FF)
        let start = UInt32.max - 100
        let said = [start, start &+ 48_000].map { speech.origin(of: $0).place }
        #expect(said == [0, 48_000].map { SpeechOrigin.Place(utterance: 9, position: $0) })
        // And ends with what is captured from then on
        speech.begin(utterance: nil, at: Self.time(100))
        var places: [SpeechOrigin.Place?] = []
        for end in [100, 110] as [Int64] {
            let begins = speech.reach(Self.time(end))
            #expect(!begins)
            places.append(speech.origin(of: start).place)
        }
        #expect(places == [SpeechOrigin.Place(utterance: 9, position: 0), nil])
        let origin = speech.origin(of: 5)
        #expect(origin == SpeechOrigin(generation: 0xFF))
    }

    @Test("what waited before it was sent is of the utterance that it was said in")
    func waiting() {
        var speech = saying(1)
        speech.begin(utterance: 2, at: Self.time(500))
        // Given a pre-roll that is 300 ms behind
        let begins = ([200, 500, 510, 520] as [Int64]).map { speech.reach(Self.time($0)) }
        #expect(begins == [false, false, true, false])
    }

    @Test("what is left of an interrupted utterance is not sent, until another is named or none", arguments: [10, nil])
    func cut(next: UInt32?) {
        var speech = saying(9, generation: .max)
        // Neither a second interruption lets it through, nor one that was told before
        for (generation, isNewer) in [(0, true), (2, true), (2, false), (1, false)] as [(UInt32, Bool)] {
            let isTaken = speech.begin(generation: generation, at: Self.time(100))
            _ = speech.reach(Self.time(200))
            #expect(isTaken == isNewer && speech.isCut)
        }
        speech.begin(utterance: next, at: Self.time(300))
        // Nor what was captured before the next was named
        _ = speech.reach(Self.time(300))
        #expect(speech.isCut)
        let begins = speech.reach(Self.time(310))
        let origin = speech.origin(of: 960)
        #expect(!speech.isCut && begins == (next != nil))
        #expect(origin == SpeechOrigin(generation: 2, place: next.map { .init(utterance: $0, position: 0) }))
    }

    @Test("without an utterance only what was captured before the interruption is left out")
    func withoutUtterance() {
        var speech = OutgoingSpeech()
        _ = speech.begin(generation: 1, at: Self.time(100))
        let cut = ([90, 100, 110] as [Int64]).map { end in
            _ = speech.reach(Self.time(end))
            return speech.isCut
        }
        #expect(cut == [true, true, false])
    }

    @Test("an utterance that was named and had not begun is interrupted too")
    func namedAndInterrupted() {
        var speech = OutgoingSpeech()
        speech.begin(utterance: 3, at: Self.time(100))
        _ = speech.begin(generation: 1, at: Self.time(105))
        _ = speech.reach(Self.time(200))
        #expect(speech.isCut)
    }

    @Test("an utterance that was named before its stream is said in it, and counts anew in the next")
    func streams() {
        var speech = saying(9)
        var places: [SpeechOrigin.Place?] = []
        for start in [500, 9_000] as [UInt32] {
            speech.beginStream(generation: 3)
            places += [start, start + 960].map { speech.origin(of: $0).place }
        }
        let isTold = speech.takeStart()
        #expect(places == [0, 960, 0, 960].map { SpeechOrigin.Place(utterance: 9, position: $0) })
        #expect(speech.generation == 3 && !isTold)
    }

    @Test("the beginning of a generation is told once, and that of the stream is no news")
    func start() {
        var speech = OutgoingSpeech(generation: 4)
        let atFirst = speech.takeStart()
        for generation in [5, 6] as [UInt32] { _ = speech.begin(generation: generation, at: Self.time(0)) }
        let later = [speech.takeStart(), speech.takeStart()]
        #expect(!atFirst)
        #expect(later == [true, false])
    }
}
