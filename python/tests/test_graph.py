"""Graphs: descriptions, events and actions by name, a recogniser and nodes of the program's."""

import _thread
import gc
import time
import unittest
import weakref

import duplexvoice as dv
import numpy as np
from duplexvoice._library import check, lib, sized


def description(nodes: list[dict], links: list[tuple[str, str]], *, channels: int = 1) -> dict:
    connections = [{"sourceNode": source, "destinationNode": target} for source, target in links]
    graph = {"config": {"sampleRate": 16_000, "bufferSize": 160}, "nodes": nodes, "connections": connections}
    config = {"microphoneEnabled": True, "speakerEnabled": True, "inputChannels": channels, "graph": graph}
    return {"type": "VoiceGraph", "config": config}


GAIN = description(
    [{"id": "mono", "type": "MultiChannelToMono"}, {"id": "gain", "type": "Gain"}],
    [("inputNode", "mono"), ("mono", "gain"), ("gain", "outputNode")],
    channels=2,
)


class GraphTests(unittest.TestCase):
    def test_sound_and_actions(self) -> None:
        with dv.Graph(GAIN) as graph:
            self.assertEqual((graph.sample_rate, graph.input_channels, graph.output_channels), (16_000, 2, 1))
            sound = np.random.default_rng(1).uniform(-0.5, 0.5, (1_000, 2)).astype(np.float32)
            output = np.concatenate([graph.push(sound), graph.finish()])
            np.testing.assert_allclose(output, sound.mean(axis=1), atol=1e-5)
            with self.assertRaises(dv.WrongStateError):
                graph.push(sound)
        with self.assertRaises(dv.ClosedError):
            graph.finish()
        with dv.Graph(GAIN) as graph:
            graph.call_action("gain", "setGain", gainDb=-20)
            graph.push(np.full((1_600, 2), 0.5, np.float32))
            self.assertAlmostEqual(float(graph.push(np.full((160, 2), 0.5, np.float32))[-1]), 0.05, places=3)
            with self.assertRaisesRegex(dv.ArgumentError, "setGain"):
                graph.call_action("gain", "sing")
            with self.assertRaises(dv.ArgumentError):
                graph.push(np.zeros(160, np.float32))

    def test_a_wrong_description_names_node_and_field(self) -> None:
        wrong = description([{"id": "gain", "type": "Gain", "config": {"gainDb": 99}}], [("inputNode", "gain")])
        with self.assertRaisesRegex(dv.ArgumentError, "node 'gain', 'gainDb'"):
            dv.Graph(wrong)
        with self.assertRaises(dv.ArgumentError):
            dv.Graph("{")

    def test_what_is_called(self) -> None:
        told: list[dv.GraphEvent] = []
        refused: list[Exception] = []

        def listen(event: dv.GraphEvent) -> None:
            told.append(event)
            try:
                graph.finish()
            except dv.WrongStateError as error:
                refused.append(error)

        nodes = [{"id": "turned", "type": "App.Inverter"}, {"id": "stt", "type": "Whisper.WhisperSTT"}]
        links = [("inputNode", "turned"), ("turned", "stt"), ("turned", "outputNode")]
        with dv.Graph(
            description(nodes, links),
            recogniser=lambda sound: f"{len(sound)} frames",
            node_types={"App.Inverter": lambda node, sound: -sound},
        ) as graph:
            number = graph.add_listener("stt", "transcribed", listen)
            sound = np.linspace(-1, 1, 1_600, dtype=np.float32)
            np.testing.assert_array_equal(graph.push(sound), -sound)
            graph.call_action("stt", "transcribe")
            graph.push(sound)
            self.assertEqual([event.values["text"] for event in told], ["1600 frames"])
            self.assertEqual((told[0].node, told[0].values["end"], len(refused)), ("stt", 0.1, 1))
            graph.remove_listener(number)
            graph.call_action("stt", "transcribe")
            graph.push(sound)
            self.assertEqual(len(told), 1)
            with self.assertRaises(dv.ArgumentError):
                graph.remove_listener(number)
            with self.assertRaises(dv.ArgumentError):
                graph.add_listener("stt", "melody", listen)

    def test_a_long_text_is_cut_between_two_characters(self) -> None:
        told: list[dv.GraphEvent] = []
        nodes, links = [{"id": "stt", "type": "Whisper.WhisperSTT"}], [("inputNode", "stt")]
        with dv.Graph(description(nodes, links), recogniser=lambda sound: "é" * 3_000) as graph:
            graph.add_listener("stt", "transcribed", told.append)
            graph.push(np.zeros(1_600, np.float32))
            graph.call_action("stt", "transcribe")
            graph.push(np.zeros(1_600, np.float32))
        self.assertEqual([event.values["text"] for event in told], ["é" * 2_047])

    def test_listeners_that_are_let_go(self) -> None:
        def add(graph: dv.Graph, event: str) -> tuple[int, weakref.ref]:
            def listen(event: dv.GraphEvent) -> None:
                pass

            try:
                return graph.add_listener("meter", event, listen), weakref.ref(listen)
            except dv.ArgumentError:
                return 0, weakref.ref(listen)

        with dv.Graph(description([{"id": "meter", "type": "LevelMeter"}], [("inputNode", "meter")])) as graph:
            for event in ("level", "melody"):
                number, function = add(graph, event)
                if number:
                    graph.push(np.zeros(3_200, np.float32))
                    self.assertIsNotNone(function())
                    graph.remove_listener(number)
                gc.collect()
                self.assertIsNone(function())

    def test_collected_in_a_listener(self) -> None:
        # The collector runs wherever Python allocates, also where the library refuses to destroy a graph.
        def process(node: str, sound: np.ndarray) -> np.ndarray:
            return sound

        links = [("inputNode", "own"), ("own", "outputNode")]
        lost = dv.Graph(description([{"id": "own", "type": "App.Own"}], links), node_types={"App.Own": process})
        lost.circle = lost
        handle, function = lost._handle, weakref.ref(process)
        del process
        told: list[dv.GraphEvent] = []

        def listen(event: dv.GraphEvent) -> None:
            nonlocal lost
            lost = None
            gc.collect()
            told.append(event)

        with dv.Graph(description([{"id": "meter", "type": "LevelMeter"}], [("inputNode", "meter")])) as graph:
            graph.add_listener("meter", "level", listen)
            graph.push(np.zeros(3_200, np.float32))
        self.assertTrue(told)
        # Its functions last as long as the library may call them.
        while function() is not None:
            time.sleep(0.001)
        with self.assertRaises(dv.ClosedError):
            check(lib.dv_graph_get_info(handle, sized("dv_graph_info")))

    def test_nodes_with_ports(self) -> None:
        heard: list[tuple[str, dict[str, tuple[int, ...]]]] = []

        def pan(node: str, sound: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            heard.append((node, {name: block.shape for name, block in sound.items()}))
            return {"stereo": np.stack([sound["voice"], sound["both"][:, 1]], axis=1)}

        kind = dv.GraphNodeType(
            pan,
            inputs=[dv.GraphPort("voice"), dv.GraphPort("both", 2), dv.GraphPort("other", 0, is_optional=True)],
            outputs=[dv.GraphPort("stereo", 2), dv.GraphPort("silent")],
        )
        nodes = [{"id": name, "type": kind} for name, kind in
                 (("mono", "MultiChannelToMono"), ("pan", "App.Pan"), ("meter", "LevelMeter"))]  # fmt: skip
        links = [
            ("inputNode", "mono"), ("mono", "pan.voice"), ("inputNode", "pan.both"), ("pan.stereo", "outputNode"),
            ("pan.silent", "meter"),
        ]  # fmt: skip
        levels: list[float | str] = []
        with dv.Graph(description(nodes, links, channels=2), node_types={"App.Pan": kind}) as graph:
            graph.add_listener("meter", "level", lambda event: levels.append(event.values["rmsDb"]))
            sound = np.random.default_rng(3).uniform(-0.5, 0.5, (1_600, 2)).astype(np.float32)
            output = graph.push(sound)
            self.assertEqual((graph.output_channels, output.shape), (2, (1_600, 2)))
            np.testing.assert_allclose(output[:, 0], sound.mean(axis=1), atol=1e-6)
            np.testing.assert_array_equal(output[:, 1], sound[:, 1])
        self.assertEqual(heard[0], ("pan", {"voice": (160,), "both": (160, 2)}))
        self.assertEqual(levels, [-127.0])
        with self.assertRaisesRegex(dv.ArgumentError, "node 'pan', 'voice'.*takes 1 channel"):
            wrong = [("inputNode", "pan.voice"), ("inputNode", "pan.both")]
            dv.Graph(description(nodes[1:2], wrong, channels=2), node_types={"App.Pan": kind})
        for ports, words in [
            ([dv.GraphPort("a"), dv.GraphPort("a")], "'a' twice"), ([dv.GraphPort("a", 9)], "9 channels"),
            ([dv.GraphPort("a b")], "'a b'"), ([dv.GraphPort(f"p{n}") for n in range(17)], "17 elements"),
        ]:  # fmt: skip
            with self.assertRaisesRegex(dv.ArgumentError, words):
                dv.Graph(GAIN, node_types={"App.X": dv.GraphNodeType(pan, inputs=ports)})
        with self.assertRaisesRegex(dv.ArgumentError, "no input and no output"):
            dv.Graph(GAIN, node_types={"App.X": dv.GraphNodeType(pan)})

    def test_on_an_engine(self) -> None:
        links = [("inputNode", "gain"), ("gain", "outputNode")]
        with dv.Engine(dv.EnginePreset.LOW_DELAY, sound=dv.Sound.CLIENT, priority=-1) as engine:
            with dv.Graph(description([{"id": "gain", "type": "Gain"}], links)) as graph:
                with self.assertRaises(dv.WrongStateError):
                    graph.start(engine)
                engine.start()
                graph.start(engine)
                with self.assertRaises(dv.WrongStateError):
                    graph.start(engine)
                graph.stop()
                with self.assertRaises(dv.DeviceError):
                    dv.Graph(GAIN).run_file("/nowhere.wav")


    def test_what_is_of_a_wrong_type_is_refused_before_anything_runs(self) -> None:
        with dv.Graph(GAIN) as graph:
            for call in (
                lambda: graph.start(5), lambda: graph.add_listener("gain", "*", "listener"),
                lambda: graph.call_action("gain", "setGain", gainDb="loud"), lambda: dv.Graph(GAIN, recogniser="words"),
                lambda: dv.Graph(GAIN, node_types={"App.X": 5}), lambda: dv.Graph(GAIN, far_ends={"agent": 5}),
                lambda: dv.Graph(GAIN, node_types={"App.X": dv.GraphNodeType(5)}),
            ):  # fmt: skip
                with self.assertRaises(TypeError):
                    call()

    def test_a_far_end_lasts_as_long_as_its_graph(self) -> None:
        nodes = [{"id": "far", "type": "FarEnd", "config": {"name": "agent"}}]
        links = [("inputNode", "far"), ("far", "outputNode")]
        near = dv.Engine(dv.EnginePreset.LOW_DELAY, sound=dv.Sound.CLIENT, priority=-1)
        near.start()
        far, threads = near.open_far_end(), _thread._count()
        known = weakref.ref(far)
        graph = dv.Graph(description(nodes, links), far_ends={"agent": far})
        del far, near
        gc.collect()
        self.assertIsNotNone(known())
        # Nobody tries to close it meanwhile.
        self.assertEqual(_thread._count(), threads)
        self.assertEqual(len(graph.push(np.zeros(320, np.float32))), 320)
        del graph
        gc.collect()
        self.assertIsNone(known())

    def test_a_graph_keeps_the_engine_it_runs_on(self) -> None:
        near = dv.Engine(dv.EnginePreset.LOW_DELAY, sound=dv.Sound.CLIENT, priority=-1)
        near.start()
        known = weakref.ref(near)
        graph = dv.Graph(description([{"id": "gain", "type": "Gain"}], [("inputNode", "gain"), ("gain", "outputNode")]))
        graph.start(near)
        del near
        gc.collect()
        self.assertIsNotNone(known())
        graph.stop()
        gc.collect()
        self.assertIsNone(known())


if __name__ == "__main__":
    unittest.main()
