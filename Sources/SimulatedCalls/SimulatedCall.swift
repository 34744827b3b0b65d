internal import VoiceDevices
package import VoiceEngine
package import VoicePeers
internal import VoiceRealtime
package import VoiceRooms
package import VoiceSimulation
internal import VoiceWire

/// Two engines, a room server and the network between them, in simulated time: the same bits for the same seed on every
/// run.
///
///     engine A ─► uplink A ─►┐            ┌─► downlink B ─► engine B
///        ▲                   │ directory │                    │
///        └── downlink A ◄────┘            └◄── uplink B ◄──────┘
///
/// Everything is the code of a real call but the devices, the sockets, the signatures of tokens and, as
/// `SimulatedCall`, the protection of the paths. One thread, which is the caller's.
package final class SimulatedCallOver<Security: PeerSecurity> {
    /// The two sides.
    package typealias Side = SimulatedCallSide
    /// What a call is made of.
    package typealias Configuration = SimulatedCallConfiguration

    private typealias Participant = SimulatedParticipant<Security>

    private let participants: [Participant]
    private var generator: SeededGenerator
    private let security: (CookieKey) -> Security
    private var host: RoomHost<Security>
    /// Where datagrams are written before they are sent.
    private var outgoing = [UInt8](repeating: 0, count: 1_500)
    private var now = simulatedStart
    private let end: MonotonicTime
    private let writesRecordings: Bool

    /// Sets the call up; both sides begin to join at once.
    ///
    /// - Parameter security: what protects the paths of an end whose random numbers come of this key.
    package init(_ configuration: Configuration, security: @escaping (CookieKey) -> Security) throws {
        var generator = SeededGenerator(seed: configuration.seed)
        participants = try Side.allCases.map {
            try Participant(configuration, side: $0, generator: &generator, security: security)
        }
        self.security = security
        writesRecordings = configuration.writesRecordings
        host = Self.makeHost(&generator, security)
        self.generator = generator
        end = MonotonicTime(atOrAfter: now.sinceEpoch + configuration.longest)
        for participant in participants {
            try participant.guest.session.join(now: now.sinceEpoch)
            try participant.core.send(.keepForRoom)
        }
    }

    private static func makeHost(
        _ generator: inout SeededGenerator, _ security: (CookieKey) -> Security
    ) -> RoomHost<Security> {
        let key = CookieKey(high: generator.next(), low: generator.next())
        return RoomHost(security: security(key), cookieKey: key)
    }

    /// Time passed since the beginning.
    package var elapsed: Duration { now.sinceEpoch - simulatedStart.sinceEpoch }

    /// Lets `duration` pass, at most to the configured end.
    package func run(for duration: Duration) {
        let target = min(MonotonicTime(atOrAfter: now.sinceEpoch + duration), end)
        step()
        var standing = 0
        while let next = nextInstant, next <= target {
            standing = next > now ? 0 : standing + 1
            precondition(standing < 10_000, "something is due at \(next) again and again")
            now = max(now, next)
            step()
        }
        now = target
    }

    /// Where a side's socket is bound: elsewhere after each that was taken for dead.
    package func address(_ side: Side) -> EndpointAddress { participants[side.rawValue].address }

    /// What happened in a side's room so far.
    package func recording(_ side: Side) -> AirRecording { participants[side.rawValue].device.withAir { $0.recording } }

    /// What happened in a side's room since the beginning or the last time that this was called.
    package func takeRecording(_ side: Side) -> AirRecording {
        participants[side.rawValue].device.withAir { $0.takeRecording() }
    }

    /// A side's statistics.
    package func statistics(_ side: Side) -> EngineStatistics {
        let participant = participants[side.rawValue]
        return EngineStatistics(
            participant.core.statistics(), device: participant.core.counters.counts,
            roundTrip: participant.guest.session.statistics.usualRoundTripTime, room: nil)
    }

    /// A side's events so far.
    package func events(_ side: Side) -> [EngineEvent] { participants[side.rawValue].events }

    /// What a side's links did.
    package func network(_ side: Side) -> (up: LinkStatistics, down: LinkStatistics) {
        (participants[side.rawValue].uplink.statistics, participants[side.rawValue].downlink.statistics)
    }

    /// Mutes or unmutes a side; the room is told.
    package func setMuted(_ muted: Bool, as kind: MuteKind = .stop, _ side: Side) throws {
        let participant = participants[side.rawValue]
        try participant.core.send(.setMuteKind(kind))
        try participant.core.send(.setMuted(muted))
        for action in participant.media.setMuted(muted) { carryOut(action, of: participant) }
        step()
    }

    /// The stream that a side publishes.
    package func ownStream(_ side: Side) -> StreamID? { participants[side.rawValue].media.ownStream?.stream }

    /// Interrupts a stream on a side's behalf: what waits of it there is dropped, and the room tells everybody.
    package func interrupt(_ stream: StreamID, by side: Side) throws {
        let participant = participants[side.rawValue]
        let talker = participant.media.participants.keys.first { id in
            participant.media.streams(of: id).contains { $0.id == stream }
        }
        for action in participant.media.interrupt(talker) { carryOut(action, of: participant) }
        step()
    }

    /// Has what the other side says give way to whoever speaks on this one.
    package func setBargeIn(_ policy: BargeInPolicy, _ side: Side) {
        let participant = participants[side.rawValue]
        guard let other = participant.media.participants.keys.first else { return }
        for action in participant.media.watch(other, policy) { carryOut(action, of: participant) }
        step()
    }

    /// Says that what a side's microphone delivers from now on is this utterance.
    package func beginUtterance(_ utterance: UInt32?, _ side: Side) throws {
        try participants[side.rawValue].core.send(.beginUtterance(utterance))
        step()
    }

    /// Opens a far end in a side's own process.
    package func openFarEnd(
        _ configuration: FarEndConfiguration = FarEndConfiguration(), _ side: Side
    ) throws -> LocalFarEnd {
        try participants[side.rawValue].core.openFarEnd(configuration)
    }

    /// Publishes a stream that the caller feeds, beside a side's microphone.
    package func publish(
        stream name: String, _ side: Side, _ configuration: OutgoingStreamConfiguration = .music
    ) throws -> OutgoingStream {
        let participant = participants[side.rawValue]
        let stream = try participant.core.openStream(name, configuration) { _ in }
        for action in participant.media.publish(line: stream.id.rawValue, as: name) {
            carryOut(action, of: participant)
        }
        step()
        return stream
    }

    /// Withdraws it.
    package func withdraw(_ stream: OutgoingStream, _ side: Side) {
        let participant = participants[side.rawValue]
        stream.close()
        for action in participant.media.unpublish(line: stream.id.rawValue) { carryOut(action, of: participant) }
        step()
    }

    /// Has a side go over to another preset.
    package func apply(_ preset: EngineConfiguration.Preset, _ side: Side) throws {
        let core = participants[side.rawValue].core
        try core.setProcessing(preset.configuration.processing)
        try core.setProfile(preset.configuration.routeProfile)
        try core.send(.setSending(preset.configuration.sending))
        step()
    }

    /// Has a side play talkers at like loudness.
    package func setTalkerLevelling(_ levelling: TalkerLevelling?, _ side: Side) throws {
        try participants[side.rawValue].core.send(.levelTalkers(levelling))
        step()
    }

    /// Opens a sink on one side for what is heard of the other; nil where that is not in the room.
    package func openSink(rate: SoundRate = .hertz48000, _ side: Side) throws -> ParticipantSink? {
        guard let other = participants[side.rawValue].media.participants.keys.first else { return nil }
        return try participants[side.rawValue].core.openSink(of: other, rate: rate)
    }

    /// Changes what a side's links do to the datagrams sent from now on.
    package func setNetwork(_ conditions: NetworkConditions, _ side: Side) throws {
        try participants[side.rawValue].uplink.change(to: conditions)
        try participants[side.rawValue].downlink.change(to: conditions)
    }

    /// Changes the air of a side's room: its loudspeaker's volume, say.
    package func withAir<Result>(_ side: Side, _ body: (inout ConversationAir) -> Result) -> Result {
        participants[side.rawValue].device.withAir(body)
    }

    /// Lets a side's loudspeaker stand still for `periods` periods, as one does that ran dry and is started anew. Only
    /// where it has a clock of its own: ``Configuration/playbackDriftPPM``.
    package func interruptPlayback(periods: Int, _ side: Side) {
        let device = participants[side.rawValue].device as? TwoClockDevice<ConversationAir>
        precondition(device != nil, "the loudspeaker has no clock of its own")
        device?.interruptPlayback(periods: periods)
    }

    /// Has a side go over to another sound card, as its media thread is told of one: of this period, with what goes
    /// with a headset.
    package func changeDevice(periodFrames: Int, _ side: Side) throws {
        let core = participants[side.rawValue].core
        try core.send(.changeCapture)
        try core.send(.changePlayback(periodFrames: periodFrames))
        try core.send(.setProcessing(.headset))
        step()
    }

    /// Ends a side's recording, and says what has become of it.
    @discardableResult
    package func closeRecording(_ side: Side) -> RecordingStatus? {
        let recorder = participants[side.rawValue].core.recorder
        recorder?.close()
        return recorder?.status
    }

    /// Plugs a side's network cable out or in: while it is out, nothing goes either way.
    package func setConnected(_ connected: Bool, _ side: Side) { participants[side.rawValue].isConnected = connected }

    /// Leaves the room on one side.
    package func leave(_ side: Side) {
        participants[side.rawValue].guest.session.leave(now: now.sinceEpoch)
        step()
    }

    /// Ends the room server without a word and starts another in its place, which knows nobody.
    package func restartServer() { host = Self.makeHost(&generator, security) }

    // MARK: One instant

    private var nextInstant: MonotonicTime? {
        var instants: [Duration] = []
        for participant in participants {
            if let wake = participant.device.nextWake { instants.append(wake.sinceEpoch) }
            if let due = participant.nextRun { instants.append(due.sinceEpoch) }
            if let arrival = participant.uplink.nextArrival { instants.append(arrival) }
            if let arrival = participant.downlink.nextArrival { instants.append(arrival) }
            if let timeout = participant.guest.nextTimeout { instants.append(timeout) }
        }
        if let timeout = host.nextTimeout { instants.append(timeout) }
        return instants.min().map { MonotonicTime(atOrAfter: $0) }
    }

    /// Does all that is due now, in the order of the signal, until nothing moves any more.
    private func step() {
        for participant in participants {
            let hasMoved = participant.device.advance(to: now) > 0
            if hasMoved || participant.nextRun.map({ $0 <= now }) ?? false {
                participant.nextRun = participant.core.run(now: now)
                if writesRecordings { participant.core.recorder?.drain() }
            }
            sendMedia(of: participant)
        }
        deliverToServer()
        serve()
        deliverToClients()
        for participant in participants { attend(to: participant) }
    }

    private func sendMedia(of participant: Participant) {
        let link = participant.core.link
        while link.sending.available > 0 {
            var packet = unsafe Array(link.sending.buffer())
            let length = packet.count
            link.sending.release()
            packet += [UInt8](repeating: 0, count: Security.mediaOverhead)
            var span = packet.mutableSpan
            // As the network thread has it: what is made during a break is discarded.
            guard let kind = MediaKind(of: span.span),
                let count = participant.guest.protect(&span, count: length, kind), participant.isConnected
            else { continue }
            participant.uplink.send(Array(packet[..<count]), now: now.sinceEpoch)
        }
    }

    private func deliverToServer() {
        for participant in participants {
            while let delivery = participant.uplink.receive(now: now.sinceEpoch) {
                var bytes = delivery.datagram
                var datagram = bytes.mutableSpan
                switch host.receive(&datagram, from: participant.address, now: now.sinceEpoch) {
                case .forward(let count, let kind, let decision): forward(Array(bytes[..<count]), kind, decision)
                case .answer(let count): send(Array(bytes[..<count]), to: participant.address)
                case .control, .dropped: break
                }
            }
        }
    }

    private func forward(_ packet: [UInt8], _ kind: MediaKind, _ decision: ForwardingDecision) {
        switch decision {
        case .drop: break
        case .forward(let receivers): send(packet, kind, to: receivers)
        case .split(let whole, let withoutCopies):
            send(packet, kind, to: whole)
            var shorter = packet
            var span = shorter.mutableSpan
            let opus = RoomProtocol.payloadType
            guard let length = try? RedundantAudioWriter.removeCopies(from: &span, payloadType: opus) else { return }
            send(Array(shorter[..<length]), kind, to: withoutCopies)
        }
    }

    private func send(_ packet: [UInt8], _ kind: MediaKind, to receivers: [PeerID]) {
        for receiver in receivers {
            for index in packet.indices { outgoing[index] = packet[index] }
            var buffer = outgoing.mutableSpan
            guard host.mayReceive(receiver),
                let (count, address) = host.protect(&buffer, count: packet.count, kind, for: receiver)
            else { continue }
            send(Array(outgoing[..<count]), to: address)
        }
    }

    private func send(_ datagram: [UInt8], to address: EndpointAddress) {
        for participant in participants where participant.address == address && participant.isConnected {
            participant.downlink.send(datagram, now: now.sinceEpoch)
        }
    }

    private func serve() {
        host.handleTimeout(now: now.sinceEpoch)
        while let request = host.directory.pollVerification() {
            // The token is the side's number: who signs tokens is not what is simulated here.
            let grants = TokenGrants(identity: "side \(request.token)", room: "simulation")
            let entropy = JoinEntropy(
                secret: RejoinSecret(high: generator.next(), low: generator.next()),
                synchronizationSource: UInt32(truncatingIfNeeded: generator.next() as UInt64))
            host.directory.answer(request.id, .granted(grants), entropy: entropy, unixTime: 0, now: now.sinceEpoch)
        }
        while true {
            var buffer = outgoing.mutableSpan
            guard let (count, address) = host.pollTransmit(into: &buffer, now: now.sinceEpoch) else { break }
            send(Array(outgoing[..<count]), to: address)
        }
        while host.directory.pollEvent() != nil {}
    }

    private func deliverToClients() {
        for participant in participants {
            while let delivery = participant.downlink.receive(now: now.sinceEpoch) {
                var bytes = delivery.datagram
                var datagram = bytes.mutableSpan
                guard case .media(let count) = participant.guest.receive(&datagram, now: now.sinceEpoch) else {
                    continue
                }
                _ = participant.core.link.received.push(
                    bytes.span.extracting(..<count), tag: PacketTag(time: MonotonicTime(atOrAfter: delivery.arrivedAt)))
            }
        }
    }

    private func attend(to participant: Participant) {
        participant.guest.session.rejoin(as: participant.media.entrance)
        participant.guest.handleTimeout(now: now.sinceEpoch)
        while let event = participant.core.nextEvent() {
            for action in participant.media.take(event) { carryOut(action, of: participant) }
            if let event = EngineEvent(event) { participant.events.append(event) }
        }
        while let event = participant.guest.session.pollEvent() {
            for action in participant.media.handle(event) { carryOut(action, of: participant) }
            if case .ended(let reason) = event { participant.events.append(.left(.session(reason))) }
        }
        transmit(from: participant)
        if participant.guest.wantsSocket {
            participant.openSocket()
            participant.guest.connect(now: now.sinceEpoch)
            transmit(from: participant)
        } else if participant.guest.suspectsSocket(now: now.sinceEpoch) {
            participant.openSocket()
            participant.guest.socketReplaced(now: now.sinceEpoch)
            transmit(from: participant)
        }
    }

    private func transmit(from participant: Participant) {
        while true {
            var buffer = outgoing.mutableSpan
            guard let count = participant.guest.pollTransmit(into: &buffer, now: now.sinceEpoch) else { return }
            if participant.isConnected {
                participant.uplink.send(Array(outgoing[..<count]), now: now.sinceEpoch)
            }
        }
    }

    private func carryOut(_ action: RoomMedia.Action, of participant: Participant) {
        switch action {
        case .ask(let request): try? participant.guest.session.ask(request)
        case .command(let command): try? participant.core.send(command)
        case .post(let event): participant.events.append(event)
        }
    }
}

extension SimulatedCallOver where Security == Plaintext {
    /// A call whose paths nothing protects.
    package convenience init(_ configuration: Configuration) throws {
        try self.init(configuration) { Plaintext(key: $0) }
    }
}
