"""What is set already and what is added: joined, kept in order, or named as replaced."""

from __future__ import annotations

import re

import pytest

from truewatch_lineage_spark import merge
from truewatch_lineage_spark.redaction import SPARKS_OWN, WORDS, widened
from truewatch_lineage_spark.versions import LISTENER

LISTS = {
    "none": (None, "c"),
    "empty": ("", "c"),
    "others": ("a,b", "a,b,c"),
    "blanks between": (" a , b,", "a,b,c"),
    "there already": ("a,c,b", "a,b,c"),
}


@pytest.mark.parametrize(("existing", "expected"), LISTS.values(), ids=LISTS)
def test_a_list_keeps_its_names_and_has_ours_once(existing, expected):
    """Whatever stood between them."""
    assert merge.listed(existing, "c") == expected


def test_another_release_of_the_listener_is_replaced():
    """Two on one class path are a matter of luck."""
    existing = "org.x:y:1,io.openlineage:openlineage-spark_2.12:1.20.0,/a/openlineage-spark-1.8.0.jar"

    assert merge.jars(existing, "new") == "org.x:y:1,new"


MASKED = {
    "none": (None, f"(?i){WORDS}"),
    "spark's own": (SPARKS_OWN, f"(?i){WORDS}"),
    "ours": (f"(?i){WORDS}", f"(?i){WORDS}"),
    "another": ("(?i)pin|iban", f"(?:(?i)pin|iban)|(?i:{WORDS})"),
    "another joined already": (f"(?:(?i)pin|iban)|(?i:{WORDS})", f"(?:(?i)pin|iban)|(?i:{WORDS})"),
}


@pytest.mark.parametrize(("existing", "expected"), MASKED.values(), ids=MASKED)
def test_what_is_masked_only_grows(existing, expected):
    """And is joined once, however often it is written."""
    assert widened(existing) == expected
    assert widened(widened(existing)) == expected


@pytest.mark.parametrize(
    "key",
    [
        "spark.openlineage.transport.auth.apiKey",
        "spark.hadoop.fs.s3a.secret.key",
        "spark.openlineage.transport.headers.Authorization",
        "spark.openlineage.transport.headers.X-Token",
        "spark.kubernetes.driverEnv.OPENLINEAGE__TRANSPORT__AUTH__API_KEY",
        "spark.yarn.appMasterEnv.OPENLINEAGE_API_KEY",
    ],
)
def test_every_place_of_a_token_is_masked(key):
    """Spark masks a property whose name the expression finds."""
    assert re.search(widened(None), key)


BASE = {
    "spark.executor.memory": "2g",
    "spark.openlineage.transport.auth.apiKey": "old-secret",
    "spark.openlineage.namespace": "old",
    "spark.kubernetes.driver.secretKeyRef.OPENLINEAGE__TRANSPORT__AUTH__API_KEY": "a:b",
    "spark.openlineage.job.tags": "team:blue",
    "spark.extraListeners": "org.x.Y",
}
OURS = {"spark.openlineage.namespace": "new", "spark.extraListeners": f"org.x.Y,{LISTENER}"}


def test_what_is_not_ours_stays_in_order():
    """But for parts of another transport, which the listener would mix with ours."""
    assert list(merge.kept(BASE, OURS)) == ["spark.executor.memory", "spark.openlineage.job.tags"]


def test_another_release_goes_wherever_it_is_named():
    """Ours may come another way."""
    base = {
        "spark.jars": "/a/openlineage-spark-1.8.0.jar",
        "spark.jars.packages": "a:b:1,io.openlineage:openlineage-spark_2.12:1.2",
    }

    assert merge.kept(base, ()) == {"spark.jars.packages": "a:b:1"}
    assert merge.conflicts(base, {}) == [
        "Left out: another release of the listener in spark.jars.",
        "Left out: another release of the listener in spark.jars.packages.",
    ]


def test_what_is_replaced_or_left_out_is_named_without_its_value():
    """A value may be a token."""
    notes = merge.conflicts(BASE, OURS)

    assert [note.split()[2] for note in notes if note.startswith("Left out")] == [
        "spark.openlineage.transport.auth.apiKey",
        "spark.kubernetes.driver.secretKeyRef.OPENLINEAGE__TRANSPORT__AUTH__API_KEY",
    ]
    assert [note.split()[1] for note in notes if note.startswith("Replaced")] == ["spark.openlineage.namespace"]
    assert "old-secret" not in " ".join(notes)
