import Glibc

/// What the system has under a path.
enum Folder {
    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a folder, sorted.
    static func names(in path: String) throws(SystemError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw .current }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            names.append(String(decoding: bytes, as: UTF8.self))
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    /// Makes a folder and those above it; one that is there already is left as it is.
    static func make(_ path: String) throws(SystemError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += part + "/"
            guard unsafe mkdir(made, 0o777) != 0 else { continue }
            let refusal = SystemError.current
            guard isFolder(made) else { throw refusal }
        }
    }
}
