import Glibc

/// Why the system refused something.
struct SystemError: Error {
    /// As `errno` has it.
    let number: Int32

    /// What `errno` holds now.
    static var current: SystemError { SystemError(number: errno) }

    /// Whether it is for want of a permission.
    var isForbidden: Bool { number == EACCES || number == EPERM }

    /// What it is to a script where it is an input that could not be read.
    var codeOfInput: Failure.Code { isForbidden ? .permissionDenied : .inputUnusable }
}

/// The process's environment.
enum Environment {
    static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}

/// The time of day.
enum WallClock {
    /// Whole seconds since 1970, UTC.
    static var seconds: Int64 { Int64(time(nil)) }
}
