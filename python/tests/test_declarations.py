"""What Python says of the library is what duplexvoice.h says."""

import dataclasses
import inspect
import unittest
from enum import IntEnum

import duplexvoice as dv
from duplexvoice import enumerations
from duplexvoice._library import ffi, lib

PREFIXES = {
    "Status": "DV_", "Backend": "DV_BACKEND_", "Echo": "DV_ECHO_", "Noise": "DV_NOISE_", "NoiseMethod": "DV_NOISE_",
    "Gain": "DV_GAIN_", "VoiceDetection": "DV_VOICE_", "Preset": "DV_PRESET_", "EnginePreset": "DV_ENGINE_",
    "PlayoutProfile": "DV_PLAYOUT_", "Sound": "DV_SOUND_", "MemoryLock": "DV_LOCK_", "Route": "DV_ROUTE_", "EventKind": "DV_EVENT_",
    "InterruptibleBy": "DV_INTERRUPTIBLE_BY_", "Connection": "DV_ROOM_", "TalkMode": "DV_TALK_", "Turn": "DV_TURN_",
    "End": "DV_END_", "Play": "DV_PLAY_", "Role": "DV_ROLE_", "SoundPoint": "DV_POINT_", "BargeIn": "DV_BARGE_IN_",
}  # fmt: skip
# Of no enumeration.
OTHERS = {
    "DV_VERSION_MAJOR", "DV_VERSION_MINOR", "DV_VERSION_PATCH", "DV_TOKEN_BYTES", "DV_PLAYOUT_PACKET_BYTES",
    "DV_GRAPH_TEXT_BYTES", "DV_GRAPH_PORTS", "DV_GRAPH_CHANNELS",
}  # fmt: skip
STRUCTURES = {
    "dv_processor_settings": dv.Settings, "dv_processor_report": dv.Report, "dv_engine_snapshot": dv.Snapshot,
    "dv_participant": dv.Participant, "dv_engine_statistics": dv.Statistics,
    "dv_talker_statistics": dv.TalkerStatistics, "dv_playout_statistics": dv.PlayoutStatistics,
    "dv_answer_latency": dv.AnswerLatency, "dv_levels": dv.Levels,
}  # fmt: skip


class DeclarationTests(unittest.TestCase):
    def test_every_constant_is_a_member_and_every_member_a_constant(self) -> None:
        members = {}
        for name, kind in inspect.getmembers(enumerations, inspect.isclass):
            if issubclass(kind, IntEnum) and kind is not IntEnum:
                members |= {PREFIXES[name] + member.name: int(member) for member in kind}
        constants = {name for name in dir(lib) if name.startswith("DV_")} - OTHERS
        self.assertEqual(constants, members.keys())
        self.assertEqual({name: ffi.integer_const(name) for name in constants}, members)

    def test_every_field_has_a_name(self) -> None:
        for name, kind in STRUCTURES.items():
            declared = [field for field, _ in ffi.typeof(name).fields if field not in ("size", "reserved")]
            self.assertEqual(declared, [field.name for field in dataclasses.fields(kind)], name)

    def test_every_function_is_there_and_used(self) -> None:
        import pathlib

        sources = "".join(path.read_text() for path in pathlib.Path(dv.__file__).parent.glob("[!_]*.py"))
        sources += pathlib.Path(dv.__file__).with_name("_library.py").read_text()
        for name in dir(lib):
            if name.startswith("dv_"):
                self.assertIn(f"lib.{name}", sources)
                self.assertTrue(callable(getattr(lib, name)), name)

    def test_version(self) -> None:
        self.assertRegex(dv.__version__, r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main()
