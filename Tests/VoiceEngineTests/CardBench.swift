import SimulatedCalls
import Synchronization
import VoiceRealtime
import VoiceSimulation

@testable import VoiceEngine

/// Sound cards of a machine in virtual time, which can be pulled out and plugged in.
final class CardBench: Sendable {
    /// A card by its name.
    struct Card: Sendable {
        var isPlugged = true
        /// Whether it can be captured from.
        var hasMicrophone = true
        var periodFrames = 240
        /// What it calls itself.
        var description = ""
        /// Whether somebody talks before it.
        var hasTalker = true
        /// Whether it stands in a room with echo.
        var hasEcho = false
        /// Keeps the ports of its next session for good, as a thread does that hangs in a driver.
        var hangs = false
        /// How often it was opened, how often that was tried, and how often it was only looked at.
        var openings = 0
        var attempts = 0
        var probes = 0
    }

    private struct State: Sendable {
        var now: MonotonicTime
        var cards: [String: Card]
        var standard: String
        var isServed = false
        var devices: [any VirtualDevice] = []
        var hostages: [PortKeeper] = []
    }

    private let state: Mutex<State>
    private let standInCount = Mutex(0)

    /// How many stand-ins have been made.
    var standIns: Int { standInCount.withLock { $0 } }

    init(_ cards: [String: Card], default standard: String, start: MonotonicTime) {
        state = Mutex(State(now: start, cards: cards, standard: standard))
    }

    var now: MonotonicTime { state.withLock { $0.now } }

    subscript(name: String) -> Card {
        get { state.withLock { $0.cards[name] ?? Card(isPlugged: false) } }
        set { state.withLock { $0.cards[name] = newValue } }
    }

    /// What `default` means.
    var standard: String {
        get { state.withLock { $0.standard } }
        set { state.withLock { $0.standard = newValue } }
    }

    /// Whether a sound server stands behind `default`. To be set before the routes are made.
    var isServed: Bool {
        get { state.withLock { $0.isServed } }
        set { state.withLock { $0.isServed = newValue } }
    }

    /// The name of the card that a PCM's name means.
    func card(_ name: String) -> String { name == "default" ? standard : name }

    /// Lets virtual time pass, and with it whatever runs.
    func advance(to time: MonotonicTime) {
        let devices = state.withLock { state in
            state.now = time
            return state.devices
        }
        for device in devices { device.step(to: time) }
    }

    /// Pulls a card out.
    func unplug(_ name: String) {
        self[name].isPlugged = false
        for case let device as BenchDevice in state.withLock({ $0.devices }) where device.uses(name) {
            device.disconnect()
        }
    }

    /// Takes a card's microphone away.
    func unplugMicrophone(of name: String) {
        self[name].hasMicrophone = false
        for case let device as BenchDevice in state.withLock({ $0.devices }) where device.captures(from: name) {
            device.loseMicrophone()
        }
    }

    /// Plugs it in again.
    func plug(_ name: String) { self[name].isPlugged = true }

    /// Ends the threads that hang, which lets their ports go.
    func releaseHostages() {
        let hostages = state.withLock { state in
            defer { state.hostages = [] }
            return state.hostages
        }
        for hostage in hostages { hostage.release() }
    }

    fileprivate func keep(_ hostage: PortKeeper) { state.withLock { $0.hostages.append(hostage) } }

    fileprivate func add(_ device: any VirtualDevice) { state.withLock { $0.devices.append(device) } }

    /// The machine around the routes.
    var environment: RouteEnvironment {
        RouteEnvironment(
            makeCard: { [self] configuration in
                let device = BenchDevice(configuration, bench: self)
                add(device)
                return device
            },
            probe: { [self] configuration throws(DeviceError) in
                for name in [configuration.captureName, configuration.playbackName].compactMap({ $0 }) {
                    self[card(name)].probes += 1
                    guard self[card(name)].isPlugged else { throw .disconnected(name: name) }
                }
            },
            makeStandIn: { [self] periodFrames throws(DeviceError) in
                standInCount.withLock { $0 += 1 }
                var shape = SimulatedDeviceConfiguration(pacing: .virtual(start: now))
                shape.periodFrames = periodFrames
                let device = try NullDevice(air: SilentAir(), configuration: shape)
                add(device)
                return device
            },
            // Of a card that was pulled out there is nothing to be read.
            describe: { [self] name, _ in self[card(name)].isPlugged ? self[card(name)].description : "" },
            isServed: { [self] name in isServed && name == "default" })
    }
}

/// A device that is stepped by hand.
protocol VirtualDevice: AudioDevice {
    func step(to time: MonotonicTime)
}

extension SimulatedDevice: VirtualDevice where Air: ~Copyable {
    func step(to time: MonotonicTime) { advance(to: time) }
}

/// One opening of the cards of a ``CardBench``: at most one for each direction.
final class BenchDevice: VirtualDevice {
    private struct Session {
        var card: any VirtualDevice
        var events: @Sendable (DeviceEvent) -> Void
    }

    private let configuration: ALSADeviceConfiguration
    private let bench: CardBench
    private let session = Mutex<Session?>(nil)

    init(_ configuration: ALSADeviceConfiguration, bench: CardBench) {
        self.configuration = configuration
        self.bench = bench
    }

    func uses(_ name: String) -> Bool {
        names.contains(name) && session.withLock { $0 != nil }
    }

    func captures(from name: String) -> Bool {
        configuration.captureName.map(bench.card) == name && session.withLock { $0 != nil }
    }

    /// Whether what it captures from is there.
    private var hears: Bool { configuration.captureName.map { bench[bench.card($0)].hasMicrophone } ?? true }

    private var names: [String] {
        let names = [configuration.playbackName, configuration.captureName].compactMap { $0 }.map(bench.card)
        return names.count == 2 && names[0] == names[1] ? [names[0]] : names
    }

    func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        for name in names {
            bench[name].attempts += 1
            guard bench[name].isPlugged else { throw .notFound(name: name, available: []) }
            guard hears else { throw .io(message: "opening hangs") }
            bench[name].openings += 1
        }
        let card = bench[names.first ?? ""]
        let device: any VirtualDevice
        do { device = try makeDevice(card) } catch { throw .io(message: "\(error)") }
        if card.hangs {
            bench.keep(PortKeeper(capture: capture, playback: playback))
            throw .io(message: "the driver hangs")
        }
        var formats = try device.start(capture: capture, playback: playback) { _ in }
        if configuration.captureName == nil { formats.capture = nil }
        if configuration.playbackName == nil { formats.playback = nil }
        session.withLock { $0 = Session(card: device, events: events) }
        return formats
    }

    private func makeDevice(_ card: CardBench.Card) throws -> any VirtualDevice {
        var shape = SimulatedDeviceConfiguration(pacing: .virtual(start: bench.now))
        shape.periodFrames = card.periodFrames
        let talker = card.hasTalker ? SpeechSource(SyntheticSpeech(seed: 1)) : SpeechSource([], repetition: .once)
        guard card.hasEcho else { return try SimulatedDevice(air: TalkerAir(talker: talker), configuration: shape) }
        var room = RoomConditions.office
        room.bulkDelayFrames = 240
        let acoustics = try RoomAcoustics(room, seed: 1)
        let air = ConversationAir(acoustics: acoustics, talker: talker, longestRecording: 0)
        return try SimulatedDevice(air: air, configuration: shape)
    }

    func stop() {
        session.withLock { session in
            session?.card.stop()
            session = nil
        }
    }

    func step(to time: MonotonicTime) {
        // Behind a card that was pulled out nothing moves, but its ports are not let go before the stop.
        guard hears, names.allSatisfy({ bench[$0].isPlugged }) else { return }
        session.withLock { $0?.card.step(to: time) }
    }

    func loseMicrophone() {
        let events = session.withLock { $0?.events }
        events?(.failed(.capture, .io(message: "capture stands still")))
    }

    func disconnect() {
        let events = session.withLock { $0?.events }
        if configuration.captureName != nil { events?(.disconnected(.capture)) }
        if configuration.playbackName != nil { events?(.disconnected(.playback)) }
    }
}

/// Air in which somebody talks, and the loudspeaker is not heard.
private struct TalkerAir: AcousticAir {
    var talker: SpeechSource

    mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) {
        talker.read(into: &microphone)
    }
}

/// Ports that somebody does not give back.
private final class PortKeeper: Sendable {
    private let capture: Mutex<CapturePort?>
    private let playback: Mutex<PlaybackPort?>

    init(capture: consuming sending CapturePort, playback: consuming sending PlaybackPort) {
        self.capture = Mutex(capture)
        self.playback = Mutex(playback)
    }

    func release() {
        capture.withLock { $0 = nil }
        playback.withLock { $0 = nil }
    }
}
