internal import VoicePeers

/// How much one participant, one address or all strangers together can have a server do. Beyond each limit the one who
/// asks waits, or is not answered; nobody else notices.
enum RoomLimits {
    /// Control datagrams of one connection. A client sends one for each that it gets and one a keepalive; 500 a second
    /// are more than a queue of messages to it ever needs, and their parsing is under 1 % of a processor. More are
    /// dropped unread.
    static let datagrams = RateLimit(burst: 1000, interval: .milliseconds(2))

    /// Packets of sound of one participant, each of which goes to everybody who hears it: four streams of packets of
    /// 2.5 ms, and a second of them at once after a stall. More are dropped. A packet counts once more for each
    /// ``soundLength`` that it has.
    static let sound = RateLimit(burst: 2000, interval: .microseconds(500))

    /// Bytes, more than 2.5 ms of Opus at 510 kbit/s have with their headers: so four streams of that in packets of any
    /// duration are within the limit, and no participant has more than 4 Mbit/s forwarded.
    static let soundLength = 256

    /// Copies of one participant's packets of sound, one for each who hears it: each costs the server a protection and a
    /// place in a system call, 1 µs. As many as ``sound`` is in a room of 32; in one of 256 still 250 packets a second,
    /// four streams of packets of 20 ms. More are dropped, for everybody.
    static let copies = RateLimit(burst: 64_000, interval: .nanoseconds(15_625))

    /// Packets of sound and reports to one listener, whoever sends them: what its media thread takes in where it runs each
    /// 10 ms, and at once what its ring holds. More are dropped, first those of whoever sends most (``DropPrecedence``).
    static let toListener = RateLimit(burst: 1024, interval: .nanoseconds(78_125))

    /// Reports of one participant: ten times as many as RTCP has in the smallest room. More are dropped.
    static let reports = RateLimit(burst: 100, interval: .milliseconds(20))

    /// What the requests of one participant cost: one, and one more for each message or route that follows from it.
    /// 2000 a second are 60 messages a second to a room of 32; at once a client has to publish, and perhaps to
    /// subscribe to 31 others, or to say a few things. What comes too early waits, and is acknowledged later: it loses
    /// nothing.
    static let requests = RateLimit(burst: 256, interval: .microseconds(500))

    /// Interruptions by one participant: nobody begins to speak more than twice a second for long. More are refused as
    /// `tooOften`.
    static let interruptions = RateLimit(burst: 10, interval: .milliseconds(500))

    /// What one participant tells of what it has heard: four times a second of each of 16 talkers, and the beginnings
    /// and ends of their utterances. More are refused as `tooOften`.
    static let reportsOfHearing = RateLimit(burst: 200, interval: .milliseconds(10))

    /// Changes of one participant's attributes or role, each of which is told to the whole room: an agent that listens,
    /// thinks and responds changes its state a few times a second at most. More are refused as `tooOften`.
    static let selfDescriptions = RateLimit(burst: 20, interval: .milliseconds(100))

    /// Rejoins of one participant, each of which costs a whole roster. More are dropped, and repeated by the client.
    static let resumptions = RateLimit(burst: 5, interval: .seconds(1))

    /// Joins of one identity, each of which is told to the whole room, and whose streams each listener's keys remember
    /// for good (`SRTPStreams.limit`): whoever does nothing else uses them up in 85 minutes. More are dropped, and
    /// repeated by the client.
    static let joinsOfIdentity = RateLimit(burst: 20, interval: .seconds(5))

    /// Tokens from all addresses: at 160 µs for the most expensive of them, 6 % of a processor.
    static let joins = RateLimit(burst: 512, interval: .microseconds(2500))

    /// New tokens of one participant, one at a time. More are refused as `tooOften`.
    static let renewals = RateLimit(burst: 5, interval: .seconds(1))

    /// New tokens of all participants, apart from those of joins: strangers hold up nobody who is in a room.
    static let renewalsOfAll = RateLimit(burst: 512, interval: .microseconds(2500))

    /// Refused joins that are told one by one; the others are counted.
    static let toldRefusals = RateLimit(burst: 10, interval: .milliseconds(100))
}
