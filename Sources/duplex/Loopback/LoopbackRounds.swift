import Synchronization
import VoiceEngine

/// Runs rounds in real time until there are enough of them, or the task is cancelled.
struct LoopbackRounds {
    let wanted: Int
    /// Whether a disturbance makes the frames' counts worthless, so that the device is to be started anew.
    let restartsAfterDisturbance: Bool
    /// How often frames are moved: often enough for the shortest rings, seldom enough to leave the processor to what is
    /// measured.
    private static let pace = Duration.milliseconds(10)

    /// What is told of each round when it is over.
    typealias Report = (LoopbackRound, _ number: Int) async throws -> Void

    /// Starts a device with `open`, as often as needed, and measures. Throws what stops a device.
    func run(
        _ open: (_ events: @escaping @Sendable (DeviceEvent) -> Void) throws -> LoopbackProbe, report: Report
    ) async throws -> LoopbackTally {
        var tally = LoopbackTally(wanted: wanted)
        while !tally.isOver, !Task.isCancelled {
            let watch = DeviceWatch()
            var probe = try open { watch.note($0) }
            try await run(&probe, watch, &tally, report)
            tally.xruns += probe.stream.xruns
            tally.driftPPM = probe.stream.driftPPM ?? tally.driftPPM
            tally.heard.add(probe.stream.captured.level)
        }
        if !tally.isOver { tally.cutShort() }
        Console.endProgress()
        return tally
    }

    private func run(_ probe: inout LoopbackProbe, _ watch: DeviceWatch, _ tally: inout LoopbackTally, _ report: Report)
        async throws
    {
        var standstill = Standstill()
        while !tally.isOver {
            do { try await Task.sleep(for: Self.pace) } catch { return }
            switch probe.step() {
            case .underWay: break
            case .round(let round):
                tally.add(round)
                try await report(round, tally.rounds.count)
                Console.progress("round \(tally.rounds.count) of \(wanted)")
            case .disturbed:
                tally.addDisturbed()
                if restartsAfterDisturbance { return }
            }
            if let failure = watch.failure { throw failure }
            let (played, captured) = (probe.stream.played.endFrame, probe.stream.captured.endFrame)
            guard !standstill.look(played: played, captured: captured, after: Self.pace) else {
                throw Failure(
                    .unavailable, "the sound device has started and moves no sound; try another, or its 'plughw:'")
            }
        }
    }
}

/// Remembers why a device ended.
private final class DeviceWatch: Sendable {
    private let ended = Mutex<Failure?>(nil)

    var failure: Failure? { ended.withLock { $0 } }

    func note(_ event: DeviceEvent) {
        switch event {
        case .disconnected(let direction):
            ended.withLock {
                $0 = Failure(.unavailable, "the \(direction) device is gone; plug it in and measure again")
            }
        case .failed(_, let error): ended.withLock { $0 = Failure(error) }
        default: break
        }
    }
}
