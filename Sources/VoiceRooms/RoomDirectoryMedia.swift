internal import VoicePeers

// Who hears whom, and from and to whom their media go. Each change touches the lists that it is about: no request costs
// more for it in a larger room.

extension RoomDirectory {
    /// Changes nothing where it is subscribed already.
    mutating func subscribe(_ id: ParticipantID, to stream: StreamID, of publisher: ParticipantID) {
        guard participants[id]?.subscriptions.insert(stream).inserted == true else { return }
        if let listener = participants[id]?.listener { forwarding.add(listener, to: stream) }
        changePeers(id, publisher, by: 1)
    }

    /// Changes nothing where it is not subscribed.
    mutating func unsubscribe(_ id: ParticipantID, from stream: StreamID, of publisher: ParticipantID) {
        guard participants[id]?.subscriptions.remove(stream) != nil else { return }
        if let listener = participants[id]?.listener { forwarding.remove(listener, from: stream) }
        changePeers(id, publisher, by: -1)
    }

    /// Ends all subscriptions of a participant that goes, and those to its streams.
    mutating func removeSubscriptions(of participant: RoomParticipant) {
        for stream in participant.subscriptions {
            if let publisher = streamOwners[stream] { unsubscribe(participant.id, from: stream, of: publisher) }
        }
        for stream in participant.published {
            for member in members(of: participant.room) {
                unsubscribe(member, from: stream.assignment.stream, of: participant.id)
            }
        }
    }

    /// Two participants hear one stream of each other's more, or less. From the first to the last each gets the other's
    /// reports.
    private mutating func changePeers(_ one: ParticipantID, _ other: ParticipantID, by change: Int) {
        let before = participants[one]?.peers[other] ?? 0
        let after = before + change
        participants[one]?.peers[other] = after > 0 ? after : nil
        participants[other]?.peers[one] = after > 0 ? after : nil
        guard (before > 0) != (after > 0) else { return }
        for (receiver, owner) in [(one, other), (other, one)] {
            guard let peer = participants[receiver]?.peer else { continue }
            if after > 0 {
                forwarding.add(peer, toReportsOf: owner)
            } else {
                forwarding.remove(peer, fromReportsOf: owner)
            }
        }
    }

    /// Has a participant's media come from its peer and go there.
    mutating func connectMedia(of id: ParticipantID) {
        guard let participant = participants[id], let listener = participant.listener else { return }
        for stream in participant.streams {
            forwarding.connect(
                stream.assignment.stream,
                to: ForwardingTable.Key(
                    peer: listener.peer, synchronizationSource: stream.assignment.synchronizationSource))
        }
        // Each of these is a list of its own, so their order here is nobody's.
        for stream in participant.subscriptions { forwarding.add(listener, to: stream) }
        for other in participant.peers.keys { forwarding.add(listener.peer, toReportsOf: other) }
    }

    mutating func disconnectMedia(of id: ParticipantID) {
        guard let participant = participants[id], let listener = participant.listener else { return }
        for stream in participant.streams {
            forwarding.disconnect(
                ForwardingTable.Key(
                    peer: listener.peer, synchronizationSource: stream.assignment.synchronizationSource))
        }
        for stream in participant.subscriptions { forwarding.remove(listener, from: stream) }
        for other in participant.peers.keys { forwarding.remove(listener.peer, fromReportsOf: other) }
    }
}
