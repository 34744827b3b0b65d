internal import Synchronization
internal import VoiceDevices
internal import VoiceRealtime

/// What those who attend to the routes have to know, from whatever thread notices it.
final class RouteInbox: Sendable {
    enum News: Equatable, Sendable {
        /// A device of a leg has gone. Told by its own session, so that what an earlier one says late is not taken for
        /// news.
        case lost(leg: Int, session: Int, DeviceError)
        /// A device has arrived somewhere.
        case arrived
        /// What `default` means has changed.
        case defaultChanged
    }

    /// Other devices that a client wants.
    struct Selection: Sendable {
        let devices: DeviceSelection
        let answer: Answer<Result<AudioRoute, DeviceError>>
    }

    private let news = Mutex<[News]>([])
    private let selections = Mutex<[Selection]>([])
    /// Wakes whoever attends.
    let wake: WakeSignal

    init() throws(ThreadError) { wake = try WakeSignal() }

    func post(_ item: News) {
        news.withLock { $0.append(item) }
        wake.signal()
    }

    func post(_ selection: Selection) {
        selections.withLock { $0.append(selection) }
        wake.signal()
    }

    /// All selections since the last call, in order.
    func takeSelections() -> [Selection] {
        selections.withLock { selections in
            defer { selections = [] }
            return selections
        }
    }

    /// All that came since the last call, in order.
    func takeAll() -> [News] {
        news.withLock { news in
            defer { news.removeAll(keepingCapacity: true) }
            return news
        }
    }
}
