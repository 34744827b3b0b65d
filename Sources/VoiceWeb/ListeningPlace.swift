internal import CWebSocket
internal import Synchronization
internal import VoiceRealtime

/// Where a server listens, and what it shows and wants there.
struct ListeningPlace: Sendable {
    /// The address, such as 127.0.0.1.
    var interface: String
    /// 0 for any that is free.
    var port: UInt16
    /// PEM files, for TLS.
    var certificate: String?
    var privateKey: String?
    /// What clients must bring.
    var key: String?
    /// The header of a request whose value is told, in lower case with its colon.
    var toldHeader: String?
    /// Seconds within which a message must be complete, at least 1; streams have none.
    var messageSeconds: UInt16 = 0
    /// Seconds within which a client of a stream must take some of what is sent.
    var stallSeconds: UInt16 = 0

    /// The place as C has it, during the call.
    func withOptions<Outcome>(_ body: (UnsafePointer<dv_web_server>) -> Outcome) -> Outcome {
        unsafe withCStrings([interface, certificate, privateKey, key, toldHeader]) { texts in
            var options = unsafe dv_web_server()
            unsafe options.interface = texts[0]
            unsafe options.port = port
            unsafe options.message_seconds = messageSeconds
            unsafe options.stall_seconds = stallSeconds
            unsafe options.certificate = texts[1]
            unsafe options.private_key = texts[2]
            unsafe options.key = texts[3]
            unsafe options.told_header = texts[4]
            return unsafe body(&options)
        }
    }
}

/// A thread that a server runs on, and the port that it listens at.
struct ServerThread {
    let thread: RealtimeThread
    let port: UInt16

    /// Starts the thread and waits until it listens.
    ///
    /// - Parameter run: the thread's whole work; gives the port once it listens, or nil where it cannot.
    init(
        name: String, run: @escaping @Sendable (_ started: @Sendable (UInt16?) -> Void) -> Void
    ) throws(WebSocketFailure) {
        try WebSocketFailure.requireLibrary()
        let start: ServerStart
        do throws(ThreadError) {
            let answer = try ServerStart()
            start = answer
            thread = try RealtimeThread(name: name, priority: 0) { _ in run { answer.give($0) } }
        } catch {
            throw .cannotStart("no thread: \(error)")
        }
        guard let port = start.wait() else {
            throw .cannotStart(
                "the port is in use, the address is not this machine's, or the certificate or its key is none")
        }
        self.port = port
    }
}

/// Whether and where a server listens, which its thread knows.
private final class ServerStart: Sendable {
    private let port = Mutex<UInt16?>(nil)
    private let wake: WakeSignal

    init() throws(ThreadError) { wake = try WakeSignal() }

    func give(_ answer: UInt16?) {
        port.withLock { $0 = answer }
        wake.signal()
    }

    func wait() -> UInt16? {
        wake.wait(timeout: .seconds(30))
        return port.withLock { $0 }
    }
}

/// The texts as C has them, during the call; nil stays nil.
private func withCStrings<Outcome>(
    _ texts: [String?], _ before: [UnsafePointer<CChar>?] = unsafe [], _ body: ([UnsafePointer<CChar>?]) -> Outcome
) -> Outcome {
    guard let text = texts.first else { return unsafe body(before) }
    let others = Array(texts.dropFirst())
    guard let text else { return unsafe withCStrings(others, before + [nil], body) }
    return unsafe text.withCString { unsafe withCStrings(others, before + [$0], body) }
}
