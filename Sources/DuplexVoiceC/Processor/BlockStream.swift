internal import VoiceProcessing
internal import VoiceSignal

/// Sound of any number of frames, channels and of other rates, as blocks of 10 ms that are processed, and back.
///
///     capture ───> mono ─> rate ─> queue ─┐
///                                         ├─> 10 ms: ProcessingChain ─> rate ─> queue ─> output
///     reference ─> mono ─> rate ─> queue ─┘
///
/// As many frames leave as enter. So that the last queue always has them, silence waits in it at first: as much as it
/// ever lacks, which ``rehearse(_:blockFrames:)`` finds by counting. For blocks of `n` frames at a rate that is
/// processed as it is, that is the 10 ms less the largest number that divides both.
///
/// One owner. Nothing is allocated after `init`.
struct BlockStream: ~Copyable {
    private let plan: RatePlan
    private let captureChannels: Int
    private let referenceChannels: Int
    private let period: Int
    /// Frames of silence that the last queue begins with.
    private let prime: Int
    private var chain: ProcessingChain
    private var captured: SampleQueue
    private var played: SampleQueue
    private var processed: SampleQueue
    /// A block of each, and the stretch of the caller's sound that is at work.
    private var capture: FixedArray<Float>
    private var reference: FixedArray<Float>
    private var mono: FixedArray<Float>
    /// What the last block told; nil before the first.
    private(set) var report: ProcessingChain.Report?
    /// Blocks of 10 ms so far.
    private(set) var blocks: UInt64 = 0

    init(
        _ plan: RatePlan, captureChannels: Int, referenceChannels: Int, blockFrames: Int,
        chain: consuming ProcessingChain
    ) throws(Failure) {
        let prime = try Self.rehearse(plan, blockFrames: blockFrames)
        let captured = try SampleQueue(from: plan.outer, to: plan.inner)
        let played = try SampleQueue(from: plan.outer, to: plan.inner)
        var processed = try SampleQueue(from: plan.inner, to: plan.outer)
        processed.appendSilence(prime)
        self.plan = plan
        self.captureChannels = captureChannels
        self.referenceChannels = referenceChannels
        self.prime = prime
        self.chain = chain
        self.captured = captured
        self.played = played
        self.processed = processed
        period = plan.period
        capture = FixedArray(count: plan.block, repeating: 0)
        reference = FixedArray(count: plan.block, repeating: 0)
        mono = FixedArray(count: plan.period, repeating: 0)
    }

    /// The settings that are active, and those that were asked for last.
    var activeSettings: ProcessingSettings { chain.processor.activeSettings }
    var requestedSettings: ProcessingSettings { chain.processor.requestedSettings }
    var failedBlocks: Int { chain.processor.failedBlocks }

    /// Frames of the caller's by which the output lags in the active settings.
    var delay: Int { prime + (chain.processor.processingDelay * plan.outer + plan.inner / 2) / plan.inner }

    /// From the next block on.
    mutating func apply(_ settings: ProcessingSettings) throws(ProcessingError) {
        try chain.processor.apply(settings)
    }

    /// Processes `frames`, a multiple of what `init` was told. `output` may be `capture`: of a stretch all is read
    /// before any is written.
    mutating func run<Sample: PCMSample>(
        capture: UnsafePointer<Sample>, reference: UnsafePointer<Sample>?, output: UnsafeMutablePointer<Sample>,
        frames: Int
    ) {
        var done = 0
        while done < frames {
            let count = min(period, frames - done)
            unsafe mix(capture + done * captureChannels, captureChannels, count)
            captured.append(mono, count: count)
            if let reference = unsafe reference {
                unsafe mix(reference + done * referenceChannels, referenceChannels, count)
            } else {
                mono.fill(0)
            }
            played.append(mono, count: count)
            while captured.count >= plan.block { process() }
            processed.take(count, into: &mono)
            for frame in 0..<count { unsafe output[done + frame] = Sample(unit: mono[frame]) }
            done = done + count
        }
    }

    /// Both queues have been given the same number of frames, so where one has a block the other has.
    private mutating func process() {
        captured.take(plan.block, into: &capture)
        played.take(plan.block, into: &reference)
        report = Self.run(&chain, capture: &capture, reference: reference)
        processed.append(capture, count: plan.block)
        blocks = blocks + 1
    }

    private static func run(
        _ chain: inout ProcessingChain, capture: inout FixedArray<Float>, reference: borrowing FixedArray<Float>
    ) -> ProcessingChain.Report {
        var block = capture.mutableSpan
        return chain.run(capture: &block, reference: reference.span)
    }

    /// The mean of the channels. What is no number would stay in the converters' memories.
    private mutating func mix<Sample: PCMSample>(_ samples: UnsafePointer<Sample>, _ channels: Int, _ frames: Int) {
        let scale = 1 / Float(channels)
        for frame in 0..<frames {
            var sum: Float = 0
            for channel in 0..<channels {
                let value = unsafe samples[frame * channels + channel].unit
                sum += value.isFinite ? max(-Self.bound, min(Self.bound, value)) : 0
            }
            mono[frame] = sum * scale
        }
    }

    /// Beyond full scale by 6 dB is an error of the caller's: as ``CaptureProcessor`` has it.
    private static let bound: Float = 2

    /// The converters' reach is less than one period, and the blocks' pattern is as long as one.
    private static let rehearsedPeriods = 8

    /// How many frames the output may lack at the end of a call, counted over several periods, the converters' reach
    /// included.
    private static func rehearse(_ plan: RatePlan, blockFrames: Int) throws(Failure) -> Int {
        let step = plan.step(blockFrames: blockFrames)
        var waiting = try SampleQueue(from: plan.outer, to: plan.inner)
        var ready = try SampleQueue(from: plan.inner, to: plan.outer)
        var block = FixedArray<Float>(count: plan.block, repeating: 0)
        var sink = FixedArray<Float>(count: SampleQueue.capacity, repeating: 0)
        let silence = FixedArray<Float>(count: step, repeating: 0)
        var (lacking, largest) = (0, 0)
        for _ in 0..<rehearsedPeriods * plan.period / step {
            waiting.append(silence, count: step)
            while waiting.count >= plan.block {
                waiting.take(plan.block, into: &block)
                ready.append(block, count: plan.block)
            }
            // What is ready leaves; what lacks is owed.
            let have = min(ready.count, step + lacking)
            ready.take(have, into: &sink)
            lacking = step + lacking - have
            largest = max(largest, lacking)
        }
        return largest
    }
}
