package import VoiceDialog

/// The description of the API (OpenAPI 3.1), made of the ``ControlOperation``s.
package enum OpenAPI {
    /// The version of the API, not of the server.
    package static let version = "1.0.0"

    /// What answers who asks for it; made once, since anybody may ask.
    package static let response = HTTPResponse(200, document)

    package static var document: JSON {
        var paths: [String: [String: JSON]] = [:]
        for operation in ControlOperation.allCases {
            paths[operation.path, default: [:]][operation.method.lowercased()] = description(operation)
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "DuplexVoice control", "version": .string(version),
                "description": "Drives spoken sessions from other programs on this machine; see docs/control.md.",
                "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            ],
            "paths": .object(paths.mapValues(JSON.object)),
            "components": [
                "securitySchemes": ["key": ["type": "http", "scheme": "bearer"]],
                "schemas": .object(schemas),
            ],
        ]
    }

    private static func description(_ operation: ControlOperation) -> JSON {
        var members: [String: JSON] = [
            "operationId": .string(operation.rawValue), "summary": .string(operation.summary),
            "responses": .object(responses(operation)),
            "security": .array(operation.isOpen ? [] : [["key": .array([])]]),
        ]
        var parameters: [JSON] = []
        if operation.hasSession {
            let pattern = "^[0-9a-f]{\(ControlRequest.nameLength)}$"
            parameters.append([
                "name": "session", "in": "path", "required": .bool(true), "description": "A session's name.",
                "schema": ["type": "string", "pattern": .string(pattern)],
            ])
        }
        for field in operation.query {
            parameters.append([
                "name": .string(field.name), "in": "query", "description": .string(field.summary),
                "schema": field.schema.json,
            ])
        }
        if !parameters.isEmpty { members["parameters"] = .array(parameters) }
        switch operation.body {
        case .none: break
        case .json(let schema):
            members["requestBody"] = [
                "required": .bool(true), "content": ["application/json": ["schema": schema.json]],
            ]
        case .sound:
            let types = ControlOperation.soundTypes.map { ($0, JSON.object(["schema": [:]])) }
            members["requestBody"] = [
                "required": .bool(true), "content": .object(Dictionary(uniqueKeysWithValues: types)),
            ]
        }
        return .object(members)
    }

    private static func responses(_ operation: ControlOperation) -> [String: JSON] {
        func content(_ name: String) -> JSON {
            ["application/json": ["schema": ["$ref": .string("#/components/schemas/\(name)")]]]
        }
        let (status, schema) = operation.success
        var success: [String: JSON] = ["description": "Done."]
        if let schema { success["content"] = content(schema) }
        if operation == .makeSession || operation == .makeParticipant { success["links"] = links }
        var responses = ["\(status)": JSON.object(success)]
        for status in operation.failures {
            var members: [String: JSON] = ["description": .string(meaning(status)), "content": content("Error")]
            if status == 405 {
                members["headers"] = ["Allow": ["required": .bool(true), "schema": ["type": "string"]]]
            }
            responses["\(status)"] = .object(members)
        }
        return responses
    }

    /// How what was made is used.
    private static var links: JSON {
        let operations = ControlOperation.allCases.filter { $0.hasSession }
        return .object(
            Dictionary(
                uniqueKeysWithValues: operations.map { operation in
                    (
                        operation.rawValue,
                        [
                            "operationId": .string(operation.rawValue),
                            "parameters": ["session": "$response.body#/session"],
                        ]
                    )
                }))
    }

    private static func meaning(_ status: Int) -> String {
        switch status {
        case 401: "There is no key, or a wrong one."
        case 403: "A page in a browser asks, or the host is not this server."
        case 404: "There is no such session of this client."
        case 405: "The path does not take this method."
        case 408: "The request took too long to come."
        case 409: "Not at this moment, or not with this server; the code says why."
        case 411: "The body came without a length."
        case 413: "The body is too long."
        case 414, 431: "The head of the request is too long."
        case 415: "The body's media type is none that is taken."
        case 422: "The sound file cannot be read."
        case 429: "There are too many of these; end one, or ask later."
        default: "The request is not as described."
        }
    }

    // MARK: Answers

    private static func object(_ required: [String: JSON], optional: [String: JSON] = [:]) -> JSON {
        [
            "type": "object", "required": .array(required.keys.sorted().map(JSON.string)),
            "additionalProperties": .bool(false),
            "properties": .object(required.merging(optional) { first, _ in first }),
        ]
    }

    private static let text: JSON = ["type": "string"]
    private static let count: JSON = ["type": "integer", "minimum": 0]
    private static let number: JSON = ["type": "number"]
    private static let states = ["starting", "idle", "listening", "thinking", "responding", "failed", "ended"]

    private static var fault: JSON { object(["code": text, "message": text], optional: ["field": text]) }

    private static var schemas: [String: JSON] {
        let reference: JSON = ["$ref": "#/components/schemas/Session"]
        let event: JSON = [
            "type": "object", "required": ["type", "number", "timeMs"],
            "properties": ["type": text, "number": count, "timeMs": count],
        ]
        return [
            "Error": object(["error": fault]),
            "Document": ["type": "object", "required": ["openapi", "paths"]],
            "Status": object(["api": text, "version": text, "sessions": count, "makesTokens": ["type": "boolean"]]),
            "Token": object(["token": text, "expires": count]),
            "Session": object(
                [
                    "session": text, "kind": ["type": "string", "enum": ["local", "participant"]],
                    "state": ["type": "string", "enum": .array(states.map(JSON.string))],
                    "answers": ["type": "string", "enum": ["bot", "partner"]],
                    "participants": ["type": "array", "items": text],
                    "lastEvent": count,
                ], optional: ["room": text, "error": fault]),
            "Sessions": object(["sessions": ["type": "array", "items": reference]]),
            "Utterance": object(["turn": count, "waiting": count]),
            "Interruption": object(["wasSpeaking": ["type": "boolean"]], optional: ["heardMs": number]),
            "Events": object(["events": ["type": "array", "items": event], "last": count]),
            "Partner": object(["isReady": ["type": "boolean"], "waiting": count, "answered": count]),
            "Answer": object(
                [
                    "transcript": text, "answer": text,
                    "sound": ["type": "string", "contentEncoding": "base64", "contentMediaType": "audio/wav"],
                ]),
        ]
    }
}
