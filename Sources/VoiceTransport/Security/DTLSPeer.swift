internal import CDTLS
internal import VoicePeers

/// One place of ``DTLSSecurity``: a peer's DTLS connection, and the keys that came of it.
@safe
struct DTLSPeer: ~Copyable {
    /// Protected records that are looked at before there are keys for them. OpenSSL keeps each in 17 kB until then.
    private static let earlyLimit = 8
    /// Records of a datagram that are looked at: each of forty may cost a decryption. A flight of a handshake has six at
    /// most, and a control datagram is one.
    static let recordLimit = 16
    /// Bytes of a message of a client's handshake behind its hello: a key, which has 66 at most. Of longer ones OpenSSL
    /// would make room for ten at once, of 17 kB each, for whoever announces them by a fragment of a byte.
    private static let longestMessage = 1_024
    /// Of a message or its fragment (RFC 6347 section 4.2.2).
    private static let messageHeaderBytes = 12

    private var connection: OpaquePointer?
    /// What its connections are made from; nil where it has none.
    private var context: DTLSContext?
    private var role = PeerRole.server
    /// Whether a server has been given the hello that it answers.
    private var isAdmitted = false
    /// The 32 random bytes of that hello.
    private var random = InlineArray<32, UInt8>(repeating: 0)
    private var earlyCount = 0
    /// The cookie that a client's connection was asked for last; empty before.
    private var cookie: [UInt8] = []
    /// Cookies that a client still brings.
    private var answersLeft = PeerLimits.cookieAnswers
    /// Whether a client's server has said more than a question for a cookie.
    private var isPastQuestions = false
    private(set) var state = PeerSecurityState.closed(.here)
    /// When to look after what may have been lost.
    private(set) var deadline: Duration?
    private var media: SRTPSession?

    init() {}

    deinit { unsafe dv_dtls_free(connection) }

    // MARK: Life

    mutating func begin(_ context: DTLSContext, as role: PeerRole, now: Duration) {
        end()
        self.context = context
        self.role = role
        connect(now: now)
    }

    /// Takes a connection, in place of the one that it had.
    private mutating func connect(now: Duration) {
        guard let context else { return }
        unsafe dv_dtls_free(connection)
        unsafe connection = dv_dtls_create(context.pointer)
        guard unsafe connection != nil else {
            state = .closed(.handshakeFailed)
            return
        }
        state = .opening
        update(now: now)
    }

    mutating func end() {
        unsafe dv_dtls_free(connection)
        unsafe connection = nil
        context = nil
        isAdmitted = false
        earlyCount = 0
        cookie = []
        answersLeft = PeerLimits.cookieAnswers
        isPastQuestions = false
        state = .closed(.here)
        deadline = nil
        media = nil
    }

    mutating func close() {
        guard let connection = unsafe connection else { return }
        unsafe dv_dtls_close(connection)
        update(now: .zero)
    }

    /// Takes over what the connection says.
    private mutating func update(now: Duration) {
        guard let connection = unsafe connection else { return }
        let left = unsafe dv_dtls_timeout(connection)
        deadline = left < 0 ? nil : now + .nanoseconds(left)
        guard state == .opening || state == .open else { return }
        switch unsafe dv_dtls_get_state(connection) {
        case DV_DTLS_OPENING: state = .opening
        case DV_DTLS_OPEN: if state == .opening { open() }
        case DV_DTLS_CLOSED_HERE: state = .closed(.here)
        case DV_DTLS_CLOSED_BY_PEER: state = .closed(.byPeer)
        case DV_DTLS_OTHER_FINGERPRINT: state = .closed(.identityRefused(.otherFingerprint))
        case DV_DTLS_UNTRUSTED: state = .closed(.identityRefused(.untrusted))
        case DV_DTLS_OTHER_HOST: state = .closed(.identityRefused(.otherHost))
        case DV_DTLS_OUT_OF_DATE: state = .closed(.identityRefused(.outOfDate))
        default: state = .closed(.handshakeFailed)
        }
    }

    /// Makes the keys for media (RFC 5764 section 4.2). Without them there is nothing to open for.
    private mutating func open() {
        guard let connection = unsafe connection else { return }
        if let profile = unsafe SRTPProfile(rawValue: dv_dtls_srtp_profile(connection)) {
            var material = [UInt8](repeating: 0, count: profile.keyingMaterialLength)
            defer { material.wipe() }
            let isExported = unsafe material.withUnsafeMutableBufferPointer {
                unsafe dv_dtls_export_keys(connection, $0.baseAddress, $0.count) != 0
            }
            if isExported { media = SRTPSession(profile: profile, keyingMaterial: material, isClient: role == .client) }
        }
        if media != nil {
            state = .open
        } else {
            unsafe dv_dtls_close(connection)
            state = .closed(.handshakeFailed)
        }
    }

    // MARK: Records

    /// Takes a datagram of records; see ``PeerSecurity/receive(_:at:now:)``.
    mutating func receive(_ datagram: Span<UInt8>, now: Duration) -> Bool {
        guard unsafe connection != nil, state == .opening || state == .open else { return false }
        if role == .server {
            if let hello = ClientHello(in: datagram) { return takeHello(hello, in: datagram, now: now) }
            guard isAdmitted else { return false }
        } else if state == .opening, !isPastQuestions, let question = HelloVerifyRequest(in: datagram) {
            return takeQuestion(question, in: datagram, now: now)
        }
        let (count, hasClear, protectedCount) = contents(of: datagram)
        let datagram = datagram.extracting(..<count)
        switch state {
        case .open:
            // Keys never change again.
            return protectedCount > 0 && feed(datagram, now: now)
        default:
            if protectedCount > 0 {
                guard earlyCount + protectedCount <= Self.earlyLimit else { return false }
                earlyCount += protectedCount
            } else if !hasClear {
                return false
            }
            // Nobody can tell whether what comes in the clear is genuine.
            let isTaken = feed(datagram, now: now)
            if isTaken { isPastQuestions = true }
            return isTaken || hasClear
        }
    }

    /// Answers a server's question for a cookie. A connection of OpenSSL answers one: where a server that was started
    /// anew asks for another cookie, the handshake begins anew too.
    private mutating func takeQuestion(
        _ question: HelloVerifyRequest, in datagram: Span<UInt8>, now: Duration
    ) -> Bool {
        let asked = question.cookie.map { datagram[$0] }
        if cookie.isEmpty {
            cookie = asked
            answersLeft -= 1
            _ = feed(datagram.extracting(..<question.cookie.upperBound), now: now)
        } else if asked != cookie, answersLeft > 0 {
            cookie = []
            connect(now: now)
        }
        // A copy was answered, and the answer is repeated in its time.
        return true
    }

    /// The hello that began this handshake begins it once; another one is for somebody else to judge.
    private mutating func takeHello(_ hello: ClientHello, in datagram: Span<UInt8>, now: Duration) -> Bool {
        guard !isAdmitted else {
            return random.indices.allSatisfy { random[$0] == datagram[hello.random.lowerBound + $0] }
        }
        isAdmitted = true
        for index in random.indices { random[index] = datagram[hello.random.lowerBound + index] }
        guard let connection = unsafe connection else { return false }
        let isTaken = unsafe datagram.withUnsafeBufferPointer {
            unsafe dv_dtls_admit(connection, $0.baseAddress, $0.count) != 0
        }
        update(now: now)
        return isTaken
    }

    /// How many bytes of records OpenSSL may see, whether there are some in the clear that a handshake has, and how many
    /// protected ones.
    ///
    /// OpenSSL 3.0 closes an open connection over a protected record that is too short for its tag, whoever has sent
    /// it, and goes on inside of a record that has another version than was agreed on, but for an alert.
    private func contents(of datagram: Span<UInt8>) -> (count: Int, hasClear: Bool, protectedCount: Int) {
        var (count, records, protectedCount) = (0, 0, 0)
        var hasClear = false
        while records < Self.recordLimit, let record = DTLSRecord(in: datagram, at: count) {
            records += 1
            let mayDiffer = state == .opening && (record.content == .alert || (role == .client && !isPastQuestions))
            guard record.isVersion12 || mayDiffer else {
                // A copy of what has begun the handshake: it is of this conversation, and nothing to OpenSSL any more.
                if state == .opening, record.epoch == 0, record.content != .applicationData { hasClear = true }
                return (count, hasClear, protectedCount)
            }
            switch record.epoch {
            case 0 where role == .server && state == .opening && Self.announcesMore(record, in: datagram):
                return (count, hasClear, protectedCount)
            case 0: if record.content != .applicationData { hasClear = true }
            case 1 where record.payload.count >= Int(DV_DTLS_SHORTEST):
                if state == .open || record.content != .applicationData { protectedCount += 1 }
            default: return (count, hasClear, protectedCount)
            }
            count = record.payload.upperBound
        }
        return (count, hasClear, protectedCount)
    }

    /// Whether a record has a longer message of a handshake than a server waits for.
    private static func announcesMore(_ record: DTLSRecord, in datagram: Span<UInt8>) -> Bool {
        guard record.content == .handshake else { return false }
        func length(at offset: Int) -> Int {
            (0..<3).reduce(0) { $0 << 8 | Int(datagram[offset + $1]) }
        }
        var offset = record.payload.lowerBound
        while offset + messageHeaderBytes <= record.payload.upperBound {
            guard length(at: offset + 1) <= longestMessage else { return true }
            offset += messageHeaderBytes + length(at: offset + 9)
        }
        return false
    }

    private mutating func feed(_ datagram: Span<UInt8>, now: Duration) -> Bool {
        guard let connection = unsafe connection else { return false }
        let isTaken = unsafe datagram.withUnsafeBufferPointer {
            unsafe dv_dtls_receive(connection, $0.baseAddress, $0.count) != 0
        }
        update(now: now)
        return isTaken
    }

    func pollControl(into buffer: inout MutableSpan<UInt8>) -> Int? {
        guard let connection = unsafe connection else { return nil }
        let count = unsafe buffer.withUnsafeMutableBufferPointer {
            unsafe dv_dtls_poll_datagram(connection, $0.baseAddress, $0.count)
        }
        return count > 0 ? count : nil
    }

    func pollRecord(into buffer: inout MutableSpan<UInt8>) -> Int? {
        guard let connection = unsafe connection else { return nil }
        let count = unsafe buffer.withUnsafeMutableBufferPointer {
            unsafe dv_dtls_poll_record(connection, $0.baseAddress, $0.count)
        }
        return count > 0 ? count : nil
    }

    func send(control: Span<UInt8>) -> Bool {
        guard state == .open, let connection = unsafe connection else { return false }
        return unsafe control.withUnsafeBufferPointer { unsafe dv_dtls_send(connection, $0.baseAddress, $0.count) != 0 }
    }

    mutating func handleTimeout(now: Duration) {
        guard let due = deadline, now >= due, let connection = unsafe connection else { return }
        unsafe dv_dtls_handle_timeout(connection)
        update(now: now)
    }

    // MARK: Media

    mutating func protect(_ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind) -> Int? {
        guard state == .open else { return nil }
        if let length = media?.protect(&packet, count: count, kind) { return length }
        if media?.isUsedUp == true {
            close()
            state = .closed(.keysUsedUp)
        }
        return nil
    }

    mutating func unprotect(_ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind) -> Int? {
        guard state == .open else { return nil }
        return media?.unprotect(&packet, count: count, kind)
    }
}
