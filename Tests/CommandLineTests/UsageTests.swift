import Testing

@Suite("A command that is written wrongly says how to write it")
struct UsageTests {
    struct Wrong: CustomTestStringConvertible, Sendable {
        var arguments: [String]
        var saying: String
        var testDescription: String { arguments.joined(separator: " ") }
    }

    private static let call = ["call", "--token", "t", "--server", "udp://127.0.0.1:1"]
    private static let token = ["room", "token", "--room", "r", "--identity", "a"]
    private static let aec = ["aec", "--mic", "m", "--ref", "r", "--out", "o"]

    private static let engine = ["loopback", "--through", "engine", "--mouth", "m", "--ear", "e"]

    static let wrong: [Wrong] = [
        Wrong(arguments: ["frobnicate"], saying: "Unexpected argument 'frobnicate'"),
        Wrong(arguments: ["doctor", "--frobnicate"], saying: "Unknown option '--frobnicate'"),
        Wrong(arguments: ["doctor", "--capture", "hw:0"], saying: "--capture and --capture-channels are of --echo"),
        Wrong(arguments: ["doctor", "--capture-channels", "3"], saying: "--capture-channels are of --echo"),
        Wrong(arguments: ["doctor", "--echo", "--quick"], saying: "leave --silent and --quick away"),
        Wrong(arguments: ["call", "--server", "http://host:1", "--token", "t"], saying: "udp://HOST:PORT"),
        Wrong(
            arguments: ["call", "--server", "udp://host:70000", "--token", "t"], saying: "write a port of 1 to 65535"),
        Wrong(arguments: ["call", "--server", "udp://127.0.0.1:1"], saying: "no token"),
        Wrong(arguments: call + ["--seconds", "nan"], saying: "--seconds is nan; use more than 0"),
        Wrong(arguments: call + ["--seconds", "1e300"], saying: "at most 86400 seconds"),
        Wrong(arguments: call + ["--seconds", "0"], saying: "--seconds is 0.0; use more than 0"),
        Wrong(arguments: call + ["--period", "3"], saying: "--period is 3; use 16 to 4800"),
        Wrong(arguments: call + ["--route-policy", "maybe"], saying: "The value 'maybe' is invalid"),
        Wrong(
            arguments: call + ["--input", "a.wav", "--route-profile", "headset"],
            saying: "--route-profile are of a sound card"),
        Wrong(
            arguments: call + ["--interruptible-by", "everyone"], saying: "provide one of 'publisher' and 'anyone'"),
        Wrong(arguments: call + ["--frame-ms", "15"], saying: "The value '15' is invalid"),
        Wrong(arguments: call + ["--input", "a.wav", "--capture", "hw:0"], saying: "use either"),
        Wrong(arguments: call + ["--input", "a.wav", "--capture-channels", "3"], saying: "use either"),
        Wrong(arguments: call + ["--capture-channels", "0"], saying: "The value '0' is invalid"),
        Wrong(arguments: call + ["--capture", "none", "--playback", "none"], saying: "no call"),
        Wrong(arguments: call + ["--wait", "3"], saying: "--wait is for files"),
        Wrong(arguments: call + ["--record-limit", "5"], saying: "--record-limit needs --record"),
        Wrong(arguments: call + ["--record", "r", "--record-limit", "0"], saying: "use 1 to 1048576 MB"),
        Wrong(arguments: token + ["--valid-seconds", "9223372036854775807"], saying: "use 1 to 315360000"),
        Wrong(arguments: token + ["--listen-only", "--speak-only"], saying: "leave nothing; use one of them"),
        Wrong(arguments: token + ["--valid-seconds", "0"], saying: "--valid-seconds is 0; use 1 to"),
        Wrong(arguments: token + ["--name", String(repeating: "x", count: 129)], saying: "--name has 129 bytes"),
        Wrong(arguments: ["room", "token", "--room", "", "--identity", "a"], saying: "must not be empty"),
        Wrong(arguments: token, saying: "openssl rand"),
        Wrong(arguments: ["room", "serve", "--port", "65536"], saying: "The value '65536' is invalid"),
        Wrong(
            arguments: ["room", "serve", "--room-capacity", "257"], saying: "--room-capacity is 257; use 1 to 256"),
        Wrong(arguments: ["room", "serve", "--server-capacity", "0"], saying: "--server-capacity is 0; use 1 to"),
        Wrong(
            arguments: ["room", "serve", "--statistics-interval", "0"],
            saying: "--statistics-interval is 0; use 1 to 86400"),
        Wrong(arguments: ["room", "serve"], saying: "openssl rand"),
        Wrong(arguments: ["room", "serve", "--certificate", "c.pem"], saying: "give both or neither"),
        Wrong(
            arguments: ["room", "serve", "--certificate", "c.pem", "--private-key", "k.pem", "--state", "s"],
            saying: "leave it out with --certificate"),
        Wrong(arguments: ["room", "serve", "--host", ""], saying: "--host is ''; give a name or an address alone"),
        Wrong(arguments: ["room", "serve", "--host", "a.example:7900"], saying: "without scheme, brackets and port"),
        Wrong(arguments: ["room", "serve", "--host", "duplex://a.example"], saying: "without scheme"),
        Wrong(arguments: ["room", "serve", "--allow-plaintext"], saying: "is for --plaintext"),
        Wrong(arguments: ["room", "serve", "--plaintext", "--state", "s"], saying: "leave out --plaintext"),
        Wrong(arguments: ["room", "serve", "--dev", "--key-file", "k"], saying: "leave out --secret-file"),
        Wrong(arguments: ["room", "serve", "--dev", "--key", "k"], saying: "leave them out with --dev"),
        Wrong(arguments: ["room", "serve", "--key-file", "k", "--key-id", "k"], saying: "every key is taken"),
        Wrong(
            arguments: ["serve-control", "--room-key-file", "k", "--room-secret-file", "s"],
            saying: "use one of them"),
        Wrong(arguments: ["serve-control", "--room-key", "k"], saying: "--room-key names the secret of"),
        Wrong(arguments: ["graph", "run", "g.json", "--input", "a.wav", "--capture", "hw:0"], saying: "use either"),
        Wrong(arguments: ["talk", "--offline", "--period", "3"], saying: "--period is 3; use 16 to 4800"),
        Wrong(
            arguments: ["talk", "--offline", "--input", "a.wav", "--route-profile", "headset"],
            saying: "are of a sound card"),
        Wrong(arguments: ["talk", "--offline", "--turn-end", "server"], saying: "--turn-end are for --realtime"),
        Wrong(arguments: ["talk", "--offline", "--instructions", "be brief"], saying: "--realtime or --responder"),
        Wrong(arguments: ["talk", "--realtime", "wss://h/", "--voice", "de"], saying: "--voice are for --offline"),
        Wrong(arguments: ["serve-realtime", "--responder-key-file", "k"], saying: "is for --responder"),
        Wrong(arguments: aec + ["--delay-hint", "nan"], saying: "0 to 600 ms"),
        Wrong(arguments: aec + ["--delay-hint", "700"], saying: "0 to 600 ms"),
        Wrong(arguments: aec + ["--delay-hint", "-20"], saying: "0 to 600 ms"),
        Wrong(arguments: ["demo", "--seconds", "3"], saying: "use 10 to 120"),
        Wrong(arguments: ["loopback", "--through", "wall"], saying: "The value 'wall' is invalid"),
        Wrong(arguments: ["loopback", "--period", "3"], saying: "use 16 to 4800 frames"),
        Wrong(arguments: ["loopback", "--periods", "1"], saying: "use 2 to 64"),
        Wrong(arguments: ["loopback", "--rounds", "0"], saying: "use 1 to 10000"),
        Wrong(arguments: ["loopback", "--fail-over", "nan"], saying: "use more than 0 ms"),
        Wrong(arguments: ["loopback", "--mouth", "m"], saying: "--mouth is for --through engine or external"),
        Wrong(arguments: ["loopback", "--through", "engine"], saying: "needs --mouth"),
        Wrong(arguments: ["loopback", "--through", "external", "--mouth", "m"], saying: "needs --mouth"),
        Wrong(
            arguments: ["loopback", "--through", "external", "--mouth", "m", "--ear", "e", "--period", "120"],
            saying: "are for --through device or engine"),
        Wrong(
            arguments: ["loopback", "--through", "external", "--mouth", "m", "--ear", "e", "--capture-channels", "1"],
            saying: "are for --through device or engine"),
        Wrong(arguments: ["loopback", "--low-delay"], saying: "--low-delay is for --through engine"),
        Wrong(arguments: engine + ["--frame-ms", "15"], saying: "The value '15' is invalid"),
        Wrong(arguments: engine + ["--settle=-1"], saying: "use 0 to 3600 seconds"),
    ]

    @Test("with exit code 64", arguments: wrong)
    func usage(_ command: Wrong) throws {
        let result = try ChildProcess.run(command.arguments)
        expectFailure(result, code: 64, saying: command.saying)
        #expect(result.standardOutput.isEmpty)
    }

    @Test("help and version are no errors", arguments: [[], ["--help"], ["call", "--help"], ["room"], ["--version"]])
    func help(_ arguments: [String]) throws {
        let result = try ChildProcess.run(arguments)
        #expect(result.exitCode == 0)
        #expect(!result.standardOutput.isEmpty)
    }
}
