/// Whether this is an optimised build. Tests that need minutes of sound to tell anything are for these alone.
public var isOptimised: Bool {
    #if DEBUG
        false
    #else
        true
    #endif
}

/// Of the cases that a statistical test holds for, those to run: all in an optimised build, the first in a debug build,
/// which takes some ten times as long.
public func cases<All: Sequence>(_ all: All) -> [All.Element] {
    #if DEBUG
        Array(all.prefix(1))
    #else
        Array(all)
    #endif
}
