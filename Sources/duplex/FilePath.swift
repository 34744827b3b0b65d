import Glibc

/// The parts of a path.
enum FilePath {
    /// What stands behind the last slash.
    static func name(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// The folder that `path` is in: `.` where it names none.
    static func folder(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// A file's name without what follows its last dot. A dot at the beginning hides the file and is part of its name.
    static func stem(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// The one absolute path of a file, through all links; what does not exist yet is behind the folder that does.
    static func resolved(_ path: String) -> String {
        if let real = unsafe realpath(path, nil) {
            defer { unsafe free(real) }
            return unsafe String(cString: real)
        }
        let folder = folder(path)
        guard folder != path else { return path }
        let above = resolved(folder)
        switch name(path) {
        case "", ".": return above
        case "..": return self.folder(above)
        case let name: return (above == "/" ? "" : above) + "/" + name
        }
    }
}
