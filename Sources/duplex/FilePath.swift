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

    /// The one absolute path of a file, through all links; what does not exist yet is behind the folder that does. A path
    /// that is longer than the system takes stays as it is.
    static func resolved(_ path: String) -> String {
        guard path.utf8.count < longest else { return path }
        var (place, behind) = (path, [String]())
        while true {
            if let real = unsafe realpath(place, nil) {
                defer { unsafe free(real) }
                place = unsafe String(cString: real)
                break
            }
            let folder = folder(place)
            guard folder != place else { break }
            behind.append(name(place))
            place = folder
        }
        return behind.reversed().reduce(place) { above, name in
            switch name {
            case "", ".": above
            case "..": self.folder(above)
            default: (above == "/" ? "" : above) + "/" + name
            }
        }
    }

    /// Bytes of a path, its end included, as Linux takes it (PATH_MAX of linux/limits.h).
    private static let longest = 4_096
}
