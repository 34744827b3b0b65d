internal import VoiceRealtime

/// Whether a thread's allocations are counted and are the code's own: the counter is linked, and the code is optimised.
/// Unoptimised generic code of the standard library allocates by nature: metadata, the indices of the ranges that are
/// walked.
public var areAllocationsCounted: Bool {
    #if DEBUG
        false
    #else
        RealtimeWatch.allocations != nil
    #endif
}
