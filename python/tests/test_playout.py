"""The jitter buffer by itself, and what may be done wrong with it."""

import struct
import unittest

import duplexvoice as dv
import numpy as np

SILENCE = b"\xf8\xff\xfe"  # 20 ms of Opus
MILLISECOND = 1_000_000


def rtp(index: int, payload: bytes = SILENCE, payload_type: int = 111) -> bytes:
    return struct.pack("!BBHII", 0x80, payload_type, index & 0xFFFF, index * 960 & 0xFFFFFFFF, 7) + payload


class PlayoutTests(unittest.TestCase):
    def test_what_is_lost_is_made_up(self) -> None:
        with dv.Playout() as playout:
            for index in range(100):
                now = 20 * index * MILLISECOND
                if index % 2:
                    playout.insert(rtp(index), now)
                elif index % 20:
                    playout.insert(rtp(index), now + 1)
                sound = playout.pull(960, now)
                self.assertEqual((sound.shape, sound.dtype), ((960,), np.float32))
                self.assertTrue(np.isfinite(sound).all())
            statistics = playout.statistics
            self.assertEqual((statistics.packets_received, statistics.pulled_frames), (95, 96_000))
            self.assertGreater(statistics.packets_lost, 0)
            self.assertGreater(statistics.concealed_frames, 0)
            self.assertLess(statistics.delay_ms or 1e9, 100)
            playout.reset()
            playout.insert_opus(SILENCE, 5, 0xFFFF_FFFF, 3_000 * MILLISECOND)
            playout.pull(480, 3_000 * MILLISECOND)
            self.assertEqual(playout.statistics.packets_received, 1)
            self.assertIsNone(dv.Playout().statistics.delay_ms)

    def test_what_is_no_packet_is_counted(self) -> None:
        random = np.random.default_rng(3)
        with dv.Playout(dv.PlayoutProfile.ROBUST, payload_type=111, redundant_payload_type=63, packets=32) as playout:
            playout.insert(rtp(0, payload_type=8), 0)
            for index in range(2_000):
                data = random.bytes(int(random.integers(1, 100)))
                playout.insert(
                    rtp(index, data, int(random.choice([111, 63]))) if index % 2 else data, index * MILLISECOND
                )
                self.assertTrue(np.isfinite(playout.pull(int(random.integers(0, 100)), index * MILLISECOND)).all())
            self.assertGreaterEqual(playout.statistics.packets_unknown, 1)
            self.assertGreater(playout.statistics.packets_malformed, 100)


class MisuseTests(unittest.TestCase):
    def test_arguments(self) -> None:
        for wrong in (
            {"packets": 15},
            {"payload_type": 128},
            {"maximum_delay_ms": 501},
            {"packets": -1},
            {"profile": 3},
        ):
            with self.assertRaises(dv.ArgumentError, msg=str(wrong)):
                dv.Playout(**wrong)
        with dv.Playout() as playout:
            for call in (
                lambda: playout.insert(b"", 0), lambda: playout.insert(bytes(1_501), 0),
                lambda: playout.insert(bytes(12), -1), lambda: playout.insert(bytes(12), 1 << 60),
                lambda: playout.insert_opus(SILENCE, 1 << 16, 0, 0), lambda: playout.insert_opus(SILENCE, 0, -1, 0),
                lambda: playout.pull(-1, 0), lambda: playout.pull(480, -1),
            ):  # fmt: skip
                with self.assertRaises(dv.ArgumentError):
                    call()
            for wrong in ("packet", 12, None):
                with self.assertRaises(TypeError):
                    playout.insert(wrong, 0)  # type: ignore[arg-type]
                with self.assertRaises(TypeError):
                    playout.insert_opus(wrong, 0, 0, 0)  # type: ignore[arg-type]
            with self.assertRaises(dv.ExhaustedError):
                for index in range(300):
                    playout.insert(rtp(index), 0)
            playout.pull(480, 0)
            self.assertEqual(playout.statistics.packets_dropped, 1)

    def test_after_close(self) -> None:
        playout = dv.Playout()
        playout.close()
        for call in (
            lambda: playout.insert(rtp(0), 0), lambda: playout.pull(480, 0), playout.reset, lambda: playout.statistics,
        ):  # fmt: skip
            with self.assertRaises(dv.ClosedError):
                call()


if __name__ == "__main__":
    unittest.main()
