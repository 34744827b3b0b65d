import GraphEngine
import TestCases
import Testing

@Suite("Random graphs")
struct RandomGraphTests {
    private static let count = isOptimised ? 400 : 10

    @Test("those that fit together run; one change that breaks them is named by node and field")
    func validAndInvalid() async throws {
        var invalid = 0
        for seed in 0..<UInt64(Self.count) {
            var numbers = SeededNumbers(seed: seed)
            var random = RandomGraph(using: &numbers)
            let environment = GraphEnvironment(recogniser: KeepingRecogniser())
            if seed % 2 == 0 {
                do {
                    let engine = try GraphEngine.createEngine(random.json, environment: environment)
                    try await engine.prepare()
                    let sound = numbers.noise(3 * random.block + numbers.below(random.block))
                    let output = try await engine.push([sound])
                    let rest = await engine.finish()
                    #expect(output[0].count + rest[0].count == sound.count, "seed \(seed)")
                    #expect(output[0].allSatisfy { $0.isFinite }, "seed \(seed)")
                } catch {
                    Issue.record("seed \(seed): \(error)\n\(random.json)")
                }
            } else {
                let damage = random.damage(using: &numbers)
                do throws(GraphError) {
                    _ = try GraphEngine.createEngine(random.json, environment: environment)
                    Issue.record("seed \(seed): \(damage.name) was taken\n\(random.json)")
                } catch {
                    invalid += 1
                    let isNamed = error.faults.contains {
                        $0.node == damage.node && (damage.field == nil || $0.field == damage.field)
                    }
                    #expect(isNamed, "seed \(seed): \(damage.name) of \(damage.node ?? "-"): \(error)")
                }
            }
        }
        #expect(invalid == Self.count / 2)
    }

    @Test("texts with changed bytes are refused or taken, and nothing traps")
    func changedBytes() {
        for seed in 0..<UInt64(Self.count) {
            var numbers = SeededNumbers(seed: seed)
            var text = Array(RandomGraph(using: &numbers).json.utf8)
            for _ in 0...numbers.below(4) {
                let place = numbers.below(text.count)
                switch numbers.below(3) {
                case 0: text[place] = UInt8(numbers.below(256))
                case 1: text.remove(at: place)
                default:
                    text.insert(
                        contentsOf: Array(["-1", "1e99", "null", "{}", "[]", "\"\""][numbers.below(6)].utf8), at: place)
                }
            }
            do throws(GraphError) {
                _ = try GraphDescription(json: text, catalog: .builtIn)
            } catch {
                #expect(
                    error.faults.count <= GraphError.limit && error.description.utf8.count < 100_000, "seed \(seed)")
            }
        }
    }
}
