import VoiceDevices

/// Many recordings, one after another; what fails is told and does not stop the rest.
struct AecBatch {
    /// One recording's line of JSON.
    struct Line: JSONLine {
        let schema = "duplexvoice.aec/1"
        let type = "file"
        var mic: String
        var out: String?
        var report: String?
        var error: String?
        /// The worst that the verdict finds: good, unknown, fair or poor.
        var verdict: String?
        var result: AecSummary?
    }

    /// The last line of JSON.
    struct Total: JSONLine {
        let schema = "duplexvoice.aec/1"
        let type = "batch"
        var files: Int
        var failed: Int
        var erleDbMedian: Double?
    }

    private let options: Aec
    private let items: [AecManifest.Item]
    private let names: [String]
    /// What names each recording's output.
    private let outputOptions: [String]

    init(_ options: Aec, path: String) throws {
        self.options = options
        let items = try AecManifest.read(path)
        let names = Self.names(items)
        if let out = options.out {
            let files = zip(items, names).filter { $0.0.out == nil }.map { $0.1 + ".wav" }
            try OutputFolder.make(out, option: "--out", for: files)
        }
        let pages = ["\(Self.index).html"] + names.flatMap { [$0 + ".html", $0 + ".csv"] }
        if let report = options.report { try OutputFolder.make(report, option: "--report", for: pages) }
        self.names = names
        outputOptions = items.map { $0.out == nil ? "--out" : "the manifest's out" }
        self.items = zip(items, names).map { item, name in
            var item = item
            if item.out == nil, let folder = options.out { item.out = "\(folder)/\(name).wav" }
            return item
        }
        let reports = options.report.map { folder in pages.map { "\(folder)/\($0)" } } ?? []
        try Self.checkOutputs(self.items, reports: reports, path)
    }

    /// Throws where an output would be written twice, or over an input: another recording's, or the manifest.
    private static func checkOutputs(
        _ items: [AecManifest.Item], reports: [String], _ path: String
    ) throws(Failure) {
        // One file has many paths, and many names; in a folder that is not there it has paths alone.
        var (paths, places): (Set<String>, Set<FilePlace>) = ([], [])
        let sounds = items.compactMap(\.out)
        for out in sounds {
            let isNew = paths.insert(FilePath.resolved(out)).inserted
            let isApart = FilePlace(out).map { places.insert($0).inserted } ?? true
            if isNew, isApart { continue }
            throw Failure(
                .inputUnusable, "'\(path)' would write '\(out)' twice; give each recording an output of its own")
        }
        let inputs = Set(
            (items.flatMap { [$0.mic, $0.ref, $0.near].compactMap(\.self) } + [path])
                .compactMap { FilePlace($0) })
        for out in sounds + reports {
            guard let place = FilePlace(out), inputs.contains(place) else { continue }
            throw Failure(.inputUnusable, "'\(path)' would write '\(out)', which is an input; choose another output")
        }
    }

    /// The page that leads to the others, without its ending.
    private static let index = "index"

    /// A name for each recording that no other page has: its file's, or its folder's where the file is called `mic`.
    static func names(_ items: [AecManifest.Item]) -> [String] {
        var taken: Set<String> = [index]
        // The number with which a name that is taken is tried next.
        var next: [String: Int] = [:]
        return items.map { item in
            var name = FilePath.stem(FilePath.name(item.mic))
            if name == "mic" { name = FilePath.name(FilePath.resolved(FilePath.folder(item.mic))) }
            if name.hasSuffix("_mic"), name.count > 4 { name.removeLast(4) }
            var unique = name
            var number = next[name] ?? 2
            while !taken.insert(unique).inserted {
                unique = "\(name)-\(number)"
                number += 1
            }
            next[name] = number
            return unique
        }
    }

    func run() throws {
        var lines: [Line] = []
        var told: Set<String> = []
        for index in items.indices {
            let (line, warnings) = process(index)
            for warning in warnings where told.insert(warning).inserted { Console.complain(warning) }
            lines.append(line)
            if options.json { Console.emit(line) }
        }
        if let report = options.report { try writeIndex(lines, to: "\(report)/\(Self.index).html") }
        let failed = lines.count { $0.error != nil }
        let enhancements = lines.compactMap { $0.result?.erleDb }.sorted()
        if options.json {
            let median = enhancements.isEmpty ? nil : enhancements[enhancements.count / 2]
            Console.emit(Total(files: lines.count, failed: failed, erleDbMedian: median))
        } else {
            var table = Table()
            table.add(["recording"] + Self.headings)
            for (line, name) in zip(lines, names) { table.add([name] + Self.cells(line)) }
            table.lines.forEach { Console.say($0) }
        }
        guard failed == 0 else {
            throw Failure(.thresholdMissed, "\(failed) of \(lines.count) recordings could not be processed; see above")
        }
    }

    private func process(_ index: Int) -> (line: Line, warnings: [String]) {
        let (item, name) = (items[index], names[index])
        do {
            let (result, warnings) = try AecRun(options, item, outputOption: outputOptions[index]).run()
            var page: String?
            if let report = options.report {
                try AecPage(result).write(to: "\(report)/\(name)")
                page = "\(name).html"
            }
            let summary = result.summary
            let verdict = AecVerdict(summary).grade.rawValue
            return (
                Line(mic: item.mic, out: item.out, report: page, verdict: verdict, result: summary), warnings
            )
        } catch {
            let reason = (error as? Failure)?.message ?? "\(error)"
            return (Line(mic: item.mic, out: item.out, report: nil, error: reason), [])
        }
    }

    private static let headings = [
        "ERLE dB, far end alone", "20 dB after s", "delay ms", "drift ppm", "ERL dB", "talker lost %", "verdict",
    ]

    private static func cells(_ line: Line) -> [String] {
        guard let result = line.result else { return ["", "", "", "", "", "", "failed: \(line.error ?? "")"] }
        func cell(_ value: Double?, _ digits: Int = 1) -> String { value.map { $0.fixed(digits) } ?? "-" }
        return [
            cell(result.farAloneErleDb), cell(result.convergenceS, 2), cell(result.delayMs), cell(result.driftPpm, 0),
            cell(result.echoReturnLossDb), cell(result.nearLostRatio.map { $0 * 100 }), line.verdict ?? "",
        ]
    }

    private func writeIndex(_ lines: [Line], to path: String) throws(Failure) {
        let heading = (["recording"] + Self.headings).map { "<th>\($0)</th>" }.joined()
        let rows = zip(lines, names).map { line, name in
            let text = SVGCanvas.escaped(name)
            let address = line.report?.percentEncodedPath
            let link = address.map { "<a href=\"./\(SVGCanvas.escaped($0))\">\(text)</a>" } ?? text
            return "<tr><td>\(link)</td>" + Self.cells(line).map { "<td>\(SVGCanvas.escaped($0))</td>" }.joined()
                + "</tr>"
        }
        let html = AecPage.document(
            title: "Echo", body: "<h1>Echo</h1><table><tr>\(heading)</tr>\(rows.joined(separator: "\n"))</table>")
        try AecPage.write(html, to: path)
    }
}
