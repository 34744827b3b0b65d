import Testing
import VoiceRooms
import VoiceText
import VoiceTurns

@testable import VoiceEngine

@Suite("Captions of talkers in a room")
struct CaptionFollowerTests {
    private let talker = ParticipantID(rawValue: 7)

    private func text(_ track: CaptionTrack, isWhole: Bool = false) -> EngineEvent {
        .text(
            from: talker,
            TextUpdate(
                stream: CaptionTrack.stream, round: 1, text: track.encoded, isFinal: isWhole, extras: ""))
    }

    private func heard(_ utterance: UtteranceID, _ milliseconds: Int, isFinal: Bool = false) -> EngineEvent {
        .utteranceHeard(
            talker,
            HeardUtterance(
                utterance: utterance, heard: .milliseconds(milliseconds), bound: .zero, isFinal: isFinal), at: .zero)
    }

    /// As the follower's own; the macro cannot call what mutates.
    private func handle(_ event: EngineEvent, _ follower: inout CaptionFollower) -> RoomCaption? {
        follower.handle(event)
    }

    @Test("grow with what is heard, in whatever order words and sound come, and stop where it was interrupted")
    func follow() throws {
        var follower = CaptionFollower()
        // Given sound whose words are not known yet
        #expect(handle(heard(1, 400), &follower) == nil)
        var track = CaptionTrack(utterance: 1)
        track.append("One two ", from: .zero, to: .milliseconds(500))
        let first = try #require(handle(text(track), &follower))
        #expect(first.talker == talker)
        #expect(first.caption == Caption(utterance: 1, heard: "One", text: "One two ", isFinal: false))
        // When more is heard and known
        #expect(handle(heard(1, 500), &follower)?.caption.heard == "One two ")
        #expect(handle(heard(1, 500), &follower) == nil, "nothing is new")
        track.append("three four", from: .milliseconds(500), to: .milliseconds(1_000))
        #expect(handle(text(track, isWhole: true), &follower)?.caption.text == "One two three four")
        // Then an interruption ends it where it was
        let cut = try #require(handle(heard(1, 800, isFinal: true), &follower)).caption
        #expect(cut == Caption(utterance: 1, heard: "One two three", text: "One two three four", isFinal: true))
        #expect(cut.isCut)
    }

    @Test("of more talkers than a room has the first is forgotten")
    func bounded() throws {
        var follower = CaptionFollower()
        let talkers = (1...UInt32(RoomProtocol.participantLimit + 1)).map { ParticipantID(rawValue: $0) }
        let progress = HeardUtterance(utterance: 1, heard: .milliseconds(500), bound: .zero, isFinal: false)
        for talker in talkers { _ = handle(.utteranceHeard(talker, progress, at: .zero), &follower) }
        // When the words of the first and of the others come
        var track = CaptionTrack(utterance: 1)
        track.append("Yes.", from: .zero, to: .milliseconds(500))
        let update = TextUpdate(
            stream: CaptionTrack.stream, round: 1, text: track.encoded, isFinal: true, extras: "")
        for talker in talkers.reversed() {
            let caption = try #require(handle(.text(from: talker, update), &follower)).caption
            // Then what was heard of the first is not known any more
            #expect(caption.heard == (talker == talkers[0] ? "" : "Yes."), "\(talker)")
        }
    }

    @Test("one that is heard to its end is final, and not cut; the next begins anew")
    func complete() throws {
        var follower = CaptionFollower()
        for number in 1...9 as ClosedRange<UInt32> {
            var track = CaptionTrack(utterance: number)
            track.append("Yes.", from: .zero, to: .milliseconds(300))
            #expect(handle(text(track, isWhole: true), &follower)?.caption.heard == "")
            let caption = try #require(handle(heard(UtteranceID(rawValue: number), 300), &follower)).caption
            #expect(caption.isFinal && !caption.isCut && caption.heard == "Yes.")
        }
        // Who has left is forgotten, and what is no caption is none
        #expect(handle(.participantLeft(talker, nil), &follower) == nil)
        #expect(handle(heard(9, 300), &follower) == nil)
        let other = TextUpdate(stream: "notes", round: 1, text: "utterance 1\n0 1\ta\n", isFinal: true, extras: "")
        #expect(handle(.text(from: talker, other), &follower) == nil)
        let noise = TextUpdate(stream: CaptionTrack.stream, round: 1, text: "noise", isFinal: true, extras: "")
        #expect(handle(.text(from: talker, noise), &follower) == nil)
    }
}
