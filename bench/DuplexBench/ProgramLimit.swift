import Foundation

/// Kills a program that goes on for too long, so that whoever waits for it, or for what it says, goes on.
final class ProgramLimit {
    private let work: DispatchWorkItem

    /// From now on, while this is kept.
    init(_ process: Process, seconds: Double) {
        let number = process.processIdentifier
        work = DispatchWorkItem { kill(number, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: work)
    }

    deinit { work.cancel() }
}
