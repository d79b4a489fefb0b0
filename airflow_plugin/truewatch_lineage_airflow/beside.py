"""What to set so that lineage goes to the transport that Airflow has already, and by this package as well."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, Final

from truewatch_lineage.cli.env_own import comments, config_value
from truewatch_lineage.cli.env_stock import quoted
from truewatch_lineage_airflow.in_force import CLIENT_PREFIX, VARIABLE, InForce, in_force, is_ours, masked, nodes
from truewatch_lineage_airflow.late_default import TYPE

PLACEHOLDER: Final = "<SECRET>"
"""What stands in the place of each token of the transport that is there."""

_OURS: Final = {"type": TYPE}
"""Whatever is wrong in its settings, it is built, so that it never keeps the other one from being built."""

_YOURS: Final = {"type": "<THE TYPE YOU HAVE>"}
_NONE: Final = "No transport is configured here. Put the one that you have in the place of <THE TYPE YOU HAVE>."
_BOTH: Final = "Lineage goes by this package already: there is nothing to set."
_FILL_IN: Final = f"Put what stands there now in the place of {PLACEHOLDER}: this command never shows a token."


def lines(environ: Mapping[str, str], *, as_file: bool) -> str:
    """Return what to set, with a comment where something is to be filled in.

    Args:
        environ: The environment.
        as_file: As ``airflow.cfg`` in the place of exports, where a variable or an option is to be set.
    """
    found = in_force(environ)
    if found is None:
        return comments(_NONE) + _option(json.dumps(_both(_YOURS)), as_file=as_file)
    if any(map(is_ours, nodes(found.settings))):
        return comments(_BOTH).rstrip()
    if found.place == "client" and _takes_more(found.settings):
        # Its name makes it the destination `default`, which courier and spool drain deliver too.
        return f"export {CLIENT_PREFIX}__TRANSPORTS__DEFAULT__TYPE={TYPE}"
    return _written(found, as_file=as_file)


def _written(found: InForce, *, as_file: bool) -> str:
    theirs = masked(found.settings, PLACEHOLDER)
    composite = json.dumps(_both(theirs))
    fill_in = comments(_FILL_IN) if theirs != found.settings else ""
    if found.place == "file":
        return f"{fill_in}# In {found.name}, in the place of transport:\ntransport: {composite}"
    if found.place == "connection":
        extra = json.dumps({"transport": json.loads(composite)})
        return f"{fill_in}# In the extra of the connection {found.name}, in the place of transport:\n{extra}"
    if as_file or not fill_in:
        return fill_in + _option(composite, as_file=as_file)
    if found.place == "url" and theirs["url"] == found.settings["url"]:
        return f"export {VARIABLE}={quoted(composite, PLACEHOLDER, '${OPENLINEAGE_API_KEY}')}"
    if found.name == VARIABLE:
        return _around_variable()
    return fill_in + _option(composite, as_file=False)


def _around_variable() -> str:
    """Have the shell put the present value inside the new one, so that no token need be shown."""
    return f"export {VARIABLE}={quoted(json.dumps(_both({})), '{}', f'${VARIABLE}')}"


def _both(theirs: Mapping[str, Any]) -> dict[str, Any]:
    # A list, since the client adds OPENLINEAGE_URL to a dict of transports by itself, which would make it two.
    return {"type": "composite", "transports": [dict(theirs), _OURS]}


def _takes_more(composite: Mapping[str, Any]) -> bool:
    """Tell whether a child can be added to the variables of a composite by a variable of its own."""
    inner = composite.get("transports")
    return (
        composite.get("type") == "composite" and isinstance(inner, dict) and composite.get("continue_on_success", True)
    )


def _option(text: str, *, as_file: bool) -> str:
    return f"[openlineage]\ntransport = {config_value(text)}" if as_file else f"export {VARIABLE}={shlex.quote(text)}"
