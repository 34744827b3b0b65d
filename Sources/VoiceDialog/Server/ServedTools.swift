// The functions of a served session: what the client offers, and what is called of it.

extension DialogTool {
    /// Functions of a session, at most.
    static let maximumTools = 32
    /// What a function's parameters may have, as JSON, bytes.
    static let maximumParameters = 8 << 10

    /// As the client is told.
    var json: JSON {
        [
            "type": "function", "name": .string(name), "description": .string(description), "parameters": parameters,
        ]
    }

    /// The functions that a client offers.
    static func list(_ json: JSON) throws(RequestFault) -> [DialogTool] {
        guard let given = json.array, given.count <= maximumTools else {
            throw .invalid("session.tools", "is no list of up to \(maximumTools) functions")
        }
        var tools: [DialogTool] = []
        for tool in given {
            guard tool["type"] == "function", let name = try ClientRequest.text("name", in: tool),
                (1...64).contains(name.utf8.count), !tools.contains(where: { $0.name == name })
            else { throw .invalid("session.tools", "has what is no function, or two of one name") }
            let parameters = tool["parameters"] ?? ["type": "object", "properties": [:]]
            guard parameters.encoded.count <= maximumParameters else {
                throw .invalid("session.tools", "has parameters of more than \(maximumParameters) bytes")
            }
            tools.append(
                DialogTool(
                    name: name, description: try ClientRequest.text("description", in: tool) ?? "",
                    parameters: parameters))
        }
        return tools
    }
}

/// What a client lets an answer call.
enum ServedToolChoice: Sendable {
    case automatic
    case none

    init(_ json: JSON) throws(RequestFault) {
        switch json.string {
        case "auto": self = .automatic
        case "none": self = .none
        default: throw .invalid("tool_choice", "can only be \"auto\" or \"none\" here")
        }
    }
}
