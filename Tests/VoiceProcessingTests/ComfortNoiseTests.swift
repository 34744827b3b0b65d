import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("Comfort noise")
struct ComfortNoiseTests {
    private static let rate = 16_000
    private static let block = ComfortNoise.block

    /// A suppressor of fixed gains that takes and lets others put back: what ``ResidualEchoSuppressor`` does, in the
    /// least form.
    private struct Suppressor: ~Copyable {
        var comfort: ComfortNoise
        var transform = BlockTransform()
        var window = RealVector(count: BlockTransform.frames)
        var frame = DelayLine(count: BlockTransform.frames)
        var spectrum = Spectrum()
        var gains = RealVector(count: Spectrum.bins)
        var power = RealVector(count: Spectrum.bins)
        var echo = RealVector(count: Spectrum.bins)

        init(level: Float = 1) {
            // Given a window that looks back over 20 ms
            var energy: Float = 0
            for index in 0..<window.count {
                window[index] = sinf(.pi * (Float(index) + 0.5) / Float(window.count))
                energy += window[index] * window[index]
            }
            comfort = ComfortNoise(windowEnergy: energy, level: level)
        }

        /// Runs a signal through; the output is what was added, and `gain(block, bin)` is what is taken to pass. Where an
        /// echo is heard there is no listening, unless `isMostlyEcho` says what of such a block is an echo's.
        mutating func run(
            _ signal: [Float], hearsEcho: (Int) -> Bool = { _ in false }, isMostlyEcho: ((Int) -> Bool)? = nil,
            gain: (Int, Int) -> Float
        ) -> [Float] {
            var output = [Float](repeating: 0, count: signal.count)
            for number in 0..<signal.count / ComfortNoiseTests.block {
                let range = number * ComfortNoiseTests.block..<(number + 1) * ComfortNoiseTests.block
                frame.push(signal.span.extracting(range))
                transform.forward(frame, window: window, into: &spectrum)
                for bin in 0..<Spectrum.bins {
                    gains[bin] = gain(number, bin)
                    power[bin] += 0.15 * (spectrum.power(bin) - power[bin])
                }
                if !hearsEcho(number) {
                    comfort.listen(spectrum)
                } else if let isMostlyEcho {
                    echo.fill(isMostlyEcho(number) ? .infinity : 0)
                    comfort.listen(spectrum, beside: echo)
                }
                comfort.shape(gains: gains, most: power, &transform)
                var all = output.mutableSpan
                var block = all._mutatingExtracting(range)
                comfort.add(to: &block)
            }
            return output
        }
    }

    /// Noise of a colour: white, falling by 6 dB an octave from 300 Hz, or rising to 2 kHz and falling from there.
    private static func room(_ colour: String, seconds: Double, seed: UInt64, level: Float) -> [Float] {
        var (low, lower) = (Float(0), Float(0))
        let hiss = noise(seconds: seconds, rate: rate, seed: seed, level: 0)
        let coloured = hiss.map { value in
            low += 0.12 * (value - low)
            lower += 0.5 * (value - lower)
            return colour == "white" ? value : colour == "low" ? low : lower - low
        }
        return scaled(coloured, to: level)
    }

    /// Level in bands of 500 Hz, dB.
    private static func bands(_ signal: ArraySlice<Float>) -> [Float] {
        var transform = RealTransform(length: 512)
        var frame = RealVector(count: 512)
        var powers = [Float](repeating: 1e-20, count: 16)
        for start in stride(from: signal.startIndex, through: signal.endIndex - 512, by: 256) {
            for index in 0..<512 {
                frame[index] = signal[start + index] * (0.5 - 0.5 * cosf(2 * .pi * Float(index) / 512))
            }
            transform.forward(frame)
            for bin in 1..<256 {
                let (real, imaginary) = (transform.real[bin], transform.imaginary[bin])
                powers[bin / 16] += real * real + imaginary * imaginary
            }
        }
        return powers.map { 10 * log10f($0) }
    }

    @Test(
        "is as loud as the room's noise in each band", arguments: cases(["white", "low", "middle"]),
        cases([Float(-75), -40]))
    func level(colour: String, level: Float) {
        for seed in 1...3 as ClosedRange<UInt64> {
            // Given a room that is heard for 3 s, and then an echo whose suppression takes everything
            let room = Self.room(colour, seconds: 8, seed: seed, level: level)
            var suppressor = Suppressor()
            let output = suppressor.run(room, hearsEcho: { $0 > 300 }) { number, _ in number > 300 ? 0 : 1 }
            // Then there is as much noise as before
            let half = 4 * Self.rate
            for (band, levels) in zip(Self.bands(output[half...]), Self.bands(room[half...])).enumerated() {
                #expect(abs(levels.0 - levels.1) < 2, "seed \(seed), band \(band): \(levels)")
            }
        }
    }

    @Test("adds what is missing where some of the noise passes", arguments: cases([Float(0.3), 0.7, 0.9]))
    func share(gain: Float) {
        let room = Self.room("low", seconds: 6, seed: 4, level: -50)
        var suppressor = Suppressor()
        let output = suppressor.run(room) { _, _ in gain }
        let half = 3 * Self.rate
        let together = zip(output, room).map { $0 + gain * $1 }
        for (mixed, before) in zip(Self.bands(together[half...]), Self.bands(room[half...])) {
            #expect(abs(mixed - before) < 1.5, "\(mixed) \(before)")
        }
    }

    @Test("adds nothing where nothing is taken, and nothing before the room was heard")
    func nothing() {
        let room = Self.room("white", seconds: 3, seed: 5, level: -40)
        var idle = Suppressor()
        #expect(idle.run(room) { _, _ in 1 }.allSatisfy { $0 == 0 })
        var deaf = Suppressor()
        #expect(deaf.run(room, hearsEcho: { $0 > 15 }) { _, _ in 0 }.allSatisfy { $0 == 0 })
    }

    @Test("fills the bins that were taken and no others")
    func selective() {
        let room = Self.room("white", seconds: 6, seed: 6, level: -50)
        var suppressor = Suppressor()
        let output = suppressor.run(room) { _, bin in bin < 60 ? 0 : 1 }
        let bands = Self.bands(output[(3 * Self.rate)...])
        #expect((bands[0..<5].min() ?? 0) > (bands[8...].max() ?? 0) + 40, "\(bands)")
    }

    @Test("does not sing and does not pump: it is as steady as noise is")
    func stationary() {
        let room = Self.room("low", seconds: 8, seed: 7, level: -50)
        var suppressor = Suppressor()
        let output = suppressor.run(room, hearsEcho: { $0 > 300 }) { number, _ in number > 300 ? 0.05 : 1 }
        /// Kurtosis of short spectra's power within each bin: 2 for noise, whose power is exponential; isolated tones
        /// and a level that moves raise it.
        func peakiness(_ signal: ArraySlice<Float>) -> Float {
            var transform = RealTransform(length: 512)
            var frame = RealVector(count: 512)
            var (squares, fourths) = ([Float](repeating: 0, count: 257), [Float](repeating: 0, count: 257))
            var count: Float = 0
            for start in stride(from: signal.startIndex, through: signal.endIndex - 512, by: 256) {
                for index in 0..<512 { frame[index] = signal[start + index] * 1e3 }
                transform.forward(frame)
                count += 1
                for bin in 10..<240 {
                    let power =
                        transform.real[bin] * transform.real[bin] + transform.imaginary[bin] * transform.imaginary[bin]
                    squares[bin] += power
                    fourths[bin] += power * power
                }
            }
            return (10..<240).map { count * fourths[$0] / (squares[$0] * squares[$0]) }.reduce(0, +) / 230
        }
        let half = 4 * Self.rate
        #expect(abs(peakiness(output[half...]) - peakiness(room[half...])) < 0.15)
    }

    @Test("a talker in the room is not taken for it")
    func talker() {
        for seed in cases(1...4 as ClosedRange<UInt64>) {
            // Given a room in which somebody talks while it is learned, 25 dB louder
            let room = Self.room("low", seconds: 14, seed: 10 + seed, level: -55)
            let talk = speech(seconds: 10, rate: Self.rate, seed: seed, level: -30)
            let echo = noise(seconds: 4, rate: Self.rate, seed: 30 + seed, level: -30)
            let heard = sum(room, talk + echo)
            var suppressor = Suppressor()
            let output = suppressor.run(heard, hearsEcho: { $0 > 1000 }) { number, _ in number > 1000 ? 0 : 1 }
            // Then what is added while the far end is heard is the room's noise and little more
            let end = 11 * Self.rate
            let excess = rms(output[end...]) - rms(room[end...])
            // Measured: up to 5.5 dB, as it was learned up to the last word; the mean of what was heard lies 20 above
            #expect((-2...6.5).contains(excess), "seed \(seed): \(excess) dB")
        }
    }

    @Test("hears the room beside a far end that is never silent", arguments: cases([Float(-75), -40]))
    func beside(level: Float) {
        for seed in 1...3 as ClosedRange<UInt64> {
            // Given a room, and a far end that always plays and is hardly heard
            let room = Self.room("low", seconds: 8, seed: 40 + seed, level: level)
            var suppressor = Suppressor()
            // When everything is taken from 3 s on
            let output = suppressor.run(room, hearsEcho: { _ in true }, isMostlyEcho: { _ in false }) { number, _ in
                number > 300 ? 0 : 1
            }
            // Then there is as much noise as before
            let half = 4 * Self.rate
            for (band, levels) in zip(Self.bands(output[half...]), Self.bands(room[half...])).enumerated() {
                #expect(abs(levels.0 - levels.1) < 2, "seed \(seed), band \(band): \(levels)")
            }
        }
    }

    @Test("an echo is not taken for the room's noise")
    func echo() {
        for seed in 1...3 as ClosedRange<UInt64> {
            // Given a room, and 25 dB louder an echo in the first of each two half seconds, that begins before the room
            // was ever heard alone, and from 6 s on does not end
            let room = Self.room("low", seconds: 10, seed: 50 + seed, level: -55)
            let loud = noise(seconds: 10, rate: Self.rate, seed: 60 + seed, level: -30)
            func isEchoing(_ block: Int) -> Bool { block % 100 < 50 || block > 600 }
            let heard = sum(room, loud.enumerated().map { isEchoing($0.offset / Self.block) ? $0.element : 0 })
            // When it is known what may be an echo, to the block after it
            var suppressor = Suppressor()
            let output = suppressor.run(
                heard, hearsEcho: { _ in true }, isMostlyEcho: { isEchoing($0) || isEchoing(max(0, $0 - 1)) }
            ) { _, _ in 0 }
            // Then what is added is the room's noise or less
            let pauses = rms(output[4 * Self.rate..<6 * Self.rate]) - rms(room[4 * Self.rate..<6 * Self.rate])
            #expect((-6...2).contains(pauses), "seed \(seed): \(pauses) dB")
            let end = rms(output[(8 * Self.rate)...]) - rms(room[(8 * Self.rate)...])
            #expect((-6...2).contains(end), "seed \(seed): \(end) dB")
        }
    }

    @Test("is never more than what is left of the microphone")
    func bounded() {
        // Given a room whose noise has ceased while the far end was heard
        let room = Self.room("white", seconds: 6, seed: 8, level: -40)
        let heard = room.enumerated().map { $0.offset < 3 * Self.rate ? $0.element : 0.1 * $0.element }
        var suppressor = Suppressor()
        let output = suppressor.run(heard, hearsEcho: { $0 > 200 }) { number, _ in number > 200 ? 0 : 1 }
        #expect(abs(rms(output[(4 * Self.rate)...]) + 60) < 1.5)
    }

    @Test("is scaled as asked, and the same in every run")
    func repeatable() {
        let room = Self.room("low", seconds: 5, seed: 9, level: -50)
        var one = Suppressor()
        var other = Suppressor()
        var softer = Suppressor(level: 0.5)
        let full = one.run(room) { _, _ in 0 }
        let again = other.run(room) { _, _ in 0 }
        let isSame = full == again
        #expect(isSame)
        let half = softer.run(room) { _, _ in 0 }
        #expect(abs(rms(full[Self.rate...]) - rms(half[Self.rate...]) - 6.02) < 0.01)
    }
}
