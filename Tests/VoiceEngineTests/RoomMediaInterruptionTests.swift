import Testing
import VoiceRealtime
import VoiceRooms
import VoiceTurns

@testable import VoiceEngine

@Suite("Interruptions and the media of a room")
struct RoomMediaInterruptionTests: RoomMediaTesting {
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

    @Test("a stream that is played again begins with the generation told since", arguments: [3, 200] as [UInt32])
    func playedAgain(from generation: UInt32) {
        let (anna, ben, stream) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2), StreamID(rawValue: 10))
        var media = joined([entry(1, "anna"), entry(2, "ben")])
        func begun(_ actions: [RoomMedia.Action]) -> [UInt32] {
            actions.compactMap { action -> UInt32? in
                if case .command(.addStream(100, _, _, let first)) = action { first } else { nil }
            }
        }
        // Given anna, whom the app does not want to hear, and who was interrupted meanwhile: older news change nothing
        _ = media.play(false, anna)
        for told in [generation, generation - 1] {
            #expect(media.handle(.interrupted(by: ben, stream, generation: told)).isEmpty)
        }
        // When she is played again
        let asked = media.play(true, anna)
        // Then with that one: 129 further on, what she says would be taken for over
        #expect(begun(asked + media.handle(.subscriptionChanged(stream, true))) == [generation])
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
        #expect(back.map(text).contains("flush 100 before 0"))
    }

    @Test("what is named behind an interruption of one's own speech begins behind it, when the room has told that")
    func namedMeanwhile() {
        let (ben, stream) = (ParticipantID(rawValue: 2), Self.ownStream.stream)
        var media = joined([entry(2, "ben")])
        _ = media.handle(.published(Self.own, PublishedStream(Self.ownStream, generation: 0)))
        func told(_ generation: UInt32, by participant: ParticipantID) -> [String] {
            media.handle(.interrupted(by: participant, stream, generation: generation)).map(text)
        }
        // Given two interruptions, and an utterance that is named behind them
        media.name(UtteranceID(rawValue: 4))
        _ = media.interrupt(nil)
        _ = media.interrupt(nil)
        media.name(UtteranceID(rawValue: 5))
        // Then each of them is of what was said before
        let first = told(1, by: Self.own)
        #expect(first == ["begin 1", "say 5"])
        let second = told(2, by: Self.own)
        #expect(second == ["begin 2", "say 5"])
        // And what nobody has named meanwhile, or somebody else has interrupted, is over
        _ = media.interrupt(nil)
        let last = told(3, by: Self.own)
        #expect(last == ["begin 3"])
        _ = media.interrupt(nil)
        media.name(UtteranceID(rawValue: 6))
        let bens = told(4, by: ben)
        #expect(bens == ["begin 4", "2 interrupted 5 before 4"])
        let late = told(5, by: Self.own)
        #expect(late == ["begin 5"])
    }

    @Test(
        "what is named behind an interruption of one's own speech begins behind it also where a roster tells that",
        arguments: [false, true])
    func namedInABreak(eventsLost: Bool) {
        let stream = Self.ownStream.stream
        func back(_ media: inout RoomMedia, generation: UInt32) -> [String] {
            let roster = RoomRoster([entry(5, "me", generation: generation)])
            if eventsLost { return media.catchUp(grant(resumed: true), roster).map(text) }
            _ = media.handle(.reconnecting)
            return media.handle(.reconnected(grant(resumed: true), roster)).map(text)
        }
        var media = joined()
        _ = media.handle(.published(Self.own, PublishedStream(Self.ownStream, generation: 0)))
        // Given an interruption, an utterance behind it, and a break before the room's answer
        _ = media.interrupt(nil)
        media.name(UtteranceID(rawValue: 5))
        // When the roster tells it, then the utterance begins behind it
        let told = back(&media, generation: 1)
        #expect(told.prefix(2) == ["begin 1", "say 5"], "\(told)")
        // And the answer that comes all the same is no news
        if !eventsLost {
            #expect(media.handle(.interrupted(by: Self.own, stream, generation: 1)).isEmpty)
        }
        // And what nobody here has interrupted is over
        let bens = back(&media, generation: 2)
        #expect(bens.first == "begin 2" && !bens.contains("say 5"), "\(bens)")
        // And behind one that was refused, one that a roster tells is somebody else's
        _ = media.interrupt(nil)
        media.name(UtteranceID(rawValue: 6))
        _ = media.handle(.requestRefused(.interrupt, subject: stream.rawValue, .tooOften))
        let others = back(&media, generation: 3)
        #expect(others.first == "begin 3" && !others.contains("say 6"), "\(others)")
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
}
