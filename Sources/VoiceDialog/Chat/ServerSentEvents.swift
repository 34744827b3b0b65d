/// Takes a stream of server-sent events apart (WHATWG HTML, section 9.2.6): the data of each, as it is whole. Names,
/// numbers and pauses are of no use here.
struct ServerSentEvents: Sendable {
    /// What an event may hold, bytes; a line of it too.
    static let maximumEvent = 256 << 10

    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var isBehindReturn = false

    /// Takes the next bytes; returns the data of events that they complete, or nil where one is too large.
    mutating func take(_ bytes: [UInt8]) -> [[UInt8]]? {
        var events: [[UInt8]] = []
        for byte in bytes {
            let (isReturn, isFeed) = (byte == UInt8(ascii: "\r"), byte == UInt8(ascii: "\n"))
            defer { isBehindReturn = isReturn }
            // A line ends with either, or with both.
            if isFeed && isBehindReturn { continue }
            if isReturn || isFeed {
                if let event = endLine() { events.append(event) }
            } else {
                guard line.count + data.count < Self.maximumEvent else { return nil }
                line.append(byte)
            }
        }
        return events
    }

    private mutating func endLine() -> [UInt8]? {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else {
            defer { (data, hasData) = ([], false) }
            return hasData ? data : nil
        }
        guard line.starts(with: Array("data".utf8)), line.count == 4 || line[4] == UInt8(ascii: ":") else { return nil }
        var value = line.dropFirst(5)
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        if hasData { data.append(UInt8(ascii: "\n")) }
        data += value
        hasData = true
        return nil
    }
}
