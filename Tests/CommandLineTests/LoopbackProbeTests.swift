import Testing
import VoiceDevices
import VoiceRealtime
import VoiceSimulation

@testable import duplex

@Suite("Pulses through a device, in virtual time")
struct LoopbackProbeTests {
    /// Runs rounds through a simulated device of `periods` periods of `periodFrames` frames, behind which lies `air`.
    private func rounds(
        _ count: Int, periodFrames: Int, periods: Int, air: LongCable, scale: LoopbackProbe.Scale = .frames,
        seed: UInt64 = 1
    ) throws -> [LoopbackProbe.Outcome] {
        let start = MonotonicTime(nanoseconds: 5_000_000_000)
        var configuration = SimulatedDeviceConfiguration(pacing: .virtual(start: start))
        configuration.periodFrames = periodFrames
        configuration.periods = periods
        let device = try SimulatedDevice(air: air, configuration: configuration)
        let stream = try ProbeStream(device) { _ in }
        var probe = LoopbackProbe(stream, pulse: .wide, scale: scale, settling: 4_800, seed: seed)
        var outcomes: [LoopbackProbe.Outcome] = []
        var now = start
        // Ten minutes are more than any number of rounds here takes.
        while outcomes.count < count, now.nanoseconds < start.nanoseconds + 600_000_000_000 {
            now = now.advanced(byFrames: 480, sampleRate: 48_000)
            device.advance(to: now)
            let outcome = probe.step()
            if outcome != .underWay { outcomes.append(outcome) }
        }
        return outcomes
    }

    private func milliseconds(_ outcomes: [LoopbackProbe.Outcome]) -> [Double] {
        outcomes.compactMap { if case .round(let round) = $0 { round.milliseconds } else { nil } }
    }

    @Test(
        "take the playback buffer and the cable, to a hundredth of a frame",
        arguments: [(120, 2), (240, 2), (480, 2), (160, 5)],
        [0, 1, 777])
    func roundTrip(_ shape: (frames: Int, periods: Int), cable: Int) throws {
        let found = milliseconds(
            try rounds(3, periodFrames: shape.frames, periods: shape.periods, air: LongCable(delayFrames: cable)))
        let expected = Double(shape.frames * shape.periods + cable) / 48
        #expect(found.count == 3)
        #expect(found.allSatisfy { abs($0 - expected) < 0.01 / 48 }, "\(found) for \(expected)")
    }

    @Test("what the device's times do not tell is the cable alone", arguments: [0, 480, 4_800])
    func unreported(cable: Int) throws {
        let outcomes = try rounds(2, periodFrames: 240, periods: 2, air: LongCable(delayFrames: cable), scale: .times)
        let found = milliseconds(outcomes)
        #expect(found.count == 2)
        #expect(found.allSatisfy { abs($0 - Double(cable) / 48) < 0.001 }, "\(found)")
    }

    @Test("are found as faint as the hiss", arguments: 1...3 as ClosedRange<UInt64>)
    func faint(seed: UInt64) throws {
        let air = LongCable(delayFrames: 100, gain: -0.01, hiss: 0.002, seed: seed)
        let found = milliseconds(try rounds(3, periodFrames: 240, periods: 2, air: air, seed: seed))
        #expect(found.count == 3, "seed \(seed)")
        #expect(found.allSatisfy { abs($0 - 580.0 / 48) < 0.02 }, "seed \(seed): \(found)")
    }

    @Test("are not found where nothing comes back, in a hiss or in silence", arguments: [0, 0.01])
    func nothing(hiss: Double) throws {
        let outcomes = try rounds(2, periodFrames: 240, periods: 2, air: LongCable(delayFrames: 0, gain: 0, hiss: hiss))
        #expect(outcomes.count == 2)
        #expect(milliseconds(outcomes).isEmpty)
        #expect(!outcomes.contains(.disturbed))
    }
}

@Suite("What a number of rounds came to")
struct LatencyDistributionTests {
    @Test("percentiles are values that were measured")
    func percentiles() throws {
        let distribution = try #require(LatencyDistribution(milliseconds: (1...20).map(Double.init).shuffled()))
        #expect(distribution.minimum == 1)
        #expect(distribution.median == 10)
        #expect(distribution.percentile(95) == 19)
        #expect(distribution.maximum == 20)
        #expect(try #require(LatencyDistribution(milliseconds: [7])).percentile(95) == 7)
        #expect(LatencyDistribution(milliseconds: []) == nil)
    }

    @Test("the histogram counts every value once")
    func histogram() throws {
        let distribution = try #require(LatencyDistribution(milliseconds: [1, 1, 2, 4.9, 5]))
        let bins = distribution.histogram(bins: 4)
        #expect(bins.map(\.count) == [2, 1, 0, 2])
        #expect(bins.first?.range.lowerBound == 1 && bins.last?.range.upperBound == 5)
        let same = try #require(LatencyDistribution(milliseconds: [3, 3.004, 3]))
        #expect(same.histogram(bins: 4).map(\.count) == [3])
        #expect(same.lines() == ["3.00 ms   ######################################## 3"])
    }

    @Test(
        "numbers keep their digits", arguments: [(0.005, "0.01"), (-0.004, "0.00"), (12.345, "12.35"), (-3, "-3.00")])
    func digits(_ value: Double, text: String) { #expect(value.fixed(2) == text) }

    @Test("a number that has no digit in so many places is told as it is")
    func manyDigits() {
        #expect(1e-30.fixed(31) == "1e-30")
        #expect(0.25.fixed(15) == "0.250000000000000")
    }

    private func tally(found: Int, missed: Int, disturbed: Int = 0) -> LoopbackTally {
        var tally = LoopbackTally(wanted: found + missed)
        for _ in 0..<found { tally.add(LoopbackRound(milliseconds: 5, correlation: -0.9, unreportedMilliseconds: 1)) }
        for _ in 0..<missed { tally.add(LoopbackRound(correlation: 0.1)) }
        for _ in 0..<disturbed { tally.addDisturbed() }
        return tally
    }

    @Test("a pulse that is found seldom is not measured, and never 0 ms")
    func confidence() {
        #expect(tally(found: 5, missed: 5).latency?.median == 5)
        #expect(tally(found: 4, missed: 6).latency == nil)
        #expect(tally(found: 4, missed: 6).unreportedMilliseconds == nil)
        let report = LoopbackReport(
            through: "device", title: "", tally: tally(found: 4, missed: 6), stages: [], failOver: nil)
        #expect(report.p50Ms == nil && report.p95Ms == nil && report.maxMs == nil)
        #expect(report.confidence == 0.4)
        #expect(report.lines.contains { $0.hasPrefix("not measured") })
    }

    @Test("what keeps being disturbed is given up, and what is cut short lacks confidence")
    func disturbed() {
        var cut = LoopbackTally(wanted: 4)
        #expect(!cut.isOver)
        for _ in 0..<5 { cut.addDisturbed() }
        #expect(cut.isOver)
        #expect(cut.latency == nil)
        var short = LoopbackTally(wanted: 4)
        short.add(LoopbackRound(milliseconds: 5, correlation: 1))
        #expect(short.latency == nil)
        // Unless that was wanted.
        short.cutShort()
        #expect(short.latency?.median == 5)
        #expect(short.confidence == 1)
    }
}
