import VoiceEngine

/// One device.
struct DeviceLine: JSONLine {
    /// One direction of a device: whether it can be used now, and with what.
    struct Direction: Encodable {
        /// A process that has it open.
        struct Holder: Encodable {
            var processID: Int
            var command: String

            enum CodingKeys: String, CodingKey {
                case processID = "pid"
                case command
            }
        }

        /// `available`, `busy`, `permission_denied` or `unusable`.
        var state: String
        var reason: String?
        /// Lowest and highest.
        var sampleRates: [Int]?
        var channels: [Int]?
        var periodFrames: [Int]?
        /// Left out where nobody is known to hold it.
        var holders: [Holder]?

        init(_ state: ALSADeviceDescription.State, holders: [ALSADeviceHolder]) {
            switch state {
            case .available(let rates, let channels, let periods):
                self.state = "available"
                sampleRates = [rates.lowerBound, rates.upperBound]
                self.channels = [channels.lowerBound, channels.upperBound]
                periodFrames = [periods.lowerBound, periods.upperBound]
            case .busy: self.state = "busy"
            case .permissionDenied: self.state = "permission_denied"
            case .unusable(let reason):
                self.state = "unusable"
                self.reason = reason
            }
            if !holders.isEmpty {
                self.holders = holders.map { Holder(processID: $0.processID, command: $0.command) }
            }
        }
    }

    let schema = "duplexvoice.devices/1"
    let type: String
    /// Seconds since the command began, for an arrival.
    var timeS: Double?
    var name: String
    var description: String
    var capture: Direction?
    var playback: Direction?

    init(_ device: ALSADeviceDescription, type: String = "device", timeS: Double? = nil) {
        self.type = type
        self.timeS = timeS
        name = device.name
        description = device.description
        capture = device.capture.map { Direction($0, holders: device.captureHolders) }
        playback = device.playback.map { Direction($0, holders: device.playbackHolders) }
    }
}

/// A device that is gone.
struct DepartureLine: JSONLine {
    let schema = "duplexvoice.devices/1"
    let type = "departed"
    var name: String
    /// Seconds since the command began.
    var timeS: Double
}

/// The last line.
struct DevicesSummary: JSONLine {
    let schema = "duplexvoice.devices/1"
    let type = "summary"
    /// How many there are at the end.
    var devices: Int
    /// While they were watched.
    var arrivals: Int?
    var departures: Int?
}
