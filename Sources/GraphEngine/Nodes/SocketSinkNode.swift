internal import VoiceDialog
internal import VoiceSignal
internal import VoiceWeb

/// Sends what it hears to a WebSocket.
final class SocketSinkNode: DrainingNode {
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
                case .ended(let failure):
                    tell("failed", ["message": .text(failure.map { "\(host) \($0)" } ?? "closed")], [])
                }
            }
        }
    }

    nonisolated(nonsending) func drain(waits: Bool) async {
        sound.read { waiting += $0 }
        var used = 0
        while waiting.count - used >= frames {
            send(waiting[used..<used + frames])
            used += frames
        }
        waiting.removeFirst(used)
    }

    nonisolated(nonsending) func finish() async {
        await drain(waits: true)
        if !waiting.isEmpty { send(waiting[...]) }
        client?.link.close()
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
