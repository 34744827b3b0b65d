internal import Synchronization
package import VoiceRooms

extension EngineCore {
    /// A far end in this process, which the media thread plays and feeds from its next run on. Allocates.
    package func openFarEnd(_ configuration: FarEndConfiguration) throws(EngineError) -> LocalFarEnd {
        let (line, number) = try openLine(configuration)
        return LocalFarEnd(line, number: number)
    }

    /// The memory and the number of a far end that the media thread plays and feeds.
    func openLine(
        _ configuration: FarEndConfiguration, encoding: StreamEncoding? = nil
    ) throws(EngineError) -> (line: FarEndLine, number: UInt64) {
        let line = try FarEndLine(configuration, encoding: encoding)
        let number = try farEnds.add(line)
        do throws(EngineError) {
            try send(.openFarEnd(FarEndHandle(line, number: number)))
        } catch {
            farEnds.remove(number)
            throw error
        }
        return (line, number)
    }

    /// A stream that an app feeds, which the media thread encodes from its next run on; it is sent once the room has
    /// confirmed it. Allocates.
    package func openStream(
        _ name: String, _ configuration: OutgoingStreamConfiguration,
        whenClosed: @escaping @Sendable (UInt64) -> Void
    ) throws(EngineError) -> OutgoingStream {
        let (line, number) = try openLine(
            FarEndConfiguration(queue: configuration.queue), encoding: configuration.encoding)
        line.observer.withLock { $0 = { news in if news.kind == .closed { whenClosed(number) } } }
        return OutgoingStream(LocalFarEnd(line, number: number), name: name)
    }

    /// A sink for one participant's sound, which the media thread feeds from its next run on. Allocates.
    package func openSink(of participant: ParticipantID, rate: SoundRate) throws(EngineError) -> ParticipantSink {
        ParticipantSink(try openSink(.participant(participant.rawValue), rate: rate), of: participant)
    }

    /// A tap at a point of the sound's way, the same way.
    package func openTap(at point: SoundPoint, rate: SoundRate) throws(EngineError) -> SoundPointTap {
        SoundPointTap(try openSink(.point(point), rate: rate), at: point)
    }

    /// Has the media thread call a listener from its next run on. Allocates.
    package func listen(to source: SinkSource, with listener: any SoundListener) throws(EngineError) -> SoundListening {
        let line = ListenerLine(listener)
        let number = try farEnds.add(line)
        do throws(EngineError) {
            try send(.openListener(ListenerHandle(line, number: number, source: source)))
        } catch {
            farEnds.remove(number)
            throw error
        }
        return SoundListening(line)
    }

    private func openSink(_ source: SinkSource, rate: SoundRate) throws(EngineError) -> SinkLine {
        let line = try SinkLine(rate: rate)
        let number = try farEnds.add(line)
        do throws(EngineError) {
            try send(.openSink(SinkHandle(line, number: number, source: source)))
        } catch {
            farEnds.remove(number)
            throw error
        }
        return line
    }
}
