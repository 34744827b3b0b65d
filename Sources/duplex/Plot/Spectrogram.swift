import Glibc
import VoiceSignal
import VoiceSimulation

/// How loud a sound is at each time and frequency, as a picture.
struct Spectrogram {
    /// How long the sound is.
    let seconds: Double
    /// The highest frequency shown.
    let highestKilohertz: Double
    /// dBFS of a sine, by column (time) and row (frequency, from the lowest).
    private(set) var columns: [[Float]] = []

    /// Samples per transform: 21 ms at 48 kHz, between the pitch and the sounds of speech.
    private static let window = 1_024
    /// More columns are not seen.
    private static let mostColumns = 900
    /// The range of the colours, in dBFS.
    private static let colors: ClosedRange<Float> = -110 ... -20

    /// The spectrogram of `samples` at `sampleRate`, up to `highestHertz`. Allocates; takes about 10 ms.
    init(of samples: Span<Float>, sampleRate: Double, highestHertz: Double = 12_000) {
        seconds = Double(samples.count) / sampleRate
        let highest = min(highestHertz, sampleRate / 2)
        highestKilohertz = highest / 1_000
        let rows = max(Int(highest / sampleRate * Double(Self.window)), 1)
        let step = max(Self.window / 4, samples.count / Self.mostColumns)
        var transform = RealTransform(length: Self.window)
        // Hann's window, scaled so that a sine of amplitude 1 has a peak of 1.
        let length = Double(Self.window)
        let shape = (0..<Self.window).map { index -> Float in
            let hann = 0.5 - 0.5 * cos(2 * .pi * (Double(index) + 0.5) / length)
            return Float(hann * 4 / length)
        }
        for start in stride(from: 0, to: max(samples.count - Self.window, 1), by: step) {
            columns.append(Self.column(samples, start, shape, rows, &transform))
        }
    }

    private static func column(
        _ samples: Span<Float>, _ start: Int, _ shape: [Float], _ rows: Int, _ transform: inout RealTransform
    ) -> [Float] {
        let block = shape.indices.map { start + $0 < samples.count ? samples[start + $0] * shape[$0] : 0 }
        let (real, imaginary) = transform.spectrum(of: block.span)
        return (0..<rows).map { row in
            // In this order what is no number is drawn as silence.
            10 * log10(max(1e-20, real[row] * real[row] + imaginary[row] * imaginary[row]))
        }
    }

    /// The picture: time to the right, low frequencies below.
    var png: [UInt8] {
        guard let rows = columns.first?.count else {
            return PNG.encode(width: 1, height: 1, pixels: [0], palette: Self.palette)
        }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(rows * columns.count)
        let extent = Self.colors.upperBound - Self.colors.lowerBound
        for row in (0..<rows).reversed() {
            for column in columns {
                let part = (column[row] - Self.colors.lowerBound) / extent
                pixels.append(UInt8(min(max(part, 0), 1) * 255))
            }
        }
        return PNG.encode(width: columns.count, height: rows, pixels: pixels, palette: Self.palette)
    }

    /// From black through violet and orange to pale yellow, each colour lighter than the one before.
    private static let palette: [(red: UInt8, green: UInt8, blue: UInt8)] = {
        let stops: [(Double, Double, Double)] = [
            (0, 0, 10), (70, 10, 100), (180, 40, 90), (245, 130, 30), (255, 250, 180),
        ]
        return (0..<256).map { index in
            let place = Double(index) / 255 * Double(stops.count - 1)
            let low = min(Int(place), stops.count - 2)
            let part = place - Double(low)
            func mix(_ a: Double, _ b: Double) -> UInt8 { UInt8(a + (b - a) * part) }
            let (a, b) = (stops[low], stops[low + 1])
            return (mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
        }
    }()
}
