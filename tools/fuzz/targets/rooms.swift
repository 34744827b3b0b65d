// modules: VoiceWire VoiceRooms
//
// Takes the bytes as datagrams that strangers send to a room server and to a client, and as a course of time. Nothing may trap, and
// nothing may grow with what was not accepted.

import VoiceRooms
import VoiceWire

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes else { return 0 }
    let input = unsafe Span(_unsafeStart: bytes, count: count)
    checkServer(input)
    checkClient(input)
    return 0
}

/// Every two bytes in front of a datagram say how long it is, who sends it, and how much time passes before.
private func datagrams(_ input: Span<UInt8>, _ body: (Span<UInt8>, UInt8, Duration) -> Void) {
    var position = 0
    var now = Duration.seconds(1)
    while position + 2 <= input.count {
        let head = input[position]
        let length = min(Int(input[position + 1]), input.count - position - 2)
        now += .milliseconds(Int64(head >> 2) * 40)
        body(input.extracting(position + 2..<position + 2 + length), head & 3, now)
        position += 2 + length
    }
}

private func checkServer(_ input: Span<UInt8>) {
    var directory = RoomDirectory()
    datagrams(input) { datagram, sender, now in
        let source = EndpointAddress(high: 0, low: UInt64(sender), port: 1_000)
        _ = try? directory.handle(datagram: datagram, from: source, now: now)
        directory.handleTimeout(now: now)
        while let request = directory.pollVerification() {
            let verdict = TokenVerdict.granted(TokenGrants(identity: "\(sender)", room: "fuzz"))
            let entropy = JoinEntropy(
                secret: RejoinSecret(high: 1, low: 2), synchronizationSource: 7,
                challengeKey: ChallengeKey(high: 3, low: 4))
            directory.answer(request.id, verdict, entropy: entropy, now: now)
        }
        var sent = 0
        while let (_, bytes) = directory.pollDatagram(now: now) {
            sent += 1
            precondition(bytes.count <= 1_200, "a datagram beyond the protocol's limit")
            precondition(sent < 10_000, "one datagram makes the server send without end")
        }
        while directory.pollEvent() != nil {}
        precondition(directory.participantCount <= 4, "more participants than senders")
    }
}

private func checkClient(_ input: Span<UInt8>) {
    guard var session = try? RoomSession(token: [1, 2, 3], association: 0x0102_0304_0506_0708) else {
        fatalError("a session could not be made")
    }
    try? session.join(now: .seconds(1))
    datagrams(input) { datagram, _, now in
        _ = try? session.handle(datagram: datagram, now: now)
        session.handleTimeout(now: now)
        var sent = 0
        while let bytes = session.pollDatagram(now: now) {
            sent += 1
            precondition(bytes.count <= 1_200 && sent < 1_000)
        }
        while session.pollEvent() != nil {}
    }
}
