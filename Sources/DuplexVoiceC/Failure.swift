internal import CDuplexVoice

/// Why a call fails: the status that it returns, and a sentence that says what, where and what to do.
struct Failure: Error {
    var status: dv_status
    var message: String

    init(_ status: dv_status, _ message: String) {
        self.status = status
        self.message = message
    }

    /// An argument that cannot be.
    static func argument(_ message: String) -> Failure { Failure(DV_INVALID_ARGUMENT, message) }
}

/// Runs the body, and tells of its failure in `error`, where one is given.
func reporting(
    to error: UnsafeMutablePointer<dv_error>?, _ body: () throws(Failure) -> Void
) -> dv_status {
    do throws(Failure) {
        try body()
        unsafe write(DV_OK, "", to: error)
        return DV_OK
    } catch let failure {
        unsafe write(failure.status, failure.message, to: error)
        return failure.status
    }
}

/// What does not fit is cut off between two characters.
private func write(_ status: dv_status, _ message: String, to error: UnsafeMutablePointer<dv_error>?) {
    guard let error = unsafe error else { return }
    unsafe error.pointee.status = status
    unsafe withUnsafeMutableBytes(of: &error.pointee.message) { bytes in
        var count = 0
        for character in message {
            let encoded = character.utf8
            guard count + encoded.count < bytes.count else { break }
            for byte in encoded {
                unsafe bytes[count] = byte
                count += 1
            }
        }
        unsafe bytes[count] = 0
    }
}
