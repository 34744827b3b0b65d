internal import CSndFile

#if canImport(Glibc)
    internal import Glibc
#endif

/// A file in memory, as libsndfile reads one. For one thread at a time.
final class MemoryFile: @unchecked Sendable {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// How libsndfile reaches one whose address it is given; the file must outlive that.
    static var callbacks: SF_VIRTUAL_IO {
        var callbacks = SF_VIRTUAL_IO()
        unsafe callbacks.get_filelen = { address in sf_count_t(unsafe MemoryFile.at(address).bytes.count) }
        unsafe callbacks.seek = { offset, origin, address in unsafe MemoryFile.at(address).seek(offset, origin) }
        unsafe callbacks.read = { target, count, address in unsafe MemoryFile.at(address).read(count, into: target) }
        unsafe callbacks.write = { _, _, _ in 0 }
        unsafe callbacks.tell = { address in sf_count_t(unsafe MemoryFile.at(address).position) }
        return callbacks
    }

    private static func at(_ address: UnsafeMutableRawPointer?) -> MemoryFile {
        unsafe Unmanaged<MemoryFile>.fromOpaque(address.unsafelyUnwrapped).takeUnretainedValue()
    }

    /// Goes to a place, or to the nearest that there is.
    private func seek(_ offset: sf_count_t, _ origin: Int32) -> sf_count_t {
        let base = origin == SEEK_SET ? 0 : origin == SEEK_END ? bytes.count : position
        let (wanted, overflows) = base.addingReportingOverflow(Int(offset))
        guard !overflows else { return -1 }
        position = min(max(wanted, 0), bytes.count)
        return sf_count_t(position)
    }

    private func read(_ count: sf_count_t, into target: UnsafeMutableRawPointer?) -> sf_count_t {
        guard let target = unsafe target else { return 0 }
        let available = min(max(Int(count), 0), bytes.count - position)
        unsafe bytes.withUnsafeBytes { bytes in
            if available > 0, let start = bytes.baseAddress {
                unsafe target.copyMemory(from: start + position, byteCount: available)
            }
        }
        position += available
        return sf_count_t(available)
    }
}
