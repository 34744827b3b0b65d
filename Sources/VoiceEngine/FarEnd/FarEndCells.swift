internal import Synchronization

/// What the client's side of a far end or a sink and the media thread tell each other without a queue.
@safe
struct FarEndCells: BitwiseCopyable, @unchecked Sendable {
    private struct Cells: ~Copyable {
        let isClosed = Atomic<Bool>(false)
        let latestBound = Atomic<UInt64>(0)
        let interruptedBound = Atomic<UInt64>(0)
        let wantedRoom = Atomic<Int>(0)
        let wantedSound = Atomic<Int>(0)
        let gain = Atomic<Float>(1)
        let staleFrames = Atomic<Int>(0)
        let heard = Atomic<UInt64>(0)
    }

    /// Behind a pointer, as real-time code may not count references.
    private let cells: UnsafeMutablePointer<Cells>

    static func make() -> FarEndCells {
        let cells = UnsafeMutablePointer<Cells>.allocate(capacity: 1)
        unsafe cells.initialize(to: Cells())
        return unsafe FarEndCells(cells: cells)
    }

    private init(cells: UnsafeMutablePointer<Cells>) { unsafe self.cells = cells }

    func free() {
        unsafe cells.deinitialize(count: 1)
        unsafe cells.deallocate()
    }

    /// Whether the client wants no more of it.
    var isClosed: Bool {
        @_noLocks @_noAllocation get { unsafe cells.pointee.isClosed.load(ordering: .acquiring) }
    }

    func close() { unsafe cells.pointee.isClosed.store(true, ordering: .releasing) }

    /// One more than the last utterance that was begun; its writer is the client's producer.
    var latestBound: UInt64 {
        @_noLocks @_noAllocation get { unsafe cells.pointee.latestBound.load(ordering: .relaxed) }
    }

    @_noLocks @_noAllocation
    func begin(_ utterance: UInt32) {
        unsafe cells.pointee.latestBound.store(UInt64(utterance) &+ 1, ordering: .sequentiallyConsistent)
    }

    /// All utterances below are interrupted.
    var interruptedBound: UInt64 {
        @_noLocks @_noAllocation get { unsafe cells.pointee.interruptedBound.load(ordering: .sequentiallyConsistent) }
    }

    /// Gives up all that has been begun. From any thread.
    @_noLocks @_noAllocation
    func interrupt() {
        let bound = unsafe cells.pointee.latestBound.load(ordering: .sequentiallyConsistent)
        _ = unsafe cells.pointee.interruptedBound.max(bound, ordering: .sequentiallyConsistent)
    }

    /// Gives up all up to an utterance, begun or not. From any thread.
    @_noLocks @_noAllocation
    func interrupt(through utterance: UInt32) {
        _ = unsafe cells.pointee.interruptedBound.max(UInt64(utterance) &+ 1, ordering: .sequentiallyConsistent)
    }

    /// How many frames of room somebody waits for; 0 for none.
    var wantedRoom: Int {
        @_noLocks @_noAllocation get { unsafe cells.pointee.wantedRoom.load(ordering: .relaxed) }
        nonmutating set { unsafe cells.pointee.wantedRoom.store(newValue, ordering: .relaxed) }
    }

    /// How many frames of sound somebody waits for; 0 for none.
    var wantedSound: Int {
        @_noLocks @_noAllocation get { unsafe cells.pointee.wantedSound.load(ordering: .relaxed) }
        nonmutating set { unsafe cells.pointee.wantedSound.store(newValue, ordering: .relaxed) }
    }

    /// Waits on, where nobody has begun to wait anew.
    func wantRoomStill(_ frames: Int) {
        _ = unsafe cells.pointee.wantedRoom.compareExchange(expected: 0, desired: frames, ordering: .relaxed)
    }

    /// The same for sound.
    func wantSoundStill(_ frames: Int) {
        _ = unsafe cells.pointee.wantedSound.compareExchange(expected: 0, desired: frames, ordering: .relaxed)
    }

    /// The factor on what is heard.
    var gain: Float {
        @_noLocks @_noAllocation get { unsafe cells.pointee.gain.load(ordering: .relaxed) }
        nonmutating set { unsafe cells.pointee.gain.store(newValue, ordering: .relaxed) }
    }

    /// Frames of 48 kHz of an utterance that have left the DAC, or are in the device; nil where a later one has begun
    /// to. Its writer is the media thread.
    func heardFrames(of utterance: UInt32) -> Int? {
        let heard = unsafe cells.pointee.heard.load(ordering: .relaxed)
        let current = UInt32(heard >> 32)
        return current == utterance ? Int(heard & 0xFFFF_FFFF) : current < utterance ? 0 : nil
    }

    func setHeard(_ frames: Int, of utterance: UInt32) {
        unsafe cells.pointee.heard.store(
            UInt64(utterance) << 32 | UInt64(UInt32(truncatingIfNeeded: frames)), ordering: .relaxed)
    }

    /// Frames of 48 kHz that came after their utterance had ended or was interrupted.
    var staleFrames: Int { unsafe cells.pointee.staleFrames.load(ordering: .relaxed) }

    @_noLocks @_noAllocation
    func countStale(_ frames: Int) {
        unsafe cells.pointee.staleFrames.wrappingAdd(frames, ordering: .relaxed)
    }
}

/// What the client of a far end wants, as of one moment.
struct SpeechView: BitwiseCopyable {
    /// No more of it.
    var isClosed: Bool
    /// None of the utterances below.
    var interruptedBound: UInt64
    /// The factor on what is heard.
    var gain: Float

    @_noLocks @_noAllocation
    init(isClosed: Bool, interruptedBound: UInt64, gain: Float) {
        self.isClosed = isClosed
        self.interruptedBound = interruptedBound
        self.gain = gain
    }

    @_noLocks @_noAllocation
    init(_ cells: FarEndCells) {
        self.init(isClosed: cells.isClosed, interruptedBound: cells.interruptedBound, gain: cells.gain)
    }
}
