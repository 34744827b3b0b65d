/// What ``ProcessingSettings/EchoSuppression/auto`` stands for: as much suppression as the filter alone leaves need
/// for.
struct SuppressionChoice {
    /// Enhancement by the filter alone, dB, below which there is need for more than the least, and for the most.
    private static let needed: (medium: Float, aggressive: Float) = (10, 5)
    /// By how many dB it must be better for less again.
    private static let margin: Float = 2

    private(set) var level = ProcessingSettings.EchoSuppression.soft

    /// Takes what is known of the filter; nil: nothing yet.
    mutating func observe(filterEnhancement: Float?) {
        guard let gained = filterEnhancement else { return }
        let (medium, aggressive) = Self.needed
        switch level {
        case .aggressive where gained < aggressive + Self.margin: break
        case .medium where gained >= aggressive && gained < medium + Self.margin: break
        default: level = gained < aggressive ? .aggressive : gained < medium ? .medium : .soft
        }
    }
}
