"""Tokens that let somebody into a room: JSON Web Tokens signed with HS256, claims as in LiveKit's."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ._library import argument, check, encoded, ffi, lib, new_error, sized, string

_MOST_TEXT = 128
# A time beyond is none of these centuries, and fits the library's 64 bits.
_LAST_TIME = 1 << 40


@dataclass(frozen=True)
class Grants:
    """What a token says. Times are seconds since 1970."""

    identity: str
    room: str
    name: str = ""
    may_join: bool = True
    may_publish: bool = True
    may_subscribe: bool = True
    not_before: int = 0
    expires: int = 0


def create_token(
    key: str,
    secret: str,
    *,
    identity: str,
    room: str,
    name: str = "",
    valid_seconds: float = 3600,
    not_before: float | None = None,
    may_join: bool = True,
    may_publish: bool = True,
    may_subscribe: bool = True,
) -> str:
    """A token for `identity`, unique in `room`, that holds from `not_before` (now) on.

    Key and secret are those of the room's server, the secret of 32 bytes at least. Texts are of 128 bytes at most.
    """
    start = time.time() if not_before is None else not_before
    if not 0 <= start < start + valid_seconds <= _LAST_TIME:
        raise argument(f"the token would hold from {start} for {valid_seconds} s; give seconds since 1970, and some")
    grants = sized("dv_token_grants")
    grants.identity = encoded(identity, "identity", _MOST_TEXT)
    grants.room = encoded(room, "room", _MOST_TEXT)
    grants.name = encoded(name, "name", _MOST_TEXT)
    grants.not_before, grants.expires = int(start), int(start + valid_seconds)
    grants.may_not_join, grants.may_not_publish = int(not may_join), int(not may_publish)
    grants.may_not_subscribe = int(not may_subscribe)
    token, error = ffi.new("char[]", ffi.integer_const("DV_TOKEN_BYTES")), new_error()
    check(lib.dv_token_create(encoded(key, "key"), encoded(secret, "secret"), grants, token, error), error)
    return string(token)


def check_token(key: str, secret: str, token: str, *, at: float | None = None) -> Grants:
    """What a token grants, if it is genuine and in time `at` (now); NotPermittedError, whose code says why, if not."""
    when = time.time() if at is None else at
    if not 0 <= when <= _LAST_TIME:
        raise argument(f"at is {when}; give seconds since 1970")
    grants, error = sized("dv_token_grants"), new_error()
    data = encoded(token, "token")
    check(lib.dv_token_check(encoded(key, "key"), encoded(secret, "secret"), data, int(when), grants, error), error)
    return Grants(
        identity=string(grants.identity),
        room=string(grants.room),
        name=string(grants.name),
        may_join=not grants.may_not_join,
        may_publish=not grants.may_not_publish,
        may_subscribe=not grants.may_not_subscribe,
        not_before=grants.not_before,
        expires=grants.expires,
    )
