"""The pages as HTML: everything shown is escaped, nothing is fetched from elsewhere, and no script runs but ours."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from truewatch_lineage.words import span
from truewatch_lineage_airflow.ui import TITLE
from truewatch_lineage_airflow.ui.status import Overview, Trace

_FOLDER: Final = Path(__file__).parent
_STYLE: Final = (_FOLDER / "style.css").read_text("utf-8")
_RETRY: Final = (_FOLDER / "retry.js").read_text("utf-8")
_WORDS: Final = {"pending": "waiting", "dead": "dead letter", "delivered": "delivered"}


@dataclass(frozen=True, slots=True)
class Page:
    """One answer.

    Attributes:
        html: Its body.
        headers: What keeps it from being misused.
    """

    html: str
    headers: Mapping[str, str]


def status_page(found: Overview, *, home: str | None = None) -> Page:
    """Show the spool as a whole.

    Args:
        found: What is known of it.
        home: Where Airflow's own UI is, if the page does not stand in it.
    """
    return _page("status.html", found=found, home=home)


def run_page(found: Trace, *, home: str | None = None) -> Page:
    """Show what is known of a run or a job.

    Args:
        found: It.
        home: As of `status_page`.
    """
    return _page("run.html", found=found, home=home)


def refused_page(problem: str) -> Page:
    """Say why somebody is not let in.

    Its script asks again with the token of Airflow's own UI: before 3.2 that is kept in the browser's storage and goes
    with what the UI asks for, but not with a page.

    Args:
        problem: Why.
    """
    return _page("refused.html", script=_RETRY, problem=problem)


def _page(name: str, *, script: str = "", **values: Any) -> Page:
    now = datetime.now(timezone.utc).isoformat()
    html = _TEMPLATES.get_template(name).render(seen=now, script=script, **values)
    return Page(html, _headers(script))


def _headers(script: str) -> dict[str, str]:
    run = f"script-src {_source(script)}; connect-src 'self'; " if script else ""
    policy = f"default-src 'none'; style-src {_source(_STYLE)}; {run}form-action 'self'; base-uri 'none'"
    return {
        "Content-Security-Policy": f"{policy}; frame-ancestors 'self'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _moment(iso: str) -> str:
    """Return a time as people read it, without its milliseconds and zone, which is UTC wherever it is used."""
    return f"{iso[:10]} {iso[11:19]}"


def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    made.filters |= {"moment": _moment, "number": "{:,}".format, "span": span}
    made.globals |= {"title": TITLE, "style": _STYLE, "words": _WORDS}
    return made


_TEMPLATES: Final = _templates()
