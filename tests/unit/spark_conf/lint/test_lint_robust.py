"""No file makes the linter fail: whatever is in it becomes findings with the file and a line."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from truewatch_lineage_spark.lint import catalog, report, rules, sources

WORDS = (
    *("spark.openlineage.transport.", "url", "type", "auth.apiKey", "${env:X}", "--conf ", "--properties ", "http://["),
    *("spark-submit ", "export OPENLINEAGE__", "A__B_C", '"Classification"', '"spark_conf"', "&a ", "*a", "- ", "<<: "),
    *("!!int ", "%YAML 9", "\\\n", "$(", "\\u00", "\ufeff", *"=: \n\\'\"{}[],)`#\x00"),
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=30).map("".join)
HOSTILE = {
    "an alias of itself": "transport: &a\n  url: *a\n",
    "a billion laughs": "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    ) + "transport: {x: *i}\n",
    "deep JSON": "[" * 100_000,
    "deep JSON that is whole": '{"a":' * 5_000 + "1" + "}" * 5_000,
    "deep YAML": "[" * 20_000,
    "a number without end": '{"a": ' + "9" * 5_000 + "}",
    "an escape beyond Unicode": 'transport: "\\UFFFFFFFF"\n',
    "a key that is a list": "? [a, b]\n: c\ntransport: {type: http}\n",
    "quotes that never close": 'export OPENLINEAGE__X="' + "$(a)" * 5_000,
    "substitutions that never close": "spark-submit --conf " + "$(" * 20_000,
    "backslashes": "spark.openlineage.x=" + "\\" * 50_001,
    "a null byte in a path": "spark-submit --properties-file 'a\x00b' x",
    "a properties file that is itself": "spark-submit --properties-file hostile x",
}  # fmt: skip


@given(data=st.binary(max_size=400) | TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")))
@pytest.mark.parametrize("form", [None, *sources.FORMATS])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_arbitrary_bytes_become_findings(tmp_path, form, data) -> None:
    """Each has the file, a line of it and a rule that exists."""
    file = tmp_path / "hostile"
    file.write_bytes(data)
    findings = rules.check([sources.read(str(file), form)])
    lines = len(data.decode("utf-8", "replace").splitlines()) + 1
    assert all(one.file == str(file) and 1 <= one.line <= lines and one.rule in catalog.RULES for one in findings)
    assert all(line.startswith(f"{file}:") for line in report.lines(findings))


@pytest.mark.parametrize("form", [None, *sources.FORMATS])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_become_findings(tmp_path, form, text) -> None:
    """In little time."""
    file = tmp_path / "hostile"
    file.write_bytes(text.encode())
    rules.check([sources.read(str(file), form)])
