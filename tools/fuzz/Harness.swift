import Glibc

@_silgen_name("fuzz_edges") private func edges() -> UInt64
@_silgen_name("fuzz_reward") private func reward(_ cost: UInt64)

/// The most work that one input may cause, in edges of the control flow: the same on every machine.
///
/// Of code of this project alone; what the system's libraries do is not counted. A limit has room for what is known,
/// and is far below what work that grows with a gap, a room or a count from the wire would take. libFuzzer calls from
/// one thread.
final class Budget: @unchecked Sendable {
    let name: String
    private let limit: UInt64
    private var worst: UInt64 = 0
    nonisolated(unsafe) private static var all: [Budget] = []

    init(_ name: String, limit: UInt64) {
        (self.name, self.limit) = (name, limit)
        if unsafe Budget.all.isEmpty { _ = atexit { Budget.tell() } }
        unsafe Budget.all.append(self)
    }

    /// Does `body`; stops where it is more work than allowed.
    func spend<Result>(_ body: () throws -> Result) rethrows -> Result {
        let before = edges()
        defer {
            let cost = edges() - before
            reward(cost)
            worst = max(worst, cost)
            if cost > limit { fatalError("\(name): \(cost) edges for one input, of at most \(limit)") }
        }
        return try body()
    }

    private static func tell() {
        for budget in unsafe all {
            let line = "cost: \(budget.name) \(budget.worst) edges at most, of \(budget.limit) allowed\n"
            _ = unsafe write(STDERR_FILENO, line, line.utf8.count)
        }
    }
}

/// Before the first input: writes the target's seeds to the folder in FUZZ_SEEDS and ends, where that is set.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(
    _ count: UnsafeMutablePointer<CInt>?,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
    guard let folder = unsafe getenv("FUZZ_SEEDS") else { return 0 }
    for (number, seed) in makeSeeds().enumerated() {
        guard let file = unsafe fopen("\(String(cString: folder))/seed-\(number)", "w") else { exit(1) }
        _ = unsafe fwrite(seed, 1, seed.count, file)
        unsafe fclose(file)
    }
    exit(0)
}

/// A scene that many inputs go on with, one after the other, since making one takes longer than an input does: an input
/// of a few bytes meets a room in any state.
///
/// What a scene has taken since it was made is in the file `story`, in the folder where the target runs: one input by
/// which to find what one of them found.
final class Story<Scene>: @unchecked Sendable {
    /// Inputs to a scene.
    private static var length: Int { 100 }

    private let make: () -> Scene
    private let isOver: (Scene) -> Bool
    private var scene: Scene?
    private var inputs = 0
    private let file: Int32

    /// - Parameter isOver: whether nothing comes of anything in a scene any more: the next input then begins another.
    init(_ make: @escaping () -> Scene, isOver: @escaping (Scene) -> Bool = { _ in false }) {
        (self.make, self.isOver) = (make, isOver)
        // Whoever tries a story must not write over it.
        file = unsafe getenv("FUZZ_STORY").map { unsafe open($0, O_CREAT | O_WRONLY | O_TRUNC, 0o600) } ?? -1
    }

    /// Has the scene take steps until the input is used up.
    func go(on input: Span<UInt8>, step: (Scene, inout Choices) -> Void) {
        if inputs == Self.length || scene.map(isOver) ?? true {
            (scene, inputs) = (make(), 0)
            _ = ftruncate(file, 0)
            _ = lseek(file, 0, SEEK_SET)
        }
        guard let scene else { return }
        inputs += 1
        record(input.indices.map { input[$0] })
        var choices = Choices(input)
        while !choices.isEmpty { step(scene, &choices) }
        // The zeros that the last step found behind its end.
        record([UInt8](repeating: 0, count: choices.position - input.count))
    }

    private func record(_ bytes: [UInt8]) { _ = unsafe write(file, bytes, bytes.count) }
}

/// Bytes taken apart as an input's choices; zeros when they are used up.
struct Choices {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ input: Span<UInt8>) { bytes = input.indices.map { input[$0] } }

    var isEmpty: Bool { position >= bytes.count }

    mutating func byte() -> UInt8 {
        defer { position += 1 }
        return position < bytes.count ? bytes[position] : 0
    }

    mutating func number(below limit: Int) -> Int { Int(byte()) % limit }

    mutating func word() -> UInt32 { (0..<4).reduce(0) { value, _ in value << 8 | UInt32(byte()) } }

    mutating func bytes(_ count: Int) -> [UInt8] {
        let end = min(bytes.count, position + count)
        defer { position = end }
        return Array(bytes[min(position, end)..<end])
    }
}
