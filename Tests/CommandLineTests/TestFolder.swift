import Foundation
import VoiceDevices
import VoiceSimulation

/// A folder of its own with a secret and sound files; goes away with the test.
final class TestFolder {
    let path: String
    /// Signs the tokens of the test's server.
    let secret: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "duplex-\(UUID().uuidString)").path()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        secret = path + "/secret"
        try write(Array("0123456789abcdef0123456789abcdef\n".utf8), to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(filePath: self(name)))
        return self(name)
    }

    /// A WAV file with `seconds` of speech; returns what is in it.
    @discardableResult
    func speak(_ name: String, seconds: Double, seed: UInt64, voice: SyntheticSpeech.Voice = .low) throws -> [Float] {
        let samples = SyntheticSpeech.samples(frames: Int(seconds * 48_000), seed: seed, voice: voice)
        try AudioFile.write(samples, to: self(name))
        return samples
    }
}
