internal import VoiceRealtime

/// A stage of the sound's way, as a recording tells them apart.
package struct Stage: BitwiseCopyable, Hashable, Sendable {
    /// A participant's number; a ``SoundPoint`` behind all of those; or one of the two below.
    let code: UInt64

    /// A point of the way.
    package static func point(_ point: SoundPoint) -> Stage { Stage(source: .point(point)) }
    /// What a participant says, decoded, before its volume.
    package static func participant(_ number: UInt32) -> Stage { Stage(source: .participant(number)) }
    /// What is given to the playback thread: the mix at the device's own pace.
    package static let playout = Stage(code: 2 << 32)
    /// The packets that are handed to the network, before they are protected.
    package static let packets = Stage(code: 2 << 32 | 1)

    init(source: SinkSource) { code = source.code }

    init(code: UInt64) { self.code = code }

    /// What files of it are named.
    package var name: String {
        for point in SoundPoint.allCases where self == .point(point) { return "\(point)" }
        if self == .playout { return "playout" }
        if self == .packets { return "packets" }
        return "participant-\(code)"
    }
}

/// What has passed a stage so far: how much, and a digest of every bit.
package struct StageDigest: BitwiseCopyable, Equatable, Sendable {
    package var stage: Stage
    package var hash: UInt64 = 0x6A09_E667_F3BC_C908
    /// Frames, or bytes of packets.
    package var count: Int64 = 0

    init(_ stage: Stage) { self.stage = stage }

    /// Odd, its bits evenly mixed: the golden ratio of 64 bits (Knuth, The Art of Computer Programming, volume 3,
    /// section 6.4).
    private static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Four independent lanes of eight bytes, since one multiplication waits for the one before; then the bytes that
    /// are left. It finds accidents, not forgeries.
    mutating func take(_ bytes: RawSpan) {
        var lanes = SIMD4<UInt64>(hash, hash ^ 1, hash ^ 2, hash ^ 3)
        let size = bytes.byteCount
        var offset = 0
        while offset &+ 32 <= size {
            let next = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: SIMD4<UInt64>.self)
            lanes = (lanes ^ next) &* SIMD4(repeating: Self.multiplier)
            lanes ^= lanes &>> SIMD4(repeating: 29)
            offset &+= 32
        }
        var sum = lanes[0]
        for lane in 1..<4 { sum = Self.mix(sum, lanes[lane]) }
        while offset < size {
            sum = Self.mix(sum, UInt64(unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)))
            offset &+= 1
        }
        hash = Self.mix(sum, UInt64(size))
    }

    private static func mix(_ sum: UInt64, _ next: UInt64) -> UInt64 {
        let product = (sum ^ next) &* multiplier
        return product ^ product &>> 32
    }
}

/// Listens at every stage at which sound passes, for a recording's digests or for a replay: the one place where both
/// are taken.
///
/// The memory is the owner's; the media thread alone uses it.
@safe
struct StageWatch: BitwiseCopyable, @unchecked Sendable {
    /// Whoever wants the sound itself; in a replay.
    typealias Listener = (Stage, Span<Float>) -> Void

    /// The points, the two other stages, and as many talkers as are played at a time; who comes later than those is not
    /// digested.
    static let maximumStages = 24

    private struct Table {
        var digests = InlineArray<24, StageDigest>(repeating: StageDigest(.playout))
        var count = 0
        var listener: Listener?
    }

    private let table: UnsafeMutablePointer<Table>

    static func make() -> StageWatch {
        let table = UnsafeMutablePointer<Table>.allocate(capacity: 1)
        unsafe table.initialize(to: Table())
        return unsafe StageWatch(table: table)
    }

    private init(table: UnsafeMutablePointer<Table>) { unsafe self.table = table }

    func free() {
        unsafe table.deinitialize(count: 1)
        unsafe table.deallocate()
    }

    /// Has `listener` be given what passes. Not real-time safe.
    func listen(_ listener: @escaping Listener) { unsafe table.pointee.listener = listener }

    /// How many stages anything has passed.
    var count: Int { unsafe table.pointee.count }

    subscript(index: Int) -> StageDigest { unsafe table.pointee.digests[index] }

    /// Takes sound that passes a stage.
    func hear(_ stage: Stage, _ frames: Span<Float>) {
        unsafe digest(stage, frames.bytes, count: frames.count)
        if let listener = unsafe table.pointee.listener { listener(stage, frames) }
    }

    /// Takes a packet that is about to be handed to the network.
    func send(_ packet: Span<UInt8>) { unsafe digest(.packets, packet.bytes, count: packet.count) }

    private func digest(_ stage: Stage, _ bytes: RawSpan, count: Int) {
        let known = unsafe table.pointee.count
        for index in 0..<known where unsafe table.pointee.digests[index].stage == stage {
            unsafe table.pointee.digests[index].take(bytes)
            unsafe table.pointee.digests[index].count &+= Int64(count)
            return
        }
        guard known < Self.maximumStages else { return }
        unsafe table.pointee.digests[known] = StageDigest(stage)
        unsafe table.pointee.digests[known].take(bytes)
        unsafe table.pointee.digests[known].count = Int64(count)
        unsafe table.pointee.count = known + 1
    }
}
