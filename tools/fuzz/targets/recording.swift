// modules: CLinuxRealtime VoiceRealtime VoiceWire VoicePlayout VoiceQueue VoiceTurns VoiceText VoicePeers VoiceRooms
// modules: CDTLS CVoiceKernels CRNNoise CWebRTCAudio VoiceSignal VoiceProcessing VoiceCoding VoiceDevices
// modules: VoiceTransport VoiceEngine
// plain: VoiceProcessing VoiceDevices
// length: 4000
//
// A flight recorder's file, which `duplex replay` runs: any bytes, and a genuine beginning with pieces of any kind,
// whose checksums are right. Nothing may trap, and what is run is bounded by what the file holds.

import Glibc

@testable import VoiceDevices
@testable import VoiceEngine

private let running = Budget("a recording", limit: 20_000_000)

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes, count > 0 else { return 0 }
    let input = unsafe Span(_unsafeStart: bytes, count: count)
    let rest = (1..<count).map { input[$0] }
    let file = input[0] & 3 == 0 ? rest : recording(of: rest)
    guard write(file) else { fatalError("the recording cannot be written where the target runs") }
    running.spend {
        guard let replay = try? Replay(folder: "folder") else { return }
        let report = replay.run()
        precondition(report.runs >= 0 && report.runs <= count)
    }
    return 0
}

/// The settings of an engine, changed by the first two bytes, and the rest as the pieces of one chunk.
private func recording(of rest: [UInt8]) -> [UInt8] {
    var configuration = EngineConfiguration.voiceChat
    configuration.backend = .bypass
    var settings = RecordedSettings(configuration, includesSound: true, devicePeriod: 480, keepsDeadlines: false)
    var coder = RecordCoder()
    try? settings.code(with: &coder)
    var form = coder.bytes
    if rest.count > 2, rest[0] > 0 { form[Int(rest[0]) % form.count] = rest[1] }
    let pieces = Array(rest.dropFirst(2))
    return RecordingFormat.magic + little(UInt64(RecordingFormat.version), 4) + little(UInt64(form.count), 4) + form
        + little(RecordingFormat.checksum(form.span, number: 0), 8) + chunk(pieces, number: 0)
}

private func chunk(_ pieces: [UInt8], number: UInt64) -> [UInt8] {
    little(UInt64(RecordingFormat.chunkMagic), 4) + little(UInt64(pieces.count), 4) + little(number, 8)
        + little(RecordingFormat.checksum(pieces.span, number: number), 8) + pieces
}

private func little(_ value: UInt64, _ bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
}

private func write(_ file: [UInt8]) -> Bool {
    _ = unsafe mkdir("folder", 0o700)
    let descriptor = unsafe open("folder/\(RecordingFormat.fileName)", O_CREAT | O_WRONLY | O_TRUNC, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return unsafe file.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) } == file.count
}

func makeSeeds() -> [[UInt8]] {
    // A run, with nothing and with each kind of piece before its end.
    func piece(_ kind: UInt32, _ body: [UInt8]) -> [UInt8] {
        little(UInt64(kind), 4) + little(UInt64(body.count), 4) + body
            + [UInt8](repeating: 0, count: (8 - body.count % 8) % 8)
    }
    let kinds = (0..<32 as Range<UInt32>).filter { RecordedPiece(rawValue: $0) != nil }
    let run = piece(RecordedPiece.run.rawValue, little(1_000_000_000, 8))
    return kinds.map {
        [1, 0, 0] + run + piece($0, [UInt8](repeating: 1, count: 64)) + run
            + piece(RecordedPiece.end.rawValue, little(0, 8))
    }
}
