"""Holds documents against what the platforms' makers publish: AWS's definitions of its calls, Databricks' SDK.

Run by an interpreter that has both: ``python platforms.py FORM < DOCUMENT`` prints what is wrong.
"""

from __future__ import annotations

import json
import sys

ROLE = "arn:aws:iam::123456789012:role/job"
CALLS = {
    "emr": ("emr", "RunJobFlow", "Configurations", {"Name": "job", "Instances": {}}),
    "emr-serverless": (
        "emr-serverless",
        "StartJobRun",
        "configurationOverrides",
        {"applicationId": "job", "clientToken": "token", "executionRoleArn": ROLE},
    ),
    "glue": ("glue", "CreateJob", "DefaultArguments", {"Name": "job", "Role": ROLE, "Command": {"Name": "glueetl"}}),
}
"""AWS's service and call that takes a form, the call's parameter for it, and what else it asks for."""


def of_aws(form: str, document: object) -> str:
    """Return what botocore would say in the place of sending the call; nothing where all is well."""
    import botocore.session  # noqa: PLC0415 - it is not where the tests are
    import botocore.validate  # noqa: PLC0415

    service, call, parameter, others = CALLS[form]
    shape = botocore.session.get_session().get_service_model(service).operation_model(call).input_shape
    report = botocore.validate.ParamValidator().validate({**others, parameter: document}, shape)
    return str(report.generate_report())


def of_databricks(document: dict[str, object]) -> str:
    """Return what of a cluster Databricks' SDK does not know: what it reads and writes again lacks that."""
    from databricks.sdk.service.compute import ClusterSpec  # noqa: PLC0415 - it is not where the tests are

    again = ClusterSpec.from_dict(document).as_dict()
    return "" if again == document else f"{again} in the place of {document}"


def main() -> None:
    """Print what is wrong with the document on stdin."""
    form, document = sys.argv[1], json.load(sys.stdin)
    sys.stdout.write(of_databricks(document) if form == "databricks" else of_aws(form, document))


if __name__ == "__main__":
    main()
