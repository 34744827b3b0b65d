// A client imports VoiceEngine alone; these are the modules whose types appear in its interface.
@_exported public import VoiceCoding
@_exported public import VoiceDevices
@_exported public import VoicePlayout
@_exported public import VoiceProcessing
@_exported public import VoiceRooms
@_exported public import VoiceTransport
