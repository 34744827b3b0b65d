// modules: CLinuxRealtime VoiceRealtime CVoiceKernels VoiceSignal VoiceDevices
// plain: VoiceSignal
// length: 4096
//
// Sound from elsewhere, in memory: what is told from its first bytes and tags, and what libsndfile then makes of it,
// converted to 48 kHz. Nothing may trap, hang or take memory without end; a decoder's fault is libsndfile's, and is
// found all the same.

@testable import VoiceDevices

// Of our own code; what libsndfile does is bounded by the time that an input may take.
private let opening = Budget("telling what it is, and opening it", limit: 2_000_000)

/// What is opened within a budget, which returns no noncopyable value.
private final class Opened {
    var reader: AudioFileReader
    init(_ reader: consuming AudioFileReader) { self.reader = reader }
}

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes, count > 0 else { return 0 }
    let input = unsafe Span(_unsafeStart: bytes, count: count)
    let file = input.indices.map { input[$0] }
    do {
        let opened = try opening.spend { Opened(try AudioFileReader(.bytes(file))) }
        var block = [Float](repeating: 0, count: 4_800)
        // Ten seconds at most: a header may promise hours.
        for _ in 0..<100 {
            var target = block.mutableSpan
            let count = try opened.reader.read(into: &target)
            precondition(count <= 4_800)
            if count < 4_800 { break }
        }
    } catch {
        precondition("\(error)".utf8.count < 2_000)
    }
    return 0
}

func makeSeeds() -> [[UInt8]] {
    func little(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    func wave(channels: Int, rate: Int) -> [UInt8] {
        let data = (0..<200).flatMap { little($0 * 37 % 2_000, 2) }
        return Array("RIFF".utf8) + little(36 + data.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
            + little(channels, 2) + little(rate, 4) + little(rate * 2 * channels, 4) + little(2 * channels, 2)
            + little(16, 2)
            + Array("data".utf8) + little(data.count, 4) + data
    }
    let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4]
    return [
        wave(channels: 1, rate: 16_000), wave(channels: 2, rate: 48_000), tag + wave(channels: 1, rate: 24_000),
        tag + tag + tag,
        Array("fLaC".utf8) + [0, 0, 0, 34] + [UInt8](repeating: 0, count: 34),
        Array("OggS".utf8) + [UInt8](repeating: 0, count: 60),
        [0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 0, count: 413),
    ]
}
