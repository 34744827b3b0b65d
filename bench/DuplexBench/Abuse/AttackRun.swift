import Glibc
import VoiceRealtime

/// Lets time pass: with attacks or without, and watches what they cost.
final class AttackRun {
    /// Addresses of this machine alone from which strangers come: 127.0.1.1 and on.
    static let strangers = 64
    /// Behind by more than this, the rate is not made up for.
    private static let mostBehindSeconds = 0.05
    private static let windowSeconds = 0.25
    /// How long one datagram may keep the server busy at most, for the measurement of one alone.
    private static let probeSeconds = 0.2
    /// Two hellos lead to a join; more where the server has too much to do.
    private static let mostPreparations = 8

    private let datagrams: AttackDatagrams
    private let member: HostileMember
    private let sockets: [LoopbackSocket]
    private var server: ChildProgram?
    private var clients: [MeasuredCall] = []

    /// Nanoseconds of CPU in a second without an attack.
    private var quietServer = 0.0
    private var quietClients = 0.0
    private var sent = 0
    private var floodSeconds = 0.0
    private var serverNanoseconds = 0.0
    private var clientNanoseconds = 0.0
    private var worstWindow = 0.0

    init(_ datagrams: AttackDatagrams, by member: HostileMember, port: UInt16) throws {
        (self.datagrams, self.member) = (datagrams, member)
        sockets =
            datagrams.attack.isOfStrangers
            ? try (1...Self.strangers).map { try LoopbackSocket(from: "127.0.1.\($0)", to: port) } : [member.socket]
    }

    /// Whose CPU time to look at: the server's, and that of the clients in the attacked room.
    func observe(_ server: ChildProgram, _ clients: [MeasuredCall]) { (self.server, self.clients) = (server, clients) }

    /// Of all its threads: tokens are looked at on another than the one that forwards.
    private var serverTime: Double { Double(server?.cpuNanoseconds ?? 0) }
    private var clientTime: Double { clients.reduce(0) { $0 + Double($1.receivingNanoseconds) } }

    /// Nothing but what a member has to say.
    func rest(seconds: Double) {
        let end = MonotonicTime.now().nanoseconds + Int64(seconds * 1e9)
        while MonotonicTime.now().nanoseconds < end {
            member.pump(now: MonotonicTime.now().sinceEpoch)
            sleepMicroseconds(2_000)
        }
    }

    /// What server and clients need without an attack.
    func measureQuiet(seconds: Double) {
        let (server, clients, start) = (serverTime, clientTime, MonotonicTime.now())
        rest(seconds: seconds)
        let passed = Double(MonotonicTime.now().nanoseconds - start.nanoseconds) / 1e9
        quietServer = (serverTime - server) / passed
        quietClients = (clientTime - clients) / passed
    }

    /// Sends single datagrams; the median of what one cost the server, in microseconds.
    func probe(_ count: Int) -> Double {
        var costs: [Double] = []
        for _ in 0..<count {
            prepare()
            guard let datagram = datagrams.next(from: 0) else { continue }
            let (before, start) = (serverTime, MonotonicTime.now())
            sockets[0].send([datagram])
            var last = before
            // Until the server has slept for a while.
            while true {
                sleepMicroseconds(5_000)
                let now = serverTime
                let passed = Double(MonotonicTime.now().nanoseconds - start.nanoseconds) / 1e9
                if now - last < quietServer * 0.02 || passed > Self.probeSeconds {
                    costs.append((now - before - quietServer * passed) / 1_000)
                    break
                }
                last = now
            }
            rest(seconds: 0.02)
        }
        return costs.isEmpty ? .nan : max(0, Samples(costs).median)
    }

    /// Has the first stranger say what leads to the attack's own datagram.
    private func prepare() {
        for _ in 0..<Self.mostPreparations where !datagrams.isReady(0) {
            if let datagram = datagrams.next(from: 0) { sockets[0].send([datagram]) }
            rest(seconds: 0.02)
            hear(0)
        }
    }

    /// Takes what the server says to a stranger; the member hears for itself.
    private func hear(_ socket: Int) {
        if datagrams.attack.isOfStrangers { datagrams.take(sockets[socket].receive(), at: socket) }
    }

    /// Sends `rate` datagrams a second.
    func flood(rate: Int, seconds: Double, progress: (Double) -> Void) {
        let start = MonotonicTime.now().nanoseconds
        var begin = start
        var (due, round) = (0, 0)
        var window = (start: start, sent: 0, cpu: serverTime)
        let (serverBefore, clientsBefore) = (serverTime, clientTime)
        while true {
            let now = MonotonicTime.now()
            let elapsed = Double(now.nanoseconds - start) / 1e9
            if elapsed >= seconds { break }
            progress(elapsed / seconds)
            member.pump(now: now.sinceEpoch)
            let wanted = Int(Double(now.nanoseconds - begin) / 1e9 * Double(rate))
            if wanted - due > Int(Self.mostBehindSeconds * Double(rate)) {
                begin = now.nanoseconds - Int64(Double(due) / Double(rate) * 1e9)
            }
            round += 1
            let turn = round % sockets.count
            hear(turn)
            let batch = (0..<min(max(0, wanted - due), LoopbackSocket.batch)).compactMap { _ in
                datagrams.next(from: turn)
            }
            due += min(max(0, wanted - due), LoopbackSocket.batch)
            let went = batch.isEmpty ? 0 : sockets[turn].send(batch)
            sent += went
            window.sent += went
            if Double(now.nanoseconds - window.start) / 1e9 >= Self.windowSeconds { close(&window, now: now) }
            if wanted - due < 8 { sleepMicroseconds(500) }
        }
        floodSeconds = Double(MonotonicTime.now().nanoseconds - start) / 1e9
        serverNanoseconds = serverTime - serverBefore
        clientNanoseconds = clientTime - clientsBefore
    }

    private func close(_ window: inout (start: Int64, sent: Int, cpu: Double), now: MonotonicTime) {
        let cpu = serverTime
        let seconds = Double(now.nanoseconds - window.start) / 1e9
        if window.sent > 0 {
            worstWindow = max(worstWindow, (cpu - window.cpu - quietServer * seconds) / Double(window.sent) / 1_000)
        }
        window = (now.nanoseconds, 0, cpu)
    }

    /// Tells what it came to.
    func fill(_ outcome: inout AbuseScene.Outcome) {
        outcome.datagramsPerSecond = Double(sent) / floodSeconds
        guard sent > 0 else { return }
        outcome.meanMicroseconds = max(0, serverNanoseconds - quietServer * floodSeconds) / Double(sent) / 1_000
        outcome.worstMicroseconds = worstWindow
        let clients = Double(max(1, clients.count))
        outcome.clientMicroseconds =
            max(0, clientNanoseconds - quietClients * floodSeconds) / clients / Double(sent) / 1_000
    }
}

/// Lets the calling thread sleep.
func sleepMicroseconds(_ count: Int64) {
    var time = timespec(tv_sec: Int(count / 1_000_000), tv_nsec: Int(count % 1_000_000) * 1_000)
    _ = unsafe nanosleep(&time, nil)
}
