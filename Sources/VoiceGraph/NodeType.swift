/// What there is to know of a kind of node before one is made: its fields, ports, events and actions.
public struct NodeType: Sendable {
    /// What `type` says in a description.
    public var name: String
    /// Other names for it, of which some belong to something else that this stands in for.
    public var aliases: [NodeAlias]
    /// One sentence.
    public var summary: String
    /// What `config` may say.
    public var fields: [NodeField]
    /// Where sound goes in.
    public var inputs: [NodePort]
    /// Where sound comes out.
    public var outputs: [NodePort]
    /// What it tells.
    public var events: [NodeEvent]
    /// What it can be told to do.
    public var actions: [NodeAction]
    /// Rates that it runs at, Hz; nil for all of ``GraphLimits/sampleRates``.
    public var rates: [Int]?
    /// Whether its blocks are whole multiples of 10 ms, which `bufferSize` must then be.
    public var needsWholeBlocks: Bool
    /// Whether its outputs are its input, so that it costs nothing.
    public var isPassThrough: Bool
    /// Whether its outputs are its input where that has one channel.
    package var passesOneChannel = false
    /// What else must hold; nil for nothing.
    public var check: (@Sendable (NodeSettings) -> GraphFault?)?

    /// A type. Names of fields, ports, events and actions are not looked at: use letters and digits.
    public init(
        _ name: String, aliases: [NodeAlias] = [], summary: String, fields: [NodeField] = [],
        inputs: [NodePort] = [], outputs: [NodePort] = [], events: [NodeEvent] = [], actions: [NodeAction] = [],
        rates: [Int]? = nil, needsWholeBlocks: Bool = false, isPassThrough: Bool = false,
        check: (@Sendable (NodeSettings) -> GraphFault?)? = nil
    ) {
        self.name = name
        self.aliases = aliases
        self.summary = summary
        self.fields = fields
        self.inputs = inputs
        self.outputs = outputs
        self.events = events
        self.actions = actions
        self.rates = rates
        self.needsWholeBlocks = needsWholeBlocks
        self.isPassThrough = isPassThrough
        self.check = check
    }

    /// The index of the event of this name, or of the event that has it as an alias.
    public func event(_ name: String) -> Int? {
        events.firstIndex { $0.name == name || $0.aliases.contains(name) }
    }

    /// The index of the action of this name.
    public func action(_ name: String) -> Int? { actions.firstIndex { $0.name == name } }
}

/// Another name of a type.
public struct NodeAlias: Equatable, Sendable {
    /// The name.
    public var name: String
    /// What is said where a graph uses it, since it names something else; nil for a mere other name.
    public var notice: String?

    /// A name, and what is to be said of it.
    public init(_ name: String, notice: String? = nil) { (self.name, self.notice) = (name, notice) }
}

/// A member of a node's `config`.
public struct NodeField: Sendable {
    /// What it may be.
    public enum Kind: Equatable, Sendable {
        /// `true` or `false`.
        case bool
        /// A whole number in this range.
        case integer(ClosedRange<Int>)
        /// A number in this range.
        case number(ClosedRange<Double>)
        /// At most so many characters.
        case text(Int)
        /// One of these words.
        case choice([String])
        /// A file below the engine's folder: relative, without `..`.
        case path
    }

    /// Its name.
    public var name: String
    /// What it may be.
    public var kind: Kind
    /// What it is where nothing is said; nil for nothing.
    public var usual: GraphValue?
    /// Whether it must be there.
    public var isRequired: Bool
    /// What becomes of it where it is taken and has no effect; nil where it has.
    public var ignored: String?
    /// One sentence.
    public var summary: String

    /// A field.
    public init(
        _ name: String, _ kind: Kind, usual: GraphValue? = nil, isRequired: Bool = false, ignored: String? = nil,
        _ summary: String
    ) {
        (self.name, self.kind, self.usual) = (name, kind, usual)
        (self.isRequired, self.ignored, self.summary) = (isRequired, ignored, summary)
    }
}

/// Where sound enters or leaves a node.
public struct NodePort: Equatable, Sendable {
    /// How many channels.
    public enum Channels: Equatable, Sendable {
        /// One.
        case mono
        /// So many, 1 to ``GraphLimits/channels``.
        case exactly(Int)
        /// Of an input: any number. Of an output: as the first input has.
        case any
        /// As many as this field says.
        case field(String)
    }

    /// Its name.
    public var name: String
    /// How many channels.
    public var channels: Channels
    /// Whether an input must be connected.
    public var isRequired: Bool
    /// Whether there are as many of these as are connected, named `name1`, `name2` …; the last of its kind.
    public var isRepeated: Bool

    /// A port.
    public init(_ name: String, _ channels: Channels = .mono, isRequired: Bool = true, isRepeated: Bool = false) {
        (self.name, self.channels, self.isRequired, self.isRepeated) = (name, channels, isRequired, isRepeated)
    }
}

/// What a node tells.
public struct NodeEvent: Equatable, Sendable {
    /// Its name.
    public var name: String
    /// Other names for it.
    public var aliases: [String]
    /// What listeners are told of an event that comes from a block: the names of its moments and its value.
    public var values: [String]
    /// One sentence.
    public var summary: String

    /// An event.
    public init(_ name: String, aliases: [String] = [], values: [String] = [], _ summary: String) {
        (self.name, self.aliases, self.values, self.summary) = (name, aliases, values, summary)
    }
}

/// What a node can be told to do, by an event or by a call.
public struct NodeAction: Equatable, Sendable {
    /// Its name.
    public var name: String
    /// The names of the numbers that a call may give: `start` and `end` in seconds, and at most one other.
    public var arguments: [String]
    /// One sentence.
    public var summary: String

    /// An action.
    public init(_ name: String, arguments: [String] = [], _ summary: String) {
        (self.name, self.arguments, self.summary) = (name, arguments, summary)
    }
}

/// What a description says of one node, checked, with what is usual filled in.
public struct NodeSettings: Equatable, Sendable {
    /// Its name.
    public let id: String
    /// The name of its type, not the alias.
    public let type: String
    /// Every field that has a value.
    public let fields: [String: GraphValue]
    /// Frames per second.
    public let sampleRate: Int
    /// Frames of a block.
    public let bufferSize: Int

    /// Settings; for tests of a node without a graph.
    public init(id: String, type: String, fields: [String: GraphValue], sampleRate: Int, bufferSize: Int) {
        (self.id, self.type, self.fields) = (id, type, fields)
        (self.sampleRate, self.bufferSize) = (sampleRate, bufferSize)
    }

    /// A number; that of a field that has a usual value or is required is always there.
    public func number(_ name: String) -> Double { fields[name]?.number ?? 0 }
    /// An integer.
    public func integer(_ name: String) -> Int { fields[name]?.integer ?? 0 }
    /// A text.
    public func text(_ name: String) -> String { fields[name]?.text ?? "" }
    /// A truth value.
    public func bool(_ name: String) -> Bool { fields[name]?.bool ?? false }
}
