import Glibc
import Synchronization
import VoiceRealtime

/// RealtimeKit, and the system bus before it, as far as one client sees them: a D-Bus server (D-Bus Specification 0.43)
/// for one connection at a time.
final class RealtimeKitDouble: Sendable {
    /// What it was asked for.
    struct Request: Equatable, Sendable {
        let thread: UInt64
        let priority: UInt32
    }

    /// The socket could not be made.
    struct Unavailable: Error {
        let errno: Int32
    }

    private final class Memory: Sendable {
        let requests = Mutex<[Request]>([])
        let refuses = Atomic<Bool>(false)
    }

    /// How long a thread may run without sleeping, by its word: 1000 s, which changes nothing for other tests.
    static let runningLimit: Int64 = 1_000_000_000
    static let highestPriority: Int32 = 20

    let address: String
    private let memory = Memory()
    private let thread: RealtimeThread

    /// - Parameter path: of its socket, which must not be there yet.
    init(at path: String) throws {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let bound = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard listener >= 0, bound == 0, listen(listener, 4) == 0 else { throw Unavailable(errno: errno) }
        address = "unix:path=\(path)"
        thread = try RealtimeThread(name: "rtkit-double", priority: 0) { [memory] stop in
            while !stop.isRaised {
                guard Self.waits(for: listener) else { continue }
                let connection = accept(listener, nil, nil)
                if connection >= 0 { Self.serve(connection, memory, until: stop) }
            }
            close(listener)
        }
    }

    /// What it was asked for so far.
    var requests: [Request] { memory.requests.withLock { $0 } }

    /// Whether it grants nothing from now on.
    func refuse() { memory.refuses.store(true, ordering: .releasing) }

    func stop() { thread.stop() }

    private static func waits(for descriptor: Int32) -> Bool {
        var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&awaited, 1, 20) > 0
    }

    // MARK: One connection

    private static func serve(_ connection: Int32, _ memory: Memory, until stop: borrowing StopFlag) {
        defer { close(connection) }
        var input: [UInt8] = []
        var isOpen = false
        while !stop.isRaised {
            guard waits(for: connection) else { continue }
            var bytes = [UInt8](repeating: 0, count: 4_096)
            let count = unsafe read(connection, &bytes, bytes.count)
            guard count > 0 else { return }
            input += bytes[..<count]
            // Lines first: a client tells who it is, and begins.
            while !isOpen, let end = input.firstIndex(of: 10) {
                let line = String(decoding: input[...end], as: UTF8.self)
                input.removeFirst(end + 1)
                if line.contains("AUTH") { say(Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8), to: connection) }
                if line.contains("NEGOTIATE") { say(Array("ERROR\r\n".utf8), to: connection) }
                isOpen = line.hasPrefix("BEGIN")
            }
            while isOpen, let message = takeMessage(&input) { say(answer(to: message, memory), to: connection) }
        }
    }

    private static func say(_ bytes: [UInt8], to connection: Int32) {
        _ = unsafe send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// A whole message: its head, which names what is called, and its body.
    private static func takeMessage(_ input: inout [UInt8]) -> (serial: UInt32, head: String, body: [UInt8])? {
        guard input.count >= 16 else { return nil }
        let fields = 16 + Int(word(input, at: 12))
        let head = (fields + 7) & ~7
        let whole = head + Int(word(input, at: 4))
        guard input.count >= whole else { return nil }
        defer { input.removeFirst(whole) }
        return (word(input, at: 8), String(decoding: input[..<fields], as: UTF8.self), Array(input[head..<whole]))
    }

    private static func word(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) }
    }

    private static func answer(to message: (serial: UInt32, head: String, body: [UInt8]), _ memory: Memory) -> [UInt8] {
        let body = String(decoding: message.body, as: UTF8.self)
        if message.head.contains("Hello") {
            return reply(to: message.serial, "s", little(UInt32(4)) + Array(":1.1".utf8) + [0])
        }
        if body.contains("MaxRealtimePriority") {
            return reply(
                to: message.serial, "v", [1, UInt8(ascii: "i"), 0, 0] + little(UInt32(bitPattern: highestPriority)))
        }
        if body.contains("RTTimeUSecMax") {
            return reply(
                to: message.serial, "v", [1, UInt8(ascii: "x"), 0, 0, 0, 0, 0, 0] + little(UInt64(runningLimit)))
        }
        guard message.head.contains("MakeThreadRealtime"), message.body.count == 12 else {
            return failure(of: message.serial)
        }
        let thread = UInt64(word(message.body, at: 0)) | UInt64(word(message.body, at: 4)) << 32
        memory.requests.withLock { $0.append(Request(thread: thread, priority: word(message.body, at: 8))) }
        let refuses = memory.refuses.load(ordering: .acquiring)
        return refuses ? failure(of: message.serial) : reply(to: message.serial, "", [])
    }

    // MARK: What it says

    private static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func reply(to serial: UInt32, _ signature: String, _ body: [UInt8]) -> [UInt8] {
        let text = Array(signature.utf8)
        let field: [UInt8] = text.isEmpty ? [] : [8, 1, UInt8(ascii: "g"), 0, UInt8(text.count)] + text + [0]
        return message(2, to: serial, field, body)
    }

    private static func failure(of serial: UInt32) -> [UInt8] {
        let name = Array("org.freedesktop.DBus.Error.AccessDenied".utf8)
        return message(3, to: serial, [4, 1, UInt8(ascii: "s"), 0] + little(UInt32(name.count)) + name + [0], [])
    }

    /// The number of what it answers stands first among the fields, which begin at multiples of eight.
    private static func message(_ type: UInt8, to serial: UInt32, _ field: [UInt8], _ body: [UInt8]) -> [UInt8] {
        let fields = [5, 1, UInt8(ascii: "u"), 0] + little(serial) + field
        let padding = [UInt8](repeating: 0, count: -fields.count & 7)
        return [UInt8(ascii: "l"), type, 0, 1] + little(UInt32(body.count)) + little(serial &+ 1_000)
            + little(UInt32(fields.count)) + fields + padding + body
    }
}
