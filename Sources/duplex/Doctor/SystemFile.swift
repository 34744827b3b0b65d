import Glibc

/// The small files in which Linux tells of itself, under /proc and /sys.
enum SystemFile {
    /// What is in a file, without white space around it; nil where it cannot be read or is empty.
    static func text(_ path: String) -> String? {
        guard let bytes = bytes(path) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).trimmed
        return text.isEmpty ? nil : text
    }

    /// What is in a file; nil where it cannot be read. A file of /proc has no length beforehand, so it is read to its
    /// end.
    static func bytes(_ path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: partBytes)
        while true {
            let count = unsafe read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes += part[..<count]
        }
    }

    private static let partBytes = 65_536

    /// The names in a folder, sorted; none where it cannot be read.
    static func names(in folder: String) -> [String] {
        (try? Folder.names(in: folder)) ?? []
    }

    static func exists(_ path: String) -> Bool { Folder.exists(path) }
}
