import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Files in folders below one of its own, which goes away with the test.
final class FolderTree: Sendable {
    let path: String
    /// Everything below it, what holds others first.
    private let made = Mutex<[String]>([])

    /// Makes the files, by their paths below the folder, and the folders on the way.
    init(_ files: [String: String] = [:]) throws {
        var template = Array("/tmp/voice-devices-tree-XXXXXX".utf8CString)
        let isMade = unsafe mkdtemp(&template) != nil
        try #require(isMade)
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        for (name, text) in files { try write(text, to: name) }
    }

    deinit {
        for name in made.withLock({ $0 }).reversed() { _ = unsafe Glibc.remove("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }

    func write(_ text: String, to name: String) throws {
        makeFolders(above: name)
        made.withLock { $0.append(name) }
        let descriptor = unsafe open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let written = unsafe Glibc.write(descriptor, bytes, bytes.count)
        try #require(written == bytes.count)
    }

    func makeFolder(_ name: String) { makeFolders(above: name + "/") }

    func link(_ name: String, to target: String) throws {
        makeFolders(above: name)
        made.withLock { $0.append(name) }
        let error = unsafe symlink(target, "\(path)/\(name)")
        try #require(error == 0)
    }

    func remove(_ name: String) { _ = unsafe Glibc.remove("\(path)/\(name)") }

    private func makeFolders(above name: String) {
        var folder = ""
        for part in name.split(separator: "/", omittingEmptySubsequences: false).dropLast() {
            folder += folder.isEmpty ? String(part) : "/\(part)"
            if unsafe mkdir("\(path)/\(folder)", 0o700) == 0 { made.withLock { [folder] in $0.append(folder) } }
        }
    }
}
