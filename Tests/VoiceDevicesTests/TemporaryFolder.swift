import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// A folder of its own, which goes away with the test, as do the files that were named through it.
final class TemporaryFolder: Sendable {
    private static let count = Atomic<Int>(0)
    private let path: String
    private let names = Mutex<Set<String>>([])

    init() throws {
        let number = Self.count.add(1, ordering: .relaxed).newValue
        path = "/tmp/voice-devices-\(getpid())-\(number)"
        let error = unsafe mkdir(path, 0o700)
        try #require(error == 0)
    }

    deinit {
        for name in names.withLock({ $0 }) { _ = unsafe unlink("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }

    func file(_ name: String) -> String {
        names.withLock { _ = $0.insert(name) }
        return "\(path)/\(name)"
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        let descriptor = unsafe open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        try #require(descriptor >= 0)
        let written = unsafe Glibc.write(descriptor, bytes, bytes.count)
        #expect(written == bytes.count)
        close(descriptor)
    }

    /// All of a file.
    func read(_ name: String) throws -> [UInt8] {
        let descriptor = unsafe open(file(name), O_RDONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1_000_000)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(count, 0)))
    }

    /// Puts another file in the place of one, which nobody then sees half written.
    func replace(_ bytes: [UInt8], in name: String) throws {
        try write(bytes, to: name + ".new")
        let error = unsafe rename(file(name + ".new"), file(name))
        try #require(error == 0)
    }

    /// A file of nothing but 32-bit floats.
    func readFloats(_ name: String) throws -> [Float] {
        let descriptor = unsafe open(file(name), O_RDONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var floats = [Float](repeating: 0, count: 1_000_000)
        let bytes = unsafe Glibc.read(descriptor, &floats, floats.count * 4)
        return Array(floats.prefix(max(bytes, 0) / 4))
    }
}
