// A client imports GraphEngine alone; the descriptions of nodes are VoiceGraph's.
@_exported public import VoiceGraph
