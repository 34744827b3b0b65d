internal import CDuplexVoice
internal import VoicePlayout

/// A `dv_playout_config` whose every number is in its range.
struct PlayoutChoice {
    var playout: PlayoutConfiguration
    /// Nil: any is Opus.
    var payloadType: UInt8?
    /// Nil: no packet repeats others.
    var redundantPayloadType: UInt8?

    private static let capacities = 16...4096
    private static let longestDelay: UInt32 = 500
    private static let lastPayloadType: UInt32 = 127

    init() { playout = .conversation }

    init(_ given: dv_playout_config) throws(Failure) {
        switch Int(given.profile) {
        case DV_PLAYOUT_CONVERSATION: playout = .conversation
        case DV_PLAYOUT_LOW_DELAY: playout = .lowDelay
        case DV_PLAYOUT_ROBUST: playout = .robust
        default: throw .argument("config.profile is \(given.profile); take one of DV_PLAYOUT_CONVERSATION and its like")
        }
        if given.maximum_delay_ms != 0 { playout.maximumDelay = .milliseconds(Int(given.maximum_delay_ms)) }
        playout.minimumDelay = .milliseconds(Int(given.minimum_delay_ms))
        guard given.maximum_delay_ms <= Self.longestDelay, playout.minimumDelay <= playout.maximumDelay else {
            throw .argument(
                "config delays from \(given.minimum_delay_ms) to \(playout.maximumDelay); take 0 to 500 ms, the first the shorter"
            )
        }
        if given.packets != 0 { playout.packetCapacity = Int(given.packets) }
        guard Self.capacities.contains(playout.packetCapacity) else {
            throw .argument("config.packets is \(given.packets); take 16 to 4096")
        }
        payloadType = try Self.payloadType(given.payload_type, "payload_type")
        redundantPayloadType = try Self.payloadType(given.redundant_payload_type, "redundant_payload_type")
        guard payloadType == nil || payloadType != redundantPayloadType else {
            throw .argument("config.payload_type and config.redundant_payload_type are \(given.payload_type); take two")
        }
    }

    private static func payloadType(_ given: UInt32, _ field: String) throws(Failure) -> UInt8? {
        guard given <= lastPayloadType else { throw .argument("config.\(field) is \(given); take 0 to 127") }
        return given == 0 ? nil : UInt8(given)
    }
}
