public import CDuplexVoice
internal import VoiceEngine

/// `dv_engine_get_snapshot`.
@c @implementation
public func dv_engine_get_snapshot(
    _ engine: dv_engine, _ snapshot: UnsafeMutablePointer<dv_engine_snapshot>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        let seen = try EngineObject.held(engine).perform { $0.snapshot }
        try unsafe dv_engine_snapshot(seen).write(to: unsafe snapshot)
    }
}

/// `dv_engine_get_participants`.
@c @implementation
public func dv_engine_get_participants(
    _ engine: dv_engine, _ participants: UnsafeMutablePointer<UInt32>?, _ capacity: Int,
    _ count: UnsafeMutablePointer<Int>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        guard let count = unsafe count, capacity >= 0 else { throw .argument("count is null") }
        let others = try EngineObject.held(engine).perform { $0.snapshot.others }
        if capacity > 0 {
            guard let participants = unsafe participants else { throw .argument("participants is null") }
            for (index, other) in others.prefix(capacity).enumerated() {
                unsafe participants[index] = other.participant.id.rawValue
            }
        }
        unsafe count.pointee = others.count
    }
}

/// `dv_engine_get_participant`.
@c @implementation
public func dv_engine_get_participant(
    _ engine: dv_engine, _ number: UInt32, _ participant: UnsafeMutablePointer<dv_participant>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let id = ParticipantID(rawValue: number)
        let member = try EngineObject.held(engine).perform { engine throws(EngineError) in
            let snapshot = engine.snapshot
            guard let own = snapshot.own else { throw .notJoined }
            guard let member = ([own] + snapshot.others).first(where: { $0.participant.id == id }) else {
                throw .unknownParticipant(id)
            }
            return member
        }
        try unsafe dv_participant(member).write(to: unsafe participant)
    }
}

extension dv_engine_snapshot {
    fileprivate init(_ snapshot: EngineSnapshot) {
        self.init()
        is_running = snapshot.isRunning ? 1 : 0
        is_muted = snapshot.isMuted ? 1 : 0
        is_speaking = snapshot.isSpeaking ? 1 : 0
        echo_readiness = UInt32(snapshot.echoReadiness?.state.rawValue ?? 0)
        own_participant = snapshot.own?.participant.id.rawValue ?? 0
        participants = UInt32(snapshot.others.count)
        far_ends = UInt32(snapshot.farEnds.count)
        fill(&room, with: snapshot.room ?? "")
        fill(&capture_device, with: snapshot.route?.capture?.name ?? "")
        fill(&playback_device, with: snapshot.route?.playback?.name ?? "")
        switch snapshot.connection {
        case .outside: connection = UInt32(DV_ROOM_OUTSIDE)
        case .connecting: connection = UInt32(DV_ROOM_CONNECTING)
        case .connected: connection = UInt32(DV_ROOM_CONNECTED)
        case .reconnecting: connection = UInt32(DV_ROOM_RECONNECTING)
        case .ended(let end):
            connection = UInt32(DV_ROOM_ENDED)
            fill(&end_code, with: end.code.rawValue)
        }
    }
}

extension dv_participant {
    fileprivate init(_ member: RoomMember) {
        self.init()
        number = member.participant.id.rawValue
        is_muted = !member.streams.isEmpty && member.streams.allSatisfy(\.isMuted) ? 1 : 0
        is_publishing = member.streams.isEmpty ? 0 : 1
        is_reachable = member.isReachable ? 1 : 0
        is_stalled = member.isStalled ? 1 : 0
        is_link_poor = member.linkQuality == .poor ? 1 : 0
        fill(&identity, with: member.participant.identity)
        fill(&name, with: member.participant.name)
    }
}
