import Dispatch
import Glibc
import RealtimePartner
import VoiceEngine
import VoicePartner

/// The lines of standard input, as they come.
///
/// Unchecked: all is set once, and the source is thread-safe, which Dispatch does not declare.
final class InputLines: @unchecked Sendable {
    /// Bytes of a line at most, as of a message to an agent in a room; of a longer one nothing is taken.
    static let lineLimit = 1_024

    /// One line each, without its end; nil one that is too long. Ends with the input.
    let lines: AsyncStream<[UInt8]?>
    private let source: any DispatchSourceRead

    /// What came of a line. Unchecked: only the source's handler touches it, which runs once at a time.
    private final class Beginning: @unchecked Sendable {
        var bytes: [UInt8] = []
        var isTooLong = false

        /// Takes a byte; the line that it ends, nil inside where that is too long.
        func take(_ byte: UInt8) -> [UInt8]?? {
            guard byte != UInt8(ascii: "\n") else {
                defer { (bytes, isTooLong) = ([], false) }
                return .some(isTooLong ? nil : bytes)
            }
            isTooLong = isTooLong || bytes.count == lineLimit
            if !isTooLong { bytes.append(byte) }
            return nil
        }
    }

    init() {
        let (lines, continuation) = AsyncStream.makeStream(of: [UInt8]?.self, bufferingPolicy: .bufferingOldest(64))
        self.lines = lines
        let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
        let line = Beginning()
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
            guard count > 0 else {
                if case .some(let last) = line.take(UInt8(ascii: "\n")), last?.isEmpty == false {
                    continuation.yield(last)
                }
                continuation.finish()
                return source.cancel()
            }
            for byte in bytes[..<count] {
                if case .some(let whole) = line.take(byte) { continuation.yield(whole) }
            }
        }
        source.resume()
        self.source = source
    }

    /// Reads nothing more.
    func stop() { source.cancel() }
}

/// Passes on to the partner what other programs ask of it, one request a line: what an agent in a room takes as a
/// message (docs/protocol.md, section 12).
struct TalkRequests {
    let requests: PartnerRequests
    let conversation: Conversation
    let log: TalkLog

    /// Until the lines end.
    func obey(_ lines: AsyncStream<[UInt8]?>) async {
        for await line in lines {
            guard let line, let message = AgentMessage(line) else {
                log.warn(
                    "a line is no request; give one like {\"agent\":\"say\",\"text\":\"Hello.\"}, of "
                        + "\(InputLines.lineLimit) bytes at most")
                continue
            }
            if await !take(message) {
                log.warn("a request was not taken: somebody speaks, or it is longer than is allowed")
            }
        }
    }

    private func take(_ message: AgentMessage) async -> Bool {
        switch message {
        case .say(let text): return await requests.say(text)
        case .ask(let text): return await requests.ask(text)
        case .update(let parameters): return await requests.update(parameters)
        case .cancel:
            do throws(TurnRefusal) { try conversation.cancel() } catch { return false }
            return true
        }
    }
}
