internal import VoiceEngine
internal import VoiceRealtime
internal import VoiceSignal

/// Sound on its way from a block to what may be slow: written by ``GraphNode/process(_:into:)``, read by
/// ``DrainingNode/drain(waits:)``, at another rate where that is wanted.
///
/// Holds 4 s at least. Overflow: the newest is dropped and counted, and silence stands in for it, so that positions
/// stay right.
final class SideSound {
    /// Seconds that wait for a slow reader: as long as a recogniser or a disk may take now and then.
    private static let seconds = 4

    private let producer: OwnedMemory<FrameProducer>
    private var consumer: FrameConsumer
    private var converter: RateConverter?
    private let inputRate: Int
    private let outputRate: Int
    /// Frames that did not fit, and of these those for which silence was given.
    private var lost = 0
    private var replaced = 0
    /// Frames taken from the ring or replaced, and frames made of them.
    private var taken = 0
    private var made = 0

    /// - Parameters:
    ///   - settings: of the node; their rate is what is written.
    ///   - rate: what is read.
    init(_ settings: NodeSettings, rate: Int? = nil) throws(GraphError) {
        inputRate = settings.sampleRate
        outputRate = rate ?? settings.sampleRate
        let ring: FrameRing
        do throws(RingError) {
            ring = try FrameRing(
                minimumCapacity: max(Self.seconds * inputRate, 2 * settings.bufferSize), sampleRate: inputRate)
        } catch {
            throw GraphError(node: settings.id, "there is no memory for its sound: \(error)")
        }
        producer = OwnedMemory(ring.producer)
        consumer = ring.consumer
        guard inputRate != outputRate else { return }
        do throws(RateConverterError) {
            converter = try RateConverter(inputRate: inputRate, outputRate: outputRate)
        } catch {
            throw GraphError(node: settings.id, field: "sampleRate", "\(error)")
        }
    }

    /// Frames that were dropped.
    var droppedFrames: Int { lost }

    /// Takes a block. Allocates nothing.
    func write(_ sound: Span<Float>) {
        let taken = producer.value.write(sound, time: MonotonicTime(nanoseconds: 0))
        if taken < sound.count { lost += sound.count - taken }
    }

    /// Gives all that is there to `take`, in pieces. Allocates.
    func read(_ take: ([Float]) -> Void) {
        while producer.value.fill > 0 {
            var piece = [Float](repeating: 0, count: min(producer.value.fill, inputRate))
            var span = piece.mutableSpan
            let count = consumer.read(into: &span)
            give(Array(piece.prefix(count)), take)
        }
        let missing = lost - replaced
        guard missing > 0 else { return }
        replaced = lost
        give([Float](repeating: 0, count: missing), take)
    }

    /// Gives what a converter still holds back, so that what was read is as long as what was written.
    func finish(_ take: ([Float]) -> Void) {
        read(take)
        guard converter != nil else { return }
        while made < wanted {
            let before = made
            give([Float](repeating: 0, count: inputRate / 10), isReal: false, take)
            if made == before { break }
        }
    }

    private var wanted: Int { (taken * outputRate + inputRate - 1) / inputRate }

    private func give(_ sound: [Float], isReal: Bool = true, _ take: ([Float]) -> Void) {
        if isReal { taken += sound.count }
        guard converter != nil else {
            made += sound.count
            return take(sound)
        }
        let room =
            isReal
            ? sound.count * outputRate / inputRate + 64 : min(wanted - made, sound.count * outputRate / inputRate + 64)
        let output = unsafe [Float](unsafeUninitializedCapacity: max(0, room)) { output, filled in
            filled = unsafe sound.withUnsafeBufferPointer { input in
                guard let from = input.baseAddress, let to = output.baseAddress else { return 0 }
                return unsafe converter?.process(from, input.count, to, room).produced ?? 0
            }
        }
        made += output.count
        if !output.isEmpty { take(output) }
    }
}
