"""The forms that Spark can be told in: one module each, imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from truewatch_lineage_spark.plan import Carrier, Plan

DEFAULT_MODE: Final = "dedicated"
"""Databricks' access mode in which everything works."""


@dataclass(frozen=True, slots=True)
class Extras:
    """What only some forms ask for.

    Attributes:
        secret: Where the platform keeps the token, in the platform's own words; None for an example.
        access_mode: Databricks: the cluster's access mode.
        base: The file that is to be extended, as its own format has it; None where there is none.
    """

    secret: str | None = None
    access_mode: str = DEFAULT_MODE
    base: object = None


@dataclass(frozen=True, slots=True)
class Rendered:
    """A form, ready to be written.

    Attributes:
        text: It, with a line break at its end.
        beside: Other files that belong to it: their text by the end of their name, such as ``.init.sh``.
        notes: What the user should know and the form has no room for.
    """

    text: str
    beside: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Module(Protocol):
    """What each form's module has."""

    def render(self, plan: Plan, extras: Extras) -> Rendered:
        """Write a plan in this form.

        Raises:
            ConfigError: The form or its platform can't do what the plan asks for.
        """


@dataclass(frozen=True, slots=True)
class Flavour:
    """A form.

    Attributes:
        module: Its module's name.
        summary: What it is, for the help.
        carrier: How tokens reach the driver.
        private: Whether its file is for its owner only.
        base: The format of the file that it can extend: ``properties``, ``json`` or ``yaml``.
        names_secret: Whether it names the platform's secret, so that ``--secret`` means something.
    """

    module: str
    summary: str
    carrier: Carrier = "environment"
    private: bool = False
    base: str = "properties"
    names_secret: bool = False

    def load(self) -> Module:
        """Import its module."""
        module: Module = importlib.import_module(f"{__name__}.{self.module}")
        return module


FLAVOURS: Final = {
    "properties": Flavour("properties", "spark-defaults.conf"),
    "submit": Flavour("submit", "arguments of spark-submit"),
    "pyspark": Flavour("pyspark", "code that makes a PySpark session"),
    "yml": Flavour("yml", "openlineage.yml", private=True, base="yaml"),
    "k8s": Flavour("k8s", "a SparkApplication of the Kubernetes operator", base="yaml", names_secret=True),
    "k8s-conf": Flavour("k8s_conf", "arguments of spark-submit to Kubernetes", names_secret=True),
    "databricks": Flavour(
        "databricks", "a Databricks cluster and its init script", "properties", base="json", names_secret=True
    ),
    "emr": Flavour("emr", "classifications of Amazon EMR", "properties", base="json", names_secret=True),
    "emr-serverless": Flavour(
        "emr_serverless", "overrides of EMR Serverless", "properties", base="json", names_secret=True
    ),
    "glue": Flavour("glue", "default arguments of an AWS Glue job", "properties", base="json", names_secret=True),
    "dataproc": Flavour("dataproc", "a job of Google Dataproc", names_secret=True),
    "livy": Flavour("livy", "the body of a Livy session or batch", base="json"),
    "airflow": Flavour("airflow", "Airflow's SparkSubmitOperator", names_secret=True),
}
