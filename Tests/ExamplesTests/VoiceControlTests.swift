import Testing

@testable import VoiceControl

@Suite("Voice control")
struct VoiceControlTests {
    @Test("text is normalised, and the longest of the keywords in it wins")
    func matching() {
        var triggers = Triggers()
        triggers.add("back", to: "back")
        triggers.add("Go back", to: "home")
        triggers.add("like", to: "like")
        triggers.add("do not like", to: "dislike")
        #expect(triggers.match("  GO   back!")?.group == "home")
        #expect(triggers.match("please, back")?.group == "back")
        #expect(triggers.match("I do not like it")?.group == "dislike")
        #expect(triggers.match("likely") == nil)
        #expect(triggers.match("") == nil)
    }

    @Test("groups are added and removed while it runs")
    func atRunTime() {
        var list = ItemList(["One", "Two words"])
        #expect(list.hear("close") == nil)
        #expect(list.hear("Open it.") == "open" && list.isOpen)
        #expect(list.triggers.grammar.contains { $0 == "c" } && list.hear("close!") == "close" && !list.isOpen)
        #expect(list.hear("close") == nil)
        #expect(list.hear("two words, please") == "item" && list.selected == 1)
        #expect(list.hear("next") == "next" && list.selected == 1)
        #expect(list.hear("good") == "like" && list.hear("do not like") == "dislike" && list.liked.isEmpty)
        #expect(list.lines == ["  One", "▶ Two words"])
    }
}
