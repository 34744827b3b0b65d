internal import Glibc

/// A file with a certificate or a key.
struct IdentityFile {
    /// Bytes of a file at most: a long chain of certificates has some ten thousand.
    private static let sizeLimit = 1 << 18

    let path: String

    // MARK: Reading

    /// Whether there is something at the path.
    func exists() throws(ServerIdentityError) -> Bool {
        guard unsafe access(path, F_OK) != 0 else { return true }
        guard errno == ENOENT else { throw .unreadable(path: path, errno: errno) }
        return false
    }

    /// The file's bytes. A secret that everybody may read is none.
    func read(asSecret: Bool) throws(ServerIdentityError) -> [UInt8] {
        // A pipe or a device must not keep the caller waiting.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path: path, errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .unreadable(path: path, errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.sizeLimit else { throw .notAFile(path: path) }
        // Asked of the file that was opened, not of its name, which may be another's by now. A group may read it, as
        // Debian's ssl-cert does.
        guard !asSecret || status.st_mode & 0o007 == 0 else { throw .keyReadableByAll(path: path) }

        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let read = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress.map { unsafe $0 + count }, $0.count - count)
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else {
                bytes.wipe()
                throw .unreadable(path: path, errno: errno)
            }
            if read == 0 { break }
            count += read
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    // MARK: Writing

    /// Makes a folder that is its owner's alone, and those above it; or checks the one that is there.
    static func prepare(directory: String) throws(ServerIdentityError) {
        var status = stat()
        if unsafe stat(directory, &status) != 0 {
            guard errno == ENOENT else { throw .unwritable(path: directory, errno: errno) }
            var parts = directory.split(separator: "/", omittingEmptySubsequences: true).map(String.init)[...]
            var path = directory.hasPrefix("/") ? "" : "."
            while let part = parts.popFirst() {
                path += "/" + part
                guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
                    throw .unwritable(path: path, errno: errno)
                }
            }
            guard unsafe stat(directory, &status) == 0 else { throw .unwritable(path: directory, errno: errno) }
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .unwritable(path: directory, errno: ENOTDIR) }
        guard status.st_mode & 0o022 == 0 else { throw .folderWritableByOthers(path: directory) }
    }

    /// Makes the file whole, for its owner alone, or leaves the one that somebody else has made meanwhile.
    func create(_ bytes: [UInt8]) throws(ServerIdentityError) {
        let draft = path + "." + String(randomNumber(), radix: 16)
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritable(path: draft, errno: errno) }
        defer {
            close(descriptor)
            unsafe unlink(draft)
        }
        var count = 0
        while count < bytes.count {
            let written = unsafe bytes.withUnsafeBytes {
                unsafe write(descriptor, $0.baseAddress.map { unsafe $0 + count }, $0.count - count)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw .unwritable(path: path, errno: errno) }
            count += written
        }
        guard fsync(descriptor) == 0 else { throw .unwritable(path: path, errno: errno) }
        // Unlike rename, link takes nobody's place: of two servers that start at once, both read what one has made.
        guard unsafe link(draft, path) == 0 || errno == EEXIST else { throw .unwritable(path: path, errno: errno) }
    }
}

extension [UInt8] {
    /// Overwrites a secret before its memory is another's.
    mutating func wipe() {
        unsafe withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe explicit_bzero(start, bytes.count)
        }
    }
}
