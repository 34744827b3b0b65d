import Foundation

/// The small files in which Linux tells of itself, under /proc and /sys.
enum SystemFile {
    /// What is in a file, without white space around it; nil where it cannot be read or is empty.
    static func text(_ path: String) -> String? {
        // A file of /proc has no length beforehand, so it is read to its end.
        guard let handle = FileHandle(forReadingAtPath: path), let bytes = try? handle.readToEnd() else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty ? nil : text
    }

    /// The names in a folder, sorted; none where it cannot be read.
    static func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}
