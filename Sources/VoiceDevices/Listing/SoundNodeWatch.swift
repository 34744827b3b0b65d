#if canImport(Glibc)
    internal import Glibc
#endif

/// Tells at once when nodes of sound cards come and go: inotify on /dev/snd, as long as there is such a folder.
struct SoundNodeWatch: ~Copyable {
    /// What has happened since last asked.
    enum News: Equatable { case nothing, departures, arrivals }

    private let folder: String
    /// To be polled for reading; negative where the system gives none, or for as long as there is no folder.
    var descriptor: Int32 { isAttached ? inotify : -1 }
    private let inotify: Int32
    private var isAttached = false

    /// A node is made before its permissions are set, which therefore count as its arrival too.
    private static let arrivals = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB)
    private static let departures = UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
    /// Room for some hundred events at a time.
    private static let bufferBytes = 16_384

    init(folder: String = "/dev/snd") {
        self.folder = folder
        inotify = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        attach()
    }

    deinit { if inotify >= 0 { close(inotify) } }

    /// Reads all events, without waiting, and takes the folder up where it has come into being. Then all that is in it
    /// is new.
    mutating func news() -> News {
        guard isAttached else {
            attach()
            return isAttached ? .arrivals : .nothing
        }
        var news = News.nothing
        var buffer = [UInt8](repeating: 0, count: Self.bufferBytes)
        while true {
            let count = unsafe read(inotify, &buffer, buffer.count)
            guard count > 0 else { return news }
            for mask in Self.masks(buffer[0..<count]) {
                // The folder itself is gone; the kernel has dropped the watch.
                if mask & UInt32(IN_IGNORED) != 0 { isAttached = false }
                if mask & Self.arrivals != 0 {
                    news = .arrivals
                } else if mask & (Self.departures | UInt32(IN_IGNORED)) != 0, news == .nothing {
                    news = .departures
                }
            }
        }
    }

    private mutating func attach() {
        guard inotify >= 0 else { return }
        isAttached = unsafe inotify_add_watch(inotify, folder, Self.arrivals | Self.departures) >= 0
    }

    /// The masks of events as the kernel writes them: descriptor, mask, cookie, length of the name, name (inotify(7)).
    private static func masks(_ bytes: ArraySlice<UInt8>) -> [UInt32] {
        let header = MemoryLayout<inotify_event>.size
        var masks: [UInt32] = []
        var position = bytes.startIndex
        while bytes.endIndex - position >= header {
            masks.append(word(bytes, position + 4))
            position += header + Int(word(bytes, position + 12))
        }
        return masks
    }

    private static func word(_ bytes: ArraySlice<UInt8>, _ position: Int) -> UInt32 {
        unsafe bytes.withUnsafeBytes { raw in
            unsafe raw.loadUnaligned(fromByteOffset: position - bytes.startIndex, as: UInt32.self)
        }
    }
}
