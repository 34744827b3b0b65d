internal import CALSA
internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// A device that came or went.
public enum DeviceChange: Equatable, Sendable {
    /// A device is there that was not. It has been opened for a moment, to see what it can do.
    case arrived(ALSADeviceDescription)
    /// The device of that name is no longer listed. Whoever runs it gets ``DeviceEvent/disconnected(_:)`` besides, and
    /// sooner.
    case departed(name: String)
}

/// Tells of sound devices that arrive and depart, until it is stopped or let go.
///
/// New cards show within milliseconds, by inotify on /dev/snd; what has no node there (the PCMs of a configuration file
/// or of a sound server), and every device where inotify is refused, within `interval`. A device that goes and comes
/// back under its name between two looks is not told of.
public final class DeviceWatcher: Sendable {
    /// How long after the last news from /dev/snd the list is read: by then udev has set the new nodes' permissions.
    private static let settlingMilliseconds: Int32 = 200
    /// The most often that news can put the look off.
    private static let longestSettling = 10

    private let thread: RealtimeThread

    /// Takes stock, and tells `handler` of every change from then on, on one thread of its own at ordinary priority.
    ///
    /// What is there already is not told: make the watcher first and ask ``ALSADevice/list()`` then, so that nothing
    /// falls between; a device that arrives meanwhile may then show in both. The handler may block, which delays
    /// further news, and may call ``stop()``. Throws where the system has no thread or descriptor left. Blocks for one
    /// reading of the list, some milliseconds; not real-time safe.
    public convenience init(
        interval: Duration = .seconds(1), handler: @escaping @Sendable (DeviceChange) -> Void
    ) throws(DeviceError) {
        try self.init(interval: interval, folder: "/dev/snd", hints: ALSAHint.all, handler: handler)
    }

    /// The same for another folder and another list.
    init(
        interval: Duration, folder: String, hints: @escaping @Sendable () -> [ALSAHint]?,
        handler: @escaping @Sendable (DeviceChange) -> Void
    ) throws(DeviceError) {
        // The nodes are watched from before the first look.
        let nodes = SoundNodeWatch(folder: folder)
        let roster = DeviceRoster(names: (hints() ?? []).map(\.name))
        let milliseconds = Self.milliseconds(interval)
        do {
            let wake = try WakeSignal()
            let descriptor = wake.fileDescriptor
            thread = try RealtimeThread(
                name: "device-watch", priority: 0, wake: wake, state: DeviceWatch(nodes: nodes, roster: roster)
            ) { watch, stop in
                while !stop.isRaised {
                    watch.awaitNews(wake: descriptor, milliseconds: milliseconds)
                    var patience = Self.longestSettling
                    while !stop.isRaised, patience > 0, watch.nodes.news() == .arrivals {
                        watch.awaitNews(wake: descriptor, milliseconds: Self.settlingMilliseconds)
                        patience -= 1
                    }
                    // Alsa-lib could not read its configuration: no news is not bad news.
                    guard !stop.isRaised, let present = hints() else { continue }
                    watch.tell(present, to: handler)
                }
            }
        } catch {
            throw .io(message: "no thread to watch the devices: \(error)")
        }
    }

    /// Ends the watch; once it has returned the handler is not called again. From within the handler it only asks. Safe
    /// to call again.
    public func stop() { thread.stop() }

    /// From 10 ms to an hour.
    private static func milliseconds(_ interval: Duration) -> Int32 {
        let limited = min(max(interval, .milliseconds(10)), .seconds(3_600)).components
        return Int32(limited.seconds * 1_000 + limited.attoseconds / 1_000_000_000_000_000)
    }
}

private struct DeviceWatch: ~Copyable, Sendable {
    var nodes: SoundNodeWatch
    var roster: DeviceRoster

    init(nodes: consuming SoundNodeWatch, roster: DeviceRoster) {
        self.nodes = nodes
        self.roster = roster
    }

    /// Sleeps until there is news of nodes, the thread is to stop, or the time is up.
    func awaitNews(wake: Int32, milliseconds: Int32) {
        var polls = [
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            pollfd(fd: nodes.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = unsafe poll(&polls, nfds_t(polls.count), milliseconds)
    }

    mutating func tell(_ present: [ALSAHint], to handler: (DeviceChange) -> Void) {
        let difference = roster.update(present.map(\.name))
        for name in difference.departed { handler(.departed(name: name)) }
        for name in difference.arrived {
            guard let hint = present.first(where: { $0.name == name }) else { continue }
            handler(.arrived(ALSADeviceDescription(probing: hint)))
        }
    }
}
