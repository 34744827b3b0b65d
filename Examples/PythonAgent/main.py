"""An agent in a room: says back what it is told, and stops when somebody interrupts it. A message ends it.

    python3 main.py 'duplex://127.0.0.1:7900/?fingerprint=sha256:…' "$TOKEN"

A recogniser, a language model and a synthesiser take the place of `Parrot`.
"""

import asyncio
import sys
import time

import duplexvoice as dv
import numpy as np

BLOCK = 480  # frames of 48 kHz in 10 ms
SILENCE = 50  # blocks that end what somebody says
LOUD = 0.01


class Parrot:
    """Hears blocks, and answers with what it heard once nobody speaks any more."""

    def __init__(self) -> None:
        self.heard: list[np.ndarray] = []
        self.answer: list[np.ndarray] = []
        self.quiet = 0

    def hear(self, block: np.ndarray) -> bool:
        """Whether it has begun to answer."""
        self.quiet = 0 if np.abs(block).max() > LOUD else self.quiet + 1
        if self.heard or self.quiet == 0:
            self.heard.append(block)
        if not self.heard or self.quiet < SILENCE:
            return False
        self.answer, self.heard = self.heard[:-SILENCE], []
        return True

    def next_block(self) -> np.ndarray:
        return self.answer.pop(0) if self.answer else np.zeros(BLOCK, np.float32)


async def sound(engine: dv.Engine, parrot: Parrot) -> None:
    """The agent's microphone is what it says, and its loudspeaker what it hears: 10 ms at a time."""
    utterance, due = 0, time.monotonic()
    while True:
        if parrot.hear(engine.pull_playback(BLOCK)):
            utterance += 1
            engine.begin_utterance(utterance)
            print(f"answers for {len(parrot.answer) / 100:.2f} s", flush=True)
        engine.send_capture(parrot.next_block())
        due += 0.01
        await asyncio.sleep(max(0.0, due - time.monotonic()))


async def main(url: str, token: str) -> None:
    async with dv.Engine(dv.EnginePreset.LOW_DELAY, sound=dv.Sound.CLIENT, priority=-1) as engine:
        engine.start()
        join = asyncio.to_thread(engine.join, url, token, interruptible=dv.InterruptibleBy.ANYONE)
        parrot = Parrot()
        speaking = asyncio.create_task(sound(engine, parrot))
        await join
        me = engine.snapshot.own_participant
        async for event in engine.events():
            if event.kind == dv.EventKind.INTERRUPTED and event.participant == me:
                parrot.answer.clear()
                print("interrupted", flush=True)
            elif event.kind in (dv.EventKind.MESSAGE, dv.EventKind.LEFT):
                break
        speaking.cancel()


if len(sys.argv) != 3:
    sys.exit(f"usage: {sys.argv[0]} URL TOKEN")
try:
    asyncio.run(main(*sys.argv[1:]))
except dv.DuplexVoiceError as error:
    sys.exit(f"{error.code}: {error.message}")
