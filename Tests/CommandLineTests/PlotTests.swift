import Foundation
import TestCases
import Testing

@testable import duplex

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads a document as XML and counts its elements by name; nil where it is no XML.
private final class ElementCounter: NSObject, XMLParserDelegate {
    private var counts: [String: Int] = [:]
    private(set) var text = ""

    static func count(_ document: String) -> (counts: [String: Int], text: String)? {
        let counter = ElementCounter()
        let parser = XMLParser(data: Data(document.utf8))
        parser.delegate = counter
        return parser.parse() ? (counter.counts, counter.text) : nil
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) { counts[name, default: 0] += 1 }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
}

@Suite("Plots")
struct PlotTests {
    private static let nasty = "a < b & \"c\" > \u{0} \u{8} \u{FFFF} é 音"

    @Test("are well-formed XML, whatever they are called and whatever their values")
    func wellFormed() throws {
        // Given every kind of panel, with values that no axis likes
        let wild = [0.0, -1e300, 1e300, .nan, .infinity, 1e-300]
        let figure = Figure(
            title: Self.nasty,
            panels: [
                PlotPanel(title: Self.nasty, xLabel: Self.nasty, yLabel: Self.nasty, content: .histogram([])),
                PlotPanel(title: "", xLabel: "", yLabel: "", content: .histogram([(5...5, 3)])),
                PlotPanel(
                    title: "", xLabel: "", yLabel: "",
                    content: .lines([
                        .init(name: Self.nasty, points: wild.map { ($0, $0) }), .init(name: "b", points: []),
                    ])),
                PlotPanel(
                    title: "", xLabel: "", yLabel: "",
                    content: .stackedBars([
                        .init(name: Self.nasty, parts: [("x", 3), (Self.nasty, -1), ("y", 0.5)]),
                        .init(name: "", parts: []),
                    ])),
                PlotPanel(
                    title: "", xLabel: "", yLabel: "",
                    content: .spectrogram(Spectrogram(of: [Float](repeating: 0, count: 10).span, sampleRate: 48_000))),
            ])
        // Then
        let (counts, text) = try #require(ElementCounter.count(figure.svg))
        #expect(counts["svg"] == 1)
        #expect(counts["image"] == 1)
        #expect(text.contains("a < b & \"c\" >"))
        #expect(!figure.svg.contains("nan") && !figure.svg.contains("inf"))
    }

    @Test("a line of a million points has some for each pixel, the extremes among them")
    func thinned() {
        let points = (0..<1_000_000).map { (x: Double($0), y: sin(Double($0) / 1_000)) }
        func svg(_ points: [(x: Double, y: Double)]) -> String {
            Figure(
                title: "",
                panels: [
                    PlotPanel(title: "", xLabel: "", yLabel: "", content: .lines([.init(name: "", points: points)]))
                ]
            ).svg
        }
        #expect(svg(points).utf8.count < 100_000)
        let drawn = PlotPanel.thinned([(0.1, 1), (0.2, 5), (0.3, -5), (0.4, 2), (0.5, 3), (1.5, 4), (1.2, 4), (0.7, 0)])
        #expect(drawn.map(\.y) == [1, 5, -5, 3, 4, 4, 0])
        #expect(PlotPanel.thinned([]).isEmpty)
    }

    @Test("a histogram has a bar for each interval that is not empty, a stacked bar one for each part")
    func bars() throws {
        func rectangles(_ content: PlotPanel.Content) throws -> Int {
            let figure = Figure(title: "", panels: [PlotPanel(title: "", xLabel: "", yLabel: "", content: content)])
            // The page itself is one.
            return try #require(ElementCounter.count(figure.svg)).counts["rect", default: 0] - 1
        }
        #expect(try rectangles(.histogram([(0...1, 2), (1...2, 0), (2...3, 7)])) == 2)
        // Two bars of two parts each, and a legend of three names.
        let bars = [
            PlotPanel.Bar(name: "a", parts: [("x", 1), ("y", 2)]),
            PlotPanel.Bar(name: "b", parts: [("x", 1), ("z", 2)]),
        ]
        #expect(try rectangles(.stackedBars(bars)) == 7)
    }

    @Test(
        "marks stand at round values within the axis",
        arguments: [
            0...1, -3.2...7.9, 9.98...10.01, 0...123_456, 5...5, -1e-30...1e-30, -1.5e308...1.5e308,
            0 ... .leastNonzeroMagnitude,
        ])
    func ticks(_ range: ClosedRange<Double>) {
        let scale = PlotScale(range, from: 0, to: 100)
        let ticks = scale.ticks(8)
        #expect((2...9).contains(ticks.count))
        for tick in ticks {
            #expect((-0.001...100.001).contains(scale[tick.value]))
            #expect(Double(tick.text) != nil)
        }
        #expect(Set(ticks.map(\.text)).count == ticks.count)
    }

    /// A picture that needs two stored blocks.
    private static let picture = PNG.encode(
        width: 300, height: 250, pixels: (0..<300 * 250).map { UInt8(truncatingIfNeeded: $0) },
        palette: (0..<256).map { (UInt8($0), 0, 0) })

    @Test("a PNG ends with the chunk that every PNG ends with")
    func pngEnd() {
        #expect(Self.picture.suffix(12) == [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82])
    }

    private static let python = "/usr/bin/python3"

    @Test(
        "a PNG has the checksums of its chunks and of its pixels: Python's zlib reads it back",
        .enabled(if: FileManager.default.isExecutableFile(atPath: python)))
    func png() throws {
        let folder = try TestFolder()
        try folder.write(Self.picture, to: "p.png")
        let script = """
            import sys, zlib, struct
            data = open(sys.argv[1], 'rb').read()[8:]
            while data:
                length, name = struct.unpack('>I4s', data[:8])
                body = data[8:8 + length]
                assert struct.unpack('>I', data[8 + length:12 + length])[0] == zlib.crc32(name + body)
                if name == b'IDAT': print(len(zlib.decompress(body)))
                data = data[12 + length:]
            """
        let ended = try TestProgram.run(Self.python, ["-c", script, folder("p.png")])
        #expect(ended.status == 0, "\(ended.complaint)")
        #expect(ended.text == "\(301 * 250)\n")
    }

    @Test("a spectrogram shows a tone at its frequency and level")
    func tone() throws {
        let tone = (0..<48_000).map { Float(0.1 * sin(2 * .pi * 3_000 * Double($0) / 48_000)) }
        let spectrogram = Spectrogram(of: tone.span, sampleRate: 48_000)
        #expect(spectrogram.seconds == 1)
        let column = try #require(spectrogram.columns.dropFirst(10).first)
        let loudest = try #require(column.indices.max { column[$0] < column[$1] })
        #expect(loudest == 64)
        #expect(abs(column[loudest] + 20) < 0.1)
        #expect(column[loudest + 20] < -100)
    }
}
