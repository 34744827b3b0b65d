import Testing
import VoiceRooms

@testable import VoiceEngine

/// What the room is asked and told, one thing at a time.
@Suite("What this engine is in a room")
struct RoomPresenceTests: RoomMediaTesting {
    private let other = StreamAssignment(stream: StreamID(rawValue: 51), synchronizationSource: 501)
    private let microphone = PublishedStream(Self.ownStream)

    /// Media that are in the room and heard there.
    private func heard() -> RoomMedia {
        var media = RoomMedia(randomStart: 7)
        _ = media.handle(.joined(grant(others: [other]), RoomRoster([me])))
        _ = media.handle(.published(Self.own, microphone))
        return media
    }

    @Test("the microphone is not sent as a stream that was closed before the room had confirmed it")
    func closedBeforeConfirmed() {
        var media = heard()
        #expect(media.publish(line: 3, as: "music").map(text) == ["publish 501 as music"])
        #expect(media.unpublish(line: 3).isEmpty)
        let late = media.handle(.published(Self.own, PublishedStream(other, name: "music")))
        #expect(late.map(text) == ["ask unpublish(\(other.stream))"])
        #expect(media.handle(.unpublished(Self.own, other.stream)).isEmpty)
        #expect(media.ownStreams.map(\.id) == [Self.ownStream.stream])
    }

    @Test("what is closed lends its place, and not its name, to the next")
    func place() {
        var media = heard()
        _ = media.publish(line: 3, as: "music")
        _ = media.unpublish(line: 3)
        #expect(media.publish(line: 4, as: "jingle").isEmpty)
        let late = media.handle(.published(Self.own, PublishedStream(other, name: "music")))
        #expect(late.map(text) == ["ask unpublish(\(other.stream))", "publish 501 as jingle"])
        #expect(media.handle(.unpublished(Self.own, other.stream)).isEmpty)
        let confirmed = media.handle(.published(Self.own, PublishedStream(other, name: "jingle")))
        #expect(confirmed.map(text) == ["send 501"])
    }

    @Test("a listener is silent from the call on, and stays so where the room cannot be told, which is tried again")
    func listener() {
        let listen = "ask setRole(VoiceRooms.RoomRole.listener)"
        var media = heard()
        #expect(media.setRole(.listener).map(text) == [listen, "report as 500"])
        #expect(media.handle(.requestRefused(.setRole, subject: 0, .tooOften)).isEmpty)
        #expect(media.askAgain(now: .zero).isEmpty)
        #expect(media.nextAsking(now: .zero) == .milliseconds(500))
        #expect(media.askAgain(now: .milliseconds(500)).map(text) == [listen])
        #expect(media.requestFailed(.setRole, subject: 0).isEmpty)
        #expect(media.nextAsking(now: .milliseconds(500)) == .milliseconds(1500))
        #expect(media.entrance.role == .listener)
        // And where there is not room for all that is asked on coming back, this is asked first
        let stream = StreamAssignment(stream: StreamID(rawValue: 60), synchronizationSource: 600)
        let choosing = grant(as: ParticipantID(rawValue: 6), stream: stream, capabilities: [.publish, .subscribe])
        _ = media.play(true, "stage")
        _ = media.handle(.reconnecting)
        var ben = entry(1, "ben")
        ben.streams[0].name = "stage"
        let back = media.handle(.reconnected(choosing, RoomRoster([ben, entry(6, "me", publishes: false)])))
        #expect(back.map(text).first == listen)
        #expect(back.map(text).contains("ask subscribe(\(StreamID(rawValue: 10)))"), "\(back.map(text))")
    }

    @Test("a talker that the room has no time for is none some time later")
    func refusedTalker() {
        var media = heard()
        _ = media.setRole(.listener)
        _ = media.handle(.roleChanged(Self.own, .listener))
        #expect(media.setRole(.talker).map(text) == ["ask setRole(VoiceRooms.RoomRole.talker)"])
        let refused = media.handle(.requestRefused(.setRole, subject: 0, .tooOften))
        #expect(refused.map(text) == ["refused setRole: tooOften"])
        #expect(media.entrance.role == .listener)
        // Nor is one that is a talker to the room, which was not asked
        let talker = media.handle(.roleChanged(Self.own, .talker))
        #expect(talker.map(text).contains("ask setRole(VoiceRooms.RoomRole.listener)"), "\(talker.map(text))")
        #expect(!talker.map(text).contains("send 500") && !talker.map(text).contains("publish 500"))
    }

    @Test("a mute that was overtaken by another name does not keep the next from being told")
    func muteOvertaken() {
        var media = heard()
        _ = media.setMuted(true)
        _ = media.setMuted(false)
        _ = media.publish(as: "x")
        _ = media.handle(.published(Self.own, PublishedStream(Self.ownStream, name: "x")))
        #expect(media.setMuted(true).map(text) == ["tell mute 50 true"])
    }

    @Test("nor does a mute of what was withdrawn, both in a break")
    func muteWithdrawn() {
        var media = heard()
        _ = media.setMuted(true)
        _ = media.publish(as: nil)
        _ = media.handle(.reconnecting)
        _ = media.handle(.reconnected(grant(resumed: true), RoomRoster([me])))
        _ = media.setMuted(false)
        _ = media.publish(as: "")
        _ = media.handle(.published(Self.own, microphone))
        #expect(media.setMuted(true).map(text) == ["tell mute 50 true"])
    }

    @Test("what could not be sent, or came too often, is asked for again after a while and by no event before")
    func postponed() throws {
        var media = heard()
        let subject = Self.ownStream.stream.rawValue
        let state = try ParticipantAttributes().setting("state", to: "thinking")
        _ = media.setAttributes(state)
        #expect(media.handle(.requestRefused(.setAttributes, subject: 0, .tooOften)).isEmpty)
        _ = media.setMuted(true)
        #expect(media.requestFailed(.setMuted, subject: subject).isEmpty)
        #expect(media.handle(.participantJoined(entry(1, "ben"))).map(text) == ["play 100", "came ben"])
        #expect(media.nextAsking(now: .seconds(1)) == .milliseconds(1500))
        let again = media.askAgain(now: .seconds(2)).map(text)
        #expect(again.first == "tell mute 50 true" && again.last?.hasPrefix("ask setAttributes") == true, "\(again)")
        #expect(again.count == 2)
        _ = media.handle(.attributesChanged(Self.own, state))
        _ = media.handle(.muteChanged(Self.own, Self.ownStream.stream, .byPublisher))
        #expect(media.nextAsking(now: .seconds(2)) == nil)
        // A name, of which only the withdrawal of the one before was sent
        _ = media.publish(as: "x")
        #expect(media.requestFailed(.publish, subject: subject).map(text) == ["report as 500"])
        #expect(media.handle(.unpublished(Self.own, Self.ownStream.stream)).isEmpty)
        #expect(media.nextAsking(now: .seconds(3)) == .milliseconds(3500))
        #expect(media.askAgain(now: .seconds(4)).map(text) == ["publish 500 as x", "tell mute 50 true"])
        // What the room will not have is not
        let taken = media.handle(.requestRefused(.publish, subject: subject, .nameTaken))
        #expect(taken.map(text) == ["refused publish: nameTaken"])
        #expect(media.nextAsking(now: .seconds(5)) == nil)
    }

    @Test("a role whose answer is lost is asked for once more only where the room has not taken it")
    func roleAfterLostEvents() {
        var media = heard()
        _ = media.setRole(.listener)
        _ = media.setRole(.talker)
        // When the room has taken it, then it is a talker again, and what the app asks for next is heeded
        var us = me
        us.role = .listener
        #expect(
            media.catchUp(grant(), RoomRoster([us])).map(text).first == "ask setRole(VoiceRooms.RoomRole.talker)")
        // And when it has not, then the same is asked, of which there will be news
        us.role = .listener
        #expect(
            media.catchUp(grant(), RoomRoster([us])).map(text).first == "ask setRole(VoiceRooms.RoomRole.talker)")
        us.role = .talker
        us.streams = [microphone]
        #expect(!media.catchUp(grant(), RoomRoster([us])).map(text).contains { $0.hasPrefix("ask setRole") })
        #expect(media.setRole(.listener).map(text).first == "ask setRole(VoiceRooms.RoomRole.listener)")
    }

    @Test("nothing is asked of a room whose answer would change nothing")
    func wedge() {
        var media = heard()
        _ = media.setRole(.listener)
        _ = media.setRole(.talker)
        // When the request was lost, and the word of it
        var us = me
        us.streams = [microphone]
        let caughtUp = media.catchUp(grant(), RoomRoster([us]))
        #expect(caughtUp.map(text) == ["ask setRole(VoiceRooms.RoomRole.listener)"])
        // Then its answer comes, and what the app wants since is asked for
        let listening = media.handle(.roleChanged(Self.own, .listener))
        #expect(listening.map(text).contains("ask setRole(VoiceRooms.RoomRole.talker)"))
    }

    @Test("a talker whose withdrawal is answered after events were lost goes on the air again")
    func withdrawalAfterLostEvents() {
        var media = heard()
        _ = media.publish(as: nil)
        _ = media.publish(as: "")
        var us = me
        us.streams = [microphone]
        let caughtUp = media.catchUp(grant(), RoomRoster([us]))
        #expect(caughtUp.map(text) == ["ask unpublish(\(Self.ownStream.stream))"])
        let first = media.handle(.unpublished(Self.own, Self.ownStream.stream))
        #expect(first.map(text) == ["publish 500"])
        #expect(media.handle(.requestRefused(.unpublish, subject: 50, .unknownStream)).isEmpty)
        #expect(media.handle(.published(Self.own, microphone)).map(text) == ["send 500"])
    }

    @Test("a name whose request was taken for lost does not keep the next from being asked for")
    func takenForLost() {
        var media = RoomMedia(randomStart: 7)
        _ = media.publish(as: "x")
        _ = media.handle(.joined(grant(), RoomRoster([me])))
        // When the join has published it, and the word comes that the first request for its name was not sent
        #expect(media.handle(.published(Self.own, microphone)).map(text).last == "publish 500 as x")
        _ = media.requestFailed(.publish, subject: Self.ownStream.stream.rawValue)
        // And the second was
        let named = media.handle(.published(Self.own, PublishedStream(Self.ownStream, name: "x")))
        #expect(named.map(text) == ["ask unpublish(\(Self.ownStream.stream))"])
        #expect(media.handle(.unpublished(Self.own, Self.ownStream.stream)).isEmpty)
        #expect(media.publish(as: "y").map(text) == ["publish 500 as y"])
    }

    @Test("a stream that has gone when it is asked for once more is no news")
    func repeatedSubscription() {
        let byChoice: RoomCapabilities = [.publish, .subscribe]
        var media = RoomMedia(randomStart: 7)
        _ = media.play(true, "stage")
        var ben = entry(1, "ben")
        ben.streams[0].name = "stage"
        _ = media.handle(.joined(grant(capabilities: byChoice), RoomRoster([ben, me])))
        _ = media.handle(.subscriptionChanged(StreamID(rawValue: 10), true))
        _ = media.handle(.reconnecting)
        let back = media.handle(.reconnected(grant(resumed: true, capabilities: byChoice), RoomRoster([ben, me])))
        #expect(back.map(text).contains("ask subscribe(\(StreamID(rawValue: 10)))"))
        #expect(media.handle(.requestRefused(.subscribe, subject: 10, .unknownStream)).isEmpty)
        // And one that has gone before is not asked for
        _ = media.handle(.reconnecting)
        ben.streams = []
        let again = media.handle(.reconnected(grant(resumed: true, capabilities: byChoice), RoomRoster([ben, me])))
        #expect(!again.map(text).contains { $0.hasPrefix("ask subscribe") }, "\(again.map(text))")
    }

    @Test("of roles that follow each other fast the last holds, and the microphone with it")
    func roles() {
        var media = heard()
        _ = media.setRole(.listener)
        #expect(media.setRole(.talker).map(text) == ["send 500"])
        _ = media.handle(.unpublished(Self.own, Self.ownStream.stream))
        let listening = media.handle(.roleChanged(Self.own, .listener))
        #expect(listening.map(text).contains("ask setRole(VoiceRooms.RoomRole.talker)"), "\(listening.map(text))")
        #expect(media.handle(.roleChanged(Self.own, .talker)).map(text).last == "publish 500")
        #expect(media.handle(.published(Self.own, microphone)).map(text) == ["send 500"])
    }

    @Test("a server that has them as a talker is told that they only listen, and hears nothing")
    func listenerOfAnotherStay() {
        var media = heard()
        _ = media.handle(.reconnecting)
        #expect(media.setRole(.listener).map(text) == ["report as 500"])
        #expect(media.entrance == RoomEntrance(role: .listener, publishing: nil))
        // When the join was on its way before
        let stream = StreamAssignment(stream: StreamID(rawValue: 60), synchronizationSource: 600)
        let own = ParticipantID(rawValue: 6)
        let back = media.handle(
            .reconnected(grant(as: own, stream: stream), RoomRoster([entry(6, "me", publishes: false)])))
        #expect(back.map(text) == ["ask setRole(VoiceRooms.RoomRole.listener)", "report as 600", "back"])
        #expect(media.handle(.published(own, PublishedStream(stream))).isEmpty)
    }

    @Test("a name that was asked for while the join was on its way is given after it")
    func nameWhileJoining() {
        var media = RoomMedia(randomStart: 7)
        #expect(media.publish(as: "stage").isEmpty)
        #expect(media.entrance.publishing == nil)
        let joined = media.handle(.joined(grant(), RoomRoster([me])))
        #expect(joined.map(text) == ["publish 500 as stage", "joined kitchen as 5"])
        let unnamed = media.handle(.published(Self.own, microphone))
        #expect(unnamed.map(text) == ["ask unpublish(\(Self.ownStream.stream))", "publish 500 as stage"])
        _ = media.handle(.unpublished(Self.own, Self.ownStream.stream))
        let named = media.handle(.published(Self.own, PublishedStream(Self.ownStream, name: "stage")))
        #expect(named.map(text) == ["send 500"])
    }

    @Test("a name that was taken is asked for again when the app asks again, and not before")
    func nameTaken() {
        var media = heard()
        let renamed = media.publish(as: "stage").map(text)
        #expect(renamed == ["ask unpublish(\(Self.ownStream.stream))", "publish 500 as stage"])
        #expect(media.handle(.unpublished(Self.own, Self.ownStream.stream)).map(text) == ["report as 500"])
        let subject = Self.ownStream.stream.rawValue
        let taken = media.handle(.requestRefused(.publish, subject: subject, .nameTaken))
        #expect(taken.map(text) == ["refused publish: nameTaken"])
        #expect(media.setAttributes(ParticipantAttributes()).isEmpty)
        #expect(media.publish(as: "stage").map(text) == ["publish 500 as stage"])
    }

    @Test("what could not be sent is asked for again when the app asks again")
    func lost() {
        var media = heard()
        let asked = media.publish(as: nil).map(text)
        #expect(asked == ["ask unpublish(\(Self.ownStream.stream))", "report as 500"])
        #expect(media.requestFailed(.unpublish, subject: Self.ownStream.stream.rawValue).isEmpty)
        #expect(media.publish(as: nil).map(text) == ["ask unpublish(\(Self.ownStream.stream))"])
        // That it is not published is no news, and neither is a mute of what is not
        #expect(media.handle(.requestRefused(.unpublish, subject: 50, .unknownStream)).isEmpty)
        #expect(media.setMuted(true).isEmpty)
    }

    @Test("who may not talk is not told so before asking, and then once")
    func noRight() throws {
        var requests = StreamRequests()
        requests.presence.attributes = try ParticipantAttributes().setting("state", to: "thinking")
        var media = RoomMedia(randomStart: 7, requests: requests)
        var listener = me
        listener.role = .listener
        let joined = media.handle(.joined(grant(capabilities: .subscribe), RoomRoster([listener])))
        #expect(joined.map(text).count { $0.hasPrefix("ask setRole") } == 0)
        #expect(joined.map(text).count { $0.hasPrefix("ask setAttributes") } == 1)
        #expect(media.setRole(.talker).map(text) == ["ask setRole(VoiceRooms.RoomRole.talker)"])
        let refused = media.handle(.requestRefused(.setRole, subject: 0, .noPublishRight))
        #expect(refused.map(text) == ["refused setRole: noPublishRight"])
        #expect(media.entrance.role == .listener)
    }
}
