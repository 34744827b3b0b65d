// For stat: optimised builds of this module know it as ALSA's headers have it.
internal import CALSA

#if canImport(Glibc)
    internal import Glibc
#endif

/// Which file a path names, however it is written: of one that is still to be made, its folder and its name there.
///
/// Two that are equal are one file, so that who writes the one destroys the other.
package struct FilePlace: Hashable, Sendable {
    private let device: UInt64
    private let node: UInt64
    /// Empty where the file is there.
    private let name: [UInt8]

    /// Asks the system. Nil where writing destroys nothing: devices, pipes and folders, and where there is no folder to
    /// write to.
    package init?(_ path: String) {
        var status = stat()
        if unsafe fstatat(AT_FDCWD, path, &status, 0) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            name = []
        } else {
            let bytes = Array(path.utf8)
            let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
            let folder = slash.map { String(decoding: bytes[...$0], as: UTF8.self) } ?? "."
            guard unsafe fstatat(AT_FDCWD, folder, &status, 0) == 0 else { return nil }
            name = Array(bytes[(slash.map { $0 + 1 } ?? 0)...])
        }
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
    }
}
