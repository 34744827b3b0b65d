// modules: VoiceText
// length: 2000
//
// Frames and requests of texts in rooms, of several writers: any bytes, and genuine frames with some bytes replaced,
// out of order and twice. Nothing may trap, no frame may cost more than its budget, and no writer may have more kept
// than its share.

@testable import VoiceText

// A frame may carry a whole text of 64 kB, and the check of one runs over all of it.
private let reading = Budget("a frame", limit: 200_000)
private let asking = Budget("a request", limit: 10_000)

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes, count > 0 else { return 0 }
    var choices = Choices(unsafe Span(_unsafeStart: bytes, count: count))
    var board = TextBoard<Int>()
    var desk = TextDesk<Int>()
    var now = Duration.zero
    while !choices.isEmpty {
        now += .milliseconds(Int64(choices.byte()))
        let writer = choices.number(below: 3)
        switch choices.number(below: 8) {
        case 0:
            let raw = choices.bytes(choices.number(below: 120))
            reading.spend { board.handle(raw, from: writer, now: now) }
        case 1:
            let raw = choices.bytes(choices.number(below: 40))
            asking.spend { desk.handle(request: raw, from: writer) }
        case 2:
            let text = String(decoding: choices.bytes(choices.number(below: 60)), as: UTF8.self)
            let isAppended = choices.byte() & 1 == 0
            try? desk.change(
                "s\(choices.number(below: 10))", isAppended ? .append(text) : .replace(text),
                isFinal: choices.byte() & 7 == 0, extras: "")
        case 3: board.forget(writer)
        case 4: desk.abandon("s\(choices.number(below: 10))")
        default:
            guard var (frame, _) = desk.pollFrame(now: now) else { break }
            for _ in 0..<choices.number(below: 3) {
                frame[(Int(choices.byte()) << 8 | Int(choices.byte())) % frame.count] = choices.byte()
            }
            for _ in 0...choices.number(below: 2) { reading.spend { board.handle(frame, from: writer, now: now) } }
        }
        while board.pollUpdate(now: now) != nil {}
        while let (request, _) = board.pollRequest(now: now) { asking.spend { desk.handle(request: request, from: 0) } }
        precondition(board.streamCount <= 3 * TextFormat.streamLimit)
    }
    return 0
}

func makeSeeds() -> [[UInt8]] {
    let spoken = (0..<6).flatMap { [40, 0, 2, 5, 65, 66, 67, 68, 69, 0, UInt8($0 % 2), 1, 40, 0, 7, 0, 0] as [UInt8] }
    return [
        spoken, spoken + [40, 1, 5, 2, 0, 7, 200, 0, 3, 1, 1],
        [0, 0, 0, 30, 0, 1, 65, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0],
    ]
}
