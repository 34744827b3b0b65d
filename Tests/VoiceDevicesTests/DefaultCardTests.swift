import Testing

@testable import VoiceDevices

#if canImport(Glibc)
    import Glibc
#endif

@Suite(
    "What ALSA's default means",
    .enabled(if: unsafe access(CardlessALSA.base, R_OK) == 0, "alsa-lib's configuration is missing"))
struct DefaultCardTests {
    /// Replaces a configuration file, as an editor does: by another file of that name.
    private func write(_ text: String, to path: String, in folder: TemporaryFolder) throws {
        try folder.write(Array("<\(CardlessALSA.base)>\n\(text)".utf8), to: "new")
        #expect(unsafe rename(folder.file("new"), path) == 0)
    }

    @Test("a sound server is known by its plugin, and a card that is not there by its absence")
    func meanings() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("asound.conf")
        for (text, expected) in [
            ("pcm.!default { type pipewire }", DefaultCard.Meaning.server(type: "pipewire")),
            ("pcm.!default { type pulse }", .server(type: "pulse")),
            ("pcm.sound { type jack }\npcm.!default sound", .server(type: "jack")),
            ("pcm.!default \"plughw:CARD=NoSuchCard,DEV=0\"", .card(identifier: nil)),
            ("pcm.!default \"plug:tape\"", .other(name: "plug:tape")),
            ("pcm.tape { type file }\npcm.!default { type plug slave.pcm tape }", .other(name: "tape")),
            ("pcm.!default { type asym }", .other(name: "default")),
        ] {
            try write(text, to: path, in: folder)
            var standard = DefaultCard(files: path)
            let meaning = standard.look()
            #expect(meaning == expected, "\(text)")
        }
    }

    @Test("a PCM is a sound server's by its own type, or by what the default means")
    func served() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("asound.conf")
        let pipewire = "pcm.pipewire { type pipewire }\npcm.tape { type file }"
        for (text, expected) in [
            (pipewire + "\npcm.!default { type pipewire }", ["default", "pipewire", "pipewire:NODE=1"]),
            (pipewire + "\npcm.!default tape", ["pipewire", "pipewire:NODE=1"]),
        ] {
            try write(text, to: path, in: folder)
            var standard = DefaultCard(files: path)
            var served: [String] = []
            for name in ["default", "pipewire", "pipewire:NODE=1", "tape", "hw:0,0", "no such name"] {
                if standard.isServed(name) { served.append(name) }
            }
            #expect(served == expected, "\(text)")
        }
    }

    @Test("a configuration that changes is read again")
    func changes() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("asound.conf")
        try write("pcm.!default { type pipewire }", to: path, in: folder)
        var standard = DefaultCard(files: path)
        let before = standard.look()
        let still = standard.look()
        try write("pcm.!default { type jack }", to: path, in: folder)
        let after = standard.look()
        #expect(before == .server(type: "pipewire"))
        #expect(still == before)
        #expect(after == .server(type: "jack"))
    }

    @Test("a configuration that cannot be read means nothing")
    func unreadable() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("pcm.default {".utf8), to: "broken")
        var broken = DefaultCard(files: folder.file("broken"))
        let meaning = broken.look()
        #expect(meaning == nil)
    }

    @Test("a device that is not there has no description")
    func description() {
        #expect(ALSADevice.description(of: "hw:CARD=NoSuchCard,DEV=0") == nil)
        #expect(ALSADevice.description(of: "no such name") == nil)
    }
}
