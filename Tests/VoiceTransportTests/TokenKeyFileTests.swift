import TestCases
import Testing

@testable import VoiceTransport

@Suite("A key file")
struct TokenKeyFileTests {
    private static let (a, b) = (String(repeating: "a", count: 32), String(repeating: "b", count: 40))

    private static func keys(_ text: String) throws(TokenKeyFileError) -> [TokenKey] {
        try TokenKeyFile.keys(in: Array(text.utf8))
    }

    @Test("has a key a line, in its order; comments and blank lines are passed over")
    func good() throws {
        let text = """
            # keys of the kitchen

            APIxyz: \(Self.a)\r
            \t 2026-11 \t:\t\(Self.b)  \t
              # \(Self.a): nothing
            with#inside:#\(Self.a):and/more=
            """
        let keys = try Self.keys(text)
        #expect(keys.map(\.name) == ["APIxyz", "2026-11", "with#inside"])
        #expect(keys.map(\.secret) == [Self.a, Self.b, "#\(Self.a):and/more="].map { Array($0.utf8) })
        #expect(try Self.keys(text + "\n").count == 3 && Self.keys("k:\(Self.a)").count == 1)
    }

    @Test("that is wrong says in which line")
    func bad() {
        let good = "good: \(Self.a)\n"
        let cases: [(String, TokenKeyFileError)] = [
            ("", .noKeys), ("\n\n# nothing\n", .noKeys), ("\u{FEFF}k: \(Self.a)", .malformed(line: 1)),
            (good + Self.a, .malformed(line: 2)), (good + "\n: \(Self.a)", .malformed(line: 3)),
            (good + "k:", .malformed(line: 2)), (good + "k: ", .malformed(line: 2)),
            (good + "k k: \(Self.a)", .malformed(line: 2)), (good + "k: \(Self.a) # old", .malformed(line: 2)),
            (good + "k: \"\(Self.a)\"", .malformed(line: 2)), (good + "k: '\(Self.a)'", .malformed(line: 2)),
            (good + "'k': \(Self.a)", .malformed(line: 2)), (good + "kü: \(Self.a)", .malformed(line: 2)),
            (good + "k: \(Self.a)\0", .malformed(line: 2)), (good + "k: \(Self.a)\u{7F}", .malformed(line: 2)),
            (good + String(repeating: "k", count: 129) + ": \(Self.a)", .malformed(line: 2)),
            (good + "k: \(Self.a.dropLast())", .secretTooShort(line: 2)),
            (good + "other: \(Self.b)\ngood: \(Self.b)", .repeatedName(line: 3)),
            ((0..<65).map { "k\($0): \(Self.a)\n" }.joined(), .tooLong),
            (String(repeating: "#", count: TokenKeyFile.sizeLimit + 1), .tooLong),
        ]
        for (text, error) in cases {
            #expect(throws: error, "\(text.prefix(80))") { try Self.keys(text) }
        }
        #expect(throws: TokenKeyFileError.malformed(line: 1)) { try TokenKeyFile.keys(in: [0xFF, 0xFE]) }
    }

    @Test("of the greatest size is read")
    func limits() throws {
        let keys = (0..<TokenKeyFile.keyLimit).map { "k\($0): \(Self.a)\n" }.joined()
        let padding = String(repeating: "#", count: TokenKeyFile.sizeLimit - keys.utf8.count)
        #expect(try Self.keys(keys + padding).count == TokenKeyFile.keyLimit)
        #expect(try Self.keys("\(String(repeating: "k", count: 128)): \(Self.a)").count == 1)
    }

    @Test("any bytes are keys or an error, and no error has a secret")
    func hostile() {
        var random = SeededNumbers(seed: 1)
        let pieces = [
            "k: \(Self.a)\n", "l: \(Self.b)\n", Self.a, "k", ":", " ", "\n", "\r", "\t", "#", "'", "\0", "\u{FF}",
        ]
        var read = 0
        for _ in 0..<3_000 {
            var bytes = (0..<random.below(12)).flatMap { _ in Array(pieces[random.below(pieces.count)].utf8) }
            if !bytes.isEmpty, random.chance(0.3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            do throws(TokenKeyFileError) {
                for key in try TokenKeyFile.keys(in: bytes) {
                    read += 1
                    #expect(!key.name.isEmpty && key.secret.count >= TokenKey.minimumSecretSize)
                    // A name is told, whatever it is made of.
                    #expect("\(key)" == "TokenKey(\(key.name))")
                }
            } catch {
                #expect(!"\(error)".contains(Self.a))
            }
        }
        #expect(read > 0)
    }
}
