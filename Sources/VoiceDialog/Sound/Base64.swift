/// Base64 with padding and without line breaks (RFC 4648, section 4).
package enum Base64 {
    private static let digits = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()
    private static let padding = UInt8(ascii: "=")

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let group =
                UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
                | (left > 2 ? UInt32(bytes[index + 2]) : 0)
            text.append(digits[Int(group >> 18)])
            text.append(digits[Int(group >> 12 & 63)])
            text.append(left > 1 ? digits[Int(group >> 6 & 63)] : padding)
            text.append(left > 2 ? digits[Int(group & 63)] : padding)
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes; nil where the text is not base64, is not padded, or has bits behind its end.
    package static func decode(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        guard text.count.isMultiple(of: 4) else { return nil }
        guard !text.isEmpty else { return [] }
        let padded = text[text.count - 1] != padding ? 0 : text[text.count - 2] != padding ? 1 : 2
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        for start in stride(from: 0, to: text.count, by: 4) {
            let missing = start + 4 == text.count ? padded : 0
            var group: UInt32 = 0
            for place in 0..<4 {
                let value = place < 4 - missing ? values[Int(text[start + place])] : 0
                guard value != 255 else { return nil }
                group = group << 6 | UInt32(value)
            }
            bytes.append(UInt8(group >> 16))
            if missing < 2 { bytes.append(UInt8(group >> 8 & 255)) }
            if missing < 1 { bytes.append(UInt8(group & 255)) }
            let rest = missing == 2 ? group & 0xFFFF : missing == 1 ? group & 0xFF : 0
            guard rest == 0 else { return nil }
        }
        return bytes
    }
}
