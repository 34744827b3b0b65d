/// Why a device did not start, or stopped. Each case is a thing that the caller can do something about.
public enum DeviceError: Error, Equatable, Sendable {
    /// There is no device of that name. Choose one of `available`.
    case notFound(name: String, available: [String])
    /// Another program, or another stream of this one, holds the device: one of `holders`, which are empty where the
    /// kernel does not tell. Close it, or name a PCM that shares (dmix, dsnoop, PipeWire).
    case busy(name: String, holders: [ALSADeviceHolder])
    /// The process may not use the device. Add the user to the group `audio`, or grant access to /dev/snd.
    case permissionDenied(name: String)
    /// The device cannot do what was asked. Ask for what it `offers`, or name it through `plug:` (`plughw:1,0` for
    /// `hw:1,0`).
    case unsupported(asked: String, offers: String)
    /// The device is gone: unplugged or switched off. Start again when it is back, or on another.
    case disconnected(name: String)
    /// The device or the driver failed in some other way; `message` names the step and the system's reason. Try again;
    /// then report it.
    case io(message: String)
    /// The configuration contradicts itself; `message` says how. Correct it.
    case invalidConfiguration(message: String)
    /// A file that stands in for a device could not be used; the file's error says what to do.
    case file(AudioFileError)
    /// The device runs already. Stop it first.
    case alreadyRunning
}

extension DeviceError: CustomStringConvertible {
    /// What, where, and what to do.
    public var description: String {
        switch self {
        case .notFound(let name, let available):
            let list = available.isEmpty ? "there is none at all" : "there are: " + available.joined(separator: ", ")
            return "no audio device is named '\(name)'; \(list)"
        case .busy(let name, let holders):
            let programs = holders.map { "\($0.command.isEmpty ? "process" : $0.command) (\($0.processID))" }
            let holder = programs.isEmpty ? "another stream" : programs.joined(separator: ", ")
            return "audio device '\(name)' is in use by \(holder); close that one, or use a device that shares"
        case .permissionDenied(let name):
            return "no permission to use audio device '\(name)'; add the user to the group 'audio' and log in again"
        case .unsupported(let asked, let offers):
            return "the device does not offer \(asked); it offers \(offers)"
        case .disconnected(let name):
            return "audio device '\(name)' is gone; plug it in again or choose another"
        case .io(let message):
            return "audio input or output failed: \(message)"
        case .invalidConfiguration(let message):
            return "the device configuration does not make sense: \(message)"
        case .file(let error):
            return error.description
        case .alreadyRunning:
            return "the device runs already; stop it first"
        }
    }
}
