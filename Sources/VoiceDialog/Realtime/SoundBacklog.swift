/// Sound that was received and waits to be taken, in order.
struct SoundBacklog: Sendable {
    private var samples: [Int16] = []
    private var taken = 0

    var count: Int { samples.count - taken }

    mutating func append(_ more: [Int16]) { samples += more }

    mutating func take(_ limit: Int) -> [Int16] {
        let end = min(samples.count, taken + limit)
        let part = Array(samples[taken..<end])
        taken = end
        // Moves the rest at most once for each sample that it holds.
        if taken * 2 >= samples.count {
            samples.removeFirst(taken)
            taken = 0
        }
        return part
    }

    mutating func clear() { self = SoundBacklog() }
}
