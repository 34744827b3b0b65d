import VoiceEngine

/// What can be done by a key in a call.
enum CallKey: UInt8, CaseIterable {
    case mute = 0x6D
    case microphone = 0x69
    case loudspeaker = 0x6F
    case louder = 0x2B
    case quieter = 0x2D
    case participant = 0x70
    case participantLouder = 0x5D
    case participantQuieter = 0x5B
    case participantMute = 0x78
    case leave = 0x71
    case help = 0x3F

    /// What the key does, for people.
    var text: String {
        switch self {
        case .mute: "mute or unmute"
        case .microphone: "next microphone"
        case .loudspeaker: "next loudspeaker"
        case .louder: "louder"
        case .quieter: "quieter"
        case .participant: "next participant"
        case .participantLouder: "that one louder"
        case .participantQuieter: "that one quieter"
        case .participantMute: "mute or unmute that one here"
        case .leave: "leave"
        case .help: "these keys"
        }
    }

    /// All of them in one line.
    static var legend: String {
        allCases.map { "\(Character(Unicode.Scalar($0.rawValue))) \($0.text)" }.joined(separator: ", ")
    }
}

/// Does what the keys say, until one of them ends the call.
struct CallKeys {
    let engine: VoiceEngine
    let log: CallLog
    /// Whether sound cards are in use, and not files.
    let hasCards: Bool
    private var isMuted = false
    /// Of the loudspeaker, 0 to 10.
    private var volume = 10
    /// Of whom the next keys speak, and how each participant is heard.
    private var chosen: ParticipantID?
    private var heard: [ParticipantID: Heard] = [:]

    /// How a participant is heard here: its volume, 0 to 20 with 10 as it comes, and whether it is muted.
    private struct Heard {
        var volume = 10
        var isMuted = false

        var text: String { isMuted ? "muted here" : "volume \(volume) of 20" }
    }

    init(_ engine: VoiceEngine, _ log: CallLog, hasCards: Bool) {
        self.engine = engine
        self.log = log
        self.hasCards = hasCards
    }

    /// Returns when the call is to be left; or when nothing more is pressed, with nil.
    mutating func obey(_ keys: some AsyncSequence<UInt8, Never>) async -> RunEnding? {
        for await key in keys {
            guard let key = CallKey(rawValue: key) else { continue }
            if key == .leave { return .interrupted }
            do throws(EngineError) { try await obey(key) } catch { log.warn(Failure(error).message) }
        }
        return nil
    }

    private mutating func obey(_ key: CallKey) async throws(EngineError) {
        switch key {
        case .mute:
            try await engine.setMuted(!isMuted)
            isMuted.toggle()
            log.note(isMuted ? "you are muted" : "you are heard again")
        case .louder, .quieter:
            volume = min(max(volume + (key == .louder ? 1 : -1), 0), 10)
            try await engine.setOutputVolume(Float(volume) / 10)
            log.note("volume \(volume) of 10")
        case .participant: await chooseNext()
        case .participantLouder: try await change { $0.volume = min($0.volume + 1, 20) }
        case .participantQuieter: try await change { $0.volume = max($0.volume - 1, 0) }
        case .participantMute: try await change { $0.isMuted.toggle() }
        case .microphone: try await selectNext(.capture)
        case .loudspeaker: try await selectNext(.playback)
        case .help: log.note(CallKey.legend)
        case .leave: break
        }
    }

    /// Has the next keys speak of the next participant.
    private mutating func chooseNext() async {
        let others = await engine.snapshot.others.map(\.participant)
        guard let next = others.first(where: { $0.id > chosen ?? ParticipantID(rawValue: 0) }) ?? others.first else {
            return log.warn("nobody else is here")
        }
        chosen = next.id
        tell(next)
    }

    /// Changes how the chosen participant is heard.
    private mutating func change(_ body: (inout Heard) -> Void) async throws(EngineError) {
        let others = await engine.snapshot.others.map(\.participant)
        guard let participant = others.first(where: { $0.id == chosen }) else {
            chosen = nil
            return log.warn("choose somebody first, with \(Character(Unicode.Scalar(CallKey.participant.rawValue)))")
        }
        var changed = heard[participant.id] ?? Heard()
        body(&changed)
        try await engine.setVolume(Float(changed.volume) / 10, for: participant.id)
        try await engine.setMuted(changed.isMuted, for: participant.id)
        heard[participant.id] = changed
        tell(participant)
    }

    private func tell(_ participant: Participant) {
        let name = participant.name.isEmpty ? participant.identity : participant.name
        log.note("\(name): \((heard[participant.id] ?? Heard()).text)")
    }

    /// Goes over to the next card of the list that can be opened; the engine tells which.
    private func selectNext(_ direction: DeviceDirection) async throws(EngineError) {
        guard hasCards, let route = await engine.route else { return log.warn("files take the sound card's place") }
        let end = direction == .capture ? route.capture : route.playback
        guard let end else { return log.warn("the call has none; start it anew with one") }
        let names = ALSADevice.list().filter { $0[direction] != nil }.map(\.name)
        for name in Self.others(than: end.name, in: names) {
            do throws(EngineError) {
                if direction == .capture {
                    try await engine.selectDevices(capture: name)
                } else {
                    try await engine.selectDevices(playback: name)
                }
                return
            } catch {
                guard case .device = error else { throw error }
                log.warn(Failure(error).message)
            }
        }
        log.warn("there is no other \(direction == .capture ? "microphone" : "loudspeaker") that works")
    }

    /// All other names, beginning with the one behind `present`, round to the one before it.
    static func others(than present: String, in names: [String]) -> [String] {
        guard let place = names.firstIndex(of: present) else { return names }
        return Array(names[(place + 1)...] + names[..<place])
    }
}

extension ALSADeviceDescription {
    fileprivate subscript(direction: DeviceDirection) -> State? { direction == .capture ? capture : playback }
}
