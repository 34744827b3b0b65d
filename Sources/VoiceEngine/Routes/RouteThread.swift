internal import VoiceDevices
internal import VoiceRealtime

/// The thread that opens devices anew when they are lost, at ordinary priority.
final class RouteThread: Sendable {
    /// Looks about at least this often.
    private static let longestSleep = Duration.seconds(1)

    private let thread: RealtimeThread

    init(_ core: EngineCore, _ broadcast: EventBroadcast) throws(EngineError) {
        let wake = core.routeWake
        do throws(ThreadError) {
            thread = try RealtimeThread(name: "voice-routes", priority: 0, wake: wake) { stop in
                while !stop.isRaised {
                    let now = MonotonicTime.now().sinceEpoch
                    let deadline = core.attendToDevices(now: now) { broadcast.post(EngineEvent($0)) }
                    guard !stop.isRaised else { return }
                    let pause = deadline.map { $0 - MonotonicTime.now().sinceEpoch } ?? Self.longestSleep
                    wake.wait(timeout: min(max(pause, .zero), Self.longestSleep))
                }
            }
        } catch {
            throw .resourcesExhausted("the route thread could not be started: \(error)")
        }
    }

    /// Ends the thread. Waits for a device that is being opened.
    func stop() { thread.stop() }
}

extension EngineEvent {
    package init(_ event: RouteEvent) {
        switch event {
        case .lost(let loss): self = .deviceLost(loss)
        case .changed(let route, let change, _): self = .routeChanged(route, change)
        }
    }
}
