import TestCases
import Testing
import VoicePeers
import VoiceSimulation

@testable import VoiceRooms

/// Tokens that are over while their participants are in the room.
struct RoomExpiryTests {
    /// Alice with a token that is over in so many seconds, who publishes, and bob with one that lasts.
    private func kitchen(for seconds: Int64, seed: UInt64 = 1) throws -> SimulatedRooms {
        var rooms = SimulatedRooms(seed: seed)
        try rooms.addClient(token(for: seconds, rooms), publishing: .anyone)
        try rooms.addClient("bob@kitchen", publishing: .anyone)
        rooms.run(for: .seconds(1))
        try #require(rooms.clients.allSatisfy { $0.session.state == .joined })
        for index in rooms.clients.indices { rooms.clients[index].events = [] }
        return rooms
    }

    /// A token of alice's that is over in so many seconds.
    private func token(for seconds: Int64, _ rooms: SimulatedRooms, as who: String = "alice@kitchen") -> String {
        "\(who) until=\(rooms.unixTime + seconds)"
    }

    private func renew(_ token: String, _ rooms: inout SimulatedRooms) throws {
        try rooms.clients[0].session.renew(token: Array(token.utf8), now: rooms.now)
    }

    static let expired = RoomSessionState.ended(.removed(.tokenExpired))

    // MARK: The end

    @Test func aStayEndsWithItsToken() throws {
        var rooms = try kitchen(for: 60)
        let alice = rooms.clients[0].participant
        // When all but a moment of the minute is over
        rooms.run(for: .milliseconds(58900))
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.route(of: 0) == .forward([rooms.peer(1)]))
        // And that, and the way to her
        rooms.run(for: .milliseconds(300))
        // Then she is out and knows why, and bob sees her go
        #expect(rooms.clients[0].session.state == Self.expired)
        #expect(rooms.clients[0].events == [.ended(.removed(.tokenExpired))], "without a provider nothing is asked")
        #expect(rooms.clients[1].events == [.participantLeft(alice, .removed)])
        #expect(rooms.directoryEvents.last == .left(alice, .removed))
        // And he stays
        rooms.run(for: .seconds(3600))
        #expect(rooms.clients[1].session.state == .joined)
        #expect(rooms.directory.connections.count == 1)
    }

    @Test(arguments: [Int64.max, 1_000 + Int64(UInt32.max)])
    func aTokenWithoutAnEndInSightIsLikeOneWithoutEnd(end: Int64) throws {
        var rooms = SimulatedRooms()
        try rooms.addClient("alice@kitchen until=\(end)")
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.clients[0].grant?.expiresIn == nil)
        #expect(rooms.directory.participants.values.first?.expiresAt == nil)
    }

    @Test(arguments: [
        (Int64.min, Int64.max, Duration?.some(.seconds(7))), (.max, .min, nil), (.max, 0, nil), (.max, 1, nil),
        (Int64(UInt32.max), 1, .seconds(6 + Int64(UInt32.max))), (Int64(UInt32.max), 0, nil), (.min, 1, .seconds(7)),
        (100, 100, .seconds(7)), (.min, .min, .seconds(7)),
    ])
    func timesThatNobodyMeansDoNotOverflow(end: Int64, unixTime: Int64, deadline: Duration?) {
        let grants = TokenGrants(identity: "alice", room: "kitchen", expiresAt: end)
        #expect(grants.deadline(unixTime: unixTime, now: .seconds(7)) == deadline)
    }

    @Test func aTokenThatIsOverWhenItsVerdictComesOpensNothing() throws {
        var directory = RoomDirectory(key: CookieKey(high: 1, low: 2))
        try directory.join(as: 1, token: "alice@kitchen until=50", now: .zero)
        let polled = directory.pollVerification()
        let request = try #require(polled)
        directory.answer(
            request.id, SimulatedRooms.verdict(request.token, at: 49), entropy: RoomFloodTests.entropy, unixTime: 50,
            now: .zero)
        #expect(directory.participantCount == 0)
        #expect(directory.pollEvent() == .refused(SimulatedRooms.peer(1), .expired, others: 0, from: nil))
    }

    // MARK: Newer tokens

    @Test func aTokenThatIsRenewedLetsStay() throws {
        var rooms = try kitchen(for: 60)
        rooms.clients[0].session.canRenewToken = true
        // When four fifths are over
        rooms.run(for: .milliseconds(46900))
        #expect(rooms.clients[0].events.isEmpty)
        rooms.run(for: .milliseconds(1100))
        // Then she is asked for a token, once
        #expect(rooms.clients[0].events == [.tokenExpiring])
        // And stays when she has it, for as long as it says, without a word in the room
        try renew(token(for: 60, rooms), &rooms)
        rooms.run(for: .milliseconds(47800))
        #expect(rooms.clients[0].events == [.tokenExpiring])
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[0].events == [.tokenExpiring, .tokenExpiring])
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.clients[1].events.isEmpty)
        // And not longer
        rooms.run(for: .seconds(11))
        #expect(rooms.clients[0].session.state == .joined)
        rooms.run(for: .milliseconds(600))
        #expect(rooms.clients[0].session.state == Self.expired)
    }

    @Test func aTokenIsAskedForAgainEachTenth() throws {
        var rooms = try kitchen(for: 1000)
        rooms.clients[0].session.canRenewToken = true
        var asks: [Int] = []
        for second in 2...1001 {
            rooms.run(for: .seconds(1))
            asks += rooms.clients[0].events.filter { $0 == .tokenExpiring }.map { _ in second }
            rooms.clients[0].events = []
        }
        #expect(asks == [801, 901], "seconds after the join")
        #expect(rooms.clients[0].session.state == Self.expired)
    }

    @Test(arguments: [
        ("carol@kitchen", RoomRefusal.wrongIdentity), ("alice@cellar", .wrongRoom),
        ("alice@kitchen -join", .noJoinRight), ("!3", .badSignature), ("!4", .expired), ("", .malformed),
    ])
    func aTokenThatIsNotHersChangesNothing(token: String, refusal: RoomRefusal) throws {
        var rooms = try kitchen(for: 60)
        try renew(token, &rooms)
        rooms.run(for: .milliseconds(57900))
        #expect(rooms.clients[0].events == [.requestRefused(.renew, subject: 0, refusal)])
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.clients[1].events.isEmpty)
        // And the stay ends when it would have
        rooms.run(for: .milliseconds(1300))
        #expect(rooms.clients[0].session.state == Self.expired)
    }

    @Test func strangersWhoseTokensWaitHoldUpNoNewerOne() throws {
        // Given as many joins as are taken, on which there is no verdict yet
        var rooms = try kitchen(for: 60)
        for number in 0..<2 * RoomDirectory.verificationLimit {
            try rooms.directory.join(as: 1000 + number, token: "!3", now: rooms.now)
        }
        try #require(rooms.directory.pendingJoins == RoomDirectory.verificationLimit)
        // When a newer token of alice's comes, then it is looked at, and she stays
        let newer = Array(token(for: 3600, rooms).utf8)
        try rooms.directory.askForVerdict(on: newer, of: rooms.clients[0].participant, now: rooms.now)
        rooms.run(for: .seconds(100))
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.directory.pending.isEmpty && rooms.directory.pendingJoins == 0)
    }

    @Test func anOlderTokenTakesNothingAway() throws {
        var rooms = try kitchen(for: 60)
        try renew(token(for: 10, rooms), &rooms)
        rooms.run(for: .seconds(58))
        #expect(rooms.clients[0].session.state == .joined)
    }

    @Test func rightsStayAsTheyAre() throws {
        var rooms = try kitchen(for: 60)
        try renew("alice@kitchen -publish", &rooms)
        rooms.run(for: .seconds(100))
        #expect(rooms.clients[0].session.state == .joined, "the newer one has no end")
        #expect(rooms.route(of: 0) == .forward([rooms.peer(1)]))
    }

    @Test(arguments: cases(1...12 as ClosedRange<UInt64>))
    func aTokenIsRenewedInAStorm(seed: UInt64) throws {
        // Given a network that loses a third
        var rooms = try kitchen(for: 150, seed: seed)
        rooms.clients[0].session.canRenewToken = true
        rooms.conditions = .stormy
        // When alice renews whenever she is asked
        var asks = 0
        for _ in 0..<600 {
            rooms.run(for: .seconds(1))
            guard rooms.clients[0].events.contains(.tokenExpiring) else { continue }
            rooms.clients[0].events = []
            asks += 1
            try renew(token(for: 150, rooms), &rooms)
        }
        rooms.conditions = .steady
        rooms.run(for: .seconds(10))
        // Then nothing ever ends, and few are asked for
        #expect(rooms.clients[0].session.state == .joined, "seed \(seed)")
        #expect((4...10).contains(asks), "seed \(seed)")
    }

    @Test func aProviderThatGivesTheSameTokenAgainIsNotAskedWithoutEnd() throws {
        var rooms = try kitchen(for: 60)
        rooms.clients[0].session.canRenewToken = true
        let same = "alice@kitchen until=1060"
        var asks = 0
        for _ in 0..<6_000 {
            rooms.run(for: .milliseconds(10))
            guard rooms.clients[0].events.contains(.tokenExpiring) else { continue }
            rooms.clients[0].events = []
            asks += 1
            try renew(same, &rooms)
        }
        #expect(rooms.clients[0].session.hasEnded)
        #expect((2...4).contains(asks))
    }

    @Test func aFloodOfTokensIsBounded() throws {
        var rooms = try kitchen(for: 600)
        // When alice sends as many as fit, a hundred times a second, for ten seconds
        let before = rooms.verifications
        for _ in 0..<1000 {
            RoomFloodTests.flood(&rooms, by: 0, with: (0..<32).map { _ in .renew(token: Array("alice@kitchen".utf8)) })
            #expect(rooms.directory.pending.count <= 1)
            rooms.run(for: .milliseconds(10))
        }
        // Then a few are looked at
        let limit = RoomLimits.renewals
        #expect((2...limit.burst + Int(.seconds(10) / limit.interval) + 1).contains(rooms.verifications - before))
        // What waits for her is bounded, and bob is as he was
        let outbox = try #require(rooms.outbox(0))
        #expect(outbox.count <= Outbox.logLimit + OutgoingQueue.refusalLimit + 2)
        #expect(rooms.clients[1].session.state == .joined)
        #expect(rooms.clients[1].events.isEmpty)
    }

    @Test func strangersHoldNobodysTokenUp() throws {
        var rooms = try kitchen(for: 60)
        // When strangers have all the tokens looked at that strangers may, before and while hers comes
        for number in 0..<4_000 {
            try rooms.directory.join(as: 1_000 + number, token: "!3", now: rooms.now)
            if number % 20 == 19 { rooms.run(for: .milliseconds(1)) }
            if number == 2_000 { try renew("alice@kitchen", &rooms) }
        }
        #expect(rooms.directory.statistics.overloadedJoins > 2_000)
        rooms.run(for: .seconds(100))
        #expect(rooms.clients[0].session.state == .joined)
    }

    // MARK: Breaks

    @Test func aBreakAcrossTheEndOfATokenIsNone() throws {
        var rooms = try kitchen(for: 20)
        let alice = rooms.clients[0].participant
        // When alice is not heard from the tenth second on
        rooms.run(for: .seconds(9))
        rooms.clients[0].isAlive = false
        rooms.run(for: .milliseconds(9900))
        #expect(rooms.directoryEvents.last == .lost(alice))
        #expect(rooms.clients[1].events.isEmpty)
        rooms.run(for: .milliseconds(300))
        // Then she is gone when her token is over, not when her break is
        #expect(rooms.directoryEvents.last == .left(alice, .removed))
        #expect(rooms.clients[1].events == [.participantLeft(alice, .removed)])
        // And does not come back with it
        rooms.clients[0].isAlive = true
        rooms.run(for: .seconds(8))
        #expect(rooms.clients[0].session.state == .ended(.refused(.expired, serverVersions: RoomProtocol.versions)))
        #expect(rooms.directory.participantCount == 1)
    }

    @Test func whoeverCanRenewComesBackByANewToken() throws {
        var rooms = try kitchen(for: 20)
        rooms.clients[0].session.canRenewToken = true
        rooms.run(for: .seconds(9))
        rooms.clients[0].isAlive = false
        rooms.run(for: .seconds(15))
        rooms.clients[0].isAlive = true
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[0].events.last == .tokenRefused(.expired))
        try renew(token(for: 60, rooms), &rooms)
        rooms.run(for: .seconds(1))
        // As a new participant
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.clients[0].grant?.resumed == false)
        #expect(rooms.clients[0].grant?.expiresIn == .seconds(60))
    }

    @Test func aBreakDoesNotPutTheQuestionOff() throws {
        // Given alice in a break for three of five parts of her token's time
        var rooms = try kitchen(for: 50)
        rooms.clients[0].session.canRenewToken = true
        rooms.run(for: .seconds(3))
        rooms.conditions.loss = .independent(1)
        rooms.run(for: .seconds(25))
        rooms.conditions.loss = .none
        rooms.run(for: .milliseconds(10_900))
        #expect(rooms.clients[0].session.state == .joined)
        #expect(!rooms.clients[0].events.contains(.tokenExpiring))
        // Then she is asked at four fifths of the whole all the same
        rooms.run(for: .milliseconds(300))
        #expect(rooms.clients[0].events.last == .tokenExpiring)
    }

    @Test func theSecretIsNoLongerGoodThanTheToken() throws {
        // Given alice, whose token is over in this moment: no timer has told it yet
        let rooms = try kitchen(for: 60)
        let grant = try #require(rooms.clients[0].grant)
        let end = try #require(rooms.directory.participants[grant.participant]?.expiresAt)
        let claim = RejoinClaim(participant: grant.participant, secret: grant.secret, handledCount: 0, attempt: 9)
        for (peer, now) in [(66, end - .nanoseconds(1)), (67, end)] {
            var directory = rooms.directory
            let request = JoinRequest(capabilities: .conversation, room: "", token: [], rejoin: claim)
            directory.open(SimulatedRooms.peer(peer), now: now)
            // When she claims to be herself
            try directory.handle(.join(request), from: SimulatedRooms.peer(peer), now: now)
            // Then before it she is, and from then on her token is asked for
            #expect((directory.participants[grant.participant] == nil) == (now == end))
            #expect((directory.pollVerification() == nil) == (now < end))
        }
    }

    @Test func aNewerTokenIsToldToTheServerThatRemembersTheOlder() throws {
        // Given alice in a break, who gets a newer token there
        var rooms = try kitchen(for: 60)
        let before = rooms.clients[0].participant
        rooms.conditions.loss = .independent(1)
        rooms.run(for: .seconds(10))
        #expect(rooms.clients[0].session.state == .reconnecting)
        try renew(token(for: 600, rooms), &rooms)
        rooms.conditions.loss = .none
        // When she comes back by her secret
        rooms.run(for: .seconds(8))
        #expect(rooms.clients[0].grant?.resumed == true)
        // Then it counts
        rooms.run(for: .seconds(300))
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.clients[0].participant == before)
    }

    @Test func aNewerTokenThatComesWhileTheOlderIsRefusedIsTriedNext() throws {
        // Given alice, whose server has forgotten her and takes her token no more
        var rooms = try kitchen(for: 60)
        rooms.clients[0].session.canRenewToken = true
        rooms.tokenRefusal = .badSignature
        rooms.restartServer()
        /// Lets time pass, a minute at most.
        func pass(while holds: (RoomSession) -> Bool) throws {
            for _ in 0..<6_000 where holds(rooms.clients[0].session) { rooms.run(for: .milliseconds(10)) }
            let isOver = !holds(rooms.clients[0].session)
            try #require(isOver)
        }
        try pass { $0.state == .joined }
        // When a newer token comes while the older is on its way
        try pass { if case .arriving(let arrival) = $0.stage { arrival.joinIsDue } else { false } }
        try renew(token(for: 600, rooms), &rooms)
        try pass { $0.path < 3 && !$0.hasEnded }
        rooms.tokenRefusal = nil
        rooms.run(for: .seconds(1))
        // Then that is tried, and nobody is asked
        #expect(rooms.clients[0].session.state == .joined)
        #expect(!rooms.clients[0].events.contains(.tokenRefused(.badSignature)))
    }
}
