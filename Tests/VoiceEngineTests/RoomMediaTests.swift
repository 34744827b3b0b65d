import Testing
import VoiceRealtime
import VoiceRooms
import VoiceTurns

@testable import VoiceEngine

/// What a room's events mean: each table row is an event of the session and what follows from it, in order.
@Suite("The media of a room")
struct RoomMediaTests: RoomMediaTesting {
    @Test("the join: everybody there is played, one's own stream is published")
    func join() {
        var media = RoomMedia(randomStart: 7)
        let actions = media.handle(
            .joined(grant(), RoomRoster([entry(1, "anna"), entry(2, "ben", isMuted: true), me])))
        #expect(actions.map(text) == ["play 100", "play 200", "publish 500", "joined kitchen as 5", "mute 2 true"])
        #expect(media.participants.values.map(\.identity).sorted() == ["anna", "ben"])
        #expect(media.ownStream == Self.ownStream)
        // And sending begins when the room confirms
        let confirmed = media.handle(.published(Self.own, PublishedStream(Self.ownStream)))
        #expect(confirmed.map(text) == ["send 500"])
    }

    @Test("a microphone that was taken back while the join was on its way is not sent, and withdrawn again")
    func takenBack() {
        var media = RoomMedia(randomStart: 7)
        #expect(media.publish(as: nil).isEmpty)
        let actions = media.handle(.joined(grant(), RoomRoster([me])))
        #expect(!actions.map(text).contains("publish 500"))
        let begun = media.handle(.published(Self.own, PublishedStream(Self.ownStream)))
        guard case .ask(.unpublish(Self.ownStream.stream))? = begun.first, begun.count == 1 else {
            Issue.record("\(begun)")
            return
        }
    }

    @Test("a stream that comes to be of another source, or another's, is played as that alone")
    func anothers() {
        // Given a room that says so of anna's stream
        var media = joined([entry(1, "anna"), entry(2, "ben", publishes: false)])
        let (anna, ben) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2))
        let stream = StreamID(rawValue: 10)
        for source in 101...110 as ClosedRange<UInt32> {
            let published = PublishedStream(StreamAssignment(stream: stream, synchronizationSource: source))
            #expect(media.handle(.published(anna, published)).map(text) == ["drop \(source - 1)", "play \(source)"])
        }
        let last = PublishedStream(StreamAssignment(stream: stream, synchronizationSource: 110))
        #expect(media.handle(.published(ben, last)).map(text) == ["drop 110", "play 110"])
        // Then it is his alone
        #expect(media.talkers == [110: ben])
    }

    @Test("a volume holds for what a participant publishes later, and for nobody who comes after it")
    func volumes() {
        var media = joined([entry(1, "anna", publishes: false), entry(2, "ben")])
        // When anna's is set, who publishes nothing yet, and ben's
        #expect(media.setVolume(0.5, for: ParticipantID(rawValue: 1)).isEmpty)
        #expect(
            media.setVolume(0, for: ParticipantID(rawValue: 2)).map(text)
                == ["setVolume(gain: 0.0, synchronizationSource: 200)"])
        // Then anna's is that of what she publishes
        let stream = StreamAssignment(stream: StreamID(rawValue: 10), synchronizationSource: 100)
        let begun = media.handle(.published(ParticipantID(rawValue: 1), PublishedStream(stream)))
        #expect(begun.map(text) == ["play 100", "setVolume(gain: 0.5, synchronizationSource: 100)"])
        // And of whoever has her number after her, nothing is known
        _ = media.handle(.participantLeft(ParticipantID(rawValue: 1), .left))
        #expect(media.handle(.participantJoined(entry(1, "carl"))).map(text) == ["play 100", "came carl"])
    }

    @Test("who or what is muted here is silent, keeps its volume, and stays muted in what it publishes later")
    func mutedHere() {
        var media = joined([entry(1, "anna"), entry(2, "ben", publishes: false)])
        let (anna, ben) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2))
        _ = media.setVolume(0.5, for: anna)
        #expect(
            media.setMuted(true, for: anna).map(text) == ["setVolume(gain: 0.0, synchronizationSource: 100)"])
        #expect(
            media.setVolume(0.25, for: anna).map(text) == ["setVolume(gain: 0.0, synchronizationSource: 100)"])
        #expect(
            media.setMuted(false, for: anna).map(text) == ["setVolume(gain: 0.25, synchronizationSource: 100)"])
        // By its name a stream that is yet to come, and by its number a participant
        #expect(media.setMuted(true, ofStream: "music").isEmpty && media.setMuted(true, for: ben).isEmpty)
        let music = PublishedStream(
            StreamAssignment(stream: StreamID(rawValue: 11), synchronizationSource: 101), name: "music")
        #expect(
            media.handle(.published(anna, music)).map(text)
                == ["play 101", "setVolume(gain: 0.0, synchronizationSource: 101)"])
        #expect(
            media.setMuted(false, ofStream: "music").map(text)
                == ["setVolume(gain: 0.25, synchronizationSource: 101)"])
        let voice = StreamAssignment(stream: StreamID(rawValue: 20), synchronizationSource: 200)
        #expect(
            media.handle(.published(ben, PublishedStream(voice))).map(text)
                == ["play 200", "setVolume(gain: 0.0, synchronizationSource: 200)"])
        // And of whoever has his number after him, nothing is known
        _ = media.handle(.participantLeft(ben, .left))
        #expect(media.handle(.participantJoined(entry(2, "carl"))).map(text) == ["play 200", "came carl"])
    }

    @Test("streams that the app feeds are published beside the microphone's, in each stay")
    func outgoing() {
        // Given one from before the room, which sets three streams aside
        var requests = StreamRequests()
        requests.presence.outgoing = [3: "music"]
        var media = RoomMedia(randomStart: 7, requests: requests)
        let others = [(51, 501), (52, 502)].map {
            StreamAssignment(stream: StreamID(rawValue: $0.0), synchronizationSource: $0.1)
        }
        let granted = grant(others: others)
        let music = PublishedStream(others[0], name: "music")
        #expect(
            media.handle(.joined(granted, RoomRoster([me]))).map(text)
                == ["publish 500", "publish 501 as music", "joined kitchen as 5"])
        // Then it is sent when the room confirms it, and so is the next; of a third the app is told
        #expect(media.handle(.published(Self.own, music)).map(text) == ["send 501"])
        #expect(media.publish(line: 4, as: "jingle").map(text) == ["publish 502 as jingle"])
        let jingle = PublishedStream(others[1], name: "jingle")
        #expect(media.handle(.published(Self.own, jingle)).map(text) == ["send 502"])
        #expect(media.publish(line: 5, as: "more").map(text) == ["refused publish: unknownStream"])
        #expect(media.ownStreams.map(\.name) == ["music", "jingle"])
        #expect(media.unpublish(line: 5).isEmpty)
        // And an interruption is of that stream alone
        #expect(
            media.handle(.interrupted(by: ParticipantID(rawValue: 1), others[0].stream, generation: 2)).map(text)
                == ["beginStreamGeneration(2, line: 3)", "1 interrupted 5 before 2"])
        // When it is withdrawn, then its place is free again
        #expect(media.unpublish(line: 4).map(text) == ["ask unpublish(\(others[1].stream))", "stopStream(line: 4)"])
        #expect(media.handle(.unpublished(Self.own, others[1].stream)).isEmpty)
        #expect(media.publish(line: 6, as: "again").map(text) == ["publish 502 as again"])
        // In a break that the room has bridged they go on as the room has them
        _ = media.handle(.reconnecting)
        let roster = RosterEntry(
            participant: Self.own, identity: "me", name: "",
            streams: [
                PublishedStream(others[0], generation: 3, name: "music"), PublishedStream(others[1], name: "again"),
            ])
        let resumed = grant(resumed: true, others: others)
        #expect(
            media.handle(.reconnected(resumed, RoomRoster([roster]))).map(text)
                == ["beginStreamGeneration(3, line: 3)", "send 502", "back"])
        // In another stay they are published anew, as is the microphone
        _ = media.handle(.reconnecting)
        let anew = media.handle(.reconnected(granted, RoomRoster([me]))).map(text)
        #expect(
            anew == [
                "stopStream(line: 3)", "stopStream(line: 6)", "publish 500", "publish 501 as music",
                "publish 502 as again", "back",
            ])
        for stream in [music, PublishedStream(others[1], name: "again")] {
            _ = media.handle(.published(Self.own, stream))
        }
        // And a listener has none
        let listener = media.handle(.roleChanged(Self.own, .listener)).map(text)
        #expect(listener.contains("stopStream(line: 3)") && listener.contains("stopStream(line: 6)"), "\(listener)")
        #expect(media.ownStreams.isEmpty)
        #expect(
            (media.setRole(.talker) + media.handle(.roleChanged(Self.own, .talker))).map(text).suffix(2)
                == ["publish 501 as music", "publish 502 as again"])
    }

    @Test("whose each stream is can be told from its source, as long as it is played")
    func talkers() {
        var media = joined([entry(1, "anna"), entry(2, "ben", publishes: false)])
        let (anna, ben) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2))
        #expect(media.talkers == [100: anna])
        let stream = StreamAssignment(stream: StreamID(rawValue: 20), synchronizationSource: 200)
        _ = media.handle(.published(ben, PublishedStream(stream)))
        #expect(media.talkers == [100: anna, 200: ben])
        _ = media.handle(.unpublished(ben, stream.stream))
        #expect(media.talkers == [100: anna])
    }

    @Test("a listener publishes nothing")
    func listener() {
        var media = RoomMedia(randomStart: 7)
        let actions = media.handle(.joined(grant(capabilities: .subscribe), RoomRoster([me])))
        // But it reports, under the source that the room gave it
        #expect(actions.map(text) == ["report as 500", "joined kitchen as 5"])
        #expect(media.ownStream == nil)
        #expect(media.setMuted(true).isEmpty)
    }

    @Test("what happens in the room")
    func table() {
        let anna = ParticipantID(rawValue: 1)
        let ben = ParticipantID(rawValue: 2)
        let second = StreamAssignment(stream: StreamID(rawValue: 11), synchronizationSource: 101)
        let table: [(RoomSessionEvent, [String])] = [
            (.participantJoined(entry(2, "ben")), ["play 200", "came ben"]),
            (.participantJoined(entry(3, "carl", isMuted: true)), ["play 300", "came carl", "mute 3 true"]),
            (.published(anna, PublishedStream(second)), ["play 101"]),
            (.unpublished(anna, second.stream), ["drop 101"]),
            (.unpublished(anna, StreamID(rawValue: 99)), []),
            (
                .interrupted(by: ben, StreamID(rawValue: 10), generation: 4),
                ["flush 100 before 4", "2 interrupted 1 before 4"]
            ),
            (.published(Self.own, PublishedStream(Self.ownStream)), ["send 500"]),
            (.interrupted(by: ben, Self.ownStream.stream, generation: 2), ["begin 2", "2 interrupted 5 before 2"]),
            (.interrupted(by: ben, Self.ownStream.stream, generation: 2), ["2 interrupted 5 before 2"]),
            (.interrupted(by: Self.own, Self.ownStream.stream, generation: 3), ["begin 3"]),
            (
                .generationStarted(
                    anna, GenerationStart(stream: StreamID(rawValue: 10), generation: 4, timestamp: 7)),
                ["1 begins 4"]
            ),
            (.interrupted(by: ben, StreamID(rawValue: 99), generation: 1), []),
            (.muteChanged(ben, StreamID(rawValue: 20), .byPublisher), ["expect 200 silent", "mute 2 true"]),
            (.muteChanged(ben, StreamID(rawValue: 20), []), ["expect 200 sounding", "mute 2 false"]),
            (.muteChanged(Self.own, Self.ownStream.stream, .byServer), []),
            (.participantLeft(ben, .timedOut), ["drop 200", "went 2 timedOut"]),
            (.participantLeft(ParticipantID(rawValue: 9), .left), ["went 9 left"]),
            (.unpublished(Self.own, Self.ownStream.stream), ["report as 500"]),
            (.ended(.left(acknowledged: true)), ["drop 100", "drop 300", "stop sending"]),
        ]
        var media = joined([entry(1, "anna")])
        for (event, expected) in table {
            #expect(media.handle(event).map(text) == expected, "\(event)")
        }
        #expect(media.participants.isEmpty)
        #expect(media.ownStream == nil)
    }

    @Test("what was heard of a talker's utterance is told on its stream, and of what was heard of ours the app learns")
    func heard() {
        var media = joined([entry(1, "anna")])
        var news = HeardNews(
            synchronizationSource: 100, participant: 1,
            progress: UtteranceProgress(utterance: 3, frames: 48_000, boundFrames: 312), isFinal: true,
            time: MonotonicTime(nanoseconds: 0))
        #expect(media.take(.utteranceHeard(news)).map(text) == ["tell 10 heard 3 to 1000"])
        // Of one that has gone nothing
        news.synchronizationSource = 101
        #expect(media.take(.utteranceHeard(news)).isEmpty)
        // When anna tells what she has heard of us
        func report(_ stream: StreamID) -> HeardReport {
            HeardReport(stream: stream, utterance: 2, milliseconds: 70, boundMilliseconds: 9, isFinal: false)
        }
        let anna = ParticipantID(rawValue: 1)
        let told = media.handle(.heard(by: anna, report(Self.ownStream.stream)))
        guard case .post(.heard(let heard, by: anna))? = told.first else {
            Issue.record("\(told)")
            return
        }
        #expect(heard.heard == .milliseconds(70) && heard.bound == .milliseconds(9) && !heard.isFinal)
        #expect(media.handle(.heard(by: anna, report(StreamID(rawValue: 10)))).isEmpty)
        #expect(media.handle(.heard(by: ParticipantID(rawValue: 77), report(Self.ownStream.stream))).isEmpty)
        // And that her talker has gone meanwhile is no news
        #expect(media.handle(.requestRefused(.tellHeard, subject: 10, .unknownStream)).isEmpty)
    }

    @Test("muting is told to the room, and again where the room has forgotten it")
    func mute() {
        var media = RoomMedia(randomStart: 7)
        // Given a side that muted before the join: then the room is told with the stream
        #expect(media.setMuted(true).isEmpty)
        let entering = media.handle(.joined(grant(), RoomRoster([me])))
        #expect(entering.map(text) == ["publish 500", "tell mute 50 true", "joined kitchen as 5"])
        _ = media.handle(.published(Self.own, PublishedStream(Self.ownStream, mute: .byPublisher)))
        #expect(media.setMuted(false).map(text) == ["tell mute 50 false"])
        // And one word at a time
        #expect(media.setMuted(true).isEmpty && media.setMuted(false).isEmpty && media.setMuted(true).isEmpty)
        #expect(media.handle(.muteChanged(Self.own, Self.ownStream.stream, [])).map(text) == ["tell mute 50 true"])
        // When it is back as somebody else
        _ = media.handle(.reconnecting)
        let stream = StreamAssignment(stream: StreamID(rawValue: 60), synchronizationSource: 600)
        let fresh = grant(as: ParticipantID(rawValue: 6), stream: stream)
        let back = media.handle(.reconnected(fresh, RoomRoster([entry(6, "me", publishes: false)])))
        // Then the room is told again
        #expect(back.map(text) == ["publish 600", "tell mute 60 true", "back"])
    }
}
