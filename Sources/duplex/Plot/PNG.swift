/// Pictures of 256 colours as PNG (ISO/IEC 15948), not compressed, so that no library is needed.
enum PNG {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The most bytes in a stored block of deflate (RFC 1951, section 3.2.4).
    private static let longestBlock = 65_535

    /// A picture of `width` by `height` pixels, each of which is an index into `palette`, row by row from the top.
    static func encode(width: Int, height: Int, pixels: [UInt8], palette: [(red: UInt8, green: UInt8, blue: UInt8)])
        -> [UInt8]
    {
        precondition(pixels.count == width * height && !palette.isEmpty && palette.count <= 256)
        let header = bytes(UInt32(width)) + bytes(UInt32(height)) + [8, 3, 0, 0, 0]
        var rows: [UInt8] = []
        rows.reserveCapacity((width + 1) * height)
        for row in 0..<height {
            // Each row begins with its filter: none.
            rows.append(0)
            rows += pixels[row * width..<(row + 1) * width]
        }
        return signature + chunk("IHDR", header) + chunk("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] })
            + chunk("IDAT", stored(rows)) + chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + content
        return bytes(UInt32(content.count)) + body + bytes(crc(body))
    }

    /// A zlib stream (RFC 1950) of blocks that are only stored.
    private static func stored(_ content: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let count = min(content.count - start, longestBlock)
            let isLast = start + count == content.count
            let (low, high) = (UInt8(count & 0xFF), UInt8(count >> 8))
            stream += [isLast ? 1 : 0, low, high, ~low, ~high]
            stream += content[start..<start + count]
            start += count
        } while start < content.count
        return stream + bytes(adler(content))
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    /// RFC 1950, section 8.
    private static func adler(_ content: [UInt8]) -> UInt32 {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in content {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return b << 16 | a
    }

    /// The CRC of ISO 3309, as PNG's annex D has it.
    private static func crc(_ content: [UInt8]) -> UInt32 {
        ~content.reduce(~0 as UInt32) { crc, byte in table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ crc >> 8 }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }
}
