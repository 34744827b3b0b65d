import ArgumentParser

/// The command line over the engine.
@main
struct Duplex: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplex",
        abstract: "A real-time duplex voice engine: call, measure, cancel echo.",
        discussion: """
            Results go to stdout, progress to stderr and only on a terminal. With --json, stdout carries NDJSON whose last line is \
            the summary; errors are a line on stderr.

            Exit codes: 0 ok, 1 a threshold was missed or an output could not be written, 64 usage, 66 an input is missing or not \
            what it claims to be, 69 a device or server is unavailable, 77 permission denied.

            For example:

              duplex demo
            """,
        version: EngineVersion.text,
        subcommands: [
            Demo.self, Call.self, Talk.self, Agent.self, ServeRealtime.self, ServeControl.self, Loopback.self, Aec.self,
            Playout.self, Speech.self, ReplayCommand.self, Graph.self, Room.self, Doctor.self, Devices.self,
        ])

    static func main() async {
        Console.prepare()
        do {
            let command = try parseAsRoot()
            do throws(Failure) { try Descriptors.require() } catch { throw error.told() }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                var command = command
                try command.run()
            }
        } catch {
            // Help and the scripts of completion are ours; a complaint repeats what was given.
            let complaint = exitCode(for: error).isSuccess ? "" : fullMessage(for: error)
            guard !complaint.isEmpty else { exit(withError: error) }
            complaint.split(separator: "\n", omittingEmptySubsequences: false).forEach { Console.complain(String($0)) }
            exit(withError: exitCode(for: error))
        }
    }
}
