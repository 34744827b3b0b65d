"""The processor by itself, and what may be done wrong with it."""

import gc
import threading
import unittest

import duplexvoice as dv
import numpy as np


def echo(rate: int, seconds: float = 3) -> tuple[np.ndarray, np.ndarray]:
    """What is heard of a noise 30 ms later, and the noise."""
    played = 0.2 * np.random.default_rng(7).standard_normal(int(rate * seconds)).astype(np.float32)
    heard = np.zeros_like(played)
    late = rate * 30 // 1000
    heard[late:] = 0.5 * played[:-late]
    return heard, played


def power(sound: np.ndarray) -> float:
    return float(np.mean(np.square(sound.astype(np.float64))))


class ProcessorTests(unittest.TestCase):
    def test_echo_is_taken_away_and_told(self) -> None:
        heard, played = echo(16_000)
        clean = dv.clean(heard, played, 16_000)
        self.assertEqual((clean.shape, clean.dtype), (heard.shape, np.float32))
        self.assertLess(power(clean[-16_000:]), power(heard[-16_000:]) / 100)
        with dv.Processor(16_000, block_frames=160) as processor:
            self.assertIsNone(processor.report.echo_delay_ms)
            self.assertIsNone(processor.report.voice_activity)
            for at in range(0, len(heard), 160):
                processor.process(heard[at : at + 160], played[at : at + 160])
            report = processor.report
            self.assertEqual((report.blocks, report.failed_blocks), (len(heard) // 160, 0))
            self.assertAlmostEqual(report.echo_delay_ms or 0, 30, delta=5)

    def test_channels_and_int16(self) -> None:
        heard, played = echo(48_000, 0.5)
        stereo = np.stack([played, played], axis=1)
        clean = dv.clean((heard * 32_767).astype(np.int16), (stereo * 32_767).astype(np.int16), 48_000)
        self.assertEqual((clean.shape, clean.dtype), (heard.shape, np.int16))
        # A reference that is shorter, none at all, another memory order, nothing.
        self.assertEqual(len(dv.clean(heard, played[:1_000], 48_000)), len(heard))
        self.assertEqual(len(dv.clean(heard[::2], None, 44_100)), len(heard[::2]))
        self.assertEqual(len(dv.clean(np.asfortranarray(stereo), stereo[::-1], 11_025)), len(stereo))
        self.assertEqual(len(dv.clean(heard[:0], played, 8_000)), 0)

    def test_a_delay_is_made_up_for(self) -> None:
        sound = echo(44_100, 0.2)[1]
        clean = dv.clean(sound, None, 44_100, settings=dv.Preset.BYPASS)
        # Through another rate and back: close, not equal.
        self.assertLess(power(clean[2_000:-2_000] - sound[2_000:-2_000]), 0.2 * power(sound))

    def test_settings(self) -> None:
        settings = dv.Settings.preset(dv.Preset.VOICE_AGENT)
        self.assertEqual((settings.echo, settings.noise, settings.high_pass), (dv.Echo.SOFT, dv.Noise.MODERATE, True))
        with dv.Processor(settings=dv.Preset.BYPASS) as processor:
            processor.apply(settings)
            processor.process(np.zeros(4_800, np.float32))
            self.assertEqual(processor.active.noise, dv.Noise.MODERATE)
            processor.apply(dv.Preset.HEADSET)
            settings.target_level = -300
            with self.assertRaises(dv.ArgumentError) as refused:
                processor.apply(settings)
            self.assertIn("target_level", str(refused.exception))
            self.assertEqual(refused.exception.code, "status.invalidArgument")
            self.assertTrue(refused.exception.remedy)
            self.assertFalse(refused.exception.is_retryable)
            settings.target_level = 1 << 40
            with self.assertRaises(dv.ArgumentError) as refused:
                processor.apply(settings)
            self.assertIn("Settings.target_level", str(refused.exception))
        for wrong in (-1, 4, 1 << 40):
            with self.assertRaises(dv.ArgumentError):
                dv.Settings.preset(wrong)  # type: ignore[arg-type]


class MisuseTests(unittest.TestCase):
    def test_arrays(self) -> None:
        sound = np.zeros(480, np.float32)
        with dv.Processor(backend=dv.Backend.BYPASS, reference_channels=2) as processor:
            for wrong in ([0.0], sound.astype(np.float64), sound.astype("i8"), None, "sound", b"\0" * 480):
                with self.assertRaises(TypeError):
                    processor.process(wrong)  # type: ignore[arg-type]
            stereo = np.zeros((480, 2), np.float32)
            for capture, reference in [
                (stereo, None), (np.zeros((), np.float32), None), (np.zeros((480, 1, 1), np.float32), None),
                (sound, sound), (sound, stereo[:479]), (sound, np.zeros((2, 480), np.float32)),
                (np.zeros((1 << 20) + 1, np.float32), None),
            ]:  # fmt: skip
                with self.assertRaises(dv.ArgumentError):
                    processor.process(capture, reference)
            with self.assertRaises(TypeError):
                processor.process(sound, stereo.astype(np.int16))
            # What may be odd: read-only, of other strides, of the other byte order, empty.
            sound.flags.writeable = False
            for fine in (sound, np.zeros(960, np.float32)[::2], sound.astype(">f4"), sound[:0], sound.reshape(-1, 1)):
                self.assertEqual(processor.process(fine).shape, fine.shape[:1])

    def test_configurations(self) -> None:
        for wrong in (
            {"sample_rate": 47_999}, {"sample_rate": -1}, {"sample_rate": 1 << 33}, {"capture_channels": 33},
            {"block_frames": 1 << 21}, {"expected_delay_ms": float("nan")}, {"backend": 4},
        ):  # fmt: skip
            with self.assertRaises(dv.ArgumentError):
                dv.Processor(**wrong)
        for call in (
            lambda: dv.Processor("48000"), lambda: dv.Processor(backend="native"), lambda: dv.Processor(settings=2),
            lambda: dv.Processor(expected_delay_ms="soon"), lambda: dv.clean([0.0], None, 16_000),
            lambda: dv.clean(np.zeros(160, np.float32), [0.0], 16_000),
            lambda: dv.clean(np.zeros(160, np.float32), None, 16_000.0),
        ):  # fmt: skip
            with self.assertRaises(TypeError):
                call()
        with dv.Processor(block_frames=64) as processor, self.assertRaises(dv.ArgumentError):
            processor.process(np.zeros(65, np.float32))

    def test_after_close(self) -> None:
        processor = dv.Processor()
        self.assertFalse(processor.is_closed)
        processor.close()
        processor.close()
        self.assertTrue(processor.is_closed)
        for call in (
            lambda: processor.process(np.zeros(480, np.float32)), lambda: processor.delay, lambda: processor.report,
            lambda: processor.apply(dv.Preset.BYPASS), lambda: processor.active,
        ):  # fmt: skip
            with self.assertRaises(dv.ClosedError) as closed:
                call()
            self.assertEqual((closed.exception.code, closed.exception.status), ("status.invalidHandle", -1))

    def test_what_nobody_refers_to_is_closed(self) -> None:
        # More than there may be at once.
        for _ in range(300):
            dv.Processor(8_000, backend=dv.Backend.BYPASS)
        gc.collect()
        kept = []
        with self.assertRaises(dv.ExhaustedError):
            while True:
                kept.append(dv.Processor(8_000, backend=dv.Backend.BYPASS))
        self.assertGreater(len(kept), 200)
        for processor in kept:
            processor.close()

    def test_threads(self) -> None:
        processor = dv.Processor()
        outcomes = set()

        def play() -> None:
            sound = np.zeros(4_800, np.float32)
            try:
                while True:
                    try:
                        processor.process(sound)
                        outcomes.add("done")
                    except dv.BusyError as busy:
                        outcomes.add(busy.code)
            except dv.ClosedError as closed:
                outcomes.add(closed.code)

        threads = [threading.Thread(target=play) for _ in range(3)]
        for thread in threads:
            thread.start()
        while "done" not in outcomes:
            pass
        # Calls of three threads leave a moment in which nobody is inside, sooner or later.
        while not processor.is_closed:
            try:
                processor.close()
            except dv.BusyError:
                pass
        for thread in threads:
            thread.join()
        self.assertLessEqual({"done", "status.invalidHandle"}, outcomes)
        self.assertLessEqual(outcomes, {"done", "status.invalidHandle", "status.busy"})


if __name__ == "__main__":
    unittest.main()
