internal import VoicePartner
internal import VoiceSignal

/// Sound as recognisers take it, from 16-bit samples of another rate.
struct RecogniserSound: ~Copyable {
    /// Hz.
    static let rate = 16_000
    /// How much is handed over at once: 100 ms.
    static let portion = 1_600

    private var converter: RateConverter?
    private let ratio: Double

    init(rate: Int) throws(PartnerError) {
        ratio = Double(Self.rate) / Double(rate)
        guard rate != Self.rate else { return }
        do throws(RateConverterError) {
            converter = try RateConverter(inputRate: rate, outputRate: Self.rate)
        } catch {
            throw .recogniserFailed("\(error)")
        }
    }

    mutating func convert(_ samples: [Int16]) -> [Float] {
        let input = samples.map(Float.init(fullScale:))
        return converter?.converted(input, ratio: ratio) ?? input
    }

    /// A whole turn, in portions.
    static func portions(of samples: [Int16], rate: Int) throws(PartnerError) -> [[Float]] {
        var converter = try RecogniserSound(rate: rate)
        let all = converter.convert(samples)
        return stride(from: 0, to: all.count, by: portion).map { Array(all[$0..<min($0 + portion, all.count)]) }
    }
}

extension RateConverter {
    /// All that can be had of the output with this much more input.
    mutating func converted(_ input: [Float], ratio: Double) -> [Float] {
        guard !input.isEmpty else { return [] }
        let room = Int(Double(input.count) * ratio) + 64
        return unsafe [Float](unsafeUninitializedCapacity: room) { output, filled in
            filled = unsafe input.withUnsafeBufferPointer { input in
                guard let from = input.baseAddress, let to = output.baseAddress else { return 0 }
                return unsafe process(from, input.count, to, room).produced
            }
        }
    }
}
