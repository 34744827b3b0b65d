import Testing

@testable import VoiceWeb

@Suite("Addresses of the web")
struct WebAddressTests {
    @Test("a URL has its parts")
    func parts() throws {
        let address = try #require(WebAddress("wss://api.example.org/v1/realtime?model=m#x"))
        #expect(address.isSecure)
        #expect(address.host == "api.example.org")
        #expect(address.port == 443)
        #expect(address.path == "/v1/realtime?model=m")
        #expect(address.authority == "api.example.org")
        let local = try #require(WebAddress("ws://[::1]:8080?a=b"))
        #expect((local.host, local.port, local.path) == ("::1", 8_080, "/?a=b"))
        #expect(local.authority == "[::1]:8080")
    }

    @Test(
        "what is no URL of a WebSocket is none",
        arguments: [
            "", "http://host/", "wss://", "ws://:80/", "wss://host:0/", "wss://host:99999/", "wss://host:x/",
            "wss://user:secret@host/", "wss://ho st/", "wss://[::1/", "WSS//host", "wss://host/\r\nX: y",
        ])
    func malformed(url: String) { #expect(WebAddress(url) == nil) }

    @Test("the environment's proxies hold for what they are meant for")
    func proxies() throws {
        let environment = [
            "https_proxy": "http://user:pass@proxy.example:8080/", "http_proxy": "plain:3128",
            "no_proxy": "localhost, .internal,exact.org",
        ]
        func proxy(_ url: String) throws -> String? {
            try WebProxy.proxy(for: try #require(WebAddress(url))) { environment[$0] }
        }
        #expect(try proxy("wss://host/") == "user:pass@proxy.example:8080")
        #expect(try proxy("ws://host/") == "plain:3128")
        #expect(try proxy("wss://localhost/") == nil)
        #expect(try proxy("wss://a.internal/") == nil)
        #expect(try proxy("wss://exact.org/") == nil)
        #expect(try proxy("wss://inexact.org/") != nil)
        let address = try #require(WebAddress("wss://host/"))
        #expect(try WebProxy.proxy(for: address) { _ in nil } == nil)
        let numeric = try WebProxy.proxy(for: address) { $0 == "https_proxy" ? "http://me:it@[fd00::1]:3128" : nil }
        #expect(numeric == "me:it@[fd00::1]:3128")
        #expect(throws: WebSocketFailure.self) {
            try WebProxy.proxy(for: address) { $0 == "https_proxy" ? "socks5://proxy:1" : nil }
        }
    }
}
