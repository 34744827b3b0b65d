"""A bot in a room over the control API: answers who speaks to it, and is silent as soon as somebody speaks into its answer. Python's standard library alone.

    CONTROL_KEY=… python3 main.py http://127.0.0.1:7990 'duplex://127.0.0.1:7900/?fingerprint=sha256:…' ROOM

A language model takes the place of `answer`. Says goodbye, and leaves, when it is told to stop.
"""

import json
import os
import sys
import urllib.error
import urllib.request


class Control:
    """The control API of a server."""

    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = url, key

    def ask(self, method: str, path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Authorization": f"Bearer {self.key}"}, method=method)
        if data:
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read() or b"{}")

    def events(self, session: str):
        """What happens in a session, from its beginning."""
        last = 0
        while True:
            news = self.ask("GET", f"/v1/sessions/{session}/events?after={last}&wait=10")
            yield from news["events"]
            last = news["last"]


def answer(text: str) -> str:
    return "Goodbye." if "stop" in text else f"You said: {text}."


def printable(text: str) -> str:
    """What others wrote, without what a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in text)


def main(url: str, server: str, room: str) -> None:
    control = Control(url, os.environ["CONTROL_KEY"])
    token = control.ask("POST", "/v1/token", {"room": room, "identity": "bot"})["token"]
    session = control.ask("POST", "/v1/participants", {"server": server, "token": token})["session"]
    for event in control.events(session):
        match event["type"]:
            case "joined" | "participantJoined" | "participantLeft":
                print(f"{event['type']}: {printable(event.get('identity', room))}", flush=True)
            case "recognised" if event["text"]:
                print(f"heard: {printable(event['text'])}", flush=True)
                try:
                    control.ask("POST", f"/v1/sessions/{session}/say", {"text": answer(event["text"]), "turn": event["turn"]})
                except urllib.error.HTTPError as error:
                    # They go on speaking: what was asked is part of the next turn.
                    print(f"not said: {json.loads(error.read())['error']['code']}", flush=True)
            case "answered":
                print(f"said: {printable(event['heard'].strip())}{' –' if event['isCut'] else ''}", flush=True)
                if event["said"].startswith("Goodbye"):
                    break
            case "failed":
                sys.exit(f"{event['error']['code']}: {printable(event['error']['message'])}")
    control.ask("DELETE", f"/v1/sessions/{session}")
    print("left")


if len(sys.argv) != 4 or "CONTROL_KEY" not in os.environ:
    sys.exit(f"usage: CONTROL_KEY=… {sys.argv[0]} URL SERVER ROOM")
try:
    main(*sys.argv[1:])
except urllib.error.HTTPError as error:
    sys.exit(f"{error.code}: {printable(error.read().decode())}")
except urllib.error.URLError as error:
    sys.exit(f"{sys.argv[1]}: {error.reason}; start duplex serve-control there")
