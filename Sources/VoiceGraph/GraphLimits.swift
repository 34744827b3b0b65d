/// How large a description may be. Each is far beyond any graph that a person writes.
public enum GraphLimits {
    /// Bytes of the JSON text.
    public static let bytes = 262_144
    /// Arrays and objects inside each other; the shape itself needs 6.
    public static let nesting = 12
    /// JSON values in all.
    public static let values = 20_000
    /// Nodes, without `inputNode` and `outputNode`.
    public static let nodes = 128
    /// Connections, of sound and of events.
    public static let connections = 512
    /// Nodes on the longest way through the graph.
    public static let depth = 64
    /// Characters of a node's name, which are letters, digits, `_` and `-`.
    public static let name = 64
    /// Characters of a text field that says no other limit.
    public static let text = 4_096
    /// Channels of a port.
    public static let channels = 8
    /// Ports of a node that has as many as are connected.
    public static let ports = 16
    /// Rates of a graph, Hz.
    public static let sampleRates = [8_000, 16_000, 24_000, 32_000, 44_100, 48_000]
    /// Frames of a block.
    public static let bufferSizes = 16...8_192

    /// Whether a text may be a node's or a port's name.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= name
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
