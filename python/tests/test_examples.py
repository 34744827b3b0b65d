"""The examples, as programs of their own. The agent's room is that of the program that DUPLEX names."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import wave
from pathlib import Path

import duplexvoice as dv
import numpy as np

EXAMPLES = Path(os.environ.get("EXAMPLES", Path(__file__).resolve().parents[2] / "Examples"))
DUPLEX = os.environ.get("DUPLEX")


def write(path: Path, sound: np.ndarray, rate: int) -> None:
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes((sound * 32_767).astype("<i2").tobytes())


class ExampleTests(unittest.TestCase):
    def test_clean(self) -> None:
        rate = 16_000
        played = 0.2 * np.random.default_rng(1).standard_normal(2 * rate).clip(-4, 4)
        heard = np.concatenate([np.zeros(400), 0.5 * played[:-400]])
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder / "mic.wav", heard, rate)
            write(folder / "ref.wav", played, rate)
            files = [str(folder / part) for part in ("mic.wav", "ref.wav", "out.wav")]
            subprocess.run([sys.executable, EXAMPLES / "PythonProcessor/main.py", *files], check=True)
            with wave.open(files[2]) as file:
                self.assertEqual((file.getframerate(), file.getnframes()), (rate, len(heard)))
                clean = np.frombuffer(file.readframes(-1), "<i2") / 32_767
            # Files that do not go together are no recording of an echo.
            write(folder / "ref.wav", played, 48_000)
            refused = subprocess.run(
                [sys.executable, EXAMPLES / "PythonProcessor/main.py", *files], stderr=subprocess.PIPE, text=True
            )
            self.assertEqual(refused.returncode, 1)
            self.assertIn("has 16000 Hz", refused.stderr)
        self.assertLess(np.mean(clean[-rate:] ** 2), np.mean(heard[-rate:] ** 2) / 30)

    def test_control_agent_that_cannot_begin_says_what_to_do(self) -> None:
        program = EXAMPLES / "PythonControlAgent/main.py"
        environment = {**os.environ, "CONTROL_KEY": "k" * 32}
        nobody = ["http://127.0.0.1:1", "udp://127.0.0.1:1", "room"]
        for arguments, told in (([], "usage: "), (nobody, "start duplex serve-control")):
            ended = subprocess.run(
                [sys.executable, program, *arguments], env=environment, stderr=subprocess.PIPE, text=True
            )
            self.assertEqual(ended.returncode, 1)
            self.assertIn(told, ended.stderr)
            self.assertNotIn("Traceback", ended.stderr)

    @unittest.skipUnless(DUPLEX, "DUPLEX names no program duplex: without it there is no room")
    def test_agent_says_back_what_it_is_told(self) -> None:
        secret = "s" * 32
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "secret"
            path.write_text(secret)
            path.chmod(0o600)
            serve = [DUPLEX, "room", "serve", "--plaintext", "--port", "0", "--secret-file", str(path), "--json"]
            with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
                try:
                    assert server.stdout
                    self.meet(json.loads(server.stdout.readline())["url"], secret)
                finally:
                    server.terminate()

    def meet(self, url: str, secret: str) -> None:
        def token(identity: str) -> str:
            return dv.create_token("duplex", secret, identity=identity, room="kitchen")

        program = [sys.executable, str(EXAMPLES / "PythonAgent/main.py"), url, token("agent")]
        with dv.Engine(dv.EnginePreset.LOW_DELAY, sound=dv.Sound.CLIENT, priority=-1) as person:
            person.start()
            person.join(url, token("person"))
            with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as agent:
                try:
                    self.assertTrue(self.is_answered(person))
                    said = next(event for event in iter(lambda: person.next_event(0), None)
                                if event.kind == dv.EventKind.PARTICIPANT_JOINED)  # fmt: skip
                    self.assertEqual(said.text, "agent")
                    self.assertEqual(person.participant(said.participant).identity, "agent")
                    self.assertGreater(person.talker(said.participant).packets_received, 0)
                    person.send(b"bye")
                    self.assertEqual(agent.wait(20), 0)
                    assert agent.stdout
                    self.assertIn("answers for", agent.stdout.read())
                finally:
                    agent.kill()

    def is_answered(self, person: dv.Engine) -> bool:
        """Says half a second as soon as somebody is there, falls silent, and waits for as long an answer."""
        import time

        tone = (0.2 * np.sin(np.arange(480) * 4 * 2 * np.pi / 480)).astype(np.float32)
        said, heard, due = 0, 0, time.monotonic()
        while due < time.monotonic() + 30 and heard < 30:
            speaks = said < 50 and bool(person.participants)
            said += speaks
            person.send_capture(tone if speaks else np.zeros(480, np.float32))
            heard += bool(np.abs(person.pull_playback(480)).max() > 0.05)
            due += 0.01
            time.sleep(max(0.0, due - time.monotonic()))
        return heard >= 30


if __name__ == "__main__":
    unittest.main()
