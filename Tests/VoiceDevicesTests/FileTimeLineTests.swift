import TestCases
import Testing
import VoiceRealtime

@testable import VoiceDevices

/// A file device whose clock and whose disk are moved by hand.
private struct FileBench: ~Copyable {
    static let periodFrames = 480
    /// 170 ms, as far as the disk is read ahead and written behind.
    private static let ringFrames = 8_192

    var ends: MediaEnds
    private var clockwork: DuplexClockwork<FileAir>
    private var input: FileInput
    private var output: FileOutput
    private let log = EventLog()

    init(_ fixture: consuming PortFixture, input: String, output: String) throws {
        var files = FileDeviceConfiguration(
            input: input, output: output, pacing: .virtual(start: MonotonicTime(nanoseconds: 0)))
        files.outputEncoding = .float32
        let inputRing = try FrameRing(minimumCapacity: Self.ringFrames)
        let outputRing = try FrameRing(minimumCapacity: Self.ringFrames)
        let gaps = ValueRing<OutputGap>(minimumCapacity: OutputGap.capacity)
        let progress = FileProgress(hasInput: true)
        let fromDisk = try FileInput(files, ring: inputRing.producer, progress: progress)
        let toDisk = try FileOutput(files, ring: outputRing.consumer, gaps: gaps.consumer, progress: progress)
        self.input = fromDisk
        self.output = toDisk
        let air = FileAir(
            input: inputRing.consumer, output: outputRing.producer, gaps: gaps.producer, progress: progress)
        clockwork = DuplexClockwork(air: air, configuration: files.card)
        clockwork.start(
            DevicePorts(capture: fixture.capture, playback: fixture.playback), at: MonotonicTime(nanoseconds: 0))
        ends = fixture.ends
    }

    var events: [DeviceEvent] { log.all }

    /// Period by period; the disk moves with it, or stands.
    mutating func run(toSecond second: Double, diskMoves: Bool = true) {
        while clockwork.nextWake.nanoseconds <= Int64(second * 1e9) {
            if diskMoves { moveDisk() }
            _ = clockwork.catchUp(to: clockwork.nextWake)
        }
    }

    /// Nothing runs until then. True where the device had to begin anew.
    mutating func standStill(toSecond second: Double) -> Bool {
        clockwork.catchUp(to: MonotonicTime(nanoseconds: Int64(second * 1e9)))
    }

    mutating func finish() {
        moveDisk()
        clockwork.stop(draining: true)
        output.finish(events: log.note)
    }

    private mutating func moveDisk() {
        input.fill(events: log.note)
        output.drain(events: log.note)
    }
}

/// Counts how often it is asked.
private struct CountingAir: AcousticAir {
    var asked = 0
    var passed = 0

    mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) { asked += 1 }

    mutating func pass(frames: Int, period: Int) { passed += frames }
}

@Suite("The time line of a file device")
struct FileTimeLineTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A device that stood still leaves silence, and neither file is shifted", arguments: [1 as UInt64, 2])
    func standstill(seed: UInt64) throws {
        // Given files that have run for a second
        var random = SeededNumbers(seed: seed)
        let input = random.noise(480_000)
        let speech = random.noise(480_000)
        try AudioFile.write(input, to: folder.file("in.wav"), encoding: .float32)
        var bench = try FileBench(
            PortFixture(Session(), capacity: 524_288), input: folder.file("in.wav"), output: folder.file("out.wav"))
        bench.ends.play(speech)
        bench.run(toSecond: 1)
        // When the process stands still for five seconds, and runs for another
        let hasBegunAnew = bench.standStill(toSecond: 6)
        #expect(hasBegunAnew)
        bench.run(toSecond: 7)
        bench.finish()
        // Then what was played stands where it sounded, with silence between, and nobody's disk is blamed
        #expect(frames(bench.events) == (lost: 0, late: 0))
        let written = try AudioFile.read(folder.file("out.wav")).samples
        #expect(written.count == 7 * 48_000 + 960)
        try #require(written.count > 288_960)
        #expect(Array(written[960..<48_960]) == Array(speech[..<48_000]), "seed \(seed)")
        #expect(written[48_960..<288_960].allSatisfy { $0 == 0 })
        #expect(Array(written[288_960...]) == Array(speech[48_000..<48_000 + written.count - 288_960]))
        // and the microphone hears what is its turn, once the ring has come up to it
        let heard = bench.ends.takeCaptured()
        #expect(heard.count == 2 * 48_000)
        #expect(Array(heard[..<48_000]) == Array(input[..<48_000]))
        #expect(Array(heard[72_000...]) == Array(input[312_000..<336_000]), "seed \(seed)")
    }

    @Test(
        "What the disk is too slow for is silence, told as such, and neither file is shifted", arguments: [3 as UInt64])
    func slowDisk(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let input = random.noise(480_000)
        let speech = random.noise(480_000)
        try AudioFile.write(input, to: folder.file("in.wav"), encoding: .float32)
        var bench = try FileBench(
            PortFixture(Session(), capacity: 524_288), input: folder.file("in.wav"), output: folder.file("out.wav"))
        bench.ends.play(speech)
        bench.run(toSecond: 1)
        bench.run(toSecond: 3, diskMoves: false)
        bench.run(toSecond: 4)
        bench.finish()
        let written = try AudioFile.read(folder.file("out.wav")).samples
        #expect(written.count == 4 * 48_000 + 960)
        #expect(
            Array(written[144_480...]) == Array(speech[143_520..<143_520 + written.count - 144_480]), "seed \(seed)")
        let heard = bench.ends.takeCaptured()
        #expect(Array(heard[168_000...]) == Array(input[168_000..<192_000]), "seed \(seed)")
        let (lost, late) = frames(bench.events)
        // All but what the rings held.
        #expect(lost > 80_000 && lost < 96_000)
        #expect(late > 80_000)
        #expect(written.count { $0 == 0 } < lost + 2_000)
    }

    private func frames(_ events: [DeviceEvent]) -> (lost: Int, late: Int) {
        events.reduce(into: (lost: 0, late: 0)) { sum, event in
            switch event {
            case .outputLost(let frames): sum.lost += frames
            case .inputLate(let frames): sum.late += frames
            default: break
            }
        }
    }

    @Test("An hour of standing still is not gone through period by period")
    func longStandstill() throws {
        let configuration = SimulatedDeviceConfiguration(pacing: .virtual(start: MonotonicTime(nanoseconds: 0)))
        var clockwork = DuplexClockwork(air: CountingAir(), configuration: configuration)
        let fixture = try PortFixture(Session())
        clockwork.start(
            DevicePorts(capture: fixture.capture, playback: fixture.playback), at: MonotonicTime(nanoseconds: 0))
        let hasBegunAnew = clockwork.catchUp(to: MonotonicTime(nanoseconds: 3_600_000_000_000))
        let (asked, passed, nextWake) = (clockwork.air.asked, clockwork.air.passed, clockwork.nextWake)
        #expect(hasBegunAnew)
        #expect(asked == configuration.periods)
        #expect(passed == 3_600 * 48_000 - configuration.periods * configuration.periodFrames)
        #expect(nextWake > MonotonicTime(nanoseconds: 3_600_000_000_000))
    }
}
