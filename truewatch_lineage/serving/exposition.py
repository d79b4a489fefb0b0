"""Metrics in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""What `as_text` is served as."""

_LABEL: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_HELP: Final = str.maketrans({"\\": r"\\", "\n": r"\n"})


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric with its samples.

    Attributes:
        name: Its name; that of a counter ends with ``_total``.
        kind: What it is.
        help: What it says, in one sentence.
        samples: Labels and value of each; a metric without labels has one sample with none.
    """

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    samples: Sequence[tuple[Mapping[str, str], float]]

    @classmethod
    def single(cls, name: str, kind: Literal["counter", "gauge"], about: str, value: float) -> Metric:
        """Make a metric without labels."""
        return cls(name, kind, about, [({}, value)])


def as_text(metrics: Iterable[Metric]) -> str:
    """Write metrics as a scrape's answer, each with its HELP and TYPE line."""
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric))


def _lines(metric: Metric) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help.translate(_HELP)}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for labels, value in metric.samples:
        yield f"{metric.name}{_labels(labels)} {value}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{name}="{value.translate(_LABEL)}"' for name, value in labels.items())
    return f"{{{','.join(pairs)}}}"
