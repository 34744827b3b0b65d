internal import Synchronization
internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// The writing side of a recording: takes what the media thread has put into the ring, and writes it to the file, on a
/// thread of its own.
///
/// However late it is, the media thread waits for nothing: the ring holds some ten seconds of sound, and what finds no
/// room is a gap.
package final class FlightRecorder: @unchecked Sendable {
    /// Ten seconds of sound both ways, with the packets of a few talkers.
    static let ringBytes = 4 << 20
    /// Between two looks at the ring. The media thread wakes nobody, which would cost it a system call in each run.
    private static let interval = Duration.milliseconds(50)
    /// What is gathered before it is written.
    private static let chunkBytes = 65_536
    /// For how long a writer is waited for that hangs in the disk.
    private static let stopLimit = Duration.seconds(2)
    private static let stopStep = Duration.milliseconds(5)

    /// Where what passes each stage is digested.
    let stages: StageWatch
    private let tape: ClockTape
    /// Touched by whoever drains: the writer's thread, or a simulation.
    private var writer: RecordingWriter
    private let shared = Mutex(RecordingStatus())
    private let isStopping = Atomic<Bool>(false)
    private let isDone = Atomic<Bool>(false)
    private let wake: WakeSignal
    private let thread = Mutex<RealtimeThread?>(nil)

    /// The media thread's end, until that has taken it.
    private var end: RunRecorder?

    /// Makes the file.
    init(_ configuration: RecordingConfiguration, settings: RecordedSettings) throws(EngineError) {
        try configuration.validate()
        let ring: RecordRing
        do throws(RingError) { ring = try RecordRing(minimumBytes: Self.ringBytes) } catch {
            throw .resourcesExhausted("no memory for a recording: \(error)")
        }
        let wake = try WakeSignal.made()
        let store: any RecordingStore
        if let given = configuration.store {
            store = given
        } else {
            store = try RecordingFile(folder: configuration.folder)
        }
        self.wake = wake
        (stages, tape) = (StageWatch.make(), ClockTape.make())
        end = RunRecorder(
            ring: ring.producer, includesSound: configuration.includesSound, tape: tape, stages: stages)
        writer = RecordingWriter(
            ring: ring.consumer, store: store, mostBytes: configuration.maximumBytes, settings: settings)
    }

    /// The media thread's end; once.
    func takeEnd() -> RunRecorder? { end.take() }

    deinit {
        stages.free()
        tape.free()
    }

    /// What has become of it so far. From any thread.
    package var status: RecordingStatus { shared.withLock { $0 } }

    /// Writes what lies in the ring; with `all` also what is gathered. For whoever drives it without a thread.
    package func drain(all: Bool = false) {
        writer.drain(gathering: all ? 0 : Self.chunkBytes)
        shared.withLock { $0 = writer.status }
    }

    /// Writes what is left, and that this is the end. For whoever drives it without a thread.
    package func close() {
        drain(all: true)
        writer.finish()
        shared.withLock { $0 = writer.status }
    }

    /// Starts the writer's thread.
    func start() throws(EngineError) {
        do throws(ThreadError) {
            let thread = try RealtimeThread(name: "voice-recorder", priority: 0, wake: wake) { [self] stop in
                var looks = 0
                while !stop.isRaised, !isStopping.load(ordering: .acquiring) {
                    wake.wait(timeout: Self.interval)
                    looks += 1
                    // Nothing stays in memory for much longer than a second.
                    drain(all: looks % 20 == 0)
                }
                close()
                isDone.store(true, ordering: .releasing)
            }
            self.thread.withLock { $0 = thread }
        } catch {
            throw .resourcesExhausted("the recorder's thread could not be started: \(error)")
        }
    }

    /// Ends the recording. The media thread must have ended. Blocks for ``stopLimit`` at most: a writer that hangs in
    /// the disk is left to itself.
    func stop() {
        guard let thread = thread.withLock({ $0.take() }) else { return }
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        var waited = Duration.zero
        while !isDone.load(ordering: .acquiring), waited < Self.stopLimit {
            usleep(UInt32(Self.stopStep / .microseconds(1)))
            waited += Self.stopStep
        }
        // Its end would be waited for.
        if !isDone.load(ordering: .acquiring) { _ = unsafe Unmanaged.passRetained(thread) }
    }
}

/// Writes records as chunks.
struct RecordingWriter: ~Copyable {
    private var ring: RecordConsumer
    private let store: any RecordingStore
    private let mostBytes: Int
    /// The pieces that are not written yet, of whole runs.
    private var gathered: [UInt8] = []
    private var chunks: UInt64 = 0
    private(set) var status = RecordingStatus()
    /// Runs that the recording says it lacks.
    private var toldRuns = 0
    private var isClosed = false

    /// Room for the last words: a chunk that says why it ends.
    private static let reserve = 256

    init(
        ring: consuming RecordConsumer, store: any RecordingStore, mostBytes: Int, settings: RecordedSettings
    ) {
        self.ring = ring
        self.store = store
        self.mostBytes = mostBytes
        var head = RecordCoder()
        var settings = settings
        // Writing throws nothing.
        try? settings.code(with: &head)
        var bytes = RecordingFormat.magic
        bytes.append(RecordingFormat.version)
        bytes.append(UInt32(head.bytes.count))
        bytes += head.bytes
        bytes.append(RecordingFormat.checksum(head.bytes.span, number: 0))
        write(bytes)
    }

    /// Takes what lies in the ring, and writes it as soon as more than so many bytes are gathered.
    mutating func drain(gathering least: Int) {
        let records = ring.available
        if records > 0, !isClosed { toldRuns += Self.gather(ring, into: &gathered) }
        // Before the disk, which may take its time.
        ring.release(records)
        status.lostRuns = ring.droppedRecords
        if gathered.count > least { writeChunk() }
    }

    /// Writes that the recording ends here.
    mutating func finish() {
        guard !isClosed else { return }
        writeChunk()
        // Behind the last of them came no run that could tell.
        if status.lostRuns > toldRuns { writeChunk(Self.piece(.gap, Int64(status.lostRuns - toldRuns))) }
        end(reason: 0)
        if !isClosed { store.close() }
        isClosed = true
    }

    /// Copies whole pieces; of commands what they say instead of their memory. Returns how many runs they say are
    /// missing.
    private static func gather(_ ring: borrowing RecordConsumer, into gathered: inout [UInt8]) -> Int {
        let records = ring.peek()
        var missing = 0
        var offset = 0
        while offset + 8 <= records.byteCount {
            let kind = unsafe records.unsafeLoad(fromByteOffset: offset, as: UInt32.self)
            let length = Int(unsafe records.unsafeLoad(fromByteOffset: offset + 4, as: UInt32.self))
            let body = offset + 8
            if kind == RecordedPiece.gap.rawValue {
                missing += Int(unsafe records.unsafeLoadUnaligned(fromByteOffset: body, as: Int64.self))
            }
            if kind == RecordedPiece.command.rawValue {
                var form = RecordCoder()
                let command = unsafe records.unsafeLoadUnaligned(fromByteOffset: body, as: MediaCommand.self)
                try? RecordedCommand(command).write(with: &form)
                unsafe append(kind, form.bytes.span.bytes, to: &gathered)
            } else {
                append(kind, records.extracting(body..<body + length), to: &gathered)
            }
            offset = body + padded(length)
        }
        return missing
    }

    private static func append(_ kind: UInt32, _ body: RawSpan, to bytes: inout [UInt8]) {
        bytes.append(kind)
        bytes.append(UInt32(body.byteCount))
        unsafe body.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        for _ in body.byteCount..<padded(body.byteCount) { bytes.append(0 as UInt8) }
    }

    private static func padded(_ bytes: Int) -> Int {
        (bytes + RecordProducer.alignment - 1) & ~(RecordProducer.alignment - 1)
    }

    private mutating func writeChunk() {
        guard !isClosed, !gathered.isEmpty else { return }
        let chunk = gathered
        gathered.removeAll(keepingCapacity: true)
        guard status.bytes + RecordingFormat.chunkHeaderBytes + chunk.count + Self.reserve <= mostBytes else {
            status.end = .full
            end(reason: 1)
            isClosed = true
            store.close()
            return
        }
        writeChunk(chunk)
    }

    private mutating func end(reason: Int64) { writeChunk(Self.piece(.end, reason)) }

    /// A piece of one number.
    private static func piece(_ kind: RecordedPiece, _ number: Int64) -> [UInt8] {
        var piece: [UInt8] = []
        var body: [UInt8] = []
        body.append(UInt64(bitPattern: number))
        unsafe append(kind.rawValue, body.span.bytes, to: &piece)
        return piece
    }

    private mutating func writeChunk(_ chunk: [UInt8]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(RecordingFormat.chunkHeaderBytes + chunk.count)
        bytes.append(RecordingFormat.chunkMagic)
        bytes.append(UInt32(chunk.count))
        bytes.append(chunks)
        bytes.append(RecordingFormat.checksum(chunk.span, number: chunks))
        bytes += chunk
        chunks += 1
        write(bytes)
    }

    private mutating func write(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        do throws(RecordingStoreError) {
            try store.append(bytes.span)
            status.bytes += bytes.count
        } catch {
            status.end = .unwritable(errno: error.errno)
            isClosed = true
            store.close()
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ value: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    fileprivate mutating func append(_ value: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
}
