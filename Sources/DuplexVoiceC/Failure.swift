internal import CDuplexVoice
internal import VoiceEngine

/// Why a call fails: the status that it returns, and a sentence that says what, where and what to do.
struct Failure: Error {
    var status: dv_status
    var message: String
    /// The engine's own name of it, and with it the remedy; nil where the status says it all.
    var code: ErrorCode?

    init(_ status: dv_status, _ message: String, code: ErrorCode? = nil) {
        self.status = status
        self.message = message
        self.code = code
    }

    /// A status by itself.
    init(_ status: dv_status) {
        self.init(status, unsafe String(cString: dv_status_text(status.rawValue)))
    }

    init(_ error: EngineError) { self.init(error.code.status, error.explanation, code: error.code) }

    /// An argument that cannot be.
    static func argument(_ message: String) -> Failure { Failure(DV_INVALID_ARGUMENT, message) }
}

extension ErrorCode {
    /// Grouped by who or what stands in the way.
    var status: dv_status {
        switch origin {
        case .configuration: DV_INVALID_ARGUMENT
        case .usage, .turn: DV_WRONG_STATE
        case .permission: DV_NOT_PERMITTED
        case .device, .file: DV_DEVICE_FAILED
        case .system: DV_EXHAUSTED
        case .transport: DV_NETWORK_FAILED
        case .room: DV_ROOM_REFUSED
        }
    }
}

/// Runs the body, and tells of its failure in `error`, where one is given.
func reporting(
    to error: UnsafeMutablePointer<dv_error>?, _ body: () throws(Failure) -> Void
) -> dv_status {
    do throws(Failure) {
        try body()
        unsafe error?.initialize(to: dv_error())
        return DV_OK
    } catch let failure {
        unsafe error?.initialize(to: dv_error(failure))
        return failure.status
    }
}

extension dv_error {
    init(_ failure: Failure) {
        self.init()
        status = failure.status
        is_retryable = failure.code?.isRetryable == true ? 1 : 0
        fill(&code, with: failure.code?.rawValue ?? "")
        fill(&message, with: failure.message)
        fill(&remedy, with: failure.code?.remedy ?? "")
    }
}

/// Writes a text that ends in a zero into an array of characters of C's; what does not fit is cut off between two
/// characters.
func fill<Characters: BitwiseCopyable>(_ field: inout Characters, with text: String) {
    unsafe withUnsafeMutableBytes(of: &field) { unsafe copy(text, into: $0) }
}

/// The same of an array of one at least that C has.
func copy(_ text: String, into bytes: UnsafeMutableRawBufferPointer) {
    var count = 0
    for character in text {
        let encoded = character.utf8
        guard count + encoded.count < bytes.count else { break }
        for byte in encoded {
            unsafe bytes[count] = byte
            count += 1
        }
    }
    unsafe bytes[count] = 0
}

/// A text that C gave; nil for null.
func text(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(Failure) -> String? {
    guard let pointer = unsafe pointer else { return nil }
    guard let text = unsafe String(validatingCString: pointer) else { throw .argument("\(name) is not UTF-8") }
    return text
}

/// A choice of 0 or 1.
func flag(_ value: UInt32, _ name: String) throws(Failure) -> Bool {
    guard value <= 1 else { throw .argument("\(name) is \(value); take 0 or 1") }
    return value == 1
}
