import ArgumentParser
import Testing

@testable import duplex

@Suite("The help of every command has an example that can be typed")
struct HelpTests {
    /// Every command, with how it is called.
    private static func commands(_ command: any ParsableCommand.Type, _ path: [String]) -> [(
        path: [String], help: String
    )] {
        let help = Duplex.helpMessage(for: command, columns: 200)
        return [(path, help)]
            + command.configuration.subcommands.flatMap { commands($0, path + [$0._commandName]) }
    }

    @Test("it is of that command, and its options exist")
    func examples() throws {
        let all = Self.commands(Duplex.self, ["duplex"])
        #expect(all.count > 10)
        for (path, help) in all {
            // Given the indented lines of the discussion, which ends with the usage
            let lines = help.split(separator: "\n").prefix { !$0.hasPrefix("USAGE") }
            let examples = lines.filter { $0.hasPrefix("  duplex ") }.map { $0.split(separator: " ").map(String.init) }
            #expect(!examples.isEmpty, "\(path.joined(separator: " ")) has no example")
            for words in examples {
                #expect(words.starts(with: path))
                // When it is parsed, without what is the shell's
                let arguments = words.dropFirst().prefix { !$0.hasPrefix(">") }
                // Then nothing is wrong with it
                #expect(throws: Never.self, "\(words.joined(separator: " "))") {
                    try Duplex.parseAsRoot(Array(arguments))
                }
            }
        }
    }
}

@Suite("Options of one meaning")
struct OptionNameTests {
    @Test("what is written is --output in every command")
    func output() throws {
        #expect(try Aec.parse(["--mic", "m", "--ref", "r", "--output", "o"]).out == "o")
        #expect(try Playout.parse(["--pcap", "p", "--output", "o"]).out == "o")
        #expect(try Demo.parse(["--output", "o"]).output == "o")
    }
}
