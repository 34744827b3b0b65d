import Foundation
import Glibc
import TestCases
import Testing

/// The virtual sound card of tools/virtual-card, for children: their PCMs `vcard:ID=...`. Its cards go away with the
/// test.
final class VirtualCard {
    private let folder: TestFolder
    /// Where the card was built.
    private let tools: String
    private let space = "cl-" + String(UInt64.random(in: 0 ... .max), radix: 36)

    private static let tools = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "tools/virtual-card")

    /// What the configuration always holds.
    private let configuration: String

    /// Builds the card where it is not built yet. `standard` is the PCM that `default` means; nil leaves that as it is.
    init(default standard: String? = nil) throws {
        folder = try TestFolder()
        let build = try TestProgram.run(Self.tools.appending(path: "build").path(), limit: .seconds(300))
        try #require(build.status == 0, "\(build.complaint)")
        tools = build.text.trimmingCharacters(in: .newlines)
        let standard = standard.map { "pcm.!default \"\($0)\"\n" } ?? ""
        configuration = """
            </usr/share/alsa/alsa.conf>
            <\(Self.tools.path())/vcard.conf>
            pcm_type.vcard { lib "\(tools)/libasound_module_pcm_vcard.so" }
            defaults.vcard.space "\(space)"
            \(standard)
            """
        try configure(adding: "")
    }

    /// Replaces the configuration's end by `text`. The file is another one then, as after an editor's save.
    func configure(adding text: String) throws {
        let new = try folder.write(Array((configuration + text).utf8), to: "new.conf")
        try #require(unsafe rename(new, folder("asound.conf")) == 0)
    }

    /// Pulls a card out, puts it back, or whatever else tools/virtual-card/README.md lists.
    func control(_ arguments: String...) throws {
        let control = try TestProgram.run(
            tools + "/vcard-control", arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
        try #require(control.status == 0, "\(control.complaint)")
    }

    deinit {
        let cards = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/shm")) ?? []
        for card in cards where card.hasPrefix("vcard.\(space).") { _ = unsafe shm_unlink("/\(card)") }
    }

    /// What a child needs to find the card.
    var environment: [String: String] { ["ALSA_CONFIG_PATH": folder("asound.conf"), "VCARD_SPACE": space] }
}
