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
    /// `available` and `holders` are asked for only where they are told, since finding out takes a while.
    init(
        alsa error: Int32, name: String, step: String, available: () -> [String] = { [] },
        holders: () -> [ALSADeviceHolder] = { [] }
    ) {
        switch -error {
        case ENOENT, ENODEV, ENXIO: self = .notFound(name: name, available: available())
        case EBUSY: self = .busy(name: name, holders: holders())
        case EACCES, EPERM: self = .permissionDenied(name: name)
        default: self = .io(message: "\(step) of '\(name)': \(alsaReason(error))")
        }
    }
}
