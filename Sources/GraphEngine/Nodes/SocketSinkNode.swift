internal import VoiceDialog
internal import VoiceSignal
internal import VoiceWeb

/// Sends what it hears to a WebSocket.
final class SocketSinkNode: DrainingNode {
    /// What may wait to be sent of sound that has time, as a file's, bytes.
    private static let backlog = 1 << 20
    /// A peer takes so much of that, bytes, within this time, or is given up.
    private static let share = 64 << 10
    private static let patience = Duration.seconds(20)
    /// How often it is looked.
    private static let pause = Duration.milliseconds(5)

    private let setup: NodeSetup
    private let sound: SideSound
    private let request: WebSocketRequest
    private let frames: Int
    private var client: WebSocketClient?
    private var listener: Task<Void, Never>?
    private var waiting: [Float] = []
    private var position = 0

    init(_ setup: NodeSetup) throws(GraphError) {
        guard let address = WebAddress(setup.settings.text("url")) else {
            throw GraphError(
                node: setup.settings.id, field: "url", "is no address of a WebSocket; use one like wss://host/path")
        }
        self.setup = setup
        sound = try SideSound(setup.settings)
        request = WebSocketRequest(address)
        frames = setup.settings.integer("messageMs") * setup.settings.sampleRate / 1_000
    }

    deinit { listener?.cancel() }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) { sound.write(input.sound()) }

    nonisolated(nonsending) func prepare() async throws(GraphError) {
        let host = request.address.host
        let client: WebSocketClient
        do throws(WebSocketFailure) { client = try WebSocketClient(request) } catch {
            throw GraphError(node: setup.settings.id, field: "url", "\(host) \(error)")
        }
        self.client = client
        let (link, tell) = (client.link, setup.tell)
        listener = Task {
            while let event = await link.next() {
                switch event {
                case .opened: tell("opened", [:], [])
                case .message: break
                // Without a failure where it was closed here, since no sound follows.
                case .ended(let failure):
                    if let failure { tell("failed", ["message": .text("\(host) \(failure)")], []) }
                }
            }
        }
    }

    nonisolated(nonsending) func drain(waits: Bool) async {
        sound.read { waiting += $0 }
        var used = 0
        while waiting.count - used >= frames {
            if waits, (client?.link.outgoingBytes ?? 0) > Self.backlog {
                await waitUntilSent(butFor: Self.backlog / 2)
            }
            send(waiting[used..<used + frames])
            used += frames
        }
        waiting.removeFirst(used)
    }

    nonisolated(nonsending) func finish() async {
        await drain(waits: true)
        if !waiting.isEmpty { send(waiting[...]) }
        waiting = []
        guard let client, let listener else { return }
        await waitUntilSent(butFor: 0)
        client.link.close()
        // Who looks a name up for long is not waited for.
        let patience = Self.patience
        let alarm = Task {
            try? await Task.sleep(for: patience)
            listener.cancel()
        }
        await listener.value
        alarm.cancel()
    }

    /// Waits until no more than so many bytes wait to be sent, as long as the peer takes its share of them.
    nonisolated(nonsending) private func waitUntilSent(butFor limit: Int) async {
        guard let link = client?.link else { return }
        var (before, idle) = (link.outgoingBytes, Duration.zero)
        while !link.isOver {
            let waiting = link.outgoingBytes
            guard waiting > limit else { return }
            if before - waiting >= Self.share { (before, idle) = (waiting, .zero) }
            guard idle < Self.patience else { return link.giveUp() }
            try? await Task.sleep(for: Self.pause)
            idle += Self.pause
        }
    }

    private func send(_ samples: ArraySlice<Float>) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(samples.count * 2)
        for sample in samples {
            let value = Int16(fullScale: sample)
            bytes.append(UInt8(truncatingIfNeeded: value))
            bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        }
        let message: JSON = [
            "type": "sound", "node": .string(setup.settings.id), "rate": .integer(setup.settings.sampleRate),
            "position": .integer(position), "audio": .string(Base64.encode(bytes)),
        ]
        position += samples.count
        client?.link.send(message.encoded)
    }
}
