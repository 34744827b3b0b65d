/// Opens and closes the microphone's way out, so that the first word is whole, and the last.
///
///     closed: block ─► delay line of the pre-roll ─► not sent
///     open:            the delay line, up to four times as fast as it came ─► sent; then each block at once
///     closing: what is in the delay line and one block more ─► sent; silence in place of what fills the packets
///
/// Every block goes through it once, in order. What is sent begins and ends with a fade of 5 ms. The silence fills the
/// packet in which the fade ends, and those of ``PacketSender/usualRestFrames`` behind it: what comes behind the
/// pre-roll would come late. All memory is allocated in `init`; where the gate was never closed, nothing is copied.
struct TalkGate: ~Copyable {
    /// The longest pre-roll, 500 ms at 48 kHz, and a block.
    static let capacityFrames = 24_480
    /// Blocks given for each that comes while the delay line empties: work for each block is bounded.
    private static let mostBlocks = 4
    /// 5 ms at 48 kHz.
    private static let fadeFrames = 240

    private enum State: BitwiseCopyable {
        case closed
        case open
        /// Open for so many more blocks, the last of them as silence.
        case closing(Int)
    }

    private let blockFrames: Int
    /// Blocks of silence with which it closes.
    private var restBlocks = 0
    private var line: BlockLine
    private var state = State.open
    /// Whether the block before was sent, and not as silence.
    private var wasSent = true
    private var preRoll = 0
    private var allowance = 0

    /// A gate for blocks of this length, open.
    init(blockFrames: Int) {
        self.blockFrames = blockFrames
        line = BlockLine(blockFrames: blockFrames, capacity: Self.capacityFrames / blockFrames)
    }

    /// Whether blocks may go by without it.
    var isPassing: Bool {
        if case .open = state { line.count == 0 && wasSent } else { false }
    }

    /// Sends from now on what was kept, as far as that is kept now.
    mutating func open() { state = .open }

    /// Sends nothing more after what has come and the next block, with which it fades out, but silence in place of those
    /// behind it, and keeps so many frames for the next opening, at most 500 ms.
    ///
    /// - Parameter packetFrames: of the packets that are sent.
    mutating func close(keeping frames: Int, packetFrames: Int) {
        preRoll = min(max(frames, 0) / blockFrames, line.capacity - 1)
        if case .closing = state { return }
        // Wherever in its packet the fade ends.
        let rest = max(packetFrames - blockFrames, 0) + max(packetFrames, PacketSender.usualRestFrames)
        restBlocks = rest / blockFrames
        state = wasSent ? .closing(line.count + 1 + restBlocks) : .closed
    }

    /// Takes the next block.
    mutating func insert(_ block: Span<Float>, _ moment: BlockMoment) {
        // There is room: `next` leaves at most the pre-roll while it is closed, and while it is open the line empties.
        line.append(block, moment)
        allowance = Self.mostBlocks
    }

    /// Gives the next block that is due, and whether it is sent; nil where none is until the next is inserted.
    mutating func next(into block: inout MutableSpan<Float>) -> BlockMoment? {
        guard line.count > 0 else { return nil }
        var (isSent, isLast, isRest) = (true, false, false)
        switch state {
        case .closed:
            guard line.count > preRoll else { return nil }
            isSent = false
        case .open:
            guard allowance > 0 else { return nil }
        case .closing(let left):
            guard allowance > 0 else { return nil }
            (isLast, isRest) = (left == restBlocks + 1, left <= restBlocks)
            state = left <= 1 ? .closed : .closing(left - 1)
        }
        var moment = line.takeFirst(into: &block)
        allowance -= 1
        (moment.isSent, moment.isRest) = (isSent, isRest)
        if isRest {
            for index in block.indices { block[index] = 0 }
            (moment.level, moment.hasVoice, moment.isAudible) = (-127, false, false)
        } else if isSent && !wasSent {
            Self.fade(&block, isIn: true)
        }
        if isLast { Self.fade(&block, isIn: false) }
        wasSent = isSent && !isLast && !isRest
        return moment
    }

    private static func fade(_ block: inout MutableSpan<Float>, isIn: Bool) {
        let frames = min(fadeFrames, block.count)
        for index in 0..<frames {
            let gain = (Float(index) + 0.5) / Float(frames)
            block[isIn ? index : block.count - 1 - index] *= gain
        }
    }
}
