import Glibc
import VoiceRealtime

/// The bytes of a file that holds secrets, and who else can have them.
struct SecretFile {
    let bytes: [UInt8]
    /// Whether every user of the machine can read it or write to it. Of a file; what comes through a pipe is whose it
    /// is.
    let isOpenToAll: Bool

    /// Reads at most `limit` bytes, and no further than the first line where that is asked for. Blocks.
    ///
    /// - Parameters:
    ///   - kind: what to call it in an error.
    ///   - option: where its path was given.
    init(_ path: String, limit: Int, firstLine: Bool = false, kind: String, option: String) throws {
        func unreadable(_ number: Int32) -> Failure {
            Failure(
                SystemError(number: number).codeOfInput,
                "the \(kind) '\(path)' cannot be read: \(systemReason(number)); check \(option)")
        }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw unreadable(errno) }
        isOpenToAll = status.st_mode & S_IFMT == S_IFREG && status.st_mode & (S_IROTH | S_IWOTH) != 0

        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let read = unsafe bytes.withUnsafeMutableBytes {
                let room = unsafe UnsafeMutableRawBufferPointer(rebasing: $0[count...])
                return unsafe Glibc.read(descriptor, room.baseAddress, room.count)
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw unreadable(errno) }
            if read == 0 { break }
            count += read
            if firstLine, bytes[..<count].contains(0x0A) { break }
        }
        self.bytes = Array(firstLine ? bytes[..<count].prefix { $0 != 0x0A } : bytes[..<count])
    }
}
