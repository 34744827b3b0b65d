package import VoiceDevices

/// What a route needs of the machine; a simulation brings its own.
package struct RouteEnvironment: Sendable {
    /// Makes a sound card, at rest.
    package var makeCard: @Sendable (ALSADeviceConfiguration) -> any AudioDevice
    /// Throws where a sound card cannot be opened now. Asked before the stand-in for a lost one is stopped, so that an
    /// attempt that comes to nothing disturbs nothing.
    package var probe: @Sendable (ALSADeviceConfiguration) throws(DeviceError) -> Void
    /// Makes the device that stands in for a lost one: it hears nothing, plays to nobody, and keeps the pace. Takes the
    /// length of a period in frames of 48 kHz.
    package var makeStandIn: @Sendable (_ periodFrames: Int) throws(DeviceError) -> any AudioDevice
    /// What a device calls itself; empty where it does not tell.
    package var describe: @Sendable (_ name: String, DeviceDirection) -> String
    /// Whether a PCM is a sound server's, which connects each direction to a device of its own.
    package var isServed: @Sendable (_ name: String) -> Bool

    /// Surroundings of one's own.
    package init(
        makeCard: @escaping @Sendable (ALSADeviceConfiguration) -> any AudioDevice,
        probe: @escaping @Sendable (ALSADeviceConfiguration) throws(DeviceError) -> Void,
        makeStandIn: @escaping @Sendable (_ periodFrames: Int) throws(DeviceError) -> any AudioDevice,
        describe: @escaping @Sendable (_ name: String, DeviceDirection) -> String = { _, _ in "" },
        isServed: @escaping @Sendable (_ name: String) -> Bool = { _ in false }
    ) {
        self.makeCard = makeCard
        self.probe = probe
        self.makeStandIn = makeStandIn
        self.describe = describe
        self.isServed = isServed
    }

    /// Periods of the stand-in's buffer.
    private static let standInPeriods = 8

    /// This machine. The stand-in keeps the pace at SCHED_FIFO `priority`, 0 for the ordinary scheduler.
    package static func machine(priority: Int) -> RouteEnvironment {
        RouteEnvironment(
            makeCard: { ALSADevice($0) },
            probe: { configuration throws(DeviceError) in try ALSADevice.probe(configuration) },
            makeStandIn: { periodFrames throws(DeviceError) in
                var shape = SimulatedDeviceConfiguration(pacing: .realTime(priority: priority))
                shape.periodFrames = periodFrames
                // Nobody hears it, and with a long buffer a thread that comes late leaves no gap in its times.
                shape.periods = standInPeriods
                return try NullDevice(air: SilentAir(), configuration: shape)
            }, describe: { name, _ in ALSADevice.description(of: name) ?? "" },
            isServed: { ALSADevice.isServed($0) })
    }
}
