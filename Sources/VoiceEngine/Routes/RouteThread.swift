internal import VoiceDevices
internal import VoiceRealtime

/// The thread that opens devices anew when they are lost, at ordinary priority.
final class RouteThread: Sendable {
    /// Looks about at least this often, and so notices a change of ALSA's `default`.
    private static let longestSleep = Duration.seconds(1)

    private let thread: RealtimeThread

    init(_ core: EngineCore, _ broadcast: EventBroadcast) throws(EngineError) {
        let wake = core.routeWake
        do throws(ThreadError) {
            thread = try RealtimeThread(
                name: "voice-routes", priority: 0, wake: wake, state: RouteLookout(core)
            ) { lookout, stop in
                while !stop.isRaised {
                    lookout.look()
                    let now = MonotonicTime.now().sinceEpoch
                    let deadline = core.attendToDevices(now: now) { broadcast.post(EngineEvent($0)) }
                    guard !stop.isRaised else { return }
                    lookout.watch(isWaiting: deadline != nil)
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

/// What the route thread sees of the machine's sound cards: as much as the devices that are chosen now depend on.
struct RouteLookout: ~Copyable, Sendable {
    private let core: EngineCore
    private let makeStandard: @Sendable () -> DefaultCard
    /// Only while a device is waited for, since it opens every card that arrives to see what that can do.
    private var watcher: DeviceWatcher?
    /// Only while `default` is followed.
    private var standard: DefaultCard?
    private var meaning: DefaultCard.Meaning?

    init(_ core: EngineCore, makeStandard: @escaping @Sendable () -> DefaultCard = DefaultCard.init) {
        self.core = core
        self.makeStandard = makeStandard
    }

    /// Notices that `default` means another card that is there. What a sound server does with its cards is its own
    /// business.
    mutating func look() {
        guard core.cards == .followingDefault else {
            standard = nil
            meaning = nil
            return
        }
        if standard == nil { standard = makeStandard() }
        guard let found = standard?.look(), found != meaning else { return }
        let isFirst = meaning == nil
        meaning = found
        if !isFirst, found != .card(identifier: nil) { core.noteDefaultChange() }
    }

    /// Watches for arrivals while a device is waited for. Without a watcher the waits alone have to do.
    mutating func watch(isWaiting: Bool) {
        guard isWaiting, core.cards != .none else {
            watcher = nil
            return
        }
        guard watcher == nil else { return }
        let note = core.noteArrival
        watcher = try? DeviceWatcher { change in if case .arrived = change { note() } }
    }
}

extension EngineEvent {
    package init(_ event: RouteEvent) {
        switch event {
        case .lost(let loss): self = .deviceLost(loss)
        case .changed(let route, let change, _): self = .routeChanged(route, change)
        }
    }
}
