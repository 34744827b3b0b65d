import TestCases
import Testing

@testable import VoiceDialog

@Suite("JSON is read within bounds")
struct JSONTests {
    @Test("what is written is read again")
    func roundTrip() throws {
        let value: JSON = [
            "text": "a \"quoted\" line\nand \u{1F600} \u{0}", "numbers": [0, -7, .number(1.5)],
            "flags": [true, false, .null], "nested": ["empty": [:], "none": []],
        ]
        #expect(try JSON(parsing: value.encoded) == value)
        #expect(value.encoded == value.encoded)
        #expect(JSON.string("alone").encoded == Array("\"alone\"".utf8))
        #expect(JSON.number(.infinity).encoded == Array("null".utf8))
    }

    @Test(
        "what is no JSON is refused",
        arguments: ["", "{", "[1,]", "{\"a\":1,\"a\":2}", "{\"a\" 1}", "1 2", "\"\u{1}\"", "[1e999]", "nul"])
    func malformed(text: String) {
        #expect { try JSON(parsing: Array(text.utf8)) } throws: {
            if case .malformed = $0 as? JSONFault { true } else { false }
        }
    }

    @Test("what is too large is refused: bytes, depth, values")
    func tooLarge() {
        let limits = JSONLimits(bytes: 10_000, depth: 8, values: 100)
        func parse(_ text: String) throws { _ = try JSON(parsing: Array(text.utf8), limits: limits) }
        #expect(throws: JSONFault.tooLarge) { try parse("\"\(String(repeating: "x", count: 10_000))\"") }
        #expect(throws: JSONFault.tooLarge) {
            try parse(String(repeating: "[", count: 10) + String(repeating: "]", count: 10))
        }
        func zeros(_ count: Int) -> String { "[\(Array(repeating: "0", count: count).joined(separator: ","))]" }
        #expect(throws: JSONFault.tooLarge) { try parse(zeros(100)) }
        #expect(throws: Never.self) { try parse(zeros(99)) }
        // Deeper than the parser itself goes
        #expect(throws: JSONFault.self) { try parse(String(repeating: "[", count: 9_999)) }
    }

    @Test("of damaged documents some are refused and some are not, and none crashes or hangs")
    func random() {
        var numbers = SeededNumbers(seed: 3)
        let good = JSON.object(["type": "x", "list": [1, 2, ["a": "b"]]]).encoded
        var taken = 0
        for _ in 0..<2_000 {
            var bytes = good
            for _ in 0...numbers.below(4) { bytes[numbers.below(bytes.count)] = UInt8(numbers.below(256)) }
            if (try? JSON(parsing: bytes)) != nil { taken += 1 }
            _ = try? ServerEvent(parsing: bytes)
        }
        #expect((1..<2_000).contains(taken))
    }
}
