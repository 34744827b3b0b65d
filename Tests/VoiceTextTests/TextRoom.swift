import Testing

@testable import VoiceText

/// A writer, its readers, and what is between them.
struct TextRoom {
    var desk = TextDesk<Int>()
    var boards: [Int: TextBoard<Int>] = [:]
    /// Each reader's last update of each stream.
    var heard: [Int: [String: TextUpdate]] = [:]
    /// The number by which the readers know the writer; each stay in the room has another.
    private(set) var writer = 0
    /// Frames that each reader has yet to get, in order.
    private var underWay: [Int: [[UInt8]]] = [:]
    private var requests: [(Int, [UInt8])] = []
    private(set) var now = Duration.zero
    private(set) var updates = 0
    private(set) var frames = 0

    mutating func join(_ reader: Int) {
        boards[reader] = TextBoard()
        heard[reader] = [:]
        underWay[reader] = []
        desk.welcome(reader)
    }

    mutating func leave(_ reader: Int) {
        boards[reader] = nil
        underWay[reader] = nil
        desk.forget(reader)
    }

    /// The connection of a reader breaks, and it comes back in a new stay: what was under way is lost, and the writer
    /// takes it for somebody new. It still has what it read.
    mutating func reconnect(_ reader: Int) {
        guard boards[reader] != nil else { return }
        underWay[reader] = []
        desk.forget(reader)
        desk.welcome(reader)
    }

    /// The same of the writer: the readers take it for somebody else.
    mutating func reconnectWriter() {
        for reader in boards.keys {
            underWay[reader] = []
            boards[reader]?.forget(writer)
            heard[reader] = [:]
        }
        requests = []
        writer += 1
        desk.startAgain(now: now)
    }

    /// Sends what is due. What `isLost` says is not delivered, of which the writer is told nothing.
    mutating func send(isLost: () -> Bool = { false }) {
        while let (frame, reader) = desk.pollFrame(now: now) {
            frames += 1
            #expect(frame.count <= TextFormat.frameLimit)
            for other in reader.map({ [$0] }) ?? underWay.keys.sorted() where !isLost() {
                underWay[other]?.append(frame)
            }
        }
    }

    func isUnderWay(to reader: Int) -> Bool { underWay[reader]?.isEmpty == false }

    /// Delivers a reader's next frame, or where `reordered` one that came later, or one a second time.
    mutating func deliver(to reader: Int, at place: Int = 0, twice: Bool = false) {
        guard let frames = underWay[reader], place < frames.count else { return }
        if !twice { underWay[reader]?.remove(at: place) }
        boards[reader]?.handle(frames[place], from: writer, now: now)
        collect(reader)
    }

    private mutating func collect(_ reader: Int) {
        while let (_, update) = boards[reader]?.pollUpdate(now: now) {
            if let last = heard[reader]?[update.stream] {
                // Nothing twice, nothing old, nothing of a text that was final.
                #expect(update != last && update.round >= last.round, "\(last), then \(update)")
                #expect(update.round > last.round || !last.isFinal, "\(last), then \(update)")
            }
            heard[reader]?[update.stream] = update
            updates += 1
        }
    }

    mutating func wait(_ duration: Duration) {
        now += duration
        for reader in boards.keys.sorted() {
            collect(reader)
            while let (request, _) = boards[reader]?.pollRequest(now: now) { requests.append((reader, request)) }
        }
        for (reader, request) in requests { desk.handle(request: request, from: reader) }
        requests = []
    }

    /// Until nothing more happens.
    mutating func settle() {
        for _ in 0..<4_000 {
            send()
            for reader in underWay.keys.sorted() { while underWay[reader]?.isEmpty == false { deliver(to: reader) } }
            guard let next = ([desk.nextTimeout] + boards.values.map(\.nextTimeout)).compactMap({ $0 }).min() else {
                return
            }
            wait(max(next - now, .milliseconds(1)))
        }
        Issue.record("it does not settle")
    }
}
