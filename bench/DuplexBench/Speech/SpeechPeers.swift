import Foundation
import VoiceDevices

/// Other detectors, run by bench/peers/speech in the Python that DUPLEX_SPEECH_PYTHON names; none without it.
struct SpeechPeers {
    /// Of the detectors that this Python has.
    let names: [String]
    private let python: String

    init() throws {
        python = ProcessInfo.processInfo.environment["DUPLEX_SPEECH_PYTHON"] ?? ""
        guard !python.isEmpty else { names = []; return }
        names = try Self.run(python, []).split(separator: "\n").map { String($0) }
    }

    /// For each detector what it makes of each scene: a probability for each 10 ms.
    func probabilities(of scenes: [SpeechScene]) throws -> [[[Float]]] {
        guard !names.isEmpty else { return [] }
        let folder = FileManager.default.temporaryDirectory.appending(path: "duplex-speech-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let paths = scenes.indices.map { folder.appending(path: "\($0).wav").path }
        for (scene, path) in zip(scenes, paths) {
            try AudioFile.write(scene.samples, to: path, sampleRate: SpeechScene.rate)
        }
        _ = try Self.run(python, paths)
        return try names.map { name in
            try paths.map { path in
                let told = [UInt8](try Data(contentsOf: URL(filePath: "\(path).\(name)")))
                return stride(from: 0, to: told.count - 3, by: 4).map { at in
                    Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(told[at + $1]) << (8 * UInt32($1)) })
                }
            }
        }
    }

    /// How long all scenes may take.
    private static let longestRun = 3_600.0

    private static func run(_ python: String, _ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: python)
        process.arguments = ["bench/peers/speech/voice_activity.py"] + arguments
        process.standardOutput = output
        try process.run()
        let limit = ProgramLimit(process, seconds: longestRun)
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        withExtendedLifetime(limit) {}
        guard process.terminationStatus == 0 else { throw SpeechPeerError.failed(python) }
        return String(decoding: said, as: UTF8.self)
    }
}

enum SpeechPeerError: Error, CustomStringConvertible {
    case failed(String)

    var description: String {
        switch self {
        case .failed(let python): "\(python) could not run bench/peers/speech/voice_activity.py; see what it said"
        }
    }
}
