internal import Synchronization
internal import VoiceDevices
internal import VoiceRealtime

/// What happens to the routes.
package enum RouteEvent: Equatable, Sendable {
    /// A device has gone away.
    case lost(DeviceLoss)
    /// The sound takes this way now; other devices than before run for these directions.
    case changed(AudioRoute, RouteChange, [DeviceDirection])
}

/// How the routes depend on the machine's sound cards.
enum RouteCards: Sendable {
    /// Not at all.
    case none
    /// A card that is lost is waited for.
    case pinned
    /// Follows ALSA's `default`.
    case followingDefault
}

/// The engine's devices, over their losses and returns.
///
///     capture ring ◄── dock ◄── card, or stand-in ──┐
///     playout ring ──► dock ──► card, or stand-in   ├─ one leg for each card
///     reference ring ◄─┘                            ┘
///
/// Whoever drives it, the engine's route thread or a simulation, calls ``attend(now:report:)`` when ``wake`` is
/// signalled or the time that it returned has come. One caller at a time; nothing here is real-time safe.
final class DeviceRoutes {
    private let inbox: RouteInbox
    private let ports: RoutePorts
    private let environment: RouteEnvironment
    private let events: @Sendable (DeviceEvent) -> Void
    private let accepts: (DeviceFormats) throws(DeviceError) -> Void
    private let policy: RoutePolicy?
    private var choice: DeviceChoice
    private var legs: [RouteLeg] = []
    /// Of the next leg: none is used twice, so that late news of an old one are not taken for another's.
    private var nextNumber = 0

    /// Routes at rest. `ports` are those of the engine's rings; `accepts` throws where the engine cannot serve a device
    /// with these formats; `events` is called on the devices' threads for all that they tell.
    init(
        _ configuration: EngineConfiguration, ports: RoutePorts, environment: RouteEnvironment,
        events: @escaping @Sendable (DeviceEvent) -> Void,
        accepts: @escaping (DeviceFormats) throws(DeviceError) -> Void
    ) throws(EngineError) {
        do throws(ThreadError) { inbox = try RouteInbox() } catch {
            throw .resourcesExhausted("no file descriptor for waking a thread: \(error)")
        }
        self.ports = ports
        self.environment = environment
        self.events = events
        self.accepts = accepts
        choice = configuration.device
        policy = configuration.routePolicy
        for plan in plans(of: choice) { legs.append(try leg(plan)) }
    }

    private func plans(of choice: DeviceChoice) -> [RouteLegPlan] {
        RouteLegPlan.legs(of: choice, policy: policy, isServed: environment.isServed)
    }

    private func leg(_ plan: RouteLegPlan) throws(EngineError) -> RouteLeg {
        let legPorts = RoutePorts(
            capture: plan.directions.contains(.capture) ? ports.capture : try .unconnected(),
            playback: plan.directions.contains(.playback) ? ports.playback : try .unconnected())
        defer { nextNumber += 1 }
        return RouteLeg(
            plan, number: nextNumber, ports: legPorts, environment: environment, inbox: inbox, events: events,
            accepts: accepts)
    }

    /// Signalled when there is something to attend to.
    var wake: WakeSignal { inbox.wake }

    /// Takes note that a device has arrived. From any thread.
    var noteArrival: @Sendable () -> Void { { [inbox] in inbox.post(.arrived) } }

    /// Takes note that `default` may mean another device. From any thread.
    var noteDefaultChange: @Sendable () -> Void { { [inbox] in inbox.post(.defaultChanged) } }

    /// What there is to watch for.
    var cards: RouteCards {
        if legs.contains(where: { $0.plan.policy == .followDefault }) { return .followingDefault }
        return legs.contains { $0.plan.policy == .pinned && $0.plan.custom == nil } ? .pinned : .none
    }

    /// Opens the chosen devices. Throws what stands in the way, with nothing left open. Blocks.
    func start() throws(DeviceError) -> DeviceFormats {
        do throws(DeviceError) {
            for leg in legs { try leg.start() }
        } catch {
            stop()
            throw error
        }
        return formats
    }

    /// Ends all devices. Blocks, for at most their ``AudioDevice/stopLimit``.
    func stop() { for leg in legs { leg.stop() } }

    /// Deals with all that has happened, and opens what is due. Blocks while a device opens. Returns when it is to be
    /// called again at the latest; nil where that is not necessary.
    func attend(now: Duration, report: (RouteEvent) -> Void) -> Duration? {
        for selection in inbox.takeSelections() {
            selection.answer.give(Result { () throws(DeviceError) in try select(selection.devices, now: now, report) })
        }
        for news in inbox.takeAll() {
            for leg in legs {
                switch news {
                case .lost(leg.number, let session, let reason):
                    leg.lose(session: session, reason: reason, now: now) { pass($0, of: leg, report) }
                case .lost: break
                case .arrived: leg.hurry(now: now)
                case .defaultChanged: leg.followDefault(now: now)
                }
            }
        }
        for leg in legs { leg.attend(now: now) { pass($0, of: leg, report) } }
        return legs.compactMap(\.deadline).min()
    }

    /// Goes over to other devices. What stays is not disturbed, unless it was opened together with what goes. Where a
    /// new one cannot be opened the old ones run again, and it throws why. Blocks, as ``start()``.
    @discardableResult
    func select(_ devices: DeviceSelection, now: Duration, _ report: (RouteEvent) -> Void) throws(DeviceError)
        -> AudioRoute
    {
        let wanted = try devices.applied(to: choice)
        let plans = plans(of: wanted)
        let staying = legs.filter { leg in plans.contains { $0.isSame(as: leg.plan) } }
        let leaving = legs.filter { leg in !plans.contains { $0.isSame(as: leg.plan) } }
        let coming = plans.filter { plan in !legs.contains { $0.plan.isSame(as: plan) } }
        guard !coming.isEmpty else { return route }
        // A card that is sure to fail disturbs nothing; one that is in use, perhaps here, can only be tried.
        for plan in coming where !leaving.contains(where: { $0.uses(plan) }) {
            do throws(DeviceError) { try plan.probe(.chosen, environment) } catch {
                guard case .busy = error else { throw error }
            }
        }
        for leg in leaving { leg.stop() }
        var begun: [RouteLeg] = []
        do throws(DeviceError) {
            for plan in coming {
                let leg: RouteLeg
                do throws(EngineError) { leg = try self.leg(plan) } catch { throw .io(message: "\(error)") }
                begun.append(leg)
                try leg.start()
            }
        } catch {
            for leg in begun { leg.stop() }
            for leg in leaving { leg.resume(now: now) { pass($0, of: leg, report) } }
            throw error
        }
        legs = staying + begun
        choice = wanted
        for leg in begun { report(.changed(route, .selected, leg.plan.directions)) }
        return route
    }

    /// Asks whoever attends for ``select(_:now:_:)``, and waits; from any other thread.
    func requestSelection(_ devices: DeviceSelection) throws(EngineError) -> AudioRoute {
        let answer = Answer<Result<AudioRoute, DeviceError>>()
        inbox.post(RouteInbox.Selection(devices: devices, answer: answer))
        do throws(DeviceError) { return try answer.wait().get() } catch { throw .device(error) }
    }

    /// What runs, of all legs.
    var formats: DeviceFormats {
        legs.reduce(into: DeviceFormats(capture: nil, playback: nil)) { formats, leg in
            formats.capture = formats.capture ?? leg.formats.capture
            formats.playback = formats.playback ?? leg.formats.playback
        }
    }

    /// Which way the sound takes.
    var route: AudioRoute {
        let speaker = end(.playback)
        return AudioRoute(
            capture: end(.capture), playback: speaker,
            likelyProfile: speaker.map { .guess($0.name, $0.description) } ?? .speaker)
    }

    private func end(_ direction: DeviceDirection) -> AudioRoute.End? {
        guard let leg = legs.first(where: { $0.plan.directions.contains(direction) }) else { return nil }
        return AudioRoute.End(
            name: leg.name, description: leg.description(direction),
            format: direction == .capture ? leg.formats.capture : leg.formats.playback)
    }

    private func pass(_ outcome: RouteLeg.Outcome, of leg: RouteLeg, _ report: (RouteEvent) -> Void) {
        switch outcome {
        case .lost(let loss): report(.lost(loss))
        case .opened(let change): report(.changed(route, change, leg.plan.directions))
        }
    }
}
