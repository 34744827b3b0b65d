/// Why a ring could not be made.
public enum RingError: Error, Equatable, Sendable {
    /// The kernel gave no memory for the ring (`errno`). Free memory, or raise the limit on memory maps.
    case memoryRefused(errno: Int32)
}

extension RingError: CustomStringConvertible {
    /// Why, in words.
    public var description: String {
        switch self {
        case .memoryRefused(let number): systemReason(number)
        }
    }
}
