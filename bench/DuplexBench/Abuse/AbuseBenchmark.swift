import Foundation

extension Benchmark {
    /// Attacks on a running room server and on calls beside them.
    static let abuse = Benchmark(
        name: "abuse",
        purpose: "what hostile datagrams cost a room server, and what of a well-behaved call beside them is lost",
        run: AbuseBenchmark.run)
}

/// Real processes and loopback alone; each attack is over after ten seconds.
private enum AbuseBenchmark {
    static func run() throws -> BenchmarkResult {
        // Measured are the programs and not whatever else the machine does; where it is not allowed it is no harm.
        _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, -15)
        let duplex = try program()
        var table = MarkdownTable(
            "attack", "sent/s", "µs mean", "worst", "alone", "client µs", "full socket", "lost apart", "lost beside",
            "put out",
            "silenced ms", "talker/s", "newcomer ms", "log kB")
        var rows: [AbuseScene.Outcome] = []
        for (attack, isProtected) in try Self.chosen() {
            let row = try measure(attack, isProtected, duplex)
            if attack != .nothing { rows.append(row) }
            add(attack, isProtected, row, to: &table)
        }
        return BenchmarkResult(
            description: """
                "Protected": over DTLS and SRTP. Each attack for \(Int(AbuseScene.attackSeconds)) s at \(AbuseScene.rate) datagrams a second on a `duplex room serve`, with two calls \
                (each two `duplex call` with files) going on: one in a room apart and one in the attacked room, which has \(AbuseScene.fullRoom) \
                members where the attack is on messages. µs: CPU time of all of the server's threads for a hostile datagram, above what they need \
                without an attack: the mean, the mean of the worst quarter of a second, and the median of one datagram alone, its wake-up included; \
                "client": the media and network threads of a call in the attacked room. "Full socket": datagrams, hostile or not, that \
                the kernel dropped before the server. "Lost": packets that the calls missed, apart and beside the attacker, all of them where a call has heard none. "Put out": calls and bystanders \
                that lost the room, for a while or for good. "Silenced": how much of the calls' sound was not heard, all four ends together. \
                "Talker": packets that the attacked talker sent, 50 as long as nobody makes it send less. "Newcomer": how long somebody \
                with a good token took to come in meanwhile, on a path of 100 ms; it asks at most every second. "Log": what the server wrote.
                """,
            table: table,
            summary: [
                (
                    "worst_us_per_datagram",
                    .number(rows.map { max($0.worstMicroseconds, $0.clientMicroseconds) }.max() ?? .nan, digits: 1)
                ), ("alone_us_per_datagram", .number(rows.map(\.aloneMicroseconds).max() ?? .nan, digits: 1)),
                ("good_call_lost", .integer(rows.reduce(0) { $0 + $1.packetsLostApart + $1.packetsLostBeside })),
                ("victims_lost", .integer(rows.reduce(0) { $0 + $1.victimsLost })),
                ("silenced_ms", .integer(rows.reduce(0) { $0 + $1.silencedMilliseconds })),
                ("slowest_attack_per_s", .number(rows.map(\.datagramsPerSecond).min() ?? .nan, digits: 0)),
            ])
    }

    /// All attacks, or those that `ABUSE_ONLY` names, with commas between: on a plaintext server, then those of members
    /// on a protected one, or on the one that `ABUSE_SECURITY` names, `plaintext` or `protected`.
    private static func chosen() throws -> [(Attack, isProtected: Bool)] {
        let environment = ProcessInfo.processInfo.environment
        let names = environment["ABUSE_ONLY"]?.split(separator: ",").map { String($0) }
        let attacks = Attack.allCases.filter { names?.contains("\($0)") ?? true }
        // A name that is none would leave nothing to lose.
        guard attacks.count == names.map({ Set($0).count }) ?? attacks.count, !attacks.isEmpty else {
            throw AbuseFailure("ABUSE_ONLY takes some of \(Attack.allCases.map { "\($0)" }.joined(separator: ","))")
        }
        let security = environment["ABUSE_SECURITY"]
        guard security == nil || security == "plaintext" || security == "protected" else {
            throw AbuseFailure("ABUSE_SECURITY is plaintext or protected")
        }
        let plaintext = security == "protected" ? [] : attacks.map { ($0, isProtected: false) }
        let protected =
            security == "plaintext" ? [] : attacks.filter { !$0.isOfStrangers }.map { ($0, isProtected: true) }
        guard !(plaintext + protected).isEmpty else {
            throw AbuseFailure("ABUSE_ONLY names attacks of strangers alone, which are on a plaintext server")
        }
        return plaintext + protected
    }

    private static func name(_ attack: Attack, _ isProtected: Bool) -> String {
        attack.name + (isProtected ? ", protected" : "")
    }

    /// The program under attack: `DUPLEX_PROGRAM`, or the one that was built beside this.
    private static func program() throws -> String {
        let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(
            "duplex")
        let path = ProcessInfo.processInfo.environment["DUPLEX_PROGRAM"] ?? beside.path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw AbuseFailure("'\(path)' is no program; build it with 'swift build -c release --product duplex'")
        }
        return path
    }

    private static func measure(
        _ attack: Attack, _ isProtected: Bool, _ duplex: String
    ) throws -> AbuseScene.Outcome {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("duplex-abuse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        FileHandle.standardError.write(Data("attacking with \(name(attack, isProtected))\n".utf8))
        return try AbuseScene(attack, isProtected: isProtected, duplex: duplex, folder: folder).run()
    }

    private static func add(
        _ attack: Attack, _ isProtected: Bool, _ row: AbuseScene.Outcome, to table: inout MarkdownTable
    ) {
        let isAttack = attack != .nothing
        func micro(_ value: Double) -> String { isAttack ? value.fixed(1) : "" }
        let cells = [
            name(attack, isProtected), row.datagramsPerSecond.fixed(0), micro(row.meanMicroseconds),
            micro(row.worstMicroseconds),
            micro(row.aloneMicroseconds), micro(row.clientMicroseconds), String(row.dropped),
            String(row.packetsLostApart),
            String(row.packetsLostBeside), String(row.victimsLost), String(row.silencedMilliseconds),
            row.victimPacketsPerSecond.fixed(1), row.newcomerMilliseconds?.fixed(0) ?? "never",
            String(row.serverLogBytes / 1_000),
        ]
        table.add(cells)
        FileHandle.standardError.write(Data((cells.joined(separator: "  ") + "\n").utf8))
    }
}
