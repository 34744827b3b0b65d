import Glibc
import VoiceDevices
import VoiceRealtime

/// A file that a command is going to read.
enum InputFile {
    /// Throws where `path` is a folder, which the readers have no good word for; and where it is a pipe or a device,
    /// unless the reader goes through it only once.
    static func check(_ path: String, isReadOnce: Bool = false) throws {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw Failure(.inputUnusable, "'\(path)' is a folder; name a file in it")
        default:
            guard !isReadOnce else { return }
            throw Failure(
                .inputUnusable, "'\(path)' is no file but a pipe or a device; write what comes from it to a file first")
        }
    }

    /// Throws where `path` is no file or cannot be read, for readers that do not say so.
    static func checkReadable(_ path: String, option: String) throws {
        try check(path)
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let error = SystemError.current
            throw Failure(
                error.codeOfInput, "'\(path)' cannot be read: \(systemReason(error.number)); check \(option)")
        }
        close(descriptor)
    }

    /// Throws where `path` is no sound file, or one without a frame, before anybody waits for what it says. A pipe, where
    /// it may be one, is not looked into.
    static func checkHoldsSound(_ path: String, isReadOnce: Bool = false) throws {
        try check(path, isReadOnce: isReadOnce)
        var status = stat()
        if isReadOnce, unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { return }
        var first: [Float] = [0]
        let count: Int
        do throws(AudioFileError) {
            var reader = try AudioFileReader(path)
            var room = first.mutableSpan
            count = try reader.read(into: &room)
        } catch {
            throw Failure(error)
        }
        guard count == 1 else { throw Failure(.inputUnusable, "'\(path)' holds no sound; record it anew") }
    }
}
