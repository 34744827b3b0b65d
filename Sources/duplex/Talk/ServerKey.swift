import Glibc
import VoiceWeb

/// Keys of servers, which are read from files: other users of the machine see what is in a command's arguments.
enum ServerKey {
    /// More than any key; what follows is not read.
    private static let longest = 4_000

    /// The first line of a file.
    static func read(_ path: String, option: String = "--key-file") throws -> String {
        let file = try SecretFile(path, limit: longest, firstLine: true, kind: "key file", option: option)
        if file.isOpenToAll {
            Console.complain("warning: every user of this machine can get at the key in '\(path)': chmod 600 it")
        }
        let line = file.bytes.prefix { $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, line.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw Failure(.inputUnusable, "the first line of '\(path)' is no key: it is empty, or has spaces in it")
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Whether what is sent there does not leave this machine.
    static func isThisMachine(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        var address = in_addr()
        // A name may begin as an address does.
        return unsafe host.hasPrefix("127.") && inet_pton(AF_INET, host, &address) == 1
    }

    /// A key in the environment: the variable of our own, or OpenAI's for its servers, and for nobody else's.
    static func inEnvironment(_ name: String, for address: WebAddress) -> String? {
        if let key = Environment.value(name), !key.isEmpty { return key }
        let isOpenAI = address.host == "openai.com" || address.host.hasSuffix(".openai.com")
        guard isOpenAI, let key = Environment.value("OPENAI_API_KEY"), !key.isEmpty else { return nil }
        return key
    }
}
