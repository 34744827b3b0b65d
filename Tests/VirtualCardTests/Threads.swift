import Foundation
import Synchronization

/// A set of threads that did not end in time.
struct Hang: Error, CustomStringConvertible {
    let seconds: Double

    var description: String { "the threads still run after \(seconds) s" }
}

/// Runs bodies on threads of their own until all have returned; throws what the first of them threw, or Hang. Threads
/// that hang are left behind, so that the test at least ends.
func onThreads(seconds: Double = 60, _ bodies: [@Sendable () throws -> Void]) throws {
    let group = DispatchGroup()
    let failure = Failure()
    for body in bodies {
        group.enter()
        Thread {
            do { try body() } catch { failure.note(error) }
            group.leave()
        }.start()
    }
    if group.wait(timeout: .now() + seconds) == .timedOut { throw Hang(seconds: seconds) }
    try failure.rethrow()
}

private final class Failure: Sendable {
    private let first = Mutex<(any Error)?>(nil)

    func note(_ error: any Error) { first.withLock { $0 = $0 ?? error } }

    func rethrow() throws { if let error = first.withLock({ $0 }) { throw error } }
}

/// Hands blocks from one thread to another, in order; who takes waits until there is one.
final class Handover<Block: Sendable>: Sendable {
    private let blocks = Mutex<[Block]>([])
    private let count = DispatchSemaphore(value: 0)

    func give(_ block: Block) {
        blocks.withLock { $0.append(block) }
        count.signal()
    }

    func take() throws -> Block {
        if count.wait(timeout: .now() + 30) == .timedOut { throw Hang(seconds: 30) }
        return blocks.withLock { $0.removeFirst() }
    }
}
