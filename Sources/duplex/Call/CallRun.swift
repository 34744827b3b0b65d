import Foundation
import VoiceEngine

/// A call from joining to leaving.
struct CallRun {
    private let options: Call
    private let endpoint: RoomEndpoint
    private let configuration: EngineConfiguration

    init(_ options: Call) throws {
        self.options = options
        guard let token = options.token ?? ProcessInfo.processInfo.environment["DUPLEX_TOKEN"] else {
            throw Failure(
                .inputUnusable,
                "no token; get one with 'duplex room token --room R --identity YOU' and pass --token or set DUPLEX_TOKEN")
        }
        do throws(RoomEndpointError) {
            endpoint = try RoomEndpoint(url: options.server, token: token)
        } catch {
            throw Failure(.inputUnusable, "\(error.explanation(options.server))")
        }
        var configuration = options.preset.configuration
        if options.input != nil || options.output != nil {
            let files = FileDeviceConfiguration(input: options.input, output: options.output)
            configuration.device = .custom(FileDevice(files))
        } else {
            var card = ALSADeviceConfiguration(capture: options.capture, playback: options.playback)
            card.periodFrames = options.period
            configuration.device = .alsa(card)
        }
        self.configuration = configuration
    }

    func run() async throws {
        let interruption = Interruption()
        let engine = VoiceEngine(configuration)
        let events = engine.events
        do throws(EngineError) {
            let formats = try await engine.start()
            tell(formats)
            try await engine.join(
                endpoint, configuration: RoomClientConfiguration(allowPlaintext: options.allowPlaintext))
        } catch {
            await engine.stop()
            throw Failure(error)
        }
        let ending = await firstEnding(events, interruption)
        let statistics = try? await engine.statistics()
        await engine.stop()
        Console.endProgress()
        if let statistics { summarise(statistics, ending) }
        if case .failed(let failure) = ending { throw failure }
    }

    /// Why a call ended.
    private enum Ending {
        case interrupted, endOfInput, timeIsUp
        case failed(Failure)

        var text: String {
            switch self {
            case .interrupted: "interrupted"
            case .endOfInput: "end of input"
            case .timeIsUp: "time is up"
            case .failed(let failure): failure.message
            }
        }
    }

    private func firstEnding(_ events: EventStream, _ interruption: Interruption) async -> Ending {
        let seconds = options.seconds
        return await withTaskGroup(of: Ending.self) { group in
            group.addTask { await watch(events) }
            group.addTask {
                await interruption.wait()
                return .interrupted
            }
            if let seconds {
                group.addTask {
                    try? await Task.sleep(for: .seconds(seconds))
                    return .timeIsUp
                }
            }
            let first = await group.next() ?? .interrupted
            group.cancelAll()
            return first
        }
    }

    /// Shows the events until one of them ends the call.
    private func watch(_ events: EventStream) async -> Ending {
        for await event in events {
            show(event)
            switch event {
            case .device(.endOfInput): return .endOfInput
            case .device(.disconnected(let direction)):
                return .failed(Failure(.unavailable, "the \(direction) device is gone; plug it in and call again"))
            case .device(.failed(_, let error)): return .failed(Failure(error))
            case .left(let end): return .failed(Failure(end))
            default: break
            }
        }
        return .interrupted
    }

    private func tell(_ formats: DeviceFormats) {
        guard !options.json else { return }
        for (name, format) in [("capture", formats.capture), ("playback", formats.playback)] {
            guard let active = format?.active else { continue }
            Console.complain(
                "\(name): \(active.sampleRate) Hz, \(active.channels) ch, \(active.sampleFormat), period \(active.periodFrames), "
                    + "buffer \(active.bufferFrames) frames")
        }
    }

    private func show(_ event: EngineEvent) {
        if options.json { Console.emit(CallEvent(event)) } else { Console.say(event.text) }
    }

    private func summarise(_ statistics: EngineStatistics, _ ending: Ending) {
        let summary = CallSummary(statistics, ending: ending.text)
        if options.json {
            Console.emit(summary)
        } else {
            Console.say(
                "call ended (\(ending.text)): sent \(summary.packetsSent) packets, received \(summary.packetsReceived), "
                    + "lost \(summary.packetsLost), xruns \(summary.xruns)")
        }
    }
}

/// An event of a call.
struct CallEvent: JSONLine {
    let schema = "duplexvoice.call/1"
    let type: String
    var detail: String

    init(_ event: EngineEvent) {
        type = event.name
        detail = event.text
    }
}

/// How a call went.
struct CallSummary: JSONLine {
    let schema = "duplexvoice.call/1"
    let type = "summary"
    var ending: String
    var packetsSent: Int
    var packetsReceived: Int
    var packetsLost: Int
    var concealedRatio: Double?
    var xruns: Int
    var underrunFrames: Int
    var roundTripMs: Double?

    init(_ statistics: EngineStatistics, ending: String) {
        self.ending = ending
        packetsSent = statistics.uplink.packetsSent
        packetsReceived = statistics.streams.reduce(0) { $0 + Int($1.playout.packetsReceived) }
        packetsLost = statistics.streams.reduce(0) { $0 + Int($1.playout.packetsLost) }
        concealedRatio = statistics.concealedRatio
        xruns = statistics.device.capture.xruns + statistics.device.playback.xruns
        underrunFrames = statistics.device.playback.underrunFrames
        roundTripMs = statistics.room?.session.roundTripTime?.milliseconds
    }
}

extension EngineStatistics {
    /// The share of all played speech that had to be invented; nil before any.
    var concealedRatio: Double? {
        let emitted = streams.reduce(0) { $0 + $1.playout.jitterBufferEmittedCount }
        let concealed = streams.reduce(0) { $0 + $1.playout.concealedSamples }
        return emitted + concealed == 0 ? nil : Double(concealed) / Double(emitted + concealed)
    }
}

extension RoomEndpointError {
    /// What is wrong and what to do.
    func explanation(_ url: String) -> String {
        switch self {
        case .malformedURL: "'\(url)' is no room server; write udp://HOST:PORT"
        case .tokenTooLong: "the token is longer than a server takes; get a new one"
        }
    }
}
