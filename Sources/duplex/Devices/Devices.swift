import ArgumentParser
import VoiceEngine

/// Lists the sound devices.
struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the sound devices that can be opened.",
        discussion: "Opens each for a moment to see what it offers; nothing is played or recorded.")

    @Flag(help: "Print NDJSON.")
    var json = false

    func run() async throws {
        try await reportingFailure {
            let devices = ALSADevice.list()
            if json {
                devices.forEach { Console.emit(DeviceLine($0)) }
                Console.emit(DevicesSummary(devices: devices.count))
            } else if devices.isEmpty {
                Console.say("no sound devices; is a sound card present, and does your user belong to the group audio?")
            } else {
                var table = Table()
                table.add("name", "capture", "playback", "what it is")
                for device in devices {
                    table.add(
                        device.name, device.capture?.text ?? "-", device.playback?.text ?? "-",
                        device.description.split(separator: "\n").joined(separator: ", "))
                }
                table.lines.forEach { Console.say($0) }
            }
        }
    }
}

/// One device.
struct DeviceLine: JSONLine {
    /// One direction of a device: whether it can be used now, and with what.
    struct Direction: Encodable {
        /// `available`, `busy`, `permission_denied` or `unusable`.
        var state: String
        var reason: String?
        /// Lowest and highest.
        var sampleRates: [Int]?
        var channels: [Int]?
        var periodFrames: [Int]?

        init(_ state: ALSADeviceDescription.State) {
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
        }
    }

    let schema = "duplexvoice.devices/1"
    let type = "device"
    var name: String
    var description: String
    var capture: Direction?
    var playback: Direction?

    init(_ device: ALSADeviceDescription) {
        name = device.name
        description = device.description
        capture = device.capture.map(Direction.init)
        playback = device.playback.map(Direction.init)
    }
}

/// The last line.
struct DevicesSummary: JSONLine {
    let schema = "duplexvoice.devices/1"
    let type = "summary"
    var devices: Int
}

extension ALSADeviceDescription.State {
    /// The state for people.
    var text: String {
        switch self {
        case .available(let rates, let channels, let periods):
            "\(rates.text) Hz, \(channels.text) ch, period \(periods.text)"
        case .busy: "busy"
        case .permissionDenied: "no permission"
        case .unusable(let reason): "unusable: \(reason)"
        }
    }
}

extension ClosedRange<Int> {
    /// What a plugin answers that converts anything; no device's own limit lies above.
    private static var unlimited: Int { 1_000_000 }

    fileprivate var text: String {
        if lowerBound == upperBound { return "\(lowerBound)" }
        return upperBound > Self.unlimited ? "\(lowerBound) and more" : "\(lowerBound)-\(upperBound)"
    }
}
