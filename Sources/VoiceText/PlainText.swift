/// Text as it may go to a terminal: what others wrote, a name or a message or a file's path, must not move the cursor,
/// colour or hide what stands there, answer in the user's name, or make one line look like two.
///
///     print("\(PlainText.escaped(participant.identity)) came in")
///
/// From any thread; never blocks.
public enum PlainText {
    /// `text` with every character that is not shown but obeyed written out: `\n`, `\u{001b}`; joiners of letters and of
    /// emoji stay. Of a text that has line breaks of its own, escape each line.
    public static func escaped(_ text: String) -> String {
        escaped(text) { $0 == "\n" ? "\\n" : "\\u{\(hexadecimal($0.value))}" }
    }

    /// A line of JSON with the same characters as JSON writes them, `\u001b`: any reader has the same values as before.
    package static func escapedJSON(_ line: String) -> String {
        escaped(line) { scalar in
            // Beyond the basic plane, JSON has two surrogates (RFC 8259, section 7).
            String(scalar).utf16.map { "\\u" + hexadecimal(UInt32($0)) }.joined()
        }
    }

    private static func escaped(_ text: String, _ written: (Unicode.Scalar) -> String) -> String {
        // Almost always there is nothing to do.
        guard text.unicodeScalars.contains(where: isObeyed) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isObeyed(scalar) { result += written(scalar) } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    /// Whether a terminal may do something else with it than show it: C0 and C1 controls, DEL, separators of lines, and
    /// the invisible formats, above all those that turn the direction of writing (Unicode's UAX #9). The two joiners
    /// are spelling in many scripts and in emoji.
    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        case .format: return scalar != "\u{200C}" && scalar != "\u{200D}"
        default: return false
        }
    }

    /// At least four digits.
    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
