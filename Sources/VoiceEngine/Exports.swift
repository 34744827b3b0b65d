// A client imports VoiceEngine alone; these are the modules whose types appear in its interface.
@_exported public import VoiceCoding
@_exported public import VoiceDevices
@_exported public import VoicePlayout
@_exported public import VoiceProcessing
@_exported public import VoiceText
@_exported public import VoiceTurns
// For a device of the client's own: the times of its frames, and a thread to move them on.
@_exported public import struct VoiceRealtime.MonotonicTime
@_exported public import class VoiceRealtime.RealtimeThread
@_exported public import class VoiceRealtime.StopFlag
@_exported public import enum VoiceRealtime.ThreadError
@_exported public import enum VoiceRealtime.ThreadScheduling
@_exported public import struct VoiceRealtime.WakeHandle
@_exported public import class VoiceRealtime.WakeSignal
// Of rooms, what a client names.
@_exported public import enum VoiceRooms.InterruptionPolicy
@_exported public import enum VoiceRooms.LeaveReason
@_exported public import struct VoiceRooms.ParticipantAttributes
@_exported public import struct VoiceRooms.ParticipantID
@_exported public import enum VoiceRooms.RemovalReason
@_exported public import struct VoiceRooms.RoomCapabilities
@_exported public import enum VoiceRooms.RoomRefusal
@_exported public import enum VoiceRooms.RoomRequest
@_exported public import enum VoiceRooms.RoomRole
@_exported public import enum VoiceRooms.RoomSessionEnd
@_exported public import enum VoiceRooms.RoomSessionError
@_exported public import struct VoiceRooms.RoomSessionStatistics
@_exported public import struct VoiceRooms.StreamID
// Of the transport, what a client names; the server is a product of its own.
@_exported public import struct VoiceTransport.CertificateFingerprint
@_exported public import struct VoiceTransport.RoomClientConfiguration
@_exported public import enum VoiceTransport.RoomClientEnd
@_exported public import struct VoiceTransport.RoomClientStatistics
@_exported public import struct VoiceTransport.RoomEndpoint
@_exported public import enum VoiceTransport.RoomEndpointError
@_exported public import enum VoiceTransport.RoomSecurity
@_exported public import enum VoiceTransport.RoomURLFault
@_exported public import enum VoiceTransport.ServerTrust
@_exported public import enum VoiceTransport.ServerTrustError
@_exported public import typealias VoiceTransport.TokenProvider
