"""``check``: each step of the way is told with its fix, against a real receiver."""

from __future__ import annotations

import json

import pytest
from support.certificates import Authority
from support.cli import TOKEN, ndjson, run
from support.events import tree
from support.raw_server import RawServer, answer


def _steps(ran):
    return {step["name"]: step for step in ran.json["steps"]}


def test_all_steps_are_told_in_the_order_of_the_page(env) -> None:
    """Settings, spool, name, TCP, TLS, token, START, COMPLETE, where to look."""
    ran = run("check", "--json", env=env)

    assert ran.code == 0
    assert [(step["name"], step["status"]) for step in ran.json["steps"]] == [
        (name, "ok") for name in ("settings", "spool", "name", "tcp", "tls", "token", "START", "COMPLETE", "look")
    ]


def test_the_two_events_are_one_run_without_datasets(receiver, env) -> None:
    """Their job is truewatch-lineage/check, and the last step says what to search for."""
    ran = run("check", "--json", env=env)

    found = receiver.events(run_id=ran.json["run_id"])
    assert [row["event_type"] for row in found] == ["START", "COMPLETE"]
    assert {(row["job_namespace"], row["job_name"]) for row in found} == {("truewatch-lineage", "check")}
    assert all(row["event"]["inputs"] == row["event"]["outputs"] == [] for row in found)
    assert ran.json["run_id"] in _steps(ran)["look"]["detail"]


@pytest.mark.parametrize(
    ("kind", "where"), [("dataway", "In TrueWatch"), ("datakit", "In TrueWatch"), ("portal", "/data-overview/lineage")]
)
def test_each_kind_says_where_to_look(env, kind, where) -> None:
    """Its events fit each destination's rules."""
    ran = run("check", "--json", env=env | {"destination": kind})

    assert ran.code == 0
    assert where in _steps(ran)["look"]["detail"]


def test_nothing_is_sent_when_told_so(receiver, env) -> None:
    """``--no-send`` ends with the token."""
    before = len(receiver.events())

    ran = run("check", "--no-send", "--json", env=env)

    assert ran.json["steps"][-1]["name"] == "token"
    assert len(receiver.events()) == before


def test_it_goes_past_a_backlog_and_leaves_no_spool(receiver, env, tmp_path) -> None:
    """What waits is not touched, and where there is no spool none is made."""
    assert run("check", env=env).code == 0
    assert not (tmp_path / "spool").exists()
    run("send", "--no-wait", ndjson(tmp_path / "e.ndjson", tree()), env=env)

    ran = run("check", "--json", env=env)

    assert ran.code == 0
    assert "1 waiting" in _steps(ran)["spool"]["detail"]
    assert run("spool", "status", "--json", env=env).json["pending"] == 1


def test_settings_are_shown_with_their_places_and_no_token(env) -> None:
    """Options, variables and files; the token is its source alone."""
    ran = run("check", "--no-send", "--timeout", "7", env=env)

    assert "spool_dir = " in ran.out
    assert "default.timeout = 7.0 (from the command line)" in ran.out
    assert "token: `token` (from environment variable TRUEWATCH_LINEAGE_TOKEN)" in ran.out
    assert TOKEN not in ran.out + ran.err


@pytest.mark.parametrize(
    ("change", "name", "words"),
    [
        ({"url": "http://127.0.0.1:9"}, "tcp", "refused by 127.0.0.1:9"),
        ({"url": "https://nobody.invalid"}, "name", "can't be resolved"),
        ({"token": "another-token-5678"}, "START", "the token was refused"),
        ({"endpoint": "/nowhere"}, "START", "there is nothing at this url"),
        ({"url": "https://nobody.invalid", "ca_file": __file__}, "way", "no usable PEM"),
    ],
)
def test_a_step_that_fails_has_its_fix(env, change, name, words) -> None:
    """The exit code is 1, and no later step of that destination is tried."""
    ran = run("check", "--json", env=env | change)

    assert ran.code == 1
    assert _steps(ran)[name]["status"] == "FAIL"
    assert words in _steps(ran)[name]["detail"]
    assert _steps(ran)[name]["fix"]
    assert "another-token-5678" not in ran.out + ran.err


def test_a_token_that_can_not_be_read_is_a_failed_step(env, tmp_path) -> None:
    """Its file is named."""
    env.pop("token")

    ran = run("check", "--json", "--token-file", tmp_path / "none", env=env)

    assert ran.code == 1
    assert str(tmp_path / "none") in _steps(ran)["token"]["detail"]


def test_a_token_file_tells_its_age_and_who_can_read_it(env, tmp_path) -> None:
    """A file that others can read is a warning, not a failure."""
    env.pop("token")
    file = tmp_path / "token"
    file.write_text(TOKEN, encoding="utf-8")
    file.chmod(0o644)

    ran = run("check", "--json", "--token-file", file, env=env)

    step = _steps(ran)["token"]
    assert (ran.code, step["status"]) == (0, "WARN")
    assert f"file {file}, changed " in step["detail"]
    assert "chmod 600" in step["fix"]


@pytest.mark.parametrize("prefix", ["OPENLINEAGE_", "OPENLINEAGE__TRANSPORT__"])
def test_a_stock_url_without_endpoint_is_a_warning(env, prefix) -> None:
    """The page: "Do not set only OPENLINEAGE_URL"."""
    alone = run("check", "--no-send", "--json", env=env | {f"{prefix}URL": "https://x.example"})
    both = run(
        "check", "--no-send", "--json", env=env | {f"{prefix}URL": "https://x.example", f"{prefix}ENDPOINT": "/x"}
    )

    assert [step["status"] for step in alone.json["steps"] if step["name"] == "settings"] == ["ok", "WARN"]
    assert [step["status"] for step in both.json["steps"] if step["name"] == "settings"] == ["ok"]
    assert alone.code == 0


def test_another_workspace_in_the_same_spool_is_a_warning(env, tmp_path) -> None:
    """Same name and url, but events were delivered with another token."""
    assert run("send", ndjson(tmp_path / "e.ndjson", tree()), env=env).code == 0

    same = run("check", "--no-send", "--json", env=env)
    other = run("check", "--no-send", "--json", env=env | {"token": "the-token-of-another-workspace"})

    assert [step["status"] for step in same.json["steps"] if step["name"] == "spool"] == ["ok"]
    warning = [step for step in other.json["steps"] if step["name"] == "spool"][-1]
    assert warning["status"] == "WARN"
    assert "two different names or another spool_dir" in warning["fix"]


def test_wrong_settings_are_a_failed_step_and_exit_2(env) -> None:
    """With the fix, and nothing is sent."""
    ran = run("check", "--json", env=env | {"url": "openway.truewatch.com"})

    assert (ran.code, ran.json["ok"]) == (2, False)
    assert "must start with https:// or http://" in ran.json["steps"][0]["detail"]


def test_where_delivery_is_left_to_a_courier_no_token_is_a_warning(env) -> None:
    """The courier has it."""
    env.pop("token")

    ran = run("check", "--json", env=env | {"delivery": "spool"})

    assert (ran.code, _steps(ran)["token"]["status"]) == (0, "WARN")
    assert _steps(ran)["START"]["detail"] == "skipped: there is no token here"


def test_disabled_lineage_is_a_warning(env) -> None:
    """It says so, instead of checking what is not used."""
    ran = run("check", "--json", env=env | {"OPENLINEAGE_DISABLED": "1"})

    assert (ran.code, _steps(ran)["settings"]["status"]) == (0, "WARN")


def test_tls_is_told_with_its_version_and_expiry(env, tmp_path) -> None:
    """And a certificate that no authority vouches for is a failure."""
    authority = Authority(tmp_path)
    with RawServer(tls=authority.server("127.0.0.1")) as server:
        good = run("check", "--no-send", "--json", "--ca-file", authority.file, env=env | {"url": server.url})
        bad = run("check", "--no-send", "--json", env=env | {"url": server.url})

    assert good.code == 0
    assert "TLSv1.3, the certificate expires in " in _steps(good)["tls"]["detail"]
    assert bad.code == 1
    assert "certificate" in _steps(bad)["tls"]["detail"]


def test_every_destination_is_checked(env, receiver) -> None:
    """One that fails does not hide another."""
    both = {"up": {"url": receiver.url, "token": TOKEN}, "down": {"url": "http://127.0.0.1:9", "token": TOKEN}}

    ran = run("check", "--json", env={"destinations": json.dumps(both), "spool_dir": env["spool_dir"]})

    marks = {(step["destination"], step["name"]): step["status"] for step in ran.json["steps"]}
    assert ran.code == 1
    assert (marks["up", "COMPLETE"], marks["down", "tcp"]) == ("ok", "FAIL")


def test_an_answer_that_is_a_page_is_told(env) -> None:
    """A login page answers 200 to everything."""
    with RawServer(default=answer(200, {"Content-Type": "text/html"}, "hi")) as server:
        ran = run("check", "--json", env=env | {"url": server.url})

    assert ran.code == 1
    assert "this is no lineage endpoint" in _steps(ran)["START"]["detail"]


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A working folder and a home of the test's own, both without openlineage.yml."""
    for name in ("here", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OPENLINEAGE_CONFIG", raising=False)
    return tmp_path


@pytest.mark.parametrize("place", ["here/openlineage.yml", "home/.openlineage/openlineage.yml", "own.yml"])
def test_a_file_that_the_clients_prefer_to_variables_is_a_warning(env, elsewhere, place) -> None:
    """Named, since programs read it and this command does not; without one there is none."""
    assert run("check", "--no-send", env=env).code == 0
    assert "openlineage.yml" not in run("check", "--no-send", env=env).out
    (elsewhere / place).parent.mkdir(exist_ok=True)
    (elsewhere / place).touch()

    ran = run("check", "--no-send", "--json", env=env | {"OPENLINEAGE_CONFIG": elsewhere / "own.yml"})

    (warning,) = [step for step in ran.json["steps"] if step["status"] == "WARN"]
    assert f"{elsewhere / place} is there" in warning["detail"]
    assert ran.code == 0


def test_an_unknown_variable_is_told_with_the_nearest_one_as_the_fix(env) -> None:
    """And not with another advice beside it."""
    ran = run("check", "--no-send", "--json", env=env | {"tiemout": "3"})

    (warning,) = [step for step in ran.json["steps"] if step["status"] == "WARN"]
    assert warning["detail"] == "TRUEWATCH_LINEAGE_TIEMOUT is no setting and has no effect."
    assert warning["fix"] == "Did you mean TRUEWATCH_LINEAGE_TIMEOUT?"


def test_a_token_that_others_may_read_is_told_once(env, tmp_path) -> None:
    """What is wrong, and one advice."""
    file = tmp_path / "token"
    file.write_text(TOKEN, encoding="utf-8")
    file.chmod(0o644)
    del env["token"]

    ran = run("check", "--no-send", env=env | {"token_file": file})

    assert ran.code == 0
    assert "others may read it." in ran.out
    assert (ran.out + ran.err).count("chmod 600") == 1


def test_what_is_not_done_after_a_failure_is_said(env) -> None:
    """The START is skipped, and by what; with --no-send there is none to be skipped."""
    nowhere = env | {"url": "http://127.0.0.1:9"}

    assert _steps(run("check", "--json", env=nowhere))["START"]["detail"] == "skipped: tcp has failed"
    assert "START" not in _steps(run("check", "--no-send", "--json", env=nowhere))


def test_plain_http_to_a_port_for_tls_is_told(env, tmp_path) -> None:
    """However such a server answers, https is among the fixes."""
    with RawServer(tls=Authority(tmp_path).server("127.0.0.1")) as server:
        url = server.url.replace("https://", "http://")
        ran = run("check", "--json", env=env | {"url": url})
    with RawServer(default=answer(400, {}, "Client sent an HTTP request to an HTTPS server.")) as server:
        by_status = run("check", "--json", env=env | {"url": server.url})

    for one in (ran, by_status):
        assert one.code == 1
        assert "the url must start with https://" in _steps(one)["START"]["fix"]


def test_a_wrong_endpoint_is_blamed_itself(env) -> None:
    """And not the url; what to do is told once, as the fix."""
    with RawServer(default=answer(404)) as server:
        params = env | {"url": server.url, "destination": "dataway", "endpoint": "/v1/write/linage"}
        step = _steps(run("check", "--json", env=params))["START"]

    assert step["fix"] == "Check the endpoint: TrueWatch DataWay has /v1/write/openlineage, not /v1/write/linage."
    assert step["fix"] not in step["detail"]


def test_a_destination_that_asks_for_a_token_where_none_is_set_is_told(env) -> None:
    """Not that the token was refused: there was none."""
    env.pop("token")

    ran = run("check", "--json", env=env | {"destination": "openlineage"})

    assert (ran.code, _steps(ran)["token"]["status"]) == (1, "ok")
    assert _steps(ran)["token"]["detail"] == "none is set; this kind may need none"
    assert _steps(ran)["START"]["detail"] == "OpenLineage endpoint asks for a token, and none was sent"
    assert "TRUEWATCH_LINEAGE_TOKEN_FILE" in _steps(ran)["START"]["fix"]
