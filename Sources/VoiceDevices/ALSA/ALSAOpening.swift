internal import Synchronization
internal import VoiceRealtime

/// Opens PCMs on threads that can be left behind.
///
/// A plugin may wait without end while it is opened or set up, even where it was asked not to block: that of PipeWire
/// until there is a device to connect the stream to, that of PulseAudio for a server that accepts and never answers.
enum ALSAOpening {
    /// The longest that an opening may take: a Bluetooth headset needs 2 to 3 s to change to the profile that has a
    /// microphone.
    static let longest = Duration.seconds(5)
    /// The same of a device that has opened once, and later than that: it is slow, and does not hang.
    static let longestOfSlow = Duration.seconds(15)

    private struct Past {
        /// What still hangs. It is not tried again meanwhile, so that no threads gather behind a device that is waited
        /// for.
        var hanging: Set<String> = []
        /// What has opened when nobody waited for it any more.
        var slow: Set<String> = []
    }

    private static let past = Mutex(Past())

    /// Returns what `open`, which opens `name`, has opened within `limit`. What it opens later goes to `discard`, on a
    /// thread of its own, and is given ``longestOfSlow`` the next time. Throws what `open` throws, and where it hangs.
    /// Blocks; not real-time safe.
    static func run<Value: Sendable>(
        _ name: String, _ direction: DeviceDirection, limit: Duration = longest,
        discard: @escaping @Sendable (Value) -> Void,
        open: @escaping @Sendable () throws(DeviceError) -> Value
    ) throws(DeviceError) -> Value {
        let key = "\(direction) \(name)"
        let (isHanging, isSlow) = past.withLock { ($0.hanging.contains(key), $0.slow.contains(key)) }
        guard !isHanging else { throw hangs(name, direction) }
        let limit = isSlow ? max(limit, longestOfSlow) : limit
        let outcome = OpeningOutcome<Value>()
        let thread: DeviceThread
        do {
            thread = try DeviceThread(name: "alsa-open", priority: 0, stop: StopRequest()) { _ in
                let result = Result { () throws(DeviceError) in try open() }
                guard !outcome.take(result) else { return }
                if case .success(let late) = result {
                    discard(late)
                    past.withLock { _ = $0.slow.insert(key) }
                }
                past.withLock { _ = $0.hanging.remove(key) }
            }
        } catch {
            throw .io(message: "no thread to open '\(name)': \(error)")
        }
        if thread.stop(limit: limit) { return try outcome.result(or: hangs(name, direction)) }
        // Before the thread can see that it was left behind.
        past.withLock {
            $0.hanging.insert(key)
            $0.slow.remove(key)
        }
        guard let result = outcome.giveUp() else { throw hangs(name, direction) }
        past.withLock { _ = $0.hanging.remove(key) }
        return try result.get()
    }

    private static func hangs(_ name: String, _ direction: DeviceDirection) -> DeviceError {
        let end = direction == .capture ? "microphone" : "loudspeaker"
        return .io(
            message: """
                opening '\(name)' for \(direction) hangs: the sound server behind it does not answer, or has no \(end) \
                to connect it to; plug one in, choose another device, or try again where it is only slow
                """)
    }
}

/// What became of one opening: its result, or that nobody waits for it any more.
private final class OpeningOutcome<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case ended(Result<Value, DeviceError>)
        case abandoned
    }

    private let state = Mutex(State.pending)

    /// Takes the result; false where it is the caller's to dispose of.
    func take(_ result: Result<Value, DeviceError>) -> Bool {
        state.withLock { state in
            if case .abandoned = state { return false }
            state = .ended(result)
            return true
        }
    }

    /// The result, where there is one; else nobody takes it from here on.
    func giveUp() -> Result<Value, DeviceError>? {
        state.withLock { state in
            if case .ended(let result) = state { return result }
            state = .abandoned
            return nil
        }
    }

    func result(or error: DeviceError) throws(DeviceError) -> Value {
        guard case .ended(let result) = state.withLock({ $0 }) else { throw error }
        return try result.get()
    }
}
