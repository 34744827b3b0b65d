// modules: VoiceWire VoicePlayout
//
// Takes the bytes as a course of packets and pulls. Nothing may trap, every pulled frame is accounted for, and the
// buffer stays bounded.

import VoicePlayout
import VoiceWire

/// What one packet, and one pull of at most 20 ms, may take of a media thread. A packet of 120 ms that is stretched
/// takes the most: a vector of eight samples is 4 edges.
private let inserting = Budget("a packet", limit: 20_000)
private let pulling = Budget("a pull", limit: 1_600_000)

/// Steps of each kind: an even stream, one with gaps, one whose numbers and timestamps step as far as they are
/// believed.
func makeSeeds() -> [[UInt8]] {
    func stream(sequence: UInt8, frames: UInt16, first: UInt8, pulls: Int, said: UInt8 = 0, rise: UInt8 = 0) -> [UInt8]
    {
        (0..<UInt8(60)).flatMap { number -> [UInt8] in
            [1, sequence, UInt8(frames >> 8), UInt8(frames & 255), said &+ number &* rise, first]
                + (0..<pulls).flatMap { _ -> [UInt8] in [40, 255, 0, 0, 0, 0] }
        }
    }
    // The word that generation 1 is in force.
    let interruption: [UInt8] = [3, 0xF1, 0, 1, 0, 0]
    return [
        stream(sequence: 1, frames: 960, first: 0xF8, pulls: 1),
        stream(sequence: 3, frames: 2_880, first: 0x48, pulls: 2),
        stream(sequence: 127, frames: 120, first: 0xE0, pulls: 0),
        stream(sequence: 100, frames: 12_000, first: 0xE0, pulls: 3),
        stream(sequence: 1, frames: 960, first: 0xF8, pulls: 1, rise: 1),
        stream(sequence: 1, frames: 120, first: 0xE0, pulls: 0, rise: 129),
        stream(sequence: 1, frames: 960, first: 0xF8, pulls: 1) + interruption
            + stream(sequence: 1, frames: 960, first: 0xF8, pulls: 1, said: 1),
    ]
}

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes else { return 0 }
    let input = unsafe Span(_unsafeStart: bytes, count: count)
    var buffer = PlayoutBuffer(.conversation)
    var decoder = SilentDecoder()
    var now = Duration.seconds(1)
    var sequence: UInt16 = 65_530
    var timestamp: UInt32 = 4_294_900_000
    var pulled = 0
    // Six bytes are a step: what to do, a sequence step, a timestamp step of two bytes, the generation it says (255:
    // none), the payload's first byte.
    for step in 0..<min(input.count / 6, 4_000) {
        let at = step * 6
        now += .microseconds(Int64(input[at] >> 2) * 500)
        if input[at] & 3 == 3, input[at + 1] & 0xF0 == 0xF0 {
            let generation = UInt32(input[at + 2]) << 24 | UInt32(input[at + 3])
            control(&buffer, input[at + 1], generation, &pulled)
        } else if input[at] & 3 != 0 {
            let step = Int16(Int8(bitPattern: input[at + 1]))
            let isLong = step == 127
            sequence &+= UInt16(bitPattern: isLong ? 399 : step)
            // The longest step of numbers that is believed, and timestamps that fit.
            let advance = Int32(Int16(bitPattern: UInt16(input[at + 2]) << 8 | UInt16(input[at + 3])))
            timestamp &+= UInt32(bitPattern: isLong ? 399 * (advance & 0x3FF) : advance)
            let header = RTPHeader(
                payloadType: 111, marker: input[at] & 128 != 0, sequenceNumber: sequence, timestamp: timestamp,
                synchronizationSource: input[at] & 64 != 0 ? 1 : 2)
            let generation = input[at + 4] == 255 ? nil : input[at + 4]
            let payload = input.extracting(at + 5..<min(at + 40, input.count))
            if input[at] & 16 != 0, let audio = try? RedundantAudio(parsing: payload) {
                inserting.spend { _ = buffer.insert(audio, header: header, generation: generation, now: now) }
            } else {
                inserting.spend { _ = buffer.insert(payload, header: header, generation: generation, now: now) }
            }
        } else {
            let frames = 1 + Int(input[at + 1]) * 959 / 255
            var samples = [Float](repeating: 0, count: frames)
            var span = samples.mutableSpan
            pulling.spend { _ = buffer.pull(into: &span, now: now, decoder: &decoder) }
            pulled += frames
            precondition(buffer.statistics.pulledSamples == UInt64(pulled), "frames went unaccounted for")
            precondition(buffer.segment(ofPulledFrame: Int64(pulled)) == nil, "a frame not yet pulled has a place")
            for sample in samples { precondition(sample.isFinite && abs(sample) <= 2) }
        }
        precondition(buffer.waitingPackets <= 1_024, "more packets wait than any buffer holds")
    }
    return 0
}

/// One of what an owner may do besides: put a generation in force, take decisions, begin anew.
private func control(_ buffer: inout PlayoutBuffer, _ byte: UInt8, _ generation: UInt32, _ pulled: inout Int) {
    switch byte & 3 {
    case 0, 1: buffer.flush(generation: generation)
    case 2: while buffer.takeDecision() != nil {}
    default:
        buffer.reset(generation: generation)
        pulled = 0
    }
}

/// Decodes every packet to a quiet tone of the length that its header says.
private struct SilentDecoder: SpeechDecoder {
    struct Malformed: Error {}

    mutating func decode(_ packet: Span<UInt8>, into sound: inout MutableSpan<Float>) throws(Malformed) -> Int {
        guard let header = try? OpusPacketHeader(parsing: packet), header.duration <= sound.count else {
            throw Malformed()
        }
        for index in 0..<header.duration { sound[index] = index & 64 == 0 ? 0.1 : -0.1 }
        return header.duration
    }

    mutating func decodeRedundancy(of next: Span<UInt8>, into sound: inout MutableSpan<Float>) throws(Malformed) -> Int
    {
        try conceal(into: &sound)
    }

    mutating func conceal(into sound: inout MutableSpan<Float>) throws(Malformed) -> Int {
        for index in sound.indices { sound[index] = 0.05 }
        return sound.count
    }

    mutating func reset() {}
    mutating func saveState(at place: Int) {}
    mutating func restoreState(from place: Int) {}
}
