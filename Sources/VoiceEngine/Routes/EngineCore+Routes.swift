internal import Synchronization
internal import VoiceDevices
package import VoiceProcessing
package import VoiceRealtime

/// The devices' side of the core.
extension EngineCore {
    /// Signalled when ``attendToDevices(now:report:)`` is to be called.
    package var routeWake: WakeSignal { routes.wake }

    /// Which way the sound takes.
    package var route: AudioRoute { routeRequest.withLock { $0.route } }

    /// To be called when a sound device has arrived in the machine; from any thread.
    package var noteArrival: @Sendable () -> Void { routes.noteArrival }

    /// To be called when ALSA's `default` means another card; from any thread.
    package var noteDefaultChange: @Sendable () -> Void { routes.noteDefaultChange }

    /// What there is to watch for.
    var cards: RouteCards { routes.cards }

    /// Deals with lost devices, and opens others where that is due; the call goes on meanwhile. Blocks while a device
    /// opens. Returns when it is to be called again at the latest; nil where that is not necessary. One caller at a
    /// time.
    package func attendToDevices(now: Duration, report: (RouteEvent) -> Void) -> Duration? {
        routes.attend(now: now) { event in
            note(event)
            report(event)
        }
    }

    /// Goes over to other devices, and waits until they run; not from the thread that attends to the devices.
    func selectDevices(_ devices: DeviceSelection) throws(EngineError) -> AudioRoute {
        try routes.requestSelection(devices)
    }

    /// Goes over to other devices, in simulated time: where ``attendToDevices(now:report:)`` may be called.
    package func selectDevices(
        _ devices: DeviceSelection, now: Duration, report: (RouteEvent) -> Void
    ) throws(DeviceError) {
        try routes.select(devices, now: now) { event in
            note(event)
            report(event)
        }
    }

    /// Changes what is done to the microphone, as far as the route agrees.
    package func setProcessing(_ settings: ProcessingSettings) throws(EngineError) {
        try sendProcessing { $0.settings = settings }
    }

    /// Says what kind of loudspeaker is in use.
    package func setProfile(_ profile: RouteProfile) throws(EngineError) {
        try sendProcessing { $0.profile = profile }
    }

    /// Changes what is wished, and tells the media thread what comes of it where that is new. Under one lock, so that
    /// of two threads the later has the last word.
    private func sendProcessing(after change: (inout RouteRequest) -> Void) throws(EngineError) {
        let failure = routeRequest.withLock { routeRequest -> EngineError? in
            change(&routeRequest)
            let processing = routeRequest.processing
            guard processing != routeRequest.sent else { return nil }
            do throws(EngineError) { try send(.setProcessing(processing)) } catch { return error }
            routeRequest.sent = processing
            return nil
        }
        if let failure { throw failure }
    }

    private func note(_ event: RouteEvent) {
        switch event {
        case .lost: routeRequest.withLock { $0.route = routes.route }
        case .changed(let route, _, let directions):
            // A media thread that takes no commands has worse troubles than a device's period.
            if directions.contains(.capture) { try? send(.changeCapture) }
            if directions.contains(.playback), let period = route.playback?.format?.active.periodAt48Kilohertz {
                try? send(.changePlayback(periodFrames: period))
            }
            try? sendProcessing { $0.route = route }
        }
    }
}
