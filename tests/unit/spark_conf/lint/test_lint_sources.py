"""Each format becomes the same settings, with the lines they stand on, whatever the file is called."""

from __future__ import annotations

import pytest

from truewatch_lineage_spark.lint import sources

KEY = "spark.openlineage.transport.type"
URL = "spark.openlineage.transport.url"
BOTH = [(KEY, "http", "conf"), (URL, "https://h", "conf")]

# Name, text, and each setting's line, with the settings where they are not BOTH.
ROWS = {
    "properties": ("spark-defaults.conf", f"\n{KEY}  http\n{URL}=https://h\n", [2, 3]),
    "properties by their looks": ("defaults", f"# spark-submit reads it\n{KEY}  http\n{URL}=https://h\n", [2, 3]),
    "a script": ("s.sh", f"#!/bin/sh\nspark-submit \\\n --conf {KEY}=http \\\n --conf '{URL}=https://h' j.py", [3, 4]),
    "a script by its looks": ("s", f"exec spark-submit --conf {KEY}=http --conf={URL}=https://h j.py", [1, 1]),
    "arguments alone": ("args", f"--conf \"{KEY}=http\" \\\n--conf {URL}='https://h'", [1, 2]),
    "behind a variable": ("s.sh", f'"$SPARK_HOME/bin/spark-submit" -c {KEY}=http -v -c {URL}=https://h j.py', [1, 1]),
    "Dataproc": (
        "s.sh",
        f"gcloud dataproc jobs submit spark --properties '^#^{KEY}=http#spark:{URL}=https://h'",
        [1, 1],
    ),
    "Databricks": (
        "c.json",
        f'{{"new_cluster": {{"spark_conf": {{\n"{KEY}": "http",\n"{URL}": "https://h"}}}}}}',
        [2, 3],
    ),
    "Databricks in YAML": (
        "b.yml",
        f"jobs:\n  - new_cluster:\n      spark_conf:\n        {KEY}: http\n        {URL}: https://h\n",
        [4, 5],
    ),
    "EMR": (
        "c.json",
        f'[{{"Classification": "spark-defaults",\n"Properties": {{"{KEY}": "http",\n"{URL}": "https://h"}}}}]',
        [2, 3],
    ),
    "EMR in a cluster": (
        "c.json",
        (
            '{"ReleaseLabel": "emr-7.1.0", "Configurations": [{"Classification": "spark-defaults",\n"Properties": '
            f'{{"{KEY}": "http",\n"{URL}": "https://h"}}}}]}}'
        ),
        [2, 3],
    ),
    "EMR Serverless": (
        "c.json",
        (
            '{"applicationConfiguration": [\n{"classification": "spark-defaults",\n"properties": '
            f'{{"{KEY}": "http",\n"{URL}": "https://h"}}}}]}}'
        ),
        [3, 4],
    ),
    "EMR Serverless' arguments": (
        "c.json",
        f'{{"jobDriver": {{"sparkSubmit": {{\n"sparkSubmitParameters": "--conf {KEY}=http --conf {URL}=https://h"}}}}}}',
        [2, 2],
    ),
    "a step's arguments": (
        "c.json",
        f'{{"Args": ["spark-submit",\n"--conf",\n"{KEY}=http", "--conf", "{URL}=https://h"]}}',
        [3, 3],
    ),
    "Glue": ("c.json", f'{{"DefaultArguments":\n{{"--conf": "{KEY}=http --conf {URL}=https://h"}}}}', [2, 2]),
    "Livy": ("c.json", f'{{"file": "j.py", "conf": {{"{KEY}": "http",\n"{URL}": "https://h"}}}}', [1, 2]),
    "Dataproc's JSON": ("c.json", f'{{"properties": {{"spark:{KEY}": "http",\n"spark:{URL}": "https://h"}}}}', [1, 2]),
    "Kubernetes": ("k.yaml", f"spec:\n  driver: {{}}\n  sparkConf:\n    {KEY}: http\n    {URL}: https://h\n", [4, 5]),
    "PySpark": ("j.py", f'b.config("{KEY}", "http").config(\n"{URL}", "https://h")\n', [1, 2]),
    "a dict": ("j.py", f'conf = {{\n"{KEY}": "http",\n"{URL}": "https://h"}}\n', [2, 3]),
    "variables in a script": (
        "v.sh",
        "export OPENLINEAGE__TRANSPORT__TYPE=http\nexport OPENLINEAGE__TRANSPORT__URL='https://h'\n",
        [1, 2],
        "env",
    ),
    "variables in a file": (
        ".env",
        'OPENLINEAGE__TRANSPORT__TYPE="http"\nOPENLINEAGE__TRANSPORT__URL=https://h\n',
        [1, 2],
        "env",
    ),
    "variables as JSON": ("v.env", 'OPENLINEAGE__TRANSPORT=\'{"type":"http",\n"url":"https://h"}\'\n', [1, 1], "env"),
    "variables of a cluster": (
        "c.json",
        '{"spark_env_vars": {"OPENLINEAGE__TRANSPORT__TYPE": "http",\n"OPENLINEAGE__TRANSPORT__URL": "https://h"}}',
        [1, 2],
        "env",
    ),
    "variables of EMR": (
        "c.json",
        (
            '[{"Classification": "spark-env", "Configurations": [{"Classification": "export", "Properties": {\n'
            '"OPENLINEAGE__TRANSPORT__TYPE": "http",\n"OPENLINEAGE__TRANSPORT__URL": "https://h"}}]}]'
        ),
        [2, 3],
        "env",
    ),
    "variables of a pod": (
        "k.yaml",
        (
            "spec:\n  driver:\n    env:\n      - {name: OPENLINEAGE__TRANSPORT__TYPE, value: http}\n"
            "      - name: OPENLINEAGE__TRANSPORT__URL\n        value: https://h\n  sparkConf: {spark.x: y}\n"
        ),
        [4, 5],
        "env",
    ),
    "openlineage.yml": ("openlineage.yml", "transport:\n  type: http\n  url: https://h\n", [2, 3], "yml"),
    "openlineage.yml by its looks": ("lineage", "# mine\ntransport:\n  type: http\n  url: https://h\n", [3, 4], "yml"),
    "openlineage.yml in JSON": ("o.json", '{"transport": {"type": "http",\n"url": "https://h"}}', [1, 2], "yml"),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_format_is_read_with_its_lines(tmp_path, row) -> None:
    """The transport's type and its url."""
    name, text, lines, *layer = row
    (tmp_path / name).write_text(text)
    document = sources.read(str(tmp_path / name))
    settings = [one for scope in document.scopes for one in scope.settings if one.rest]
    assert document.findings == ()
    expected = [(key, value, *(layer or ["conf"])) for key, value, _ in BOTH]
    assert [(one.key, one.value, one.layer) for one in settings] == expected
    assert [one.line for one in settings] == lines


def test_a_properties_file_of_a_command_is_read_below_its_own_settings(tmp_path) -> None:
    """Each setting keeps the file and the line it stands on."""
    (tmp_path / "own.conf").write_text(f"\n{KEY}=console\n{URL}=https://h\n")
    (tmp_path / "s.sh").write_text(f"spark-submit --conf {KEY}=http --properties-file own.conf j.py\n")
    (scope,) = sources.read(str(tmp_path / "s.sh")).scopes
    assert [(one.value, one.file, one.line) for one in scope.conf.values()] == [
        ("http", str(tmp_path / "s.sh"), 1),
        ("https://h", str(tmp_path / "own.conf"), 3),
    ]


def test_a_properties_file_that_is_elsewhere_is_noted(tmp_path) -> None:
    """It may be on the cluster only."""
    (tmp_path / "s.sh").write_text("spark-submit --properties-file /nowhere/own.conf j.py\n")
    (note,) = sources.read(str(tmp_path / "s.sh")).notes
    assert note.startswith(f"{tmp_path / 's.sh'}:1: ")


def test_commands_of_a_script_are_told_apart(tmp_path) -> None:
    """Each has its own properties, and what was exported before."""
    text = "export OPENLINEAGE__NAMESPACE=n\nspark-submit --conf spark.a=1 j.py\nspark-sql --conf spark.b=2\n"
    (tmp_path / "s.sh").write_text(text)
    first, second = sources.read(str(tmp_path / "s.sh")).scopes
    assert (set(first.conf), set(second.conf)) == ({"spark.a"}, {"spark.b"})
    assert set(first.layers["env"]) == set(second.layers["env"]) == {"spark.openlineage.namespace"}


@pytest.mark.parametrize(
    ("written", "value", "known"),
    [("'$A b'", "$A b", True), ('"$A b"', "$A b", False), (r'"\$A \"b"', '$A "b', True), (r"a\ b", "a b", True),
     ("a'b'\"c\"", "abc", True), ("$(cat x 'y')", "$(cat x 'y')", False), ("`x`", "`x`", False), ("5$", "5$", True)],
)  # fmt: skip
def test_words_are_read_as_a_shell_reads_them(tmp_path, written, value, known) -> None:
    """What a shell has to fill in is not known."""
    (tmp_path / "s.sh").write_text(f"spark-submit --conf spark.a={written} j.py\n")
    (scope,) = sources.read(str(tmp_path / "s.sh")).scopes
    one = scope.conf["spark.a"]
    assert (one.value, one.known) == (value, known)
