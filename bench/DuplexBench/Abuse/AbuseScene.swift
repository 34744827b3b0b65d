import Foundation
import VoiceRealtime
import VoiceRooms
import VoiceTransport

/// One attack on a room server and its rooms, from the first process to the last.
///
///     duplex room serve ◄── room "apart":    duplex call, duplex call
///                       ◄── room "attacked": duplex call, duplex call, the attacker, and where the attack is on messages 29 bystanders
///                       ◄── room "new":      one who joins while the attack goes on
struct AbuseScene {
    /// Hostile datagrams in a second.
    static let rate = 10_000
    /// How long the attack lasts.
    static let attackSeconds = 10.0
    /// Members of a full room.
    static let fullRoom = 32

    /// What an attack did.
    struct Outcome {
        var datagramsPerSecond = 0.0
        /// CPU time of the server's threads for one datagram, above what it needs without an attack, microseconds: one
        /// datagram alone, the mean of the attack, and the mean of its worst quarter of a second.
        var aloneMicroseconds = 0.0
        var meanMicroseconds = 0.0
        var worstMicroseconds = 0.0
        /// The same of an attacked client's media and network threads, mean.
        var clientMicroseconds = 0.0
        /// Datagrams, hostile or not, that the kernel dropped before the server.
        var dropped = 0
        var packetsLostApart = 0
        var packetsLostBeside = 0
        var victimsLost = 0
        var silencedMilliseconds = 0
        /// Packets that the attacked talker sent in a second.
        var victimPacketsPerSecond = 0.0
        var newcomerMilliseconds: Double?
        var serverLogBytes = 0
    }

    private static let tone = MarkedTone(hertz: 1_000, seconds: 18)
    private static let otherTone = MarkedTone(hertz: 1_400, seconds: 18)
    /// That a call sends of its tone.
    private static let packetsPerSecond = 50.0
    /// Between the calls' beginning and the attack: the tone's silence, and a second without an attack.
    private static let settlingSeconds = 3.0
    private static let probes = 15
    /// Above its calls, an attack's end must not hang.
    private static let callSeconds = 60.0

    private let attack: Attack
    private let isProtected: Bool
    private let duplex: String
    private let folder: URL
    private let issuer: TokenIssuer
    private let forger: TokenIssuer
    private let secret: String

    /// - Parameter isProtected: whether all, the attacker too, speak by DTLS and SRTP.
    init(_ attack: Attack, isProtected: Bool, duplex: String, folder: URL) throws {
        (self.attack, self.isProtected, self.duplex, self.folder) = (attack, isProtected, duplex, folder)
        secret = String(repeating: "s3cret", count: 8)
        issuer = TokenIssuer(key: try TokenKey(name: "duplex", secret: Array(secret.utf8)))
        forger = TokenIssuer(key: try TokenKey(name: "duplex", secret: Array(secret.utf8.reversed())))
    }

    func run() throws -> Outcome {
        let server = try ChildProgram(
            duplex,
            ["room", "serve", "--address", "127.0.0.1", "--port", "0", "--json"]
                + (isProtected ? ["--state", folder.path] : ["--plaintext"]),
            environment: ["DUPLEX_ROOM_SECRET": secret],
            output: folder.appendingPathComponent("server.json"))
        defer { server.end() }
        guard let listening = server.line(ofType: "listening", within: 20), let number = listening.port else {
            throw AbuseFailure("the server does not listen")
        }
        let port = AttackedPort(
            number: number, fingerprint: listening.fingerprint.flatMap { CertificateFingerprint($0) })
        guard (port.fingerprint != nil) == isProtected else {
            throw AbuseFailure("the server does not say how it protects")
        }
        let others = attack.needsFullRoom ? Self.fullRoom - 3 : 0
        let bystanders = try Bystanders(
            tokens: try (0..<others).map { try token("bystander \($0)", "attacked") },
            newcomer: try token("newcomer", "new"), port: port)
        defer { bystanders.stop() }
        let member = try HostileMember(
            token: try token("attacker", "attacked"), capabilities: attack.capabilities, port: port)
        try settle(member, bystanders, count: others)

        let apart = try calls(["ann", "ben"], room: "apart", port: port)
        let attacked = try calls(["eve", "joe"], room: "attacked", port: port)
        var outcome = Outcome()
        let isComplete = {
            (attacked + apart).allSatisfy(\.hasCompany) && member.publishers.values.contains("eve")
        }
        try pump(member, until: isComplete, within: 30)
        guard let victim = member.publishers.first(where: { $0.value == "eve" })?.key else {
            throw AbuseFailure("nobody publishes a stream to attack")
        }
        let datagrams = AttackDatagrams(
            attack, by: member, against: victim, strangers: AttackRun.strangers, forgedToken: try forged())
        let run = try AttackRun(datagrams, by: member, port: number)
        run.observe(server, attacked)
        run.rest(seconds: Self.settlingSeconds)
        run.measureQuiet(seconds: 1)
        outcome.aloneMicroseconds = run.probe(Self.probes)
        let dropped = ChildProgram.droppedDatagrams(at: number)
        run.flood(rate: Self.rate, seconds: Self.attackSeconds) { progress in
            if progress > 0.3 { bystanders.admitNewcomer() }
        }
        run.rest(seconds: 1)
        outcome.dropped = ChildProgram.droppedDatagrams(at: number) - dropped
        run.fill(&outcome)

        let outcomesApart = finish(apart, run)
        let outcomesAttacked = finish(attacked, run)
        let report = bystanders.report
        outcome.serverLogBytes = server.outputBytes
        outcome.newcomerMilliseconds = report.newcomerJoined.map { $0 / .milliseconds(1) }
        outcome.victimsLost = report.putOut + (outcomesApart + outcomesAttacked).count { $0.wasPutOut }
        outcome.packetsLostApart = outcomesApart.reduce(0) { $0 + Self.lost($1.lost) }
        let good = Set(
            member.publishers.filter { ["eve", "joe"].contains($0.value) }.keys.map(\.synchronizationSource))
        for other in outcomesAttacked {
            outcome.packetsLostBeside += Self.lost(other.lost.filter { good.contains($0.key) })
        }
        outcome.silencedMilliseconds = (outcomesApart + outcomesAttacked).reduce(0) { $0 + $1.silencedMilliseconds }
        outcome.victimPacketsPerSecond = outcomesAttacked[0].packetsSentPerSecond
        return outcome
    }

    // MARK: Before the attack

    private func token(_ identity: String, _ room: String) throws -> String {
        try issued(issuer, identity, room)
    }

    private func forged() throws -> String { try issued(forger, "stranger", "attacked") }

    private func issued(_ issuer: TokenIssuer, _ identity: String, _ room: String) throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        return try issuer.token(
            for: TokenGrants(identity: identity, room: room), notBefore: now - 60, expires: now + 3_600)
    }

    private func settle(_ member: HostileMember, _ bystanders: Bystanders, count: Int) throws {
        try pump(member, until: { member.hasSettled && bystanders.report.present == count }, within: 20)
    }

    private func pump(_ member: HostileMember, until isDone: () -> Bool, within seconds: Double) throws {
        let deadline = MonotonicTime.now().sinceEpoch + .seconds(seconds)
        while !isDone() {
            let now = MonotonicTime.now().sinceEpoch
            guard now < deadline else { throw AbuseFailure("the rooms did not fill within \(seconds) s") }
            member.pump(now: now)
            sleepMicroseconds(2_000)
        }
    }

    private func calls(_ names: [String], room: String, port: AttackedPort) throws -> [MeasuredCall] {
        try zip(names, [(Self.tone, Self.otherTone), (Self.otherTone, Self.tone)]).map { name, tones in
            try MeasuredCall(
                duplex, identity: name, token: try token(name, room), port: port, tone: tones.0, toneOfPeer: tones.1,
                folder: folder)
        }
    }

    // MARK: After the attack

    /// Packets that a call has missed, by the talkers that it has heard. One that tells of none, as one that wrote no
    /// summary, has missed all of its peer's tone.
    private static func lost(_ talkers: [UInt32: Int]) -> Int {
        talkers.isEmpty ? Int(tone.seconds * packetsPerSecond) : talkers.values.reduce(0, +)
    }

    private func finish(_ calls: [MeasuredCall], _ run: AttackRun) -> [MeasuredCall.Outcome] {
        let deadline = Date(timeIntervalSinceNow: Self.callSeconds)
        // The attacker stays in the room: what it hears must go on being acknowledged.
        while calls.contains(where: \.isRunning), Date() < deadline { run.rest(seconds: 0.05) }
        return calls.map { $0.outcome(within: 0) }
    }
}
