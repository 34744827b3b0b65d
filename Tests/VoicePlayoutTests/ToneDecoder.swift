import Glibc
import VoicePlayout
import VoiceWire

/// A packet in the shape of Opus whose sound is told by the media position it carries.
enum TonePacket {
    /// Frames of packets that can be made, and the configuration number of each: CELT for 2.5 ms, SILK else.
    static let configurations: [(frames: Int, number: UInt8)] = [
        (120, 28), (240, 29), (480, 8), (960, 9), (1920, 10), (2880, 11),
    ]

    /// A payload whose sound begins at `position`; `redundant` if it also carries the sound before.
    static func payload(position: Int64, frames: Int, redundant: Bool = false, bytes: Int = 60) -> [UInt8] {
        let number = configurations.first { $0.frames == frames }?.number ?? 9
        var payload = [number << 3]
        // The redundancy flag follows one voice flag for each 20 ms (RFC 6716, section 4.2.3).
        payload.append(redundant && number < 16 ? 0x80 >> UInt8(max(1, frames / 960)) : 0)
        payload += (0..<8).map { UInt8(truncatingIfNeeded: position >> (8 * Int64($0))) }
        return payload + [UInt8](repeating: 0, count: max(0, bytes - payload.count))
    }

    /// The position that a payload carries, or nil.
    static func position(in payload: Span<UInt8>) -> Int64? {
        guard payload.count >= 10 else { return nil }
        let bits = (0..<8).reduce(UInt64(0)) { $0 | UInt64(payload[2 + $1]) << (8 * UInt64($1)) }
        // Payloads of random bytes must not make the decoder itself overflow.
        return Int64(truncatingIfNeeded: bits & 0xFFFF_FFFF_FFFF)
    }
}

/// Decodes ``TonePacket``: a tone whose phase is the media position, so that every jump in it is a jump in the media.
struct ToneDecoder: SpeechDecoder, ~Copyable {
    enum Refusal: Error { case notATone }

    /// Frames in a period: 200 Hz.
    static let period = 240
    static let amplitude: Float = 0.25
    /// What decoded sound is multiplied by: at 0.004 a pause to the time-stretch.
    var gain: Float = 1
    var decodedPackets = 0
    var restoredPackets = 0
    var concealedFrames = 0
    /// The shortest piece it was asked to make up.
    var shortestConcealment = Int.max
    var resets = 0
    private var end: Int64 = 0
    private var saved: [Int64] = [0, 0]

    private static let wave = (0..<period).map { amplitude * Float(sin(2 * Double.pi * Double($0) / Double(period))) }

    static func sample(_ position: Int64) -> Float { wave[phase(position)] }

    private static func phase(_ position: Int64) -> Int {
        let remainder = Int(position % Int64(period))
        return remainder < 0 ? remainder + period : remainder
    }

    private static func write(from position: Int64, frames: Int, into sound: inout MutableSpan<Float>) {
        var phase = phase(position)
        for frame in 0..<frames {
            sound[frame] = wave[phase]
            phase = phase == period - 1 ? 0 : phase + 1
        }
    }

    mutating func decode(_ packet: Span<UInt8>, into sound: inout MutableSpan<Float>) throws(Refusal) -> Int {
        guard let position = TonePacket.position(in: packet), let header = try? OpusPacketHeader(parsing: packet) else {
            throw .notATone
        }
        Self.write(from: position, frames: header.duration, into: &sound)
        for frame in 0..<header.duration where gain != 1 { sound[frame] *= gain }
        end = position + Int64(header.duration)
        decodedPackets += 1
        return header.duration
    }

    mutating func decodeRedundancy(
        of next: Span<UInt8>, into sound: inout MutableSpan<Float>
    ) throws(Refusal) -> Int {
        guard let position = TonePacket.position(in: next) else { throw .notATone }
        let start = position - Int64(sound.count)
        Self.write(from: start, frames: sound.count, into: &sound)
        end = position
        restoredPackets += 1
        return sound.count
    }

    mutating func conceal(into sound: inout MutableSpan<Float>) throws(Refusal) -> Int {
        precondition(sound.count > 0 && sound.count % 120 == 0 && sound.count <= 5760, "\(sound.count) frames")
        Self.write(from: end, frames: sound.count, into: &sound)
        end += Int64(sound.count)
        concealedFrames += sound.count
        shortestConcealment = min(shortestConcealment, sound.count)
        return sound.count
    }

    mutating func reset() { resets += 1 }
    mutating func saveState(at place: Int) { saved[place] = end }
    mutating func restoreState(from place: Int) { end = saved[place] }
}
