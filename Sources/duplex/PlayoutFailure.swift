/// Why a capture could not be played out: what, where and what to do, and the exit status that stands for it.
struct PlayoutFailure: Error, CustomStringConvertible {
    /// The input is missing or not what it claims (`EX_NOINPUT`).
    static let badInput: Int32 = 66
    /// The output could not be written.
    static let badOutput: Int32 = 1

    let exitStatus: Int32
    let description: String

    static func input(_ sentence: String) -> PlayoutFailure {
        PlayoutFailure(exitStatus: badInput, description: sentence)
    }

    static func output(_ sentence: String) -> PlayoutFailure {
        PlayoutFailure(exitStatus: badOutput, description: sentence)
    }
}
