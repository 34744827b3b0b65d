import VoiceDialog
import VoiceRealtime

/// Recordings to process one after another: those that a folder holds or a manifest lists.
///
/// A folder: each folder in it with `mic.wav` and `ref.wav` or `far.wav`, and `near.wav` if the talker is known; and
/// each file `NAME_mic.wav` with `NAME_ref.wav`, `NAME_far.wav` or `NAME_lpb.wav` beside it.
///
/// A manifest: CSV with the heading `mic,ref,out,near` (the last two may be missing or empty), or a JSON object of
/// these keys on each line. Paths are relative to the manifest. No output may be written twice, nor over an input.
enum AecManifest {
    /// One recording.
    struct Item: Equatable {
        var mic: String
        var ref: String
        var out: String?
        var near: String?
    }

    /// The columns of a CSV manifest.
    private static let columns = ["mic", "ref", "out", "near"]
    /// A line of a manifest that is not empty, and its number from 1.
    private typealias Line = (number: Int, text: Substring)

    private static let references = ["ref", "far", "lpb"]

    /// The recordings at `path`, in the order of the manifest or of their names.
    static func read(_ path: String) throws(Failure) -> [Item] {
        guard Folder.exists(path) else {
            throw Failure(.inputUnusable, "there is no '\(path)'; --batch takes a folder or a manifest")
        }
        let items = Folder.isFolder(path) ? try folder(path) : try manifest(path)
        guard !items.isEmpty else {
            throw Failure(
                .inputUnusable,
                "'\(path)' names no recordings; see `duplex aec --help` for what a folder or a manifest holds")
        }
        return items
    }

    // MARK: Folders

    private static func folder(_ path: String) throws(Failure) -> [Item] {
        let names: [String]
        do throws(SystemError) { names = try Folder.names(in: path) } catch {
            throw Failure(.permissionDenied, "the folder '\(path)' cannot be read: \(systemReason(error.number))")
        }
        return names.compactMap { name in
            let place = "\(path)/\(name)"
            if name.unicodeScalars.contains("\u{FFFD}"), !Folder.exists(place) {
                Console.complain("warning: '\(place)' has a name that is not UTF-8 and is left out")
                return nil
            }
            if name.hasSuffix("_mic.wav") { return item(mic: place, before: String(place.dropLast("mic.wav".count))) }
            return item(mic: place + "/mic.wav", before: place + "/")
        }
    }

    private static func item(mic: String, before stem: String) -> Item? {
        func existing(_ name: String) -> String? {
            Folder.exists(stem + name + ".wav") ? stem + name + ".wav" : nil
        }
        guard Folder.exists(mic) else { return nil }
        guard let ref = references.lazy.compactMap(existing).first else {
            Console.complain("warning: '\(mic)' has no reference beside it and is left out")
            return nil
        }
        return Item(mic: mic, ref: ref, out: nil, near: existing("near"))
    }

    // MARK: Manifests

    private static func manifest(_ path: String) throws(Failure) -> [Item] {
        // Spreadsheets write a mark before the first heading.
        guard let bytes = SystemFile.bytes(path)?.trimmingByteOrderMark,
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw Failure(.inputUnusable, "the manifest '\(path)' cannot be read as UTF-8 text; check its permissions")
        }
        let lines: [Line] = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
            .map { ($0.offset + 1, $0.element) }
            .filter { !$0.text.allSatisfy(\.isWhitespace) }
        guard let first = lines.first?.text.drop(while: \.isWhitespace).first else { return [] }
        guard first != "[" else {
            throw Failure(.inputUnusable, "'\(path)' is a JSON array; a manifest has one JSON object on each line")
        }
        var items = first == "{" ? try objects(lines, path) : try rows(lines, path)
        let base = FilePath.folder(path) + "/"
        func absolute(_ name: String) -> String { name.hasPrefix("/") ? name : base + name }
        for index in items.indices {
            items[index].mic = absolute(items[index].mic)
            items[index].ref = absolute(items[index].ref)
            items[index].out = items[index].out.map(absolute)
            items[index].near = items[index].near.map(absolute)
        }
        return items
    }

    private static func objects(_ lines: [Line], _ path: String) throws(Failure) -> [Item] {
        var items: [Item] = []
        for line in lines {
            let object = try? JSON(parsing: Array(line.text.utf8))
            if case .object(let members)? = object,
                let other = members.keys.sorted().first(where: { !columns.contains($0) })
            {
                throw Failure(
                    .inputUnusable,
                    "'\(path)', line \(line.number): it has the key '\(other)'; there are \(columns.joined(separator: ", "))"
                )
            }
            let optional = ["out", "near"].map { object?[$0] }
            guard let object, let mic = object["mic"]?.string, let ref = object["ref"]?.string,
                optional.allSatisfy({ $0 == nil || $0?.string != nil })
            else {
                throw Failure(
                    .inputUnusable, "'\(path)', line \(line.number): each object needs \"mic\" and \"ref\", both text")
            }
            items.append(Item(mic: mic, ref: ref, out: optional[0]?.string, near: optional[1]?.string))
        }
        return items
    }

    private static func rows(_ lines: [Line], _ path: String) throws(Failure) -> [Item] {
        let heading = lines.first.map { cells($0.text).map { $0.lowercased() } } ?? []
        guard heading.contains("mic"), heading.contains("ref"), heading.allSatisfy(columns.contains) else {
            throw Failure(.inputUnusable, "'\(path)' needs the heading mic,ref,out,near; out and near may be left away")
        }
        var items: [Item] = []
        for line in lines.dropFirst() {
            let values = cells(line.text)
            func value(_ name: String) -> String? {
                guard let index = heading.firstIndex(of: name), index < values.count else { return nil }
                return values[index].isEmpty ? nil : values[index]
            }
            guard values.count <= heading.count, let mic = value("mic"), let ref = value("ref") else {
                throw Failure(
                    .inputUnusable, "'\(path)', line \(line.number): it needs a mic, a ref and no extra cells")
            }
            items.append(Item(mic: mic, ref: ref, out: value("out"), near: value("near")))
        }
        return items
    }

    /// The cells of a row; a cell in double quotes may hold commas, and two quotes for one (RFC 4180).
    static func cells(_ line: Substring) -> [String] {
        var cells: [String] = []
        var cell = ""
        var isQuoted = false
        var previous: Character?
        for character in line {
            if character == "\"" {
                if !isQuoted, previous == "\"" { cell.append("\"") }
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                cells.append(cell.trimmed)
                cell = ""
            } else {
                cell.append(character)
            }
            previous = character
        }
        return cells + [cell.trimmed]
    }
}

extension [UInt8] {
    /// Text in UTF-8 without the mark that says so.
    fileprivate var trimmingByteOrderMark: ArraySlice<UInt8> {
        starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...]
    }
}
