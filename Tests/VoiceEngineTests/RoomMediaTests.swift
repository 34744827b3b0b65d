import Testing
import VoiceRealtime
import VoiceRooms
import VoiceTurns

@testable import VoiceEngine

/// What a room's events mean: each table row is an event of the session and what follows from it, in order.
@Suite("The media of a room")
struct RoomMediaTests {
    private static let own = ParticipantID(rawValue: 5)
    private static let ownStream = StreamAssignment(stream: StreamID(rawValue: 50), synchronizationSource: 500)

    private func grant(
        as participant: ParticipantID = own, resumed: Bool = false, stream: StreamAssignment = ownStream,
        others: [StreamAssignment] = [], capabilities: RoomCapabilities = .conversation
    ) -> JoinGrant {
        JoinGrant(
            version: 1, participant: participant, capabilities: capabilities, resumed: resumed, handledCount: 0,
            secret: RejoinSecret(high: 1, low: 2), keepaliveInterval: .seconds(2), room: "kitchen",
            streams: [stream] + others,
            rosterCount: 1)
    }

    /// Participant `number`, who publishes a stream of ten times that number, whose source is a hundred times that
    /// number.
    private func entry(
        _ number: UInt32, _ identity: String, isMuted: Bool = false, publishes: Bool = true, generation: UInt32 = 0
    ) -> RosterEntry {
        let stream = StreamAssignment(
            stream: StreamID(rawValue: number * 10), synchronizationSource: number * 100)
        return RosterEntry(
            participant: ParticipantID(rawValue: number), identity: identity, name: "",
            streams: publishes
                ? [PublishedStream(stream, mute: isMuted ? .byPublisher : [], generation: generation)] : [])
    }

    private var me: RosterEntry { entry(5, "me", publishes: false) }

    /// Media that have joined a room with `others`.
    private func joined(_ others: [RosterEntry] = []) -> RoomMedia {
        var media = RoomMedia(randomStart: 7)
        _ = media.handle(.joined(grant(), RoomRoster(others + [me])))
        return media
    }

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
        requests.outgoing = [3: "music"]
        var media = RoomMedia(randomStart: 7, requests: requests)
        let others = [(51, 501), (52, 502)].map {
            StreamAssignment(stream: StreamID(rawValue: $0.0), synchronizationSource: $0.1)
        }
        let granted = grant(others: others)
        #expect(
            media.handle(.joined(granted, RoomRoster([me]))).map(text)
                == ["publish 500", "publish 501 as music", "joined kitchen as 5"])
        // Then it is sent when the room confirms it, and so is the next; of a third the app is told
        #expect(media.handle(.published(Self.own, PublishedStream(others[0]))).map(text) == ["send 501"])
        #expect(media.publish(line: 4, as: "jingle").map(text) == ["publish 502 as jingle"])
        #expect(media.handle(.published(Self.own, PublishedStream(others[1]))).map(text) == ["send 502"])
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
            streams: [PublishedStream(others[0], generation: 3), PublishedStream(others[1])])
        let resumed = grant(resumed: true, others: others)
        #expect(
            media.handle(.reconnected(resumed, RoomRoster([roster]))).map(text)
                == ["beginStreamGeneration(3, line: 3)", "send 502", "back"])
        // In another stay they are published anew, as is the microphone
        _ = media.handle(.reconnecting)
        let anew = media.handle(.reconnected(granted, RoomRoster([me]))).map(text)
        #expect(
            anew == [
                "publish 500", "stopStream(line: 3)", "stopStream(line: 6)", "publish 501 as music",
                "publish 502 as again", "back",
            ])
        // And a listener has none
        let listener = media.handle(.roleChanged(Self.own, .listener)).map(text)
        #expect(listener.contains("stopStream(line: 3)") && listener.contains("stopStream(line: 6)"), "\(listener)")
        #expect(media.ownStreams.isEmpty)
        #expect(
            media.handle(.roleChanged(Self.own, .talker)).map(text).suffix(2)
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
            (.muteChanged(Self.own, Self.ownStream.stream, .byPublisher), []),
            (.participantLeft(ben, .timedOut), ["drop 200", "went 2 timedOut"]),
            (.participantLeft(ParticipantID(rawValue: 9), .left), ["went 9 left"]),
            (.unpublished(Self.own, Self.ownStream.stream), ["stop sending"]),
            (.ended(.left(acknowledged: true)), ["drop 100", "drop 300", "stop sending"]),
        ]
        var media = joined([entry(1, "anna")])
        for (event, expected) in table {
            #expect(media.handle(event).map(text) == expected, "\(event)")
        }
        #expect(media.participants.isEmpty)
        #expect(media.ownStream == nil)
    }

    @Test("an interruption drops at once, under the number that the room will give it, and nothing twice")
    func interrupt() {
        let (anna, ben, stream) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2), StreamID(rawValue: 10))
        // Given anna, who was interrupted twice before we came
        var media = joined([entry(1, "anna", generation: 2), entry(2, "ben")])
        #expect(media.interrupt(anna).map(text) == ["flush 100 before 3", "tell interrupted 10"])
        #expect(media.handle(.interrupted(by: Self.own, stream, generation: 3)).isEmpty)
        // When ben interrupts her too
        let second = media.handle(.interrupted(by: ben, stream, generation: 4))
        #expect(second.map(text) == ["flush 100 before 4", "2 interrupted 1 before 4"])
        // Then a number that was told before drops nothing again
        let late = media.handle(.interrupted(by: ben, stream, generation: 3))
        #expect(late.map(text) == ["2 interrupted 1 before 3"])
        #expect(media.interrupt(anna).map(text) == ["flush 100 before 5", "tell interrupted 10"])
        // And one's own speech is dropped by the others alone
        #expect(media.interrupt(nil).map(text) == ["tell interrupted 50"])
        #expect(media.interrupt(ParticipantID(rawValue: 9)).isEmpty)
    }

    @Test("an interruption that the room refuses does not stand in the way of the next")
    func refusedInterruption() {
        let (anna, ben, stream) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2), StreamID(rawValue: 10))
        var media = joined([entry(1, "anna"), entry(2, "ben")])
        // Given one that dropped here and was refused
        #expect(media.interrupt(anna).map(text) == ["flush 100 before 1", "tell interrupted 10"])
        let refused = media.handle(.requestRefused(.interrupt, subject: 10, .tooOften))
        // Then she is heard again from there on, our next one drops again, and ben's is the one before it
        #expect(refused.map(text) == ["flush 100 before 0", "refused interrupt: tooOften"])
        #expect(media.interrupt(anna).map(text).first == "flush 100 before 1")
        let bens = media.handle(.interrupted(by: ben, stream, generation: 1))
        #expect(bens.map(text) == ["flush 100 before 2", "2 interrupted 1 before 1"])
        #expect(media.handle(.interrupted(by: Self.own, stream, generation: 2)).isEmpty)
        // And who was told of it though others were not has not been refused
        _ = media.interrupt(anna)
        _ = media.handle(.interrupted(by: Self.own, stream, generation: 3))
        let busy = media.handle(.requestRefused(.interrupt, subject: 10, .receiverBusy))
        #expect(busy.map(text) == ["refused interrupt: receiverBusy"])
    }

    @Test("an interruption that could not be asked for is withdrawn, and others stay")
    func failedInterruption() {
        let (anna, ben, stream) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2), StreamID(rawValue: 10))
        var media = joined([entry(1, "anna"), entry(2, "ben")])
        // Given two of ours, of which one could not be asked for
        _ = media.interrupt(anna)
        #expect(media.interrupt(anna).map(text).first == "flush 100 before 2")
        #expect(media.interruptionRefused(stream).map(text) == ["flush 100 before 1"])
        // Then the other is answered as if there had been none
        #expect(media.handle(.interrupted(by: Self.own, stream, generation: 1)).isEmpty)
        let bens = media.handle(.interrupted(by: ben, stream, generation: 2))
        #expect(bens.map(text) == ["flush 100 before 2", "2 interrupted 1 before 2"])
        // And of a stream that has gone nothing is to be done
        _ = media.interrupt(ben)
        _ = media.handle(.participantLeft(ben, .left))
        #expect(media.interruptionRefused(StreamID(rawValue: 20)).isEmpty)
    }

    @Test("who is watched is interrupted when speech into it is confirmed, and watched no more when it leaves")
    func spokenInto() {
        let (anna, ben) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2))
        var media = joined([entry(1, "anna"), entry(2, "ben")])
        func change(_ stage: BargeInStage) -> MediaEvent {
            .talkerSpokenInto(
                participant: 1, BargeInChange(stage: stage, speechStart: .zero, decided: .milliseconds(20)))
        }
        #expect(media.watch(anna, .staged()).map(text) == ["watch 1"])
        for stage in [BargeInStage.suspected, .held, .none] { #expect(media.take(change(stage)).isEmpty) }
        #expect(media.take(change(.confirmed)).map(text) == ["flush 100 before 1", "tell interrupted 10"])
        // Whom nobody watches is let alone
        #expect(media.watch(ben, .off).isEmpty)
        #expect(media.handle(.participantLeft(ben, .left)).map(text) == ["drop 200", "went 2 left"])
        let left = media.handle(.participantLeft(anna, .left))
        #expect(left.map(text) == ["watch 0", "drop 100", "went 1 left"])
        #expect(media.take(change(.confirmed)).isEmpty)
    }

    @Test("an interruption whose answer may be among lost events silences nobody for good")
    func answerLost() {
        let (anna, talker) = (ParticipantID(rawValue: 1), entry(1, "anna"))
        var media = joined([talker])
        // Given an interruption of ours, and events that are lost
        _ = media.interrupt(anna)
        let actions = media.catchUp(grant(resumed: true), RoomRoster([talker, me]))
        // Then she is heard again, as the room has her
        #expect(actions.map(text).contains("flush 100 before 0"))
    }

    @Test("an interruption that nobody will answer any more silences nobody for good")
    func unansweredInterruption() {
        let anna = ParticipantID(rawValue: 1)
        var media = joined([entry(1, "anna")])
        #expect(media.interrupt(anna).map(text) == ["flush 100 before 1", "tell interrupted 10"])
        // When the room comes back as another stay, which knows nothing of it
        _ = media.handle(.reconnecting)
        let back = media.handle(.reconnected(grant(), RoomRoster([entry(1, "anna"), me])))
        // Then her generation is in force again
        #expect(back.map(text).first == "flush 100 before 0")
    }

    @Test("the beginning of a generation of ours is told to the room where we publish")
    func beginningOfAGeneration() {
        var media = joined()
        #expect(media.generationStarted(3, timestamp: 9).isEmpty)
        _ = media.handle(.published(Self.own, PublishedStream(Self.ownStream, generation: 2)))
        let start = GenerationStart(stream: Self.ownStream.stream, generation: 3, timestamp: 9)
        let told = media.generationStarted(3, timestamp: 9)
        guard case .ask(.tellGeneration(start))? = told.first else {
            Issue.record("\(told)")
            return
        }
        #expect(told.count == 1)
        // And what was interrupted before is no news
        #expect(media.handle(.interrupted(by: Self.own, start.stream, generation: 2)).isEmpty)
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

    @Test("a room server that was started anew begins its generations anew")
    func generationsOfARestartedServer() {
        let anna = ParticipantID(rawValue: 1)
        var media = joined([entry(1, "anna", generation: 7)])
        // When the room comes back with the same stream's number for another source
        _ = media.handle(.reconnecting)
        let stream = StreamAssignment(stream: StreamID(rawValue: 10), synchronizationSource: 101)
        let fresh = RosterEntry(participant: anna, identity: "anna", name: "", streams: [PublishedStream(stream)])
        let back = media.handle(.reconnected(grant(), RoomRoster([fresh, me])))
        #expect(back.map(text) == ["drop 100", "play 101", "publish 500", "back"])
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

    @Test("muting is told to the room, and again where the room has forgotten it")
    func mute() {
        var media = RoomMedia(randomStart: 7)
        // Given a side that muted before the join: then the room is told with the stream
        #expect(media.setMuted(true).isEmpty)
        let entering = media.handle(.joined(grant(), RoomRoster([me])))
        #expect(entering.map(text) == ["publish 500", "tell mute 50 true", "joined kitchen as 5"])
        #expect(media.setMuted(false).map(text) == ["tell mute 50 false"])
        #expect(media.setMuted(true).map(text) == ["tell mute 50 true"])
        // When it is back as somebody else
        _ = media.handle(.reconnecting)
        let stream = StreamAssignment(stream: StreamID(rawValue: 60), synchronizationSource: 600)
        let fresh = grant(as: ParticipantID(rawValue: 6), stream: stream)
        let back = media.handle(.reconnected(fresh, RoomRoster([entry(6, "me", publishes: false)])))
        // Then the room is told again
        #expect(back.map(text) == ["publish 600", "tell mute 60 true", "back"])
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
        #expect(actions.map(text) == ["drop 100", "publish 77", "back", "went 1 -"])
        #expect(media.participants.isEmpty)
        // And when anna comes back, under a new number, she is played
        #expect(media.handle(.participantJoined(entry(2, "anna"))).map(text) == ["play 200", "came anna"])
    }
}

/// An action in a form that can be compared and read.
private func text(_ action: RoomMedia.Action) -> String {
    switch action {
    case .ask(.publish(let stream, _, let name)):
        "publish \(stream.synchronizationSource)\(name.isEmpty ? "" : " as \(name)")"
    case .post(.streamState(let name, let state)): "\(name) \(state)"
    case .ask(.setMuted(let stream, let muted)): "tell mute \(stream.rawValue) \(muted)"
    case .command(.publish(let start)): "send \(start.synchronizationSource)"
    case .command(.report(let start)): "report as \(start.synchronizationSource)"
    case .command(.flush(let generation, let source)): "flush \(source) before \(generation)"
    case .command(.watchTalker(let order)): "watch \(order.participant)"
    case .command(.stopPublishing): "stop sending"
    case .command(.beginGeneration(let generation)): "begin \(generation)"
    case .command(.addStream(let source, _, _, _)): "play \(source)"
    case .command(.setStreamMuted(let muted, let source)): "expect \(source) \(muted ? "silent" : "sounding")"
    case .command(.removeStream(let source)): "drop \(source)"
    case .command(let command): "\(command)"
    case .post(.joined(let room, let own)): "joined \(room) as \(own.rawValue)"
    case .post(.participantJoined(let participant)): "came \(participant.identity)"
    case .post(.participantLeft(let participant, let reason)):
        "went \(participant.rawValue) \(reason.map { "\($0)" } ?? "-")"
    case .post(.participantMuted(let participant, let muted)): "mute \(participant.rawValue) \(muted)"
    case .post(.interrupted(let talker, let participant, let generation)):
        "\(participant.rawValue) interrupted \(talker.rawValue) before \(generation)"
    case .ask(.tellHeard(let report)):
        "tell \(report.stream.rawValue) heard \(report.utterance) to \(report.milliseconds)"
    case .ask(.tellGeneration(let start)): "tell \(start.generation) begins at \(start.timestamp)"
    case .post(.generationStarted(let talker, let generation)): "\(talker.rawValue) begins \(generation)"
    case .ask(.interrupt(let stream)): "tell interrupted \(stream.rawValue)"
    case .ask(let request): "ask \(request)"
    case .post(.connectionLost): "lost"
    case .post(.reconnected): "back"
    case .post(.requestRefused(let request, let refusal)): "refused \(request): \(refusal)"
    case .post(let event): "\(event)"
    }
}
