// What swift-argument-parser takes from Foundation, without it: tools/package compiles this
// and Sources/duplex/JSONText.swift into that module in place of its Utilities/Foundation.swift. See docs/decisions/057.

extension Error {
    func describe() -> String { String(describing: self) }
}

enum JSONEncoder {
    static func encode(_ value: some Encodable) -> String { (try? JSONText.encode(value)) ?? "" }
}
