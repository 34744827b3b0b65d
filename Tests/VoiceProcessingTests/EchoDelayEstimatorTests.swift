import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("Delay search")
struct EchoDelayEstimatorTests {
    /// Runs the search and returns what is believed after each block.
    private func search(
        _ mic: [Float], _ far: [Float], rate: Int
    ) throws -> [EchoDelayEstimator.Estimate?] {
        var estimator = try EchoDelayEstimator(sampleRate: rate)
        let block = rate / 100
        return (0..<mic.count / block).map { number in
            let range = number * block..<(number + 1) * block
            estimator.run(capture: Array(mic[range]).span, reference: Array(far[range]).span)
            return estimator.estimate
        }
    }

    @Test("finds the delay at every rate", arguments: cases([16_000, 32_000, 48_000]), cases([0.0, 0.04, 0.55]))
    func found(rate: Int, seconds: Double) throws {
        let delay = Int(seconds * Double(rate))
        let far = speech(seconds: 1.8, rate: rate, seed: 31)
        let mic = sum(echo(of: far, rate: rate, delay: delay), noise(seconds: 1.8, rate: rate, seed: 32, level: -60))
        let estimates = try search(mic, far, rate: rate)
        let last = try #require(estimates.last ?? nil)
        // 0.25 ms: four frames of the search.
        #expect(abs(last.delay - delay) <= rate / 4000, "\(last)")
        #expect(last.confidence > 0.3)
    }

    @Test("finds it under a near talker as loud as the echo, and in noise")
    func doubleTalk() throws {
        let far = speech(seconds: 4, rate: 16_000, seed: 33)
        let near = speech(seconds: 4, rate: 16_000, seed: 34, level: -32)
        let mic = sum(
            sum(echo(of: far, rate: 16_000, delay: 1_920), near), noise(seconds: 4, rate: 16_000, seed: 35, level: -50))
        let last = try #require(try search(mic, far, rate: 16_000).last ?? nil)
        #expect(abs(last.delay - 1_920) <= 4)
    }

    @Test("follows a jump within a second")
    func jump() throws {
        let far = speech(seconds: 6, rate: 16_000, seed: 36)
        let before = echo(of: far, rate: 16_000, delay: 640)
        let after = echo(of: far, rate: 16_000, delay: 640 + 1_920)
        let mic = Array(before[..<48_000]) + Array(after[48_000...])
        let estimates = try search(mic, far, rate: 16_000)
        #expect(try abs(#require(estimates[299]).delay - 640) <= 4)
        let recovered = try #require(estimates[300...].firstIndex { abs(($0?.delay ?? 0) - 2_560) <= 4 })
        #expect(recovered < 400, "after \(recovered - 300) blocks")
        #expect(estimates[recovered...].allSatisfy { abs(($0?.delay ?? 0) - 2_560) <= 4 })
    }

    @Test("drops an early guess where there is no echo", arguments: cases(1...6))
    func noEcho(seed: Int) throws {
        let far = speech(seconds: 3, rate: 16_000, seed: UInt64(seed))
        let near = sum(
            speech(seconds: 3, rate: 16_000, seed: UInt64(100 + seed)),
            noise(seconds: 3, rate: 16_000, seed: UInt64(200 + seed), level: -60))
        // Given two talkers who begin together, which may look like an echo for a moment; then not for long.
        #expect(try search(near, far, rate: 16_000)[200...].allSatisfy { $0 == nil }, "seed \(seed)")
    }

    @Test("stays at the first of two arrivals that take turns to be the stronger one", arguments: cases(1...3))
    func arrivals(seed: Int) throws {
        // Given two arrivals 12 ms apart, which take turns every 4 s
        let far = speech(seconds: 16, rate: 16_000, seed: UInt64(seed))
        let early = echo(of: far, rate: 16_000, delay: 1_600)
        let late = echo(of: far, rate: 16_000, delay: 1_792, seed: 7)
        let mic = early.indices.map { index in
            let isLate = !(index / 64_000).isMultiple(of: 2)
            return isLate ? 0.6 * early[index] + late[index] : early[index] + 0.6 * late[index]
        }
        // When, then
        let found = try search(mic, far, rate: 16_000)[100...].map { try #require($0).delay }
        let moves = zip(found, found.dropFirst()).count { abs($0 - $1) > 32 }
        #expect(moves == 0 && abs(found[0] - 1_600) <= 4, "seed \(seed): \(moves) moves, at \(found[0])")
    }

    @Test("does nothing while the far end is silent")
    func silence() throws {
        let near = speech(seconds: 2, rate: 16_000, seed: 40)
        let hiss = noise(seconds: 2, rate: 16_000, seed: 41, level: -75)
        #expect(try search(near, hiss, rate: 16_000).allSatisfy { $0 == nil })
    }

    @Test("a search that is cleared in the middle of a round knows nothing of it")
    func cleared() {
        // Given a search that has found an echo, and has seen it again in half a round
        let sound = noise(seconds: 0.4, rate: 16_000, seed: 42, level: -20)
        var search = LagSearch(memoryBlocks: 50)
        var inputs = SearchInputs()
        var transform = BlockTransform()
        var block = RealVector(count: 160)
        for start in stride(from: 0, to: sound.count, by: 160) {
            block.write(sound.span.extracting(start..<start + 160))
            inputs.prepare(far: block, mic: block, &transform)
            search.add(other: inputs.far, power: inputs.farPower, microphone: inputs.microphone)
            _ = search.look()
        }
        let found = search.peak
        let isRound = search.look()
        // When
        search.clear()
        while !search.look() {}
        // Then
        let left = search.peak
        #expect(found.likeness > 0.1 && !isRound)
        #expect(left.likeness == 0 && left.prominence == 0)
    }
}

@Suite("Fourier transform")
struct FourierTransformTests {
    @Test("agrees with the definition and inverts", arguments: cases([2, 4, 8, 16, 64, 256]))
    func definition(size: Int) {
        var generator = SeededNumbers(seed: UInt64(size))
        let input = (0..<size).map { _ in (Double(generator.normal()), Double(generator.normal())) }
        var real = input.map { Float($0.0) }
        var imaginary = input.map { Float($0.1) }
        var transform = FourierTransform(size: size)
        func run(_ a: inout [Float], _ b: inout [Float]) {
            unsafe a.withUnsafeMutableBufferPointer { a in
                unsafe b.withUnsafeMutableBufferPointer { b in
                    guard let a = a.baseAddress, let b = b.baseAddress else { return }
                    unsafe transform.forward(real: a, imaginary: b)
                }
            }
        }
        run(&real, &imaginary)
        for k in 0..<size {
            var (re, im) = (0.0, 0.0)
            for n in 0..<size {
                let angle = -2 * Double.pi * Double(k * n % size) / Double(size)
                re += input[n].0 * cos(angle) - input[n].1 * sin(angle)
                im += input[n].0 * sin(angle) + input[n].1 * cos(angle)
            }
            #expect(abs(re - Double(real[k])) < 1e-4 * Double(size))
            #expect(abs(im - Double(imaginary[k])) < 1e-4 * Double(size))
        }
        run(&imaginary, &real)
        for n in 0..<size {
            #expect(abs(Double(real[n]) / Double(size) - input[n].0) < 1e-4)
            #expect(abs(Double(imaginary[n]) / Double(size) - input[n].1) < 1e-4)
        }
    }
}
