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

    @Test("a listener is silent from the call on, and a talker again where the room refuses it")
    func listener() {
        var media = heard()
        #expect(media.setRole(.listener).map(text) == ["ask setRole(VoiceRooms.RoomRole.listener)", "report as 500"])
        let refused = media.handle(.requestRefused(.setRole, subject: 0, .tooOften))
        #expect(refused.map(text) == ["send 500", "refused setRole: tooOften"])
        #expect(media.entrance.role == .talker)
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

    @Test("what could not be sent is asked for again with whatever is next")
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
