import Foundation
import Testing

@testable import duplex

/// Values of every shape that a line of JSON has.
private struct Sample: Encodable {
    enum Kind: String, Encodable { case small, large }
    struct Part: Encodable {
        var erleDb: Double?
        var names: [String]
    }

    var delayP50Ms = 12.5
    var whole = 3.0
    var tiny = 1e-9
    var huge: Float = 1e20
    var usPerFrameP99 = 0.1
    var isLate = true
    var frames = Int64.max
    var port: UInt16 = 0
    var kind = Kind.large
    var unknown: String?
    var text = "a\"b\\c/d\n\r\t\u{0}\u{1F}\u{7F} é \u{2028} \u{1F44B}"
    var part = Part(erleDb: nil, names: [])
    var parts = [Part(erleDb: -0.5, names: ["x", ""]), Part(erleDb: 2, names: ["y"])]
    var byName = ["keptAsIs": 1, "": 2]
    var nothing: [Double?] = [nil, 1]
    var usedURLCount = 1
}

@Suite("JSON text")
struct JSONTextTests {
    private static func oracle(_ value: some Encodable) throws -> NSObject {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return try #require(try JSONSerialization.jsonObject(with: encoder.encode(value)) as? NSObject)
    }

    @Test("it says what Foundation's encoder says")
    func likeFoundation() throws {
        let text = try JSONText.encode(Sample(), keys: .snakeCase)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSObject)
        let expected = try Self.oracle(Sample())
        #expect(object == expected)
        #expect(!text.contains("\n"))
    }

    @Test("keys are sorted, whole numbers have no point, what is unknown is left out")
    func form() throws {
        struct Line: Encodable {
            var b = 2.0
            var a: Int?
            var c = ["z": 1, "y": 2]
        }
        let text = try JSONText.encode(Line())
        #expect(text == #"{"b":2,"c":{"y":2,"z":1}}"#)
    }

    @Test(
        "names become keys as Foundation's do",
        arguments: ["delayP50Ms", "erleDb", "aURL", "usedURLCount", "x", "already_snake", "isA"])
    func keys(name: String) throws {
        struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        struct One: Encodable {
            let name: String
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Name.self)
                try container.encode(1, forKey: Name(stringValue: name))
            }
        }
        let object = try #require(try Self.oracle(One(name: name)) as? [String: Int])
        #expect(object.keys.first == JSONText.snakeCase(name))
        let text = try JSONText.encode(One(name: name), keys: .snakeCase)
        #expect(text == "{\"\(JSONText.snakeCase(name))\":1}")
    }

    @Test("a number that JSON does not have is an error", arguments: [Double.nan, .infinity, -.infinity])
    func noNumber(value: Double) {
        #expect(throws: EncodingError.self) { try JSONText.encode(["x": value]) }
        #expect(throws: EncodingError.self) { try JSONText.encode([Float(value)]) }
    }
}
