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
        Wrong(arguments: ["frobnicate"], saying: "frobnicate"),
        Wrong(arguments: ["doctor", "--frobnicate"], saying: "--frobnicate"),
        Wrong(arguments: ["call", "--server", "http://host:1", "--token", "t"], saying: "udp://HOST:PORT"),
        Wrong(arguments: ["call", "--server", "udp://host:70000", "--token", "t"], saying: "udp://HOST:PORT"),
        Wrong(arguments: ["call", "--server", "udp://127.0.0.1:1"], saying: "no token"),
        Wrong(arguments: call + ["--seconds", "nan"], saying: "--seconds"),
        Wrong(arguments: call + ["--seconds", "1e300"], saying: "--seconds"),
        Wrong(arguments: call + ["--seconds", "0"], saying: "--seconds"),
        Wrong(arguments: call + ["--period", "3"], saying: "--period"),
        Wrong(arguments: call + ["--route-policy", "maybe"], saying: "--route-policy"),
        Wrong(arguments: call + ["--input", "a.wav", "--route-profile", "headset"], saying: "--route-profile"),
        Wrong(arguments: call + ["--frame-ms", "15"], saying: "--frame-ms"),
        Wrong(arguments: call + ["--input", "a.wav", "--capture", "hw:0"], saying: "use either"),
        Wrong(arguments: call + ["--capture", "none", "--playback", "none"], saying: "no call"),
        Wrong(arguments: call + ["--wait", "3"], saying: "--wait"),
        Wrong(arguments: token + ["--valid-seconds", "9223372036854775807"], saying: "--valid-seconds"),
        Wrong(arguments: token + ["--valid-seconds", "0"], saying: "--valid-seconds"),
        Wrong(arguments: token + ["--name", String(repeating: "x", count: 129)], saying: "--name has 129 bytes"),
        Wrong(arguments: ["room", "token", "--room", "", "--identity", "a"], saying: "must not be empty"),
        Wrong(arguments: token, saying: "openssl rand"),
        Wrong(arguments: ["room", "serve", "--port", "65536"], saying: "--port"),
        Wrong(arguments: ["room", "serve"], saying: "openssl rand"),
        Wrong(arguments: aec + ["--delay-hint", "nan"], saying: "0 to 600 ms"),
        Wrong(arguments: aec + ["--delay-hint", "700"], saying: "0 to 600 ms"),
        Wrong(arguments: aec + ["--delay-hint", "-20"], saying: "0 to 600 ms"),
        Wrong(arguments: ["demo", "--seconds", "3"], saying: "--seconds"),
        Wrong(arguments: ["loopback", "--through", "wall"], saying: "--through"),
        Wrong(arguments: ["loopback", "--period", "3"], saying: "--period"),
        Wrong(arguments: ["loopback", "--periods", "1"], saying: "--periods"),
        Wrong(arguments: ["loopback", "--rounds", "0"], saying: "--rounds"),
        Wrong(arguments: ["loopback", "--fail-over", "nan"], saying: "--fail-over"),
        Wrong(arguments: ["loopback", "--mouth", "m"], saying: "--mouth is for --through engine or external"),
        Wrong(arguments: ["loopback", "--through", "engine"], saying: "needs --mouth"),
        Wrong(arguments: ["loopback", "--through", "external", "--mouth", "m"], saying: "needs --mouth"),
        Wrong(arguments: ["loopback", "--low-delay"], saying: "--low-delay is for --through engine"),
        Wrong(arguments: engine + ["--frame-ms", "15"], saying: "--frame-ms"),
        Wrong(arguments: engine + ["--settle", "-1"], saying: "--settle"),
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
