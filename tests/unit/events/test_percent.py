"""Secrets in percent-encoded texts."""

from __future__ import annotations

import random
import time

import pytest

from truewatch_lineage.events import percent
from truewatch_lineage.events.redact import Redactor

SECRET = 'tkn_é/b"c\\d+e=f%g'
WANTED = percent.needles([SECRET], 8)


def coded(text, generator):
    """Encode any characters of a text, in either case."""
    forms = ("%{:02x}", "%{:02X}")

    def form(character):
        if generator.random() < 0.5 and character != "%":
            return character
        return "".join(generator.choice(forms).format(byte) for byte in character.encode())

    return "".join(map(form, text))


@pytest.mark.parametrize("seed", range(20))
def test_any_characters_may_be_encoded(seed):
    """What stands around the secret stays byte for byte, lone surrogates and other codes too."""
    generator = random.Random(seed)
    one, other = coded(SECRET, generator), coded(SECRET, generator)
    assert percent.mask(f"\ud800%zz%41ü{one}%42{other}%", WANTED, "***") == "\ud800%zz%41ü***%42***%"


@pytest.mark.parametrize("before", range(64 * 1024 - 60, 64 * 1024 + 4))
def test_a_long_text_is_masked_across_its_chunks(before):
    """Wherever the secret stands."""
    text = "%7A" * (before // 3) + "x" * (before % 3)
    whole = "".join(f"%{byte:02X}" for byte in SECRET.encode())
    assert percent.mask(f"{text}{whole}{text}", WANTED, "***") == f"{text}***{text}"


def test_secrets_that_overlap_leave_nothing_behind():
    """Both go, as one."""
    wanted = percent.needles(["12345678-abcdefgh", "abcdefgh-12345678"], 8)
    assert percent.mask("x12345678%2Dabcdefgh-12345678y", wanted, "***") == "x***y"


def test_what_looks_encoded_in_a_secret_may_stay_while_the_rest_is_encoded():
    """As by who leaves codes alone and encodes what is none."""
    wanted = percent.needles(['a%41-"long"-token'], 8)
    assert percent.mask("a%41-%22long%22-token", wanted, "***") == "***"
    assert percent.mask("a%2541-%22long%22-token", wanted, "***") == "***"


def test_what_a_secret_decodes_to_may_be_too_short():
    """Then it is a word like any other."""
    assert percent.mask("%41BC%20", percent.needles(["%41%42%43"], 8), "***") == "%41BC%20"


@pytest.mark.parametrize("secret", ["a" * 4000 + "b", "".join(map(chr, range(33, 127))) * 600])
def test_no_secret_costs_more_than_its_length_and_the_texts(secret):
    """A client chooses both: with a secret of 4,000 characters an expression made of it took seconds for 200 kB."""
    began = time.process_time()
    Redactor().text("%61" + "a" * 1_000_000, [secret])
    assert time.process_time() - began < 1
