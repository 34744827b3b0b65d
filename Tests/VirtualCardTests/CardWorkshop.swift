import CALSA
import Foundation
import Testing

/// What libasound answered instead of doing what it was asked.
struct ALSAFailure: Error, CustomStringConvertible, Equatable {
    let code: Int32
    let call: String

    init(_ code: Int32, _ call: String) {
        self.code = code
        self.call = call
    }

    var description: String { unsafe "\(call): \(String(cString: snd_strerror(code)))" }
}

/// Checks that `body` ends with this code of libasound's.
func expectFailure(_ code: Int32, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
    #expect(sourceLocation: location) {
        try body()
    } throws: {
        ($0 as? ALSAFailure)?.code == code
    }
}

/// The virtual card, built from its sources, and a configuration of libasound's that has it: no environment variable,
/// and none of the process's own configuration, so that other tests may have theirs.
enum CardWorkshop {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let folder = root.appending(path: "tools/virtual-card")

    /// The cards of this process are its own.
    static let space = "tests-\(ProcessInfo.processInfo.processIdentifier)"

    /// The folder with the plugin and the tools, or why there is none.
    static let built: Result<URL, ToolFailure> = Result {
        () throws(ToolFailure) in
        let output = try Tool(folder.appending(path: "build")).run(seconds: 120)
        guard output.status == 0 else { throw ToolFailure(output.errors) }
        return URL(filePath: output.text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// libasound's configuration tree; never freed.
    nonisolated(unsafe) private static let configuration: OpaquePointer? = {
        guard case .success(let built) = built else { return nil }
        let text = """
            <\(folder.path())/vcard.conf>
            pcm_type.vcard { lib "\(built.path())/libasound_module_pcm_vcard.so" }
            defaults.vcard.space "\(space)"
            """
        var tree: OpaquePointer?
        var input: OpaquePointer?
        guard unsafe snd_config_top(&tree) == 0, unsafe snd_input_buffer_open(&input, text, -1) == 0 else { return nil }
        defer { _ = unsafe snd_input_close(input) }
        return unsafe snd_config_load(tree, input) == 0 ? tree : nil
    }()

    /// Opens a PCM of the configuration, without blocking, and says nothing on stderr if it cannot.
    static func open(_ name: String, _ direction: snd_pcm_stream_t) throws(ALSAFailure) -> OpaquePointer {
        guard let configuration = unsafe configuration else { throw ALSAFailure(-ENOENT, "no configuration") }
        var pcm: OpaquePointer?
        let before = unsafe snd_lib_error_set_local { _, _, _, _, _, _ in }
        let code = unsafe snd_pcm_open_lconf(&pcm, name, direction, Int32(SND_PCM_NONBLOCK), configuration)
        _ = unsafe snd_lib_error_set_local(before)
        guard code == 0, let pcm = unsafe pcm else { throw ALSAFailure(code, "open \(name)") }
        return unsafe pcm
    }

    /// A name that no other test has, whose card is removed by `body`'s end.
    static func withCard<R>(_ arguments: String = "", _ body: (CardName) throws -> R) throws -> R {
        let card = CardName(arguments: arguments)
        defer { _ = unsafe shm_unlink("/vcard.\(space).\(card.id)") }
        return try body(card)
    }
}

/// A card of this process's, with the arguments that it is opened with.
struct CardName: Sendable {
    let id = String(UInt64.random(in: 0 ... .max), radix: 36)
    var arguments: String

    var pcm: String { pcm(arguments) }

    func pcm(_ arguments: String) -> String { "vcard:ID=\(id)" + (arguments.isEmpty ? "" : ",\(arguments)") }

    /// Runs vcard-control on it.
    func control(_ words: String...) throws -> String { try control(words) }

    func control(_ words: [String]) throws -> String {
        let tool = Tool(try CardWorkshop.built.get().appending(path: "vcard-control"))
        let output = try tool.run(["--space", CardWorkshop.space, id] + words)
        guard output.status == 0 else { throw ToolFailure(output.errors) }
        return output.text
    }
}
