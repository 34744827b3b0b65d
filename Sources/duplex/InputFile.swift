import Glibc

/// A file that a command is going to read.
enum InputFile {
    /// Throws where `path` is a folder, which the readers of sounds and captures have no good word for.
    static func check(_ path: String) throws {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
        throw Failure(.inputUnusable, "'\(path)' is a folder; name a file in it")
    }
}
