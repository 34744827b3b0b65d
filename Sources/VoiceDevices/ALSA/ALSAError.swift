internal import CALSA

#if canImport(Glibc)
    internal import Glibc
#endif

/// What a call of alsa-lib answered, in words.
func alsaReason(_ error: Int32) -> String {
    unsafe String(cString: snd_strerror(error))
}

extension DeviceError {
    /// Sorts the negative errno with which PCM `name` could not be opened or set up by what the caller can do about it.
    ///
    /// `isDenied`, `available` and `holders` are asked for only where they are told, since finding out takes a while.
    init(
        alsa error: Int32, name: String, step: String, isDenied: () -> Bool = { false },
        available: () -> [String] = { [] }, holders: () -> [ALSADeviceHolder] = { [] }
    ) {
        switch -error {
        // Alsa-lib does not find a card whose nodes it may not open.
        case ENOENT, ENODEV, ENXIO:
            self = isDenied() ? .permissionDenied(name: name) : .notFound(name: name, available: available())
        case EBUSY: self = .busy(name: name, holders: holders())
        case EACCES, EPERM: self = .permissionDenied(name: name)
        default:
            let remedy = alsaRemedy(error).map { "; \($0)" } ?? ""
            self = .io(message: "\(step) of '\(name)': \(alsaReason(error))\(remedy)")
        }
    }
}

/// What to do about an errno whose words do not tell a user; nil where nothing better is known.
private func alsaRemedy(_ error: Int32) -> String? {
    switch -error {
    // What the plugins of sound servers answer where there is none.
    case ECONNREFUSED, EHOSTDOWN, ENOTCONN: "start the sound server behind it, as the user who is logged in"
    // What USB devices answer.
    case ENOSPC: "the USB bus has no room for it: use another port, or unplug what else sends sound or pictures"
    default: nil
    }
}
