import Testing
import VoiceRealtime
import VoiceRooms
import VoiceTurns

@testable import VoiceEngine

@Suite("The media of a room that comes back")
struct RoomMediaReturnTests: RoomMediaTesting {
    @Test("a room server that was started anew begins its generations anew")
    func generationsOfARestartedServer() {
        let anna = ParticipantID(rawValue: 1)
        var media = joined([entry(1, "anna", generation: 7)])
        // When the room comes back with the same stream's number for another source
        _ = media.handle(.reconnecting)
        let stream = StreamAssignment(stream: StreamID(rawValue: 10), synchronizationSource: 101)
        let fresh = RosterEntry(participant: anna, identity: "anna", name: "", streams: [PublishedStream(stream)])
        let back = media.handle(.reconnected(grant(), RoomRoster([fresh, me])))
        #expect(back.map(text) == ["publish 500", "drop 100", "play 101", "back"])
        // Then its generations are those of the new stream
        #expect(media.interrupt(anna).map(text) == ["flush 101 before 1", "tell interrupted 10"])
    }

    @Test("what was interrupted while we were away is dropped when we are back")
    func interruptedAway() {
        let stream = StreamID(rawValue: 10)
        var media = joined([entry(1, "anna")])
        _ = media.handle(.reconnecting)
        let back = media.handle(
            .reconnected(grant(resumed: true), RoomRoster([entry(1, "anna", generation: 2), me])))
        #expect(back.map(text) == ["flush 100 before 2", "back"])
        // And then is told as the others were
        let told = media.handle(.interrupted(by: Self.own, stream, generation: 2))
        #expect(told.isEmpty)
        let second = media.handle(.interrupted(by: ParticipantID(rawValue: 1), stream, generation: 2))
        #expect(second.map(text) == ["1 interrupted 1 before 2"])
    }

    @Test("a break that the room has bridged changes only what happened meanwhile")
    func resumed() {
        var media = joined([entry(1, "anna"), entry(2, "ben"), entry(3, "carl")])
        #expect(media.handle(.reconnecting).map(text) == ["lost"])
        // When ben has gone, carl has muted and dora has come while we were away, which the session tells first one by
        // one
        let meanwhile: [RoomSessionEvent] = [
            .participantLeft(ParticipantID(rawValue: 2), nil), .participantJoined(entry(4, "dora")),
            .muteChanged(ParticipantID(rawValue: 3), StreamID(rawValue: 30), .byPublisher),
        ]
        for event in meanwhile { #expect(media.handle(event).isEmpty) }
        let roster = RoomRoster([entry(1, "anna"), entry(3, "carl", isMuted: true), entry(4, "dora"), me])
        let actions = media.handle(.reconnected(grant(resumed: true), roster))
        // Then just that is done and told, and our own stream goes on as it was
        #expect(
            actions.map(text) == [
                "drop 200", "expect 300 silent", "play 400", "back", "went 2 -", "came dora", "mute 3 true",
            ])
        #expect(media.ownStream == Self.ownStream)
    }

    @Test("messages that the room has not confirmed are told of, in the break and after it")
    func messagesDropped() {
        var media = joined([entry(1, "anna")])
        _ = media.handle(.reconnecting)
        #expect(media.handle(.messagesDropped(3)).map(text) == ["messagesDropped(3)"])
        _ = media.handle(.reconnected(grant(), RoomRoster([entry(1, "anna"), me])))
        #expect(media.handle(.messagesDropped(1)).map(text) == ["messagesDropped(1)"])
    }

    @Test("events that were lost are made up for by who is there now")
    func eventsLost() {
        // Given anna and ben, and that we publish
        var media = joined([entry(1, "anna"), entry(2, "ben")])
        _ = media.handle(.published(Self.own, PublishedStream(Self.ownStream)))
        // When ben went, carl came, and anna muted, of all of which we heard nothing
        let us = RosterEntry(
            participant: Self.own, identity: "me", name: "", streams: [PublishedStream(Self.ownStream)])
        let roster = RoomRoster([entry(1, "anna", isMuted: true), entry(3, "carl"), us])
        let actions = media.catchUp(grant(), roster)
        // Then that is what is done and told, and our own stream goes on
        #expect(
            actions.map(text) == [
                "drop 200", "expect 100 silent", "play 300", "went 2 -", "came carl", "mute 1 true",
            ])
        // And when even the return from a break was lost, it is told as well
        _ = media.handle(.reconnecting)
        #expect(media.catchUp(grant(), roster).map(text) == ["back"])
    }

    @Test("our stream, confirmed while we were away, is sent")
    func confirmedAway() {
        var media = joined()
        _ = media.handle(.reconnecting)
        let us = RosterEntry(
            participant: Self.own, identity: "me", name: "", streams: [PublishedStream(Self.ownStream)])
        #expect(media.handle(.published(Self.own, PublishedStream(Self.ownStream))).isEmpty)
        #expect(
            media.handle(.reconnected(grant(resumed: true), RoomRoster([us]))).map(text) == ["send 500", "back"])
        // And is left alone in the next break
        _ = media.handle(.reconnecting)
        #expect(media.handle(.reconnected(grant(resumed: true), RoomRoster([us]))).map(text) == ["back"])
    }

    @Test("a room server that was started anew gives old numbers to others, ours among them")
    func restartedServer() {
        // Given anna as participant 1 and us as 5
        var media = joined([entry(1, "anna")])
        _ = media.handle(.reconnecting)
        // When the new server has us as 1 and nobody else yet
        let stream = StreamAssignment(stream: StreamID(rawValue: 10), synchronizationSource: 77)
        let us = RosterEntry(participant: ParticipantID(rawValue: 1), identity: "me", name: "")
        for event in [
            .participantLeft(Self.own, nil), .unpublished(ParticipantID(rawValue: 1), StreamID(rawValue: 10)),
        ] as [RoomSessionEvent] { #expect(media.handle(event).isEmpty) }
        let fresh = grant(as: ParticipantID(rawValue: 1), stream: stream)
        let actions = media.handle(.reconnected(fresh, RoomRoster([us])))
        // Then anna is gone, nobody plays us to ourselves, and our new stream is published
        #expect(actions.map(text) == ["publish 77", "drop 100", "back", "went 1 -"])
        #expect(media.participants.isEmpty)
        // And when anna comes back, under a new number, she is played
        #expect(media.handle(.participantJoined(entry(2, "anna"))).map(text) == ["play 200", "came anna"])
    }
}
