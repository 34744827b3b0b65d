import Synchronization
import Testing
import VoiceRealtime

@testable import VoiceDevices

#if canImport(Glibc)
    import Glibc
#endif

/// The virtual sound card of tools/virtual-card, built from its sources for these tests; ``CardlessALSA`` puts it into
/// the configuration.
struct VirtualCard {
    static let absence: Comment = "the virtual sound card does not build; see tools/virtual-card/build"

    /// The folder with the plugin and the control tool; nil where they cannot be built.
    static let built: String? = {
        let output = run("\(tools)/build")
        return output.status == 0 ? output.text.split(separator: "\n").last.map(String.init) : nil
    }()

    /// What alsa-lib's configuration needs to know of it.
    static var configuration: String {
        guard let built else { return "" }
        return """
            <\(tools)/vcard.conf>
            pcm_type.vcard { lib "\(built)/libasound_module_pcm_vcard.so" }
            defaults.vcard.space "\(space)"
            """
    }

    static var isThere: Bool { CardlessALSA.isReady && built != nil }

    /// Where the sources really are, should the package be a folder of links to them.
    private static let tools: String = {
        guard let path = unsafe realpath(#filePath, nil) else { return "" }
        defer { unsafe free(path) }
        return unsafe String(cString: path).split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
            + "/tools/virtual-card"
    }()
    /// The cards of this process are its own.
    private static let space = "devices-\(getpid())"
    private static let count = Atomic<Int>(0)

    let id = "t\(count.add(1, ordering: .relaxed).newValue)"
    var arguments = ""

    var pcm: String { "vcard:" + words }
    /// The same behind alsa-lib's conversions.
    var converting: String { "plugvcard:" + words }
    private var words: String { arguments.isEmpty ? "ID=\(id)" : "ID=\(id),\(arguments)" }

    /// Runs vcard-control on it, which must succeed.
    @discardableResult
    func control(_ words: String) throws -> String {
        let built = try #require(Self.built)
        let output = Self.run("\(built)/vcard-control --space \(Self.space) \(id) \(words)")
        try #require(output.status == 0, "vcard-control \(words) fails")
        return output.text
    }

    func remove() { _ = unsafe shm_unlink("/vcard.\(Self.space).\(id)") }

    /// Removes the card that comes of opening what the list shows.
    static func removeDefault() { _ = unsafe shm_unlink("/vcard.\(space).0") }

    private static func run(_ command: String) -> (status: Int32, text: String) {
        guard let pipe = unsafe popen(command, "r") else { return (-1, "") }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, pipe)
            guard count > 0 else { break }
            bytes += chunk[0..<count]
        }
        return (unsafe pclose(pipe), String(decoding: bytes, as: UTF8.self))
    }
}

/// What a device told, with the frames that had passed by then.
struct DeviceLog: CustomStringConvertible {
    struct Line: Equatable {
        var event: DeviceEvent
        var captured: Int
        var played: Int
    }

    var lines: [Line] = []
    var events: [DeviceEvent] { lines.map(\.event) }

    func contains(_ event: DeviceEvent) -> Bool { events.contains(event) }

    var description: String {
        lines.map { "captured \($0.captured)\tplayed \($0.played)\t\($0.event)" }.joined(separator: "\n")
    }
}
