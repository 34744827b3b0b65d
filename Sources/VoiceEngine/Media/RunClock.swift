internal import VoiceRealtime

/// The time of one run of the media pipeline: when it began, and how far it has come.
///
/// On the media thread a run takes real time, which is part of the latency. In simulated time it takes none, and no
/// clock is read. What was read can be kept, and be read again.
struct RunClock: BitwiseCopyable {
    /// When the run began.
    let start: MonotonicTime
    /// Whether the thread does nothing but run the pipeline, so that its CPU time is the runs'.
    let ownsThread: Bool
    private let isLive: Bool
    private var tape: ClockTape?
    private var isReplayed = false

    /// A run that began at `start`; `isLive` where time goes on during it.
    init(start: MonotonicTime, isLive: Bool, ownsThread: Bool) {
        self.start = start
        self.isLive = isLive
        self.ownsThread = ownsThread
    }

    /// A run whose readings are those on the tape.
    init(start: MonotonicTime, replaying tape: ClockTape) {
        self.init(start: start, isLive: true, ownsThread: false)
        self.tape = tape
        isReplayed = true
    }

    /// The same, with a tape for what is read.
    func keeping(readingsOn tape: ClockTape) -> RunClock {
        var clock = self
        if isLive { clock.tape = tape }
        return clock
    }

    /// The time now.
    var now: MonotonicTime {
        guard isLive else { return start }
        guard let tape else { return .now() }
        if isReplayed { return tape.next() ?? start }
        let reading = MonotonicTime.now()
        tape.append(reading)
        return reading
    }
}

/// The clock's readings of one run, in order. One thread's.
@safe
struct ClockTape: BitwiseCopyable, @unchecked Sendable {
    /// What a run reads at most, after the longest stall: once for each block that it pulls, twice for each packet that it
    /// sends, and once for its reports.
    static let capacity = Downlink.mostPulls + 2 * Uplink.mostPackets + 1

    private struct Readings {
        let capacity = ClockTape.capacity
        var count = 0
        var position = 0
        var missed = 0
    }

    private let readings: UnsafeMutablePointer<Readings>
    private let nanoseconds: UnsafeMutablePointer<Int64>

    static func make() -> ClockTape {
        let readings = UnsafeMutablePointer<Readings>.allocate(capacity: 1)
        unsafe readings.initialize(to: Readings())
        let nanoseconds = UnsafeMutablePointer<Int64>.allocate(capacity: capacity)
        unsafe nanoseconds.initialize(repeating: 0, count: capacity)
        return unsafe ClockTape(readings: readings, nanoseconds: nanoseconds)
    }

    private init(readings: UnsafeMutablePointer<Readings>, nanoseconds: UnsafeMutablePointer<Int64>) {
        unsafe self.readings = readings
        unsafe self.nanoseconds = nanoseconds
    }

    func free() {
        unsafe nanoseconds.deallocate()
        unsafe readings.deallocate()
    }

    /// How many readings there are.
    var count: Int { unsafe readings.pointee.count }

    /// Whether there were more than it holds, or more were asked for than there are.
    var isShort: Bool { unsafe readings.pointee.missed > 0 }

    subscript(index: Int) -> Int64 { unsafe nanoseconds[index] }

    /// Forgets all readings.
    func clear() {
        unsafe readings.pointee.count = 0
        unsafe readings.pointee.position = 0
        unsafe readings.pointee.missed = 0
    }

    func append(_ time: MonotonicTime) {
        let count = unsafe readings.pointee.count
        guard unsafe count < readings.pointee.capacity else {
            unsafe readings.pointee.missed &+= 1
            return
        }
        unsafe nanoseconds[count] = time.nanoseconds
        unsafe readings.pointee.count = count &+ 1
    }

    /// The next reading; nil where there is none.
    func next() -> MonotonicTime? {
        let position = unsafe readings.pointee.position
        guard unsafe position < readings.pointee.count else {
            unsafe readings.pointee.missed &+= 1
            return nil
        }
        unsafe readings.pointee.position = position &+ 1
        return unsafe MonotonicTime(nanoseconds: nanoseconds[position])
    }
}
