internal import VoiceDevices
internal import VoiceRealtime

/// One leg of a route while the engine runs: the device that has its ports, or the stand-in for a lost one.
///
/// One owner: whoever attends to the routes. The ports go from one device to the next only through their docks, so no
/// device's thread starts before the last one's has let go.
final class RouteLeg {
    /// What happened, for whoever attends.
    enum Outcome {
        /// Its device has gone.
        case lost(DeviceLoss)
        /// A device runs again.
        case opened(RouteChange)
    }

    let plan: RouteLegPlan
    /// What runs, or ran last.
    private(set) var name: String
    /// With what it runs; nil for a direction that the leg does not have, and while the device is lost.
    private(set) var formats = DeviceFormats(capture: nil, playback: nil)
    let number: Int
    private let ports: RoutePorts
    private let environment: RouteEnvironment
    private let inbox: RouteInbox
    private let events: @Sendable (DeviceEvent) -> Void
    private let accepts: (DeviceFormats) throws(DeviceError) -> Void
    private var machine: RouteMachine
    private var device: (any AudioDevice)?
    private var standIn: (any AudioDevice)?
    private var session = 0
    /// Frames of 48 kHz: the stand-in keeps the pace of the device that it stands in for.
    private var period = 480

    /// - Parameters:
    ///   - accepts: throws where the engine cannot serve a device with these formats.
    ///   - events: called on the device's threads, for all that it tells.
    init(
        _ plan: RouteLegPlan, number: Int, ports: RoutePorts, environment: RouteEnvironment, inbox: RouteInbox,
        events: @escaping @Sendable (DeviceEvent) -> Void,
        accepts: @escaping (DeviceFormats) throws(DeviceError) -> Void
    ) {
        self.plan = plan
        self.number = number
        self.ports = ports
        self.environment = environment
        self.inbox = inbox
        self.events = events
        self.accepts = accepts
        name = plan.name
        machine = RouteMachine(policy: plan.policy)
    }

    /// Opens the chosen device. Blocks.
    func start() throws(DeviceError) { try run(.chosen) }

    /// Opens again what was stopped, or waits for it as for a lost device. Blocks.
    func resume(now: Duration, report: (Outcome) -> Void) {
        machine.resume(now: now)
        guard let target = machine.poll(now: now) else { return }
        do throws(DeviceError) {
            try run(target)
            machine.open(target, now: now)
            report(.opened(.reopened))
        } catch {
            machine.fail(now: now)
            formats = DeviceFormats(capture: nil, playback: nil)
            report(.lost(loss(error)))
            standInForDevice()
        }
    }

    /// Whether it has a card open that `other` wants.
    func uses(_ other: RouteLegPlan) -> Bool {
        let names = [plan.card.captureName, plan.card.playbackName].compactMap(\.self)
        return device != nil
            && [other.card.captureName, other.card.playbackName].contains { $0.map(names.contains) ?? false }
    }

    /// Ends whatever runs. Blocks, as ``AudioDevice/stop()``.
    func stop() {
        session += 1
        device?.stop()
        device = nil
        standIn?.stop()
        standIn = nil
    }

    var deadline: Duration? { machine.deadline }

    /// The device of `session` has gone.
    func lose(session: Int, reason: DeviceError, now: Duration, report: (Outcome) -> Void) {
        guard session == self.session, device != nil, machine.isRunning else { return }
        machine.lose(now: now)
        guard plan.policy != .fixed else { return report(.lost(loss(reason))) }
        formats = DeviceFormats(capture: nil, playback: nil)
        // Before the device is stopped, which may take its time.
        report(.lost(loss(reason)))
        stop()
        if machine.poll(now: now) == nil { standInForDevice() }
    }

    func hurry(now: Duration) { machine.hurry(now: now) }

    func followDefault(now: Duration) { machine.followDefault(now: now) }

    /// Opens a device if one is due.
    func attend(now: Duration, report: (Outcome) -> Void) {
        guard let target = machine.poll(now: now) else { return }
        let before = (name: name, isRunning: device != nil)
        do throws(DeviceError) {
            if standIn != nil { try plan.probe(target, environment) }
            stop()
            try run(target)
            machine.open(target, now: now)
            report(.opened(name == before.name ? .reopened : .movedToDefault))
        } catch {
            machine.fail(now: now)
            formats = DeviceFormats(capture: nil, playback: nil)
            if before.isRunning { report(.lost(loss(error))) }
            if standIn == nil { standInForDevice() }
        }
    }

    /// What the device that runs, or ran last, calls itself.
    func description(_ direction: DeviceDirection) -> String {
        let isCustom = plan.custom != nil && name == plan.name
        return isCustom ? "" : environment.describe(name, direction)
    }

    private func loss(_ reason: DeviceError) -> DeviceLoss {
        DeviceLoss(name: name, directions: plan.directions, reason: reason, policy: plan.policy)
    }

    private func run(_ target: RouteMachine.Target) throws(DeviceError) {
        let next = plan.make(target, environment)
        let name = target == .chosen ? plan.name : RouteLegPlan.defaultName
        session += 1
        let formats = try start(next, telling: RouteWitness(leg: number, session: session, name: name, inbox: inbox))
        do throws(DeviceError) { try accepts(formats) } catch {
            next.stop()
            throw error
        }
        device = next
        self.name = name
        self.formats = formats
        // A client's own device has no period that it could tell.
        if let format = formats.playback ?? formats.capture, format.active.periodFrames > 0 {
            period = format.active.periodAt48Kilohertz
        }
    }

    private func start(_ next: any AudioDevice, telling witness: RouteWitness) throws(DeviceError) -> DeviceFormats {
        guard let capture = ports.capture.lend(), let playback = ports.playback.lend() else {
            throw .io(message: "the last device's thread still hangs in its driver")
        }
        let events = events
        return try next.start(capture: capture, playback: playback) { event in
            events(event)
            witness.note(event)
        }
    }

    /// Keeps the microphone's silence and the loudspeaker's pace. Where even that is not to be had the rings stand
    /// still.
    private func standInForDevice() {
        guard let capture = ports.capture.lend(), let playback = ports.playback.lend() else { return }
        do throws(DeviceError) {
            let silence = try environment.makeStandIn(period)
            _ = try silence.start(capture: capture, playback: playback) { _ in }
            standIn = silence
        } catch {
            standIn = nil
        }
    }
}

/// Tells the inbox when the device of one session has gone.
private struct RouteWitness: Sendable {
    let leg: Int
    let session: Int
    let name: String
    let inbox: RouteInbox

    func note(_ event: DeviceEvent) {
        switch event {
        case .disconnected: inbox.post(.lost(leg: leg, session: session, .disconnected(name: name)))
        case .failed(_, let error): inbox.post(.lost(leg: leg, session: session, error))
        default: break
        }
    }
}
