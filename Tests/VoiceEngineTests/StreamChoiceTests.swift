import TestCases
import Testing
import VoiceRooms

@testable import VoiceEngine

@Suite("The choice of streams")
struct StreamChoiceTests {
    private static let anna = ParticipantID(rawValue: 1)
    private static let stage = StreamID(rawValue: 10)

    private func collect(_ body: (inout [StreamChoice.Order]) -> Void) -> [StreamChoice.Order] {
        var orders: [StreamChoice.Order] = []
        body(&orders)
        return orders
    }

    private func want(_ choice: inout StreamChoice, _ isWanted: Bool, _ name: String) -> [StreamChoice.Order] {
        collect {
            let isTaken = choice.want(isWanted, name, &$0)
            #expect(isTaken)
        }
    }

    @Test("a stream is played by its name before there is a room, a publisher or an answer")
    func fromTheBeginning() {
        var choice = StreamChoice()
        #expect(want(&choice, true, "stage") == [.tell("stage", .waiting(.outsideRoom))])
        #expect(
            collect { choice.enter(takesAll: false, isSameStay: false, &$0) }
                == [.tell("stage", .waiting(.notPublished))])
        #expect(
            collect { choice.appear(Self.stage, name: "stage", of: Self.anna, isNew: true, &$0) }
                == [.subscribe(Self.stage), .tell("stage", .requesting)])
        #expect(
            collect { choice.confirm(Self.stage, isSubscribed: true, &$0) }
                == [.begin(Self.stage), .tell("stage", .playing)])
        // When the room is lost, found, and left
        #expect(collect { choice.lose(&$0) } == [.tell("stage", .waiting(.connectionLost))])
        #expect(
            collect { choice.enter(takesAll: false, isSameStay: true, &$0) }
                == [.subscribe(Self.stage), .tell("stage", .playing)])
        #expect(
            collect { choice.disappear(Self.stage, &$0) }
                == [.end(Self.stage), .tell("stage", .waiting(.notPublished))])
        #expect(collect { choice.leave(&$0) } == [.tell("stage", .waiting(.outsideRoom))])
        #expect(want(&choice, false, "stage") == [.tell("stage", .stopped(.asked))])
    }

    @Test("of a room where all is heard, what the app does not want is not")
    func all() {
        var choice = StreamChoice(names: ["music": false])
        _ = collect { choice.enter(takesAll: true, isSameStay: false, &$0) }
        let music = StreamID(rawValue: 11)
        #expect(
            collect { choice.appear(Self.stage, name: "", of: Self.anna, isNew: true, &$0) } == [.begin(Self.stage)])
        #expect(
            collect { choice.appear(music, name: "music", of: Self.anna, isNew: true, &$0) } == [.unsubscribe(music)])
        #expect(want(&choice, true, "music") == [.subscribe(music), .tell("music", .requesting)])
        #expect(
            want(&choice, false, "music") == [.unsubscribe(music), .tell("music", .stopped(.asked))])
        // An answer that comes late changes nothing
        #expect(collect { choice.confirm(music, isSubscribed: true, &$0) }.isEmpty)
        // And by participant
        #expect(
            collect { choice.want(false, Self.anna, &$0) } == [.end(Self.stage), .unsubscribe(Self.stage)])
    }

    @Test("a refusal is told, and asked again when the app asks again")
    func refusal() {
        var choice = StreamChoice(names: ["stage": true])
        _ = collect { choice.enter(takesAll: false, isSameStay: false, &$0) }
        _ = collect { choice.appear(Self.stage, name: "stage", of: Self.anna, isNew: true, &$0) }
        #expect(
            collect { choice.refuse(Self.stage, .noSubscribeRight, &$0) }
                == [.tell("stage", .stopped(.refused(.noSubscribeRight)))])
        #expect(want(&choice, true, "stage") == [.subscribe(Self.stage), .tell("stage", .requesting)])
    }

    @Test("the names are bounded")
    func bound() {
        var choice = StreamChoice()
        for number in 0..<StreamChoice.nameLimit { _ = want(&choice, true, "\(number)") }
        var orders: [StreamChoice.Order] = []
        let isTaken = choice.want(true, "one more", &orders)
        #expect(!isTaken && orders.isEmpty)
    }

    /// A server that answers later than it is asked, in order, and a room whose streams come and go, with breaks and
    /// new stays.
    @Test(
        "whatever comes in whatever order: in the end what is wanted and there is heard, and nothing else",
        arguments: cases(1...300 as ClosedRange<UInt64>))
    func property(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let takesAll = random.chance(0.5)
        let names = ["a", "b", "c", ""]
        var choice = StreamChoice()
        var wanted: [String: Bool] = [:]
        var there: [StreamID: String] = [:]
        var subscribed: Set<StreamID> = []
        var heard: Set<StreamID> = []
        var answers: [(StreamID, Bool)] = []
        var states: [String: PlayState] = [:]
        var lastStream: UInt32 = 0

        func obey(_ orders: [StreamChoice.Order]) {
            for order in orders {
                switch order {
                case .subscribe(let stream): answers.append((stream, true))
                case .unsubscribe(let stream): answers.append((stream, false))
                // Nothing is begun or ended twice, but for what a new stay begins again
                case .begin(let stream): heard.insert(stream)
                case .end(let stream): #expect(heard.remove(stream) != nil, "seed \(seed)")
                case .tell(let name, let state):
                    #expect(states.updateValue(state, forKey: name) != state, "seed \(seed)")
                }
            }
        }
        func answer() {
            guard !answers.isEmpty else { return }
            let (stream, isSubscribed) = answers.removeFirst()
            guard there[stream] != nil else { return }
            if isSubscribed { subscribed.insert(stream) } else { subscribed.remove(stream) }
            obey(collect { choice.confirm(stream, isSubscribed: isSubscribed, &$0) })
        }
        func appear(_ name: String) {
            guard name.isEmpty || !there.values.contains(name) else { return }
            lastStream += 1
            let stream = StreamID(rawValue: lastStream)
            there[stream] = name
            if takesAll { subscribed.insert(stream) }
            obey(collect { choice.appear(stream, name: name, of: Self.anna, isNew: true, &$0) })
        }
        @discardableResult
        func publishAgain() -> StreamID? {
            guard let stream = there.keys.sorted().randomElement(using: &random) else { return nil }
            if takesAll { subscribed.insert(stream) } else { subscribed.remove(stream) }
            return stream
        }

        obey(collect { choice.enter(takesAll: takesAll, isSameStay: false, &$0) })
        for _ in 0..<60 {
            switch random.next() % 9 {
            case 0, 1:
                let name = names[Int(random.next() % 3)]
                wanted[name] = random.chance(0.6)
                obey(want(&choice, wanted[name] == true, name))
            case 2, 3: appear(names[Int(random.next() % 4)])
            case 4:
                guard let stream = there.keys.sorted().randomElement(using: &random) else { break }
                there[stream] = nil
                subscribed.remove(stream)
                obey(collect { choice.disappear(stream, &$0) })
            case 5:
                obey(collect { choice.lose(&$0) })
                let isSameStay = random.chance(0.5)
                if isSameStay {
                    publishAgain()
                } else {
                    answers = []
                    subscribed = takesAll ? Set(there.keys) : []
                }
                obey(collect { choice.enter(takesAll: takesAll, isSameStay: isSameStay, &$0) })
            case 6:
                // The room keeps the last that is to be told of a stream, and not that it was gone meanwhile
                guard let stream = publishAgain(), let name = there[stream] else { break }
                obey(collect { choice.appear(stream, name: name, of: Self.anna, isNew: true, &$0) })
            default: answer()
            }
        }
        while !answers.isEmpty { answer() }
        let expected = there.filter { wanted[$0.value].flatMap { $0 } ?? takesAll }.map(\.key)
        #expect(heard == Set(expected), "seed \(seed)")
        #expect(subscribed == Set(expected), "seed \(seed)")
        for (name, isWanted) in wanted {
            let isThere = there.values.contains(name)
            let state: PlayState = isWanted ? (isThere ? .playing : .waiting(.notPublished)) : .stopped(.asked)
            #expect(states[name] == state && choice.states[name] == state, "seed \(seed)")
        }
        obey(collect { choice.leave(&$0) })
        #expect(heard.isEmpty, "seed \(seed)")
    }
}
