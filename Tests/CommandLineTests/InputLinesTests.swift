import Glibc
import Synchronization
import Testing

@testable import duplex

@Suite("Lines of standard input")
struct InputLinesTests {
    /// What can be read of `bytes` and then ends: the reading end of a pipe.
    private static func pipe(_ bytes: [UInt8]) throws -> Int32 {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe Glibc.pipe(&ends) == 0)
        let count = unsafe bytes.withUnsafeBytes { unsafe write(ends[1], $0.baseAddress, $0.count) }
        try #require(count == bytes.count)
        close(ends[1])
        return ends[0]
    }

    private static func lines(_ bytes: [UInt8]) async throws -> [InputLines.Line] {
        let descriptor = try pipe(bytes)
        defer { close(descriptor) }
        var (input, all) = (InputLines(InputBytes(descriptor)), [InputLines.Line]())
        while let line = await input.next() { all.append(line) }
        return all
    }

    @Test("Given a thousand at once, then each is taken, in their order")
    func many() async throws {
        let texts = (0..<1_000).map { "request \($0)" }
        let lines = try await Self.lines(Array((texts.joined(separator: "\n") + "\n").utf8))
        #expect(lines == texts.map { .whole(Array($0.utf8)) })
    }

    @Test("Given one that is too long, an empty one and one without an end, then each is what it is")
    func odd() async throws {
        let long = [UInt8](repeating: 0x61, count: InputLines.lineLimit)
        let lines = try await Self.lines(long + [0x61, 0x0A] + long + [0x0A, 0x0A, 0x62])
        #expect(lines == [.tooLong, .whole(long), .whole([]), .whole([0x62])])
    }

    @Test("Given a process in the background, then what is typed stays where it is until it is in the foreground")
    func background() async throws {
        let descriptor = try Self.pipe([0x61])
        defer { close(descriptor) }
        let looks = Mutex(0)
        let input = InputBytes(descriptor, pause: .milliseconds(1)) {
            // Nothing is lost before it may be read
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = unsafe poll(&ready, 1, 0)
            #expect(count == 1 && ready.revents & Int16(POLLIN) != 0)
            return looks.withLock { looks in
                looks += 1
                return looks == 4
            }
        }
        #expect(await input.next(1) == [0x61])
        #expect(looks.withLock { $0 } == 4)
    }
}
