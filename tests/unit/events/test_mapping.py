"""Names that match the destination's catalog."""

from __future__ import annotations

import copy

import pytest
from support.events import tree

from truewatch_lineage.errors import ConfigError
from truewatch_lineage.events.mapping import NameMapper

OLD = {"namespace": "old", "name": "n"}
NEW = {"namespace": "new", "name": "n"}


def everywhere(pair):
    """Return an event that has the pair in every place where the specification has names."""
    sources = {"inputs": [{**pair, "type": "DATASET"}], "fields": {"c": {"inputs": [dict(pair)]}}}
    facets = {
        "symlinks": {"identifiers": [{**pair, "type": "TABLE"}]},
        "columnLineage": {"fields": {"c": {"inputFields": [{**pair, "field": "f"}]}}, "dataset": [dict(pair)]},
        "lifecycleStateChange": {"previousIdentifier": dict(pair)},
        "lineage": sources,
    }
    dependency = {"job": dict(pair), "run": {"runId": "r"}}
    return tree(
        run={
            "runId": "r",
            "facets": {
                "parent": {"job": dict(pair), "run": {"runId": "p"}, "root": {"job": dict(pair)}},
                "parentRun": {"job": dict(pair)},
                "jobDependencies": {"upstream": [dependency], "downstream": [copy.deepcopy(dependency)]},
            },
        },
        job={**pair, "facets": {"lineage": {"entries": [{**pair, **copy.deepcopy(sources)}]}}},
        dataset={**pair, "facets": copy.deepcopy(facets)},
        inputs=[{**pair, "facets": copy.deepcopy(facets)}],
        outputs=[{**pair, "facets": copy.deepcopy(facets)}],
    )


def test_every_place_is_mapped_and_the_event_is_not_changed():
    """Datasets, jobs, parents, roots, dependencies, symlinks and lineage inputs get the new name together."""
    event = everywhere(OLD)
    before = copy.deepcopy(event)
    assert NameMapper.from_config({"old": "new"}).apply(event) == everywhere(NEW)
    assert event == before


def test_unaffected_event_is_the_same_object():
    """Nothing is copied where no name changes."""
    event = everywhere(OLD)
    assert NameMapper.from_config({"other": "new"}).apply(event) is event
    assert NameMapper.from_config().apply(event) is event


def test_only_what_changes_is_copied():
    """A copy shares what has not changed."""
    event = tree(inputs=[OLD], outputs=[NEW])
    result = NameMapper.from_config({"old": "new"}).apply(event)
    assert result["outputs"] is event["outputs"]
    assert result["run"] is event["run"]


def test_odd_shapes_are_left_alone():
    """What is no object, array or text where one belongs is left as it is."""
    event = {"job": {"namespace": 1, "name": "n"}, "inputs": "x", "outputs": [None, 3], "run": {"facets": []}}
    assert NameMapper.from_config({"": "new"}).apply(event) is event


@pytest.mark.parametrize(
    ("namespaces", "names", "before", "after"),
    [
        ({"pg://a": "A", "pg://a:5432": "B"}, None, ("pg://a:5432/x", "n"), ("B/x", "n")),
        ({"pg": "A"}, None, ("other-pg", "n"), ("other-pg", "n")),
        (None, [{"name": r"(\w+)\.(\w+)", "to_name": r"\2-\1"}], ("x", "a.b"), ("x", "b-a")),
        (None, [{"name": "a", "to_name": "z"}], ("x", "ab"), ("x", "ab")),
        (None, [{"namespace": "bq", "to_namespace": "bq://p"}], ("bq", "t"), ("bq://p", "t")),
        (
            None,
            [{"name": r"(\w+)/(.+)", "to_namespace": r"s3://\1", "to_name": r"\2"}],
            ("s3", "b/k/v"),
            ("s3://b", "k/v"),
        ),
        (None, [{"name": r"(?P<db>\w+)\..*", "to_namespace": r"\g<db>"}], ("x", "d.t"), ("d", "d.t")),
        (None, [{"name": "n", "to_name": "1"}, {"name": "n", "to_name": "2"}], ("x", "n"), ("x", "1")),
        ({"x": "y"}, [{"name": "n", "to_name": "m"}], ("x", "n"), ("y", "m")),
        ({"x": "y", "z": "w"}, [{"namespace": "x", "to_namespace": "z"}], ("x", "n"), ("z", "n")),
        (None, [{"namespace": "x", "name": "line\nbreak", "to_name": ""}], ("x", "line\nbreak"), ("x", "")),
    ],
)
def test_rules(namespaces, names, before, after):
    """The longest prefix wins, then the first rule whose expressions match in full; rules see original names."""
    assert NameMapper.from_config(namespaces, names).map_name(*before) == after


@pytest.mark.parametrize(
    ("namespaces", "names", "words"),
    [
        ([], None, "map_namespaces must be a table"),
        ({"a": 1}, None, r"map_namespaces\.a must be text"),
        (None, {}, "map_names must be a list"),
        (None, [{"nmae": "x", "to_name": "y"}], r"map_names\[0\]\.nmae.*Did you mean name\?"),
        (None, [{"name": "x"}], r"map_names\[0\] changes nothing.*to_namespace or to_name"),
        (None, [{"name": "(", "to_name": "y"}], r"map_names\[0\]\.name is no regular expression"),
        (None, [{"name": "x", "to_name": r"\1"}], r"map_names\[0\]\.to_name is no template"),
        (None, [{"name": "x", "to_name": r"\g<y>"}], r"map_names\[0\]\.to_name is no template"),
    ],
)
def test_wrong_settings_are_named(namespaces, names, words):
    """A wrong rule is refused with its key when the settings are read, not at the first event."""
    with pytest.raises(ConfigError, match=words):
        NameMapper.from_config(namespaces, names)
