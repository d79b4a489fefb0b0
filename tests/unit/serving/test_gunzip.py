"""Gzip in pieces: however it is cut, what comes out is what went in."""

from __future__ import annotations

import gzip
import random

import pytest

from truewatch_lineage.serving.answers import Refusal
from truewatch_lineage.serving.bodies import Gunzip

MIB = 1024 * 1024
DATA = bytes(3 * MIB + 5) + random.Random(1).randbytes(MIB) + b"ab" * MIB


def decoded(packed, size, *, missing=0):
    """Feed in pieces of ``size`` bytes, with a limit that is ``missing`` bytes too low."""
    decoder = Gunzip(len(DATA) - missing)
    for start in range(0, len(packed), size):
        decoder.feed(packed[start : start + size])
    assert decoder.size == len(decoder.finish())
    return decoder.finish()


@pytest.mark.parametrize("size", [97, 4096, 65536, 1 << 30])
def test_pieces_of_any_size_are_joined(size):
    """One member that decodes to more than is decoded at once, and several, some of them empty."""
    parts = [DATA[:1], b"", DATA[1 : 2 * MIB], DATA[2 * MIB :], b""]
    assert decoded(gzip.compress(DATA, 1), size) == DATA
    assert decoded(b"".join(gzip.compress(part, 1) for part in parts), size) == DATA


@pytest.mark.parametrize("size", [4096, 1 << 30])
def test_the_first_byte_too_many_is_refused(size):
    """Wherever the pieces end."""
    packed = gzip.compress(DATA, 1)
    with pytest.raises(Refusal, match="larger than"):
        decoded(packed, size, missing=1)
    assert decoded(packed, size) == DATA
