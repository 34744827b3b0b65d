"""Engines whose sound is the test's own, and what may be done wrong with them."""

import asyncio
import ctypes
import gc
import threading
import time
import unittest
import weakref
from collections.abc import Callable

import duplexvoice as dv
import numpy as np

SECRET = "s" * 32


def engine() -> dv.Engine:
    return dv.Engine(dv.EnginePreset.LOW_DELAY, sound=dv.Sound.CLIENT, priority=-1)


class EngineTests(unittest.TestCase):
    def test_life(self) -> None:
        with engine() as talk:
            self.assertFalse(talk.snapshot.is_running)
            with self.assertRaises(dv.WrongStateError):
                self.assertIsNone(talk.statistics)
            for _ in range(2):
                talk.start()
                with self.assertRaises(dv.WrongStateError) as refused:
                    talk.start()
                self.assertEqual(refused.exception.code, "engine.alreadyStarted")
                self.assertEqual(talk.send_capture(np.zeros(480, np.float32)), 480)
                self.assertEqual(talk.send_reference(np.zeros(480, np.float32)), 480)
                self.assertEqual(talk.pull_playback(480).shape, (480,))
                talk.set_muted(True)
                talk.set_output_volume(0.5)
                talk.apply(dv.Preset.VOICE_AGENT)
                talk.apply_preset(dv.EnginePreset.CAR)
                with talk.open_meter(10_000) as meter:
                    levels = meter.read()
                    self.assertEqual((levels.number, levels.captured_rms, levels.near_speaks), (0, None, None))
                talk.set_route(dv.Route.SPEAKER)
                talk.begin_utterance(1)
                snapshot = talk.snapshot
                self.assertTrue(snapshot.is_running and snapshot.is_muted)
                self.assertEqual((snapshot.connection, snapshot.room), (dv.Connection.OUTSIDE, ""))
                self.assertEqual((talk.statistics.packets_sent, talk.participants), (0, []))
                talk.stop()

    def test_an_answer_is_heard_and_told(self) -> None:
        async def talk() -> list[dv.Event]:
            events = []
            async with engine() as near:
                near.start()
                far = near.open_far_end(near_end_rate=48_000)
                stop = threading.Event()
                loudest, hearing = 0.0, 0

                def sound() -> None:
                    nonlocal loudest, hearing
                    while not stop.wait(0.01):
                        near.send_capture(np.zeros(480, np.float32))
                        loudest = max(loudest, float(np.abs(near.pull_playback(480)).max()))
                        hearing += len(far.take(480)[0])

                thread = threading.Thread(target=sound)
                thread.start()
                await far.say(np.full(4_800, 8_000, np.int16), 24_000, 1)
                async for event in near.events():
                    events.append(event)
                    if event.kind == dv.EventKind.UTTERANCE_PLAYED:
                        break
                stop.set()
                thread.join()
                self.assertEqual(events[-1].far_end, far.number)
                self.assertGreater(loudest, 0.1)
                self.assertGreater(hearing, 0)
                far.set_volume(0.5)
                far.interrupt()
                far.close()
                with self.assertRaises(dv.ClosedError):
                    far.take(480)
            return events

        events = asyncio.run(asyncio.wait_for(talk(), 30))
        played = events[-1]
        self.assertEqual((played.utterance, played.value), (1, 1))
        self.assertAlmostEqual(played.duration_ns / 1e9, 0.2, delta=0.01)
        self.assertIn(dv.EventKind.UTTERANCE_STARTED, [event.kind for event in events])

    def test_a_conversation_has_its_order(self) -> None:
        with engine() as near:
            near.start()
            with near.open_conversation(dv.TalkMode.PUSH) as talk:
                with self.assertRaises(dv.WrongStateError) as refused:
                    near.open_conversation()
                self.assertTrue(refused.exception.code)
                with self.assertRaises(dv.WrongStateError):
                    talk.stop_speech()
                with self.assertRaises(dv.WrongStateError):
                    talk.answer(99)
                utterance = talk.answer()
                talk.add_caption(utterance, "Good morning")
                self.assertEqual(talk.caption(utterance), ("", "Good morning"))
                with self.assertRaises(dv.ArgumentError):
                    talk.add_caption(utterance + 1, "x")
                self.assertEqual(talk.offer(np.zeros(480, np.float32), 48_000, utterance), 480)
                asyncio.run(talk.say(np.zeros(480, np.float32), 48_000, utterance))
                talk.finish(utterance)
                talk.cancel()
                talk.confirm()
                talk.start_speech()
                with self.assertRaises(dv.WrongStateError) as refused:
                    talk.put_off_end(500)
                self.assertEqual(refused.exception.code, "turn.notListening")
                talk.end_turn()
                talk.set_mode(dv.TalkMode.TAP, end_of_turn_ms=300)
                talk.start_speech()
                talk.set_mode(dv.TalkMode.PUSH)
                talk.start_speech()
                talk.stop_speech()
                far = talk.far_end
                for wrong in (-1, float("nan"), float("inf"), 10**400):
                    with self.assertRaises(dv.ArgumentError):
                        talk.report_stages(utterance, recognised=wrong)
                with self.assertRaises(TypeError):
                    talk.report_stages(utterance, first_sound="soon")
            for call in (talk.cancel, talk.answer, lambda: far.interrupt()):
                with self.assertRaises(dv.ClosedError):
                    call()

    def test_all_is_taken_when_the_engine_has_stopped(self) -> None:
        async def talk() -> None:
            async with engine() as near:
                near.start()
                # More than their queues hold.
                ends = [near.open_far_end(), near.publish_stream("music")]
                saying = [asyncio.create_task(end.say(np.zeros(40 * 48_000, np.float32), 48_000, 1)) for end in ends]
                await asyncio.sleep(0.05)
                self.assertFalse(any(task.done() for task in saying))
                near.stop()
                await asyncio.gather(*saying)

        asyncio.run(asyncio.wait_for(talk(), 30))

    def test_what_is_of_an_engine_keeps_it(self) -> None:
        # Any that does no harm.
        function = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value or 0
        made: list[Callable[[dv.Engine], object]] = [
            lambda near: near.open_far_end(), lambda near: near.publish_stream("music"),
            lambda near: near.open_conversation(), lambda near: near.open_conversation().far_end,
            lambda near: near.listen(dv.SoundPoint.MIX, function),
        ]  # fmt: skip
        for make in made:
            near = engine()
            near.start()
            part, known = make(near), weakref.ref(near)
            del near
            gc.collect()
            self.assertIsNotNone(known())
            del part
            gc.collect()
            self.assertIsNone(known())

        async def first() -> dv.Event:
            near = engine()
            near.play_stream("music")
            events = near.events()
            del near
            gc.collect()
            return await anext(events)

        self.assertEqual(asyncio.run(asyncio.wait_for(first(), 30)).kind, dv.EventKind.STREAM_STATE)

    def test_events_end_with_the_engine(self) -> None:
        async def wait() -> int:
            near = engine()
            near.start()
            waiting = [asyncio.create_task(count(near)) for _ in range(2)]
            await asyncio.sleep(0.05)
            await asyncio.to_thread(near.close)
            counted = await asyncio.gather(*waiting)
            self.assertEqual([event async for event in near.events()], [])
            return sum(counted)

        async def count(near: dv.Engine) -> int:
            return len([event async for event in near.events()])

        self.assertGreaterEqual(asyncio.run(asyncio.wait_for(wait(), 30)), 0)

    def test_whoever_waits_in_a_thread_is_let_go(self) -> None:
        near = engine()
        told: list[str] = []

        def wait() -> None:
            try:
                while True:
                    near.next_event(None)
            except dv.ClosedError as closed:
                told.append(closed.code)

        thread = threading.Thread(target=wait)
        thread.start()
        near.close()
        thread.join()
        self.assertEqual(told, ["status.invalidHandle"])

    def test_a_time_that_is_no_number_is_not_waited_for(self) -> None:
        with engine() as near:
            self.assertIsNone(near.next_event(float("nan")))


class MisuseTests(unittest.TestCase):
    def test_arguments(self) -> None:
        for wrong in (
            {"maximum_talkers": 17}, {"priority": 100}, {"packet_ms": 11}, {"capture_device": "hw:0"},
            {"packet_ms": float("nan")}, {"playback_device": "a\0b"}, {"bitrate_bps": 1 << 40}, {"memory_lock": 7},
        ):  # fmt: skip
            with self.assertRaises(dv.ArgumentError, msg=str(wrong)):
                dv.Engine(sound=dv.Sound.CLIENT, **wrong)
        with engine() as near:
            near.start()
            sound = np.zeros(480, np.float32)
            calls = [
                lambda: near.send_capture(sound, -1), lambda: near.send_capture(sound, 1 << 62),
                lambda: near.send_capture(np.zeros((480, 2), np.float32)), lambda: near.pull_playback(-1),
                lambda: near.pull_playback(1 << 40), lambda: near.set_output_volume(2), lambda: near.set_route(9),
                lambda: near.join("duplex://h/path", "x"), lambda: near.join("udp://127.0.0.1:9", "x\0"),
                lambda: near.open_far_end(near_end_rate=44_100), lambda: near.open_far_end(queue_ms=-1),
                lambda: near.set_token("x" * 1_001), lambda: near.begin_utterance(-1),
                lambda: near.open_conversation(mode=7), lambda: near.send(b"x" * 1_025),
                lambda: near.set_role(-1), lambda: near.join("udp://127.0.0.1:9", "x", role=1 << 40),
            ]  # fmt: skip
            for number, call in enumerate(calls):
                with self.assertRaises(dv.DuplexVoiceError, msg=str(number)) as refused:
                    call()
                self.assertTrue(refused.exception.code and refused.exception.message, number)
            for call in (
                lambda: near.send_capture(sound.astype(np.int16)), lambda: near.pull_playback(4.5),
                lambda: near.join(b"udp://", "x"), lambda: near.send("text"), lambda: near.set_volume("1", 1),
                lambda: near.send(5), lambda: near.set_output_volume("loud"), lambda: near.set_volume(1, "1"),
                lambda: near.set_stream_volume("stage", None), lambda: near.follow_noise(range="wide"),
                lambda: near.level_talkers(target="loud"), lambda: near.apply(2), lambda: dv.Engine("voice chat"),
                lambda: dv.Engine(backend=1.5), lambda: near.open_far_end().set_volume("loud"),
            ):  # fmt: skip
                with self.assertRaises(TypeError):
                    call()

    def test_outside_a_room(self) -> None:
        with engine() as near:
            near.start()
            for call in (
                lambda: near.send(b"x"), lambda: near.interrupt(), lambda: near.set_volume(1, 1),
                lambda: near.set_text("captions", "x"), lambda: near.append_text("captions", "x"), lambda: near.add_caption(1, "x", 0, 9),
                lambda: near.participant(1), lambda: near.talker(1), lambda: near.set_role(dv.Role.LISTENER),
                lambda: near.set_participant_muted(1, True), lambda: near.set_barge_in(1), lambda: near.set_stream_muted("", True),
                lambda: near.publish_stream(""), lambda: near.follow_noise(range=99), lambda: near.level_talkers(target=0),
                lambda: near.play_stream(""), lambda: near.set_attribute("", "x"),
            ):  # fmt: skip
                with self.assertRaises(dv.DuplexVoiceError) as refused:
                    call()
                self.assertRegex(refused.exception.code, r"^\w+\.\w+$")
            near.play_stream("stage")
            near.set_stream_volume("stage", 0.5)
            near.set_stream_muted("stage", True)
            near.level_talkers()
            near.level_talkers(False)
            near.set_attribute("dv.kind", "agent")
            event = near.next_event(5)
            while event is not None and event.kind != dv.EventKind.STREAM_STATE:
                event = near.next_event(5)
            assert event is not None
            self.assertEqual((event.text, event.value), ("stage", dv.Play.WAITING))
            self.assertEqual(event.code, "stream.outsideRoom")
            with self.assertRaises(dv.NotPermittedError) as refused:
                near.join("udp://192.0.2.1:9", "x")
            self.assertEqual(refused.exception.code, "transport.plaintextRefused")
            self.assertTrue(refused.exception.remedy)

    def test_after_close(self) -> None:
        near = engine()
        near.start()
        far = near.open_far_end()
        near.close()
        near.close()
        far.offer(np.zeros(480, np.float32), 48_000, 1)
        far.close()
        for call in (
            near.start, near.stop, near.leave, lambda: near.pull_playback(480), lambda: near.snapshot,
            lambda: near.send_capture(np.zeros(480, np.float32)), near.next_event, near.open_far_end,
            lambda: far.offer(np.zeros(480, np.float32), 48_000, 1), lambda: near.join("udp://127.0.0.1:9", "x"),
        ):  # fmt: skip
            with self.assertRaises(dv.ClosedError):
                call()

    def test_no_card(self) -> None:
        with dv.Engine(capture_device="nosuchcard", playback_device="nosuchcard") as near:
            with self.assertRaises(dv.DeviceError) as refused:
                near.start()
        self.assertEqual(refused.exception.code, "device.notFound")
        self.assertIn("duplex devices", refused.exception.remedy)


class TokenTests(unittest.TestCase):
    def test_there_and_back(self) -> None:
        token = dv.create_token("key", SECRET, identity="änna", room="kitchen", name="Anna", may_publish=False)
        grants = dv.check_token("key", SECRET, token)
        self.assertEqual((grants.identity, grants.room, grants.name), ("änna", "kitchen", "Anna"))
        self.assertEqual((grants.may_join, grants.may_publish, grants.may_subscribe), (True, False, True))
        self.assertAlmostEqual(grants.expires, time.time() + 3_600, delta=30)
        for wrong, code in ((token[:-4] + "AAAA", "token."), ("", "token."), ("nonsense", "token.")):
            with self.assertRaises(dv.NotPermittedError) as refused:
                dv.check_token("key", SECRET, wrong)
            self.assertTrue(refused.exception.code.startswith(code), refused.exception.code)
        with self.assertRaises(dv.NotPermittedError) as refused:
            dv.check_token("key", SECRET, token, at=time.time() + 4_000)
        self.assertEqual(refused.exception.code, "token.expired")

    def test_refused(self) -> None:
        for wrong in (
            {"identity": ""}, {"identity": "a" * 129}, {"room": ""}, {"valid_seconds": -1}, {"valid_seconds": 0},
            {"name": "a\0"},
        ):  # fmt: skip
            with self.assertRaises(dv.ArgumentError, msg=str(wrong)):
                dv.create_token("key", SECRET, **({"identity": "anna", "room": "kitchen"} | wrong))
        with self.assertRaises(dv.ArgumentError):
            dv.create_token("key", "short", identity="anna", room="kitchen")


if __name__ == "__main__":
    unittest.main()
