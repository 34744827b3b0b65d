package import TestCases
internal import VoiceDialog

/// A server, a talker and a connection that do what comes to their minds.
package struct RandomDialog {
    private var server: DialogServer
    /// Samples of an answer that were handed out behind its cancellation, or under another's name.
    package private(set) var staleAfterCancel = 0
    package private(set) var truncations = 0
    /// Truncations before the first sample, or behind the last that was received.
    package private(set) var wrongTruncations = 0
    /// Each response's sound is its own number, so that what is handed out tells where it is from.
    private var responses: [(name: String, number: Int, answer: AnswerID, isDone: Bool)] = []
    private var askers: [AnswerID] = []
    private var received: [String: Int] = [:]
    private var answers: [AnswerID] = []
    private var cancelled: Set<AnswerID> = []
    private var unasked: [AnswerID] = []

    /// A dialog of 120 steps by these numbers.
    package init(_ numbers: inout SeededNumbers) throws {
        server = try DialogServer(RealtimeSettings(generation: numbers.chance(0.5) ? .beta : .current))
        for _ in 0..<120 { try step(&numbers) }
    }

    private mutating func step(_ numbers: inout SeededNumbers) throws {
        switch numbers.below(10) {
        case 0:
            server.dialog.startTurn()
            server.dialog.hear([Int16](repeating: 1, count: numbers.below(400)))
            answers.append(server.dialog.endTurn())
            unasked.append(answers[answers.count - 1])
        case 1, 2:
            guard server.dialog.isReady, !unasked.isEmpty else { break }
            // Servers answer in the order of the requests; some give the tag back.
            let answer = unasked.removeFirst()
            askers.append(answer)
            let name = "r\(askers.count)"
            responses.append((name, askers.count, answer, false))
            try server.create(name, tag: numbers.chance(0.5) ? answer : nil)
            try server.addMessage("i\(name)", to: name)
        case 3, 4, 5:
            guard !responses.isEmpty, server.dialog.isReady else { break }
            let index = numbers.below(responses.count)
            let samples = [Int16](repeating: Int16(responses[index].number), count: 1 + numbers.below(600))
            let isLive = !responses[index].isDone && !cancelled.contains(responses[index].answer)
            if isLive { received["i\(responses[index].name)", default: 0] += samples.count }
            try server.speak(
                samples, responses[index].name, item: "i\(responses[index].name)", isBeta: numbers.chance(0.5))
        case 6:
            guard !responses.isEmpty, server.dialog.isReady else { break }
            let index = numbers.below(responses.count)
            responses[index].isDone = true
            try server.finish(responses[index].name, status: numbers.chance(0.7) ? "completed" : "cancelled")
            // And once more a creation of what there was.
            if numbers.chance(0.3) { try server.create(responses[index].name, tag: responses[index].answer) }
        case 7:
            guard !answers.isEmpty else { break }
            let answer = answers[numbers.below(answers.count)]
            if numbers.chance(0.8) { server.dialog.cancel(answer) }
            cancelled.insert(answer)
            if numbers.chance(0.8) {
                server.dialog.heard(of: answer, .milliseconds(numbers.below(600)), isComplete: false)
            } else {
                server.dialog.cancel(answer)
            }
        case 8:
            for answer in answers {
                let taken = server.dialog.takeSound(of: answer, atMost: numbers.below(800))
                if cancelled.contains(answer) { staleAfterCancel += taken.count }
                staleAfterCancel += taken.count { askers[Int($0) - 1] != answer }
            }
        default:
            guard numbers.chance(0.15) else { break }
            try server.lose()
            try server.comeBack()
            // The connection is another: responses begin anew, in the order of what is asked again.
            responses.removeAll()
            received.removeAll()
            let asked = try server.takeRequests().compactMap { request in
                request["type"] == "response.create"
                    ? request["response"]?["metadata"]?["duplexvoice"]?.string.flatMap(Int.init) : nil
            }
            unasked = asked.map(AnswerID.init)
        }
        for request in try server.takeRequests() where request["type"] == "conversation.item.truncate" {
            truncations += 1
            let item = request["item_id"]?.string ?? ""
            let end = request["audio_end_ms"]?.integer ?? 0
            if end <= 0 || end * 24 > received[item, default: 0] { wrongTruncations += 1 }
        }
    }
}
