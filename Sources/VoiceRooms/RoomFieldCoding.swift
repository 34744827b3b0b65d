internal import VoicePeers

// The fields that several messages share, and the messages that are structures.

extension ByteReader {
    mutating func stream() throws(RoomProtocolError) -> StreamID {
        let number: UInt32 = try number()
        guard number != 0 else { throw .invalidValue }
        return StreamID(rawValue: number)
    }

    mutating func participant() throws(RoomProtocolError) -> ParticipantID {
        guard let participant = try destination() else { throw .invalidValue }
        return participant
    }

    /// A participant, or 0 for the whole room.
    mutating func destination() throws(RoomProtocolError) -> ParticipantID? {
        let number: UInt32 = try number()
        return number == 0 ? nil : ParticipantID(rawValue: number)
    }

    mutating func mute() throws(RoomProtocolError) -> MuteState {
        let bits: UInt8 = try number()
        guard bits < 4 else { throw .invalidValue }
        return MuteState(rawValue: bits)
    }

    mutating func code<Code: RawRepresentable<UInt8>>() throws(RoomProtocolError) -> Code {
        guard let code = Code(rawValue: try number()) else { throw .invalidValue }
        return code
    }

    mutating func versions() throws(RoomProtocolError) -> ClosedRange<UInt8> {
        let lowest: UInt8 = try number()
        let highest: UInt8 = try number()
        guard lowest <= highest else { throw .invalidValue }
        return lowest...highest
    }

    mutating func secret() throws(RoomProtocolError) -> RejoinSecret {
        RejoinSecret(high: try number(), low: try number())
    }

    /// Seconds, or more of them than the field can say.
    mutating func lifetime() throws(RoomProtocolError) -> Duration? {
        let seconds: UInt32 = try number()
        return seconds == .max ? nil : .seconds(Int64(seconds))
    }

    mutating func streamName() throws(RoomProtocolError) -> String {
        let name = try text()
        guard name.utf8.count <= RoomProtocol.streamNameLimit else { throw .fieldTooLong }
        return name
    }

    mutating func streamCount() throws(RoomProtocolError) -> Int {
        let count = Int(try number(UInt8.self))
        guard count <= RoomProtocol.streamLimit else { throw .limitExceeded }
        return count
    }
}

extension ByteWriter {
    /// Whole seconds, rounded down, so that nobody believes in more time than there is.
    mutating func write(lifetime: Duration?) {
        write(lifetime.map { UInt32(clamping: min($0.components.seconds, Int64(UInt32.max - 1))) } ?? .max)
    }
}

extension StreamAssignment {
    func write(into writer: inout ByteWriter) {
        writer.write(stream.rawValue)
        writer.write(synchronizationSource)
    }

    init(from reader: inout ByteReader) throws(RoomProtocolError) {
        self.init(stream: try reader.stream(), synchronizationSource: try reader.number())
    }
}

extension GenerationStart {
    func write(into writer: inout ByteWriter) {
        writer.write(stream.rawValue)
        writer.write(generation)
        writer.write(timestamp)
    }

    init(from reader: inout ByteReader) throws(RoomProtocolError) {
        self.init(stream: try reader.stream(), generation: try reader.number(), timestamp: try reader.number())
    }
}

extension HeardReport {
    func write(into writer: inout ByteWriter) {
        writer.write(stream.rawValue)
        writer.write(utterance)
        writer.write(milliseconds)
        writer.write(boundMilliseconds)
        writer.write(flag: isFinal)
    }

    init(from reader: inout ByteReader) throws(RoomProtocolError) {
        self.init(
            stream: try reader.stream(), utterance: try reader.number(), milliseconds: try reader.number(),
            boundMilliseconds: try reader.number(), isFinal: try reader.flag())
    }
}

extension PublishedStream {
    func write(into writer: inout ByteWriter) {
        assignment.write(into: &writer)
        writer.write(mute.rawValue)
        writer.write(generation)
        writer.write(interruptibleBy.rawValue)
        writer.write(text: name)
    }

    init(from reader: inout ByteReader) throws(RoomProtocolError) {
        self.init(
            try StreamAssignment(from: &reader), mute: try reader.mute(), generation: try reader.number(),
            interruptibleBy: try reader.code(), name: try reader.streamName())
    }
}

extension RosterEntry {
    func write(into writer: inout ByteWriter) {
        writer.write(participant.rawValue)
        writer.write(text: identity)
        writer.write(text: name)
        writer.write(role.rawValue)
        attributes.write(into: &writer)
        writer.write(UInt8(streams.count))
        for stream in streams { stream.write(into: &writer) }
    }

    init(from reader: inout ByteReader) throws(RoomProtocolError) {
        self.init(
            participant: try reader.participant(), identity: try reader.text(), name: try reader.text(),
            role: try reader.code(), attributes: try ParticipantAttributes(from: &reader))
        for _ in 0..<(try reader.streamCount()) { streams.append(try PublishedStream(from: &reader)) }
    }
}

extension RejoinClaim {
    func write(into writer: inout ByteWriter) {
        writer.write(participant.rawValue)
        writer.write(secret.high)
        writer.write(secret.low)
        writer.write(handledCount)
        writer.write(attempt)
    }

    init(from reader: inout ByteReader) throws(RoomProtocolError) {
        self.init(
            participant: try reader.participant(), secret: try reader.secret(), handledCount: try reader.number(),
            attempt: try reader.number())
    }
}

extension JoinRequest {
    func write(into writer: inout ByteWriter) {
        writer.write(versions.lowerBound)
        writer.write(versions.upperBound)
        writer.write(capabilities.rawValue)
        writer.write(role.rawValue)
        writer.write(text: room)
        writer.write(bytes: token, limit: RoomProtocol.tokenLimit)
        writer.write(flag: publishing != nil)
        if let publishing { writer.write(publishing.rawValue) }
        writer.write(flag: rejoin != nil)
        rejoin?.write(into: &writer)
    }

    init(from reader: inout ByteReader) throws(RoomProtocolError) {
        self.init(
            versions: try reader.versions(), capabilities: RoomCapabilities(rawValue: try reader.number()),
            role: try reader.code(), room: try reader.text(),
            token: try reader.bytes(limit: RoomProtocol.tokenLimit))
        if try reader.flag() { publishing = try reader.code() }
        if try reader.flag() { rejoin = try RejoinClaim(from: &reader) }
    }
}

extension JoinGrant {
    func write(into writer: inout ByteWriter) {
        writer.write(version)
        writer.write(participant.rawValue)
        writer.write(capabilities.rawValue)
        writer.write(flag: resumed)
        writer.write(handledCount)
        writer.write(secret.high)
        writer.write(secret.low)
        writer.write(UInt16(clamping: keepaliveInterval.wholeMilliseconds))
        writer.write(text: room)
        writer.write(UInt8(streams.count))
        for stream in streams { stream.write(into: &writer) }
        writer.write(rosterCount)
        writer.write(lifetime: expiresIn)
        writer.write(flag: credentials != nil)
        if let credentials {
            writer.write(credentials.fragment.high)
            writer.write(credentials.fragment.low)
            writer.write(credentials.password.high)
            writer.write(credentials.password.low)
        }
    }

    init(from reader: inout ByteReader) throws(RoomProtocolError) {
        self.init(
            version: try reader.number(), participant: try reader.participant(),
            capabilities: RoomCapabilities(rawValue: try reader.number()), resumed: try reader.flag(),
            handledCount: try reader.number(), secret: try reader.secret(),
            keepaliveInterval: .milliseconds(try reader.number(UInt16.self)), room: try reader.text(), streams: [],
            rosterCount: 0)
        for _ in 0..<(try reader.streamCount()) { streams.append(try StreamAssignment(from: &reader)) }
        rosterCount = try reader.number()
        expiresIn = try reader.lifetime()
        if try reader.flag() {
            credentials = STUNCredentials(
                fragment: UserFragment(high: try reader.number(), low: try reader.number()),
                password: STUNPassword(high: try reader.number(), low: try reader.number()))
        }
        guard keepaliveInterval > .zero, (1...RoomProtocol.participantLimit).contains(Int(rosterCount)) else {
            throw .invalidValue
        }
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero.
    var wholeMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }

    /// Whole microseconds, rounded towards zero.
    var wholeMicroseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
