import Glibc
import TestCases
import Testing
import VoiceProcessing

@Suite("Whether the reference is what was played")
struct ReferenceIntegrityTests {
    private static let rate = 16_000

    /// What was told, when, in seconds, and what came out.
    private struct Told {
        var changes: [(time: Double, change: ReferenceIntegrity.Change)] = []
        var last = ReferenceIntegrity()
        var output: [Float] = []

        init(microphone: [Float], reference: [Float]) throws {
            let processor = try ProcessingBackend.native.makeProcessor(
                sampleRate: rate, settings: ProcessingSettings(echo: .soft))
            let run = ProcessorRun(processor, capture: microphone, reference: reference)
            output = run.output
            for (index, report) in run.reports.enumerated() {
                let now = try #require(report.referenceIntegrity)
                now.forEachChange(since: last) { changes.append((Double(index + 1) / 100, $0)) }
                last = now
            }
        }

        var gains: [Float] {
            changes.compactMap { if case .gainChanged(let decibels) = $0.change { decibels } else { nil } }
        }
        var shifts: [Duration] {
            changes.compactMap { if case .shifted(let shift) = $0.change { shift } else { nil } }
        }
    }

    /// An echo from `delay` on, louder by `step` dB after 5 s, and from `laterDelay` on after 6 s; a near end of
    /// `nearLevel` dBFS from 3 s on.
    private static func call(
        seconds: Double = 10, delay: Int = 640, laterDelay: Int? = nil, step: Float = 0, nearLevel: Float? = nil,
        bend: Float = 0, seed: UInt64
    ) -> (microphone: [Float], reference: [Float]) {
        let far = speech(seconds: seconds, rate: rate, seed: seed)
        // A loudspeaker that saturates
        let driven = bend > 0 ? scaled(far.map { tanhf(bend * $0) }, to: rms(far)) : far
        var heard = echo(of: driven, rate: rate, delay: delay, returnLoss: 12, seed: seed + 1)
        for index in heard.indices.dropFirst(5 * rate) { heard[index] *= powf(10, step / 20) }
        if let laterDelay {
            let late = echo(of: driven, rate: rate, delay: laterDelay, returnLoss: 12, seed: seed + 1)
            heard.replaceSubrange((6 * rate)..., with: late[(6 * rate)...])
        }
        var microphone = sum(heard, noise(seconds: seconds, rate: rate, seed: seed + 2, level: -75))
        if let nearLevel {
            let near = speech(seconds: seconds, rate: rate, seed: seed + 3, level: nearLevel)
            for index in microphone.indices.dropFirst(3 * rate) { microphone[index] += near[index] }
        }
        return (microphone, far)
    }

    @Test(
        "a volume control behind the reference is followed and told once",
        arguments: cases([-8.0, -3, 3, 6] as [Float]))
    func gain(decibels: Float) throws {
        let (microphone, reference) = Self.call(seconds: 8, step: decibels, seed: 481)
        let told = try Told(microphone: microphone, reference: reference)
        let after = (5 * Self.rate + 3 * Self.rate / 10)..<(6 * Self.rate)
        #expect(rms(microphone[after]) - rms(told.output[after]) > 20)
        #expect(told.changes.count == 1)
        #expect(abs(try #require(told.gains.first) - decibels) < 1)
        #expect(told.last.lastGainChange == told.gains.first)
        #expect((5...7).contains(try #require(told.changes.first).time))
    }

    @Test("and while both talk", arguments: cases([-6.0, 6] as [Float]))
    func gainWhileBothTalk(decibels: Float) throws {
        let (microphone, reference) = Self.call(seconds: 14, step: decibels, nearLevel: -38, seed: 501)
        let told = try Told(microphone: microphone, reference: reference)
        #expect(told.changes.count == 1)
        #expect(abs(try #require(told.gains.first) - decibels) < 1)
    }

    @Test("a loudspeaker that saturates and a talker who interrupts are no such changes", arguments: cases(0..<3))
    func nothing(seed: UInt64) throws {
        let quiet = Self.call(bend: 6, seed: 510 + 10 * UInt64(seed))
        let talking = Self.call(nearLevel: -32, bend: 3, seed: 511 + 10 * UInt64(seed))
        for (microphone, reference) in [quiet, talking] {
            let told = try Told(microphone: microphone, reference: reference)
            #expect(told.changes.isEmpty, "\(told.changes)")
            #expect(told.last.gaps == 0 && told.last.gainChanges == 0 && told.last.shifts == 0)
        }
    }

    @Test("a delay that jumps is told once, with by how much", arguments: cases([(640, 1_920), (1_920, 640)]))
    func shift(from: Int, to: Int) throws {
        let (microphone, reference) = Self.call(delay: from, laterDelay: to, seed: 541)
        let told = try Told(microphone: microphone, reference: reference)
        #expect(told.changes.count == 1)
        let expected = Double(to - from) / Double(Self.rate)
        #expect(abs(try #require(told.shifts.first) / .seconds(1) - expected) < 0.001)
        #expect(told.last.lastShift == told.shifts.first)
    }

    @Test("a reference with a hole is told, and 5 s later no more")
    func gap() throws {
        let (microphone, played) = Self.call(delay: 320, seed: 491)
        var reference = played
        let loud = loudest(Array(reference[..<(4 * Self.rate)]), length: 1_600)
        let first = (loud.lowerBound / 160 + 3) * 160
        for index in first..<first + 320 { reference[index] = 0 }
        let told = try Told(microphone: microphone, reference: reference)
        #expect(told.changes.map(\.change) == [.began(.gaps), .ended(.gaps)])
        #expect(told.last.gaps == 1)
        let (began, ended) = (told.changes[0].time, told.changes[1].time)
        #expect(abs(began - Double(first) / 16_000) < 0.05)
        #expect(abs(ended - began - 5) < 0.02)
    }

    @Test("a clipped reference is told, and no more when it is softer again")
    func clipping() throws {
        let (microphone, played) = Self.call(seed: 561)
        var reference = played
        for index in 0..<(4 * Self.rate) { reference[index] = max(-1, min(1, 60 * reference[index])) }
        for index in (4 * Self.rate)..<reference.count { reference[index] *= 0.5 }
        let told = try Told(microphone: microphone, reference: reference)
        let clipping = told.changes.map(\.change).filter { $0 == .began(.clipping) || $0 == .ended(.clipping) }
        #expect(clipping == [.began(.clipping), .ended(.clipping)])
        #expect(told.last.clippedShare < 0.003 && !told.last.isClipped)
    }

    @Test("a reference that comes no earlier than its echo is told")
    func lateness() throws {
        let (microphone, reference) = Self.call(seconds: 4, delay: 0, seed: 491)
        let told = try Told(microphone: microphone, reference: reference)
        #expect(told.changes.map(\.change) == [.began(.lateness)])
        #expect(told.last.isLate)
    }
}
