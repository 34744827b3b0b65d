import Foundation
import Testing

@Suite("Imports point down the tree")
struct ImportRulesTests {
    /// The package's root: this file is Tests/ImportRulesTests/ImportRulesTests.swift below it.
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The Swift files of each folder below `Sources` that has any, as paths from the root.
    private static func swiftFiles() throws -> [String: [String]] {
        let sources = root.appending(path: "Sources")
        var files: [String: [String]] = [:]
        for module in try FileManager.default.contentsOfDirectory(atPath: sources.path()) {
            let paths = FileManager.default.enumerator(atPath: sources.appending(path: module).path())
            for case let path as String in paths ?? .init() where path.hasSuffix(".swift") {
                files[module, default: []].append("Sources/\(module)/\(path)")
            }
        }
        return files
    }

    @Test("no module imports what the table does not allow it")
    func sources() throws {
        let files = try Self.swiftFiles()
        // A scan that found nothing would prove nothing.
        #expect(files["VoiceWire"]?.contains("Sources/VoiceWire/RTPPacket.swift") == true)
        for (module, paths) in files.sorted(by: { $0.key < $1.key }) {
            #expect(ImportTable.allowed[module] != nil, "Sources/\(module) has no row in ImportTable")
            for path in paths.sorted() {
                let source = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
                for objection in objections(to: source, module: module, path: path) { Issue.record("\(objection)") }
            }
        }
    }

    @Test("the table in docs/architecture.md is the one that is held")
    func drawn() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/architecture.md"), encoding: .utf8)
        var drawn: [String: Set<String>] = [:]
        for line in page.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 2, ImportTable.allowed[cells[0]] != nil else { continue }
            let names = cells[1].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            drawn[cells[0]] = names == ["nothing"] ? [] : Set(names)
        }
        let files = try Self.swiftFiles()
        for (module, paths) in files.sorted(by: { $0.key < $1.key }) {
            var imported: Set<String> = []
            for path in paths {
                let source = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
                imported.formUnion(ImportScanner.imports(in: source).map(\.module))
            }
            #expect(drawn[module] == ImportTable.allowed[module], "\(module)")
            #expect(drawn[module]?.subtracting(imported) == [], "\(module) is allowed what it does not import")
        }
        #expect(Set(drawn.keys) == Set(files.keys))
    }

    private func objections(to source: String, module: String, path: String) -> [String] {
        ImportScanner.imports(in: source).compactMap { found in
            ImportTable.objection(to: found.module, in: module).map { "\(path):\(found.line): \($0)" }
        }
    }

    @Test("a planted import is told with its file and line")
    func planted() {
        let source = "/// Comment\nimport VoiceWire\n\npublic import Foundation\n"
        #expect(
            objections(to: source, module: "VoicePlayout", path: "Sources/VoicePlayout/Planted.swift")
                == ["Sources/VoicePlayout/Planted.swift:4: VoicePlayout may not import Foundation"])
    }

    @Test(
        "every form of import is found",
        arguments: [
            ("import Foundation", "Foundation"), ("  import   Foundation  // why", "Foundation"),
            ("public import Foundation", "Foundation"), ("@_exported import Foundation", "Foundation"),
            ("@testable import VoiceRooms", "VoiceRooms"), ("@preconcurrency public import Glibc", "Glibc"),
            ("@_spi(Internals) import VoiceRooms", "VoiceRooms"),
            ("@_spi(A, B) @_exported public import VoiceRooms", "VoiceRooms"),
            ("import struct Foundation.Date", "Foundation"), ("import func Glibc.open", "Glibc"),
            ("import Foundation.NSDate", "Foundation"), ("import `Foundation`", "Foundation"),
            ("let a = 1; import Foundation", "Foundation"), ("/* why */ import Foundation", "Foundation"),
            ("#if os(Linux)\nimport Glibc\n#endif", "Glibc"),
            ("let type = \"*/*\"\nlet quote = \"\\\"/*\"\nimport Foundation", "Foundation"),
        ])
    func forms(source: String, module: String) {
        #expect(ImportScanner.imports(in: source).map(\.module) == [module])
    }

    @Test(
        "what only looks like an import is none",
        arguments: [
            "// import Foundation", "/// import Foundation", "/*\nimport Foundation\n*/", "let important = 1",
            "importer.import()", "\"\"\"\nimport Foundation\n\"\"\"", "/* /* */ import Foundation */",
        ])
    func notImports(source: String) {
        #expect(ImportScanner.imports(in: source) == [])
    }

    @Test("the table is what it says: arrows, Foundation, Glibc, unknown modules")
    func table() {
        // Downwards, not upwards, not sideways
        #expect(ImportTable.objection(to: "VoiceWire", in: "VoiceRooms") == nil)
        #expect(ImportTable.objection(to: "VoiceRooms", in: "VoiceWire") != nil)
        #expect(ImportTable.objection(to: "VoicePlayout", in: "VoiceRooms") != nil)
        for module in ImportTable.allowed.keys {
            #expect(ImportTable.objection(to: "Synchronization", in: module) == nil)
            #expect(ImportTable.objection(to: "Foundation", in: module) != nil)
            #expect(ImportTable.objection(to: "FoundationEssentials", in: module) != nil)
        }
        for pure in ImportTable.pure {
            for impure in ["Glibc", "Dispatch", "VoiceRealtime", "VoiceDevices"] {
                #expect(ImportTable.objection(to: impure, in: pure) != nil)
            }
            #expect(ImportTable.allowed[pure]?.isSubset(of: ImportTable.pure.union(["CJansson"])) == true)
        }
        #expect(ImportTable.objection(to: "VoiceWire", in: "VoiceMagic") != nil)
    }

    @Test("no circle of modules import each other")
    func noCircles() {
        var reached: Set<String> = []
        // Take away, again and again, the modules all of whose imports are already reached; a circle would stay.
        while let next = ImportTable.allowed.first(where: { module, imports in
            !reached.contains(module)
                && imports.allSatisfy { reached.contains($0) || ImportTable.allowed[$0] == nil }
        }) {
            reached.insert(next.key)
        }
        #expect(reached == Set(ImportTable.allowed.keys))
    }
}
