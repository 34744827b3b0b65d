internal import Glibc

/// The functions of libpocketsphinx.so.3 (0.8+5prealpha) that are used, with the types that pocketsphinx.h and cmd_ln.h
/// have.
///
/// By one thread at a time for each decoder.
@safe
struct SphinxLibrary: @unchecked Sendable {
    typealias Decoder = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    typealias OfDecoder = @convention(c) (Decoder) -> Int32
    typealias OfText = @convention(c) (Decoder, Text) -> Int32
    typealias OfTwoTexts = @convention(c) (Decoder, Text, Text) -> Int32
    typealias Process = @convention(c) (Decoder, UnsafePointer<Int16>, Int, Int32, Int32) -> Int32
    private typealias Words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private typealias Hypothesis = @convention(c) (Decoder, UnsafeMutablePointer<Int32>?) -> Text?
    private typealias Definitions = @convention(c) () -> UnsafeRawPointer?
    private typealias Parse = @convention(c) (OpaquePointer?, UnsafeRawPointer?, Int32, Words, Int32) -> OpaquePointer?
    private typealias Make = @convention(c) (OpaquePointer) -> Decoder?
    private typealias SetLog = @convention(c) (OpaquePointer?) -> Void

    // 0 or more is success, but of `free`.
    /// `ps_start_utt`.
    let start: OfDecoder
    /// `ps_end_utt`.
    let end: OfDecoder
    /// `ps_free`.
    let free: OfDecoder
    /// `ps_set_search`: by name.
    let select: OfText
    /// `ps_set_jsgf_string`: name, grammar.
    let setGrammar: OfTwoTexts
    /// `ps_set_lm_file`: name, path.
    let setModel: OfTwoTexts
    /// `ps_process_raw`: samples, how many, without a search, as a whole utterance.
    let process: Process
    private let hypothesis: Hypothesis
    private let definitions: Definitions
    private let parse: Parse
    private let make: Make

    /// Nil where the library is not installed, or is another.
    init?() {
        guard let base = DynamicLibrary("libsphinxbase.so.3"), let sphinx = DynamicLibrary("libpocketsphinx.so.3"),
            let setLog = unsafe base.function("err_set_logfp", as: SetLog.self),
            let parse = unsafe base.function("cmd_ln_parse_r", as: Parse.self),
            let start = unsafe sphinx.function("ps_start_utt", as: OfDecoder.self),
            let end = unsafe sphinx.function("ps_end_utt", as: OfDecoder.self),
            let free = unsafe sphinx.function("ps_free", as: OfDecoder.self),
            let select = unsafe sphinx.function("ps_set_search", as: OfText.self),
            let setGrammar = unsafe sphinx.function("ps_set_jsgf_string", as: OfTwoTexts.self),
            let setModel = unsafe sphinx.function("ps_set_lm_file", as: OfTwoTexts.self),
            let process = unsafe sphinx.function("ps_process_raw", as: Process.self),
            let hypothesis = unsafe sphinx.function("ps_get_hyp", as: Hypothesis.self),
            let definitions = unsafe sphinx.function("ps_args", as: Definitions.self),
            let make = unsafe sphinx.function("ps_init", as: Make.self)
        else { return nil }
        // Else it logs to stderr.
        setLog(nil)
        unsafe self.start = start
        unsafe self.end = end
        unsafe self.free = free
        unsafe self.select = select
        unsafe self.setGrammar = setGrammar
        unsafe self.setModel = setModel
        unsafe self.process = process
        unsafe self.hypothesis = hypothesis
        unsafe self.definitions = definitions
        unsafe self.parse = parse
        unsafe self.make = make
    }

    /// A decoder with these settings; nil where they or their files are of no use.
    func makeDecoder(_ arguments: [String]) -> Decoder? {
        // The settings may point into them: they are kept as long as the process lives.
        let words = Words.allocate(capacity: arguments.count)
        for (index, argument) in arguments.enumerated() { unsafe words[index] = strdup(argument) }
        guard let settings = unsafe parse(nil, definitions(), Int32(arguments.count), words, 1) else { return nil }
        return unsafe make(settings)
    }

    /// What is believed of the present utterance; nil where nothing is, or it is not in the grammar.
    func text(_ decoder: Decoder) -> String? {
        guard let words = unsafe hypothesis(decoder, nil) else { return nil }
        let text = unsafe String(cString: words)
        return text.isEmpty ? nil : text
    }
}
