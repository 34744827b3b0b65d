import Glibc
import VoiceDevices
import VoiceRealtime

/// A file that a command is going to write.
enum OutputFile {
    /// Throws where it is plain beforehand that `path` cannot be written, before the work is done in vain; writes
    /// nothing.
    static func check(_ path: String, option: String) throws {
        guard !path.isEmpty else { throw Failure(.usage, "\(option) is empty; name a file") }
        var status = stat()
        if unsafe stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT != S_IFDIR else {
                throw Failure(.thresholdMissed, "'\(path)' is a folder; name a file for \(option)")
            }
            try checkAccess(path, writing: path, option)
        } else {
            let folder = FilePath.folder(path)
            guard unsafe stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw Failure(
                    .thresholdMissed,
                    "'\(path)' cannot be written: there is no folder '\(folder)'; make it or choose another")
            }
            try checkAccess(folder, writing: path, option)
        }
    }

    /// Throws where `path`, a sound that is going to be written, has the name of another kind of file than WAV.
    static func checkIsWAV(_ path: String, option: String) throws {
        let name = FilePath.name(path)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return }
        let ending = name[name.index(after: dot)...]
        guard !["wav", "wave"].contains(ending.lowercased()) else { return }
        throw Failure(
            .usage, "\(option) '\(path)': only WAV files are written; end the name in .wav, or leave .\(ending) away")
    }

    /// Throws where writing `path` would destroy one of `inputs`.
    static func check(_ path: String, option: String, isNoneOf inputs: [String]) throws {
        guard let output = FilePlace(path), let input = inputs.first(where: { FilePlace($0) == output }) else { return }
        throw Failure(.usage, "\(option) '\(path)' is the input '\(input)' itself; choose another file")
    }

    /// Throws where one of the options would write over what another one has written; those without a path write nothing.
    static func checkAreApart(_ outputs: [(option: String, path: String?)]) throws {
        var taken: [(option: String, place: FilePlace)] = []
        for (option, path) in outputs {
            guard let path, let place = FilePlace(path) else { continue }
            if let other = taken.first(where: { $0.place == place }) {
                throw Failure(.usage, "\(option) '\(path)' is the file of \(other.option) too; choose another one")
            }
            taken.append((option, place))
        }
    }

    private static func checkAccess(_ place: String, writing path: String, _ option: String) throws {
        guard unsafe access(place, W_OK) != 0 else { return }
        let number = errno
        switch number {
        case EACCES, EPERM, EROFS:
            throw Failure(
                .permissionDenied,
                "no permission to write '\(path)' (\(systemReason(number))); choose another place with \(option)")
        default: throw Failure(.thresholdMissed, "'\(path)' cannot be written: \(systemReason(number))")
        }
    }

    /// Writes `text` to `path`, in place of what was there.
    static func write(_ text: String, to path: String) throws(SystemError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw .current }
        let failure = write(text, to: descriptor)
        guard close(descriptor) == 0 || failure != 0 else { throw .current }
        guard failure == 0 else { throw SystemError(number: failure) }
    }

    /// Writes all of `text`; returns 0 or the `errno` that stood in the way. Blocks while a reader is slow.
    static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if written < 0, errno == EAGAIN {
                // A stream that another program has made non-blocking, and whose reader is slow.
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&room, 1, -1)
            } else if written == 0 || errno != EINTR {
                return written == 0 ? EIO : errno
            }
        }
        return 0
    }
}
