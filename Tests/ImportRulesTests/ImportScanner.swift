/// Finds the imports in Swift source, without compiling it: so it sees those behind `#if` too.
enum ImportScanner {
    /// An import, and the line it stands on, from 1.
    struct Import: Equatable {
        var module: String
        var line: Int
    }

    /// What may stand between `import` and the module, when only one declaration of it is imported.
    private static let declarationKinds: Set<Substring> = [
        "typealias", "struct", "class", "enum", "protocol", "let", "var", "func", "actor", "macro",
    ]
    private static let accessLevels: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]

    /// The imports in `source`: with any attributes and access level, of a module, a submodule or a single declaration.
    static func imports(in source: String) -> [Import] {
        var imports: [Import] = []
        for (index, code) in codeLines(of: source).enumerated() {
            // Statements may share a line.
            for statement in code.split(separator: ";") {
                if let module = importedModule(statement) { imports.append(Import(module: module, line: index + 1)) }
            }
        }
        return imports
    }

    private static func importedModule(_ statement: Substring) -> String? {
        var words = withoutAttributeArguments(statement).split(whereSeparator: \.isWhitespace)[...]
        while let word = words.first, word.hasPrefix("@") || accessLevels.contains(word) { words.removeFirst() }
        guard words.popFirst() == "import" else { return nil }
        if let kind = words.first, declarationKinds.contains(kind) { words.removeFirst() }
        guard let path = words.first else { return nil }
        return path.split(separator: ".").first.map { $0.filter { $0 != "`" } }
    }

    /// `@_spi(Name) import X` becomes `@_spi import X`.
    private static func withoutAttributeArguments(_ statement: Substring) -> String {
        var depth = 0
        var result = ""
        for character in statement {
            if character == "(" { depth += 1 }
            result.append(depth == 0 ? character : " ")
            if character == ")" { depth = max(0, depth - 1) }
        }
        return result
    }

    /// The lines of the source without comments and string literals. Raw strings are not told from others: a quote in
    /// one may hide the rest of its line, where no import can stand.
    private static func codeLines(of source: String) -> [String] {
        var commentDepth = 0
        var inMultilineString = false
        return source.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var code = ""
            var inString = false
            var rest = line
            while let character = rest.first {
                var taken = 1
                if inMultilineString || (commentDepth == 0 && !inString && rest.hasPrefix("\"\"\"")) {
                    if rest.hasPrefix("\"\"\"") {
                        inMultilineString.toggle()
                        taken = 3
                    }
                } else if inString {
                    inString = character != "\""
                    if character == "\\" { taken = 2 }
                } else if rest.hasPrefix("/*") {
                    commentDepth += 1
                    taken = 2
                } else if commentDepth > 0 {
                    if rest.hasPrefix("*/") {
                        commentDepth -= 1
                        taken = 2
                    }
                } else if rest.hasPrefix("//") {
                    break
                } else if character == "\"" {
                    inString = true
                } else {
                    code.append(character)
                }
                rest = rest.dropFirst(taken)
            }
            return code
        }
    }
}
