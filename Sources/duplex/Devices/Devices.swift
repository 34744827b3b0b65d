import ArgumentParser
import VoiceEngine

/// Lists the sound devices, and tells of those that come and go.
struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the sound devices that can be opened, and who holds them.",
        discussion: """
            Opens each for a moment to see what it offers; nothing is played or recorded. With --watch the list is followed by a line for \
            each device that arrives or departs, as that happens, until Control-C, which is exit code 0.

            For example:

              duplex devices --watch --json
            """)

    @Flag(help: "Tell of arrivals and departures until Control-C.")
    var watch = false
    @Flag(help: "Print NDJSON.")
    var json = false

    func run() async throws {
        try await reportingFailure {
            if watch { try await follow() } else { list(ALSADevice.list()) }
        }
    }

    private func list(_ devices: [ALSADeviceDescription]) {
        if json {
            devices.forEach { Console.emit(DeviceLine($0)) }
            if !watch { Console.emit(DevicesSummary(devices: devices.count)) }
        } else if devices.isEmpty {
            Console.say("no sound devices; is a sound card present, and does your user belong to the group audio?")
        } else {
            var table = Table()
            table.add("name", "capture", "playback", "what it is")
            for device in devices {
                table.add(device.name, device.captureText, device.playbackText, device.description)
            }
            table.lines.forEach { Console.say($0) }
        }
    }

    private func follow() async throws {
        let interruption = Interruption()
        let clock = RunClock()
        let (changes, continuation) = AsyncStream.makeStream(of: DeviceChange.self)
        // Before the list is read, so that nothing falls between.
        let watcher: DeviceWatcher
        do throws(DeviceError) { watcher = try DeviceWatcher { continuation.yield($0) } } catch { throw Failure(error) }
        defer { watcher.stop() }
        let devices = ALSADevice.list()
        list(devices)
        let ending = Task {
            await interruption.wait()
            continuation.finish()
        }
        defer { ending.cancel() }
        var tally = DeviceTally(devices.map(\.name))
        for await change in changes where tally.note(change) {
            let seconds = clock.seconds
            if json { emit(change, seconds) } else { Console.say(change.text) }
            if Console.isUnread { break }
        }
        if json {
            Console.emit(
                DevicesSummary(
                    devices: tally.present.count, arrivals: tally.arrivals, departures: tally.departures))
        }
    }

    private func emit(_ change: DeviceChange, _ seconds: Double) {
        switch change {
        case .arrived(let device): Console.emit(DeviceLine(device, type: "arrived", timeS: seconds))
        case .departed(let name): Console.emit(DepartureLine(name: name, timeS: seconds))
        }
    }
}

/// Which devices there are, as far as was told.
struct DeviceTally {
    private(set) var present: Set<String>
    private(set) var arrivals = 0
    private(set) var departures = 0

    init(_ names: [String]) { present = Set(names) }

    /// False for what was told before: a device that arrived while the list was read is in both.
    mutating func note(_ change: DeviceChange) -> Bool {
        switch change {
        case .arrived(let device):
            guard present.insert(device.name).inserted else { return false }
            arrivals += 1
        case .departed(let name):
            guard present.remove(name) != nil else { return false }
            departures += 1
        }
        return true
    }
}
