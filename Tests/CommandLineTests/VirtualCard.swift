import Foundation
import Glibc
import Testing

/// The virtual sound card of tools/virtual-card, for children: their PCMs `vcard:ID=...`. Its cards go away with the test.
final class VirtualCard {
    private let folder: TestFolder
    private let space = "cl-" + String(UInt64.random(in: 0 ... .max), radix: 36)

    private static let tools = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "tools/virtual-card")

    /// Builds the card where it is not built yet.
    init() throws {
        folder = try TestFolder()
        let build = Process()
        build.executableURL = Self.tools.appending(path: "build")
        let output = Pipe()
        build.standardOutput = output
        try build.run()
        let built = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        build.waitUntilExit()
        try #require(build.terminationStatus == 0)
        let configuration = """
            </usr/share/alsa/alsa.conf>
            <\(Self.tools.path())/vcard.conf>
            pcm_type.vcard { lib "\(built.trimmingCharacters(in: .newlines))/libasound_module_pcm_vcard.so" }
            defaults.vcard.space "\(space)"

            """
        try folder.write(Array(configuration.utf8), to: "asound.conf")
    }

    deinit {
        let cards = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/shm")) ?? []
        for card in cards where card.hasPrefix("vcard.\(space).") { _ = unsafe shm_unlink("/\(card)") }
    }

    /// What a child needs to find the card.
    var environment: [String: String] { ["ALSA_CONFIG_PATH": folder("asound.conf"), "VCARD_SPACE": space] }
}
