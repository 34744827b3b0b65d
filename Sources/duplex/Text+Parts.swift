extension String {
    /// Without white space at its ends.
    var trimmed: String {
        let start = drop(while: \.isWhitespace)
        let end = start.lastIndex { !$0.isWhitespace }
        return end.map { String(start[...$0]) } ?? ""
    }

    /// As the path of a URL (RFC 3986, section 3.3): what may not stand there as it is, byte by byte.
    var percentEncodedPath: String {
        utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            let isPlain =
                byte < 0x80 && (character.isLetter || character.isNumber || "-._~!$&'()*+,=:@/".contains(character))
            let digits = String(byte, radix: 16, uppercase: true)
            return isPlain ? String(character) : "%" + (digits.count < 2 ? "0" : "") + digits
        }.joined()
    }
}
