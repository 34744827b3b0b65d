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

/// One device.
struct DeviceLine: JSONLine {
    let schema = "duplexvoice.devices/1"
    let type = "device"
    var name: String
    var description: String
    var capture: String?
    var playback: String?

    init(_ device: ALSADeviceDescription) {
        name = device.name
        description = device.description
        capture = device.capture?.text
        playback = device.playback?.text
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
    fileprivate var text: String { lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound)-\(upperBound)" }
}
