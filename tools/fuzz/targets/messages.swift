// modules: VoiceQueue VoiceWire VoicePeers VoiceRooms
// length: 1300
//
// Any bytes as a datagram of the room protocol's control messages, as long as one may be; `room-server` and
// `room-client` have short ones, in all states. Nothing may trap, what was read is within its limits, and what is
// written again from it reads the same.

import VoiceRooms

/// Reading one datagram.
private let reading = Budget("a datagram of control messages", limit: 200_000)

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes else { return 0 }
    let input = unsafe Span(_unsafeStart: bytes, count: count)
    guard let datagram = reading.spend({ try? ControlDatagram(decoding: input) }) else { return 0 }
    precondition(count <= RoomProtocol.datagramLimit && datagram.frames.count <= RoomProtocol.frameLimit)
    let again = datagram.encoded()
    precondition(again.count <= count, "what was read is longer than it came")
    guard let other = try? ControlDatagram(decoding: again.span) else { fatalError("what was written cannot be read") }
    precondition(other == datagram, "what was written reads otherwise")
    return 0
}

/// Messages of each kind, as long as they may be where that is the input's to say.
func makeSeeds() -> [[UInt8]] {
    let stream = StreamAssignment(stream: StreamID(rawValue: 7), synchronizationSource: 77)
    let participant = ParticipantID(rawValue: 3)
    let entry = RosterEntry(
        participant: participant, identity: String(repeating: "i", count: 100), name: "n",
        streams: [PublishedStream(stream)])
    let messages: [RoomMessage] = [
        .join(
            JoinRequest(
                capabilities: .conversation, room: "room", token: [UInt8](repeating: 5, count: 900),
                publishing: .anyone)),
        .publish(stream, interruptibleBy: .anyone, name: "name"), .subscribe(StreamID(rawValue: 7)),
        .setMuted(StreamID(rawValue: 7), true), .send(destination: nil, bytes: [UInt8](repeating: 6, count: 1_000)),
        .renew(token: [1, 2, 3]), .leave, .handled(count: 9), .participantJoined(entry),
        .participantLeft(participant, .left), .published(participant, PublishedStream(stream)),
        .message(sender: participant, destination: participant, bytes: [8, 9]),
        .requestRefused(.publish, subject: 7, .unknownStream), .removed(.restarting),
        .refused(.expired, versions: 1...1), .renewed(expiresIn: .seconds(60)), .ping(microseconds: 5),
    ]
    return messages.map { message in
        let isSequenced = if case .ping = message { false } else { true }
        let frame = ControlDatagram.Frame(sequence: isSequenced ? 1 : 0, message: message)
        return ControlDatagram(acknowledged: 1, frames: [frame]).encoded()
    }
}
