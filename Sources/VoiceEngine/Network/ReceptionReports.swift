internal import VoiceWire

/// What this engine has to say of the talkers that it hears, collected for one report. A value of fixed size.
struct ReceptionReports: BitwiseCopyable, Sendable {
    private static let nothing = ReportBlock(
        synchronizationSource: 0, fractionLost: 0, cumulativeLost: 0, extendedHighestSequenceNumber: 0,
        interarrivalJitter: 0)

    private(set) var count = 0
    private(set) var blocks = InlineArray<16, ReportBlock>(repeating: nothing)
    private(set) var patterns = InlineArray<16, LossPattern>(repeating: LossPattern(firstSequenceNumber: 0))

    /// Adds a talker; what exceeds the most streams is left out.
    mutating func append(_ block: ReportBlock, _ pattern: LossPattern?) {
        guard count < blocks.count else { return }
        blocks[count] = block
        patterns[count] = pattern ?? LossPattern(firstSequenceNumber: 0)
        count += 1
    }
}
