"""examples/gateway/kubernetes: valid by Kubernetes' own schemas, and the parts fit each other and the command."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import kubernetes_validate
import pytest
import yaml
from support.options import parsed
from support.repository import ROOT, code_blocks

from truewatch_lineage.cli.courier import command as courier
from truewatch_lineage.cli.gateway import command
from truewatch_lineage.cli.spool.drain import command as drain
from truewatch_lineage.config import load

FOLDER = ROOT / "examples" / "gateway" / "kubernetes"
FILES = sorted(path.name for path in FOLDER.glob("*.yaml"))
STATEFUL = ["statefulset.yaml", "kafka.yaml"]
SERVED = [*STATEFUL, "daemonset.yaml"]
"""Which other pods and Prometheus reach, over TLS."""

GATEWAYS = [*SERVED, "sidecar-job.yaml"]
VERSIONS = ["1.30", kubernetes_validate.latest_version()]
"""The oldest that has everything the manifests use switched on, and the newest there are schemas of."""

IMAGE = "registry.example.com/truewatch-lineage:0.1.0"
PAGE = (ROOT / "docs" / "gateway-deployment.md").read_text(encoding="utf-8")
USER = 10001
KUBELETS_SECRETS = "/etc/truewatch"
PROMETHEUS = yaml.safe_load((FOLDER.parent / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
SECRET = re.compile(r"#   kubectl -n \w+ create secret (generic|tls) ([\w-]+) ")
CERTIFICATE = re.compile(r"certificate for ([\w-]+)\.(\w+)\.svc\b")
ON_DISK = 2.25
"""A volume's size in spool_max_bytes: events take up to twice that, and receipts a quarter."""


def _documents(name):
    return list(yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8")))


def _of_kind(name, kind):
    return [one for one in _documents(name) if one["kind"] == kind]


def _workload(name):
    (found,) = (one for one in _documents(name) if "template" in one["spec"])
    return found


def _pod(name):
    return _workload(name)["spec"]["template"]["spec"]


def _containers(pod):
    return [*pod.get("initContainers", []), *pod["containers"]]


def _ours(name):
    """Give the container that runs the gateway, or drains."""
    (found,) = (one for one in _containers(_pod(name)) if one["image"] == IMAGE and "args" in one)
    return found


def _variables(container):
    return {row["name"]: row["value"] for row in container["env"]}


def _volumes(pod):
    return {volume["name"]: volume for volume in pod.get("volumes", [])}


def _mounts(container):
    return {mount["mountPath"]: mount for mount in container["volumeMounts"]}


def _options(name):
    first, *args = _ours(name)["args"]
    assert first == command.name
    return parsed(command, args)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", FILES)
def test_every_manifest_is_valid(name, version) -> None:
    """Strictly: no field that Kubernetes does not know, none of a wrong type."""
    for document in _documents(name):
        assert kubernetes_validate.validate(document, version, strict=True) in version


@pytest.mark.parametrize("name", GATEWAYS)
def test_the_gateways_options_and_settings_are_right(name) -> None:
    """Its arguments parse, its settings load, and a pod is left alone for longer than a gateway takes to drain."""
    container, pod = _ours(name), _pod(name)
    pause = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    settings = load(environ=_variables(container), layers=())

    assert _options(name)["port"] == 8766
    assert settings.notices == ()
    assert settings.exit_budget + pause < pod["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("name", [*GATEWAYS, "drain-job.yaml"])
def test_the_spool_is_a_folder_inside_its_volume(name) -> None:
    """A volume's top folder is root's, and a spool's must be the gateway's own."""
    container, pod = _ours(name), _pod(name)
    spool = load(environ=_variables(container), layers=()).spool_dir
    mount = _mounts(container)[str(spool.parent)]
    claims = {one["metadata"]["name"] for one in _workload(name)["spec"].get("volumeClaimTemplates", [])}

    assert "readOnly" not in mount
    assert mount["name"] in claims or set(_volumes(pod)[mount["name"]]) & {
        "hostPath",
        "emptyDir",
        "persistentVolumeClaim",
    }
    if mount["name"] in claims:
        assert pod["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch"


@pytest.mark.parametrize("name", [*GATEWAYS, "drain-job.yaml"])
def test_tokens_come_from_secrets_as_files(name) -> None:
    """Each file that settings or options name lies in a mounted Secret, and no variable holds one."""
    container, pod = _ours(name), _pod(name)
    (destination,) = load(environ=_variables(container), layers=()).destinations
    options = _options(name) if name in GATEWAYS else {}
    named = [str(destination.token_source.path), *map(str, options.get("token_files", ()))]
    named += [str(options[key]) for key in ("tls_cert", "tls_key", "kafka_config") if options.get(key)]
    mounts = _mounts(container)

    for path in named:
        mount = mounts[str(PurePosixPath(path).parent)]
        secret = _volumes(pod)[mount["name"]]["secret"]
        assert mount["readOnly"]
        assert secret["defaultMode"] == 0o400
        assert path.startswith(KUBELETS_SECRETS)
    assert all(set(row) == {"name", "value"} for row in container["env"])
    assert not options.get("tokens")


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_root_or_may_become_it(name) -> None:
    """But for the init container that hands the node's folder over, which may do that alone."""
    pod = _pod(name)
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"] == USER
    assert pod["automountServiceAccountToken"] is False

    for container in _containers(pod):
        allowed = container["securityContext"]
        assert allowed["allowPrivilegeEscalation"] is False
        assert allowed["capabilities"]["drop"] == ["ALL"]
        if container["image"] == IMAGE:
            assert allowed["readOnlyRootFilesystem"]
        if container["name"] == "folder":
            assert container["command"][:5] == ["install", "-d", "-m", "0700", "-o"]
            assert int(container["command"][5]) == USER
            assert allowed["capabilities"]["add"] == ["CHOWN", "FOWNER"]
        else:
            assert "add" not in allowed["capabilities"]
            assert "runAsUser" not in allowed


@pytest.mark.parametrize("name", SERVED)
def test_services_and_budgets_lead_to_the_pods(name) -> None:
    """Selectors are the pods' labels, target ports and probes' are the container's, over TLS as the gateway is."""
    workload, container, options = _workload(name), _ours(name), _options(name)
    labels = workload["spec"]["template"]["metadata"]["labels"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}

    assert workload["spec"]["selector"]["matchLabels"] == labels
    assert ports == {"https": options["port"]}
    assert options["host"] == "0.0.0.0"
    assert options["tls_cert"]
    for service in _of_kind(name, "Service"):
        assert service["spec"]["selector"] == labels
        assert [port["targetPort"] for port in service["spec"]["ports"]] == ["https"]
    for budget in _of_kind(name, "PodDisruptionBudget"):
        assert budget["spec"]["selector"]["matchLabels"] == labels
    for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        assert container[probe]["httpGet"] == {"path": path, "port": "https", "scheme": "HTTPS"}


@pytest.mark.parametrize("name", FILES)
def test_the_image_and_the_url_are_those_that_the_page_replaces(name) -> None:
    """Its command for it names both as each manifest does."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    replaced = re.findall(r"s\|(\S+?)\|\$", "\n".join(code_blocks(PAGE, "sh")))

    assert replaced == [IMAGE, _variables(_ours(name))["TRUEWATCH_LINEAGE_URL"]]
    assert all(one in text for one in replaced)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_couriers_container_fits_the_gateways_pod(version) -> None:
    """The page's: it has the gateway's rights, settings and volumes, and it alone the destination's token."""
    ((one,),) = map(yaml.safe_load, code_blocks(PAGE, "yml"))
    workload, gateway = _workload("statefulset.yaml"), _ours("statefulset.yaml")
    (found,) = (it for it in workload["spec"]["template"]["spec"]["containers"] if it["name"] == gateway["name"])
    found["env"] = [row for row in found["env"] if row["name"] != "TRUEWATCH_LINEAGE_TOKEN_FILE"]
    found["env"].append({"name": "TRUEWATCH_LINEAGE_DELIVERY", "value": "spool"})
    found["volumeMounts"] = [mount for mount in found["volumeMounts"] if mount["name"] != "destination"]
    workload["spec"]["template"]["spec"]["containers"].append(one)

    assert kubernetes_validate.validate(workload, version, strict=True) in version
    assert [courier.name, *one["args"][1:]] == one["args"]
    assert one["securityContext"] == gateway["securityContext"]
    assert _variables(one).items() <= _variables(gateway).items()
    assert all(mount in gateway["volumeMounts"] for mount in one["volumeMounts"])
    for variables in (_variables(one), _variables(found)):
        assert load(environ=variables, layers=()).notices == ()


@pytest.mark.parametrize("name", STATEFUL)
def test_a_stateful_set_keeps_its_volumes(name) -> None:
    """One each, kept when it is scaled in; its pods' names come from a headless Service."""
    spec = _workload(name)["spec"]
    headless = [one["metadata"]["name"] for one in _of_kind(name, "Service") if one["spec"].get("clusterIP") == "None"]

    assert spec["serviceName"] in headless
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenScaled": "Retain", "whenDeleted": "Retain"}
    (claim,) = spec["volumeClaimTemplates"]
    assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert load(environ=_variables(_ours(name)), layers=()).exit_budget == 600


@pytest.mark.parametrize("name", [*STATEFUL, "sidecar-job.yaml"])
def test_a_volume_has_room_for_what_the_spool_may_take(name) -> None:
    """As docs/gateway.md reckons it."""
    claims = {one["metadata"]["name"]: one["spec"] for one in _workload(name)["spec"].get("volumeClaimTemplates", [])}
    if claims:
        size = claims["spool"]["resources"]["requests"]["storage"]
    else:
        size = _volumes(_pod(name))["spool"]["emptyDir"]["sizeLimit"]
    settings = load(environ=_variables(_ours(name)), layers=())

    assert ON_DISK * settings.spool_max_bytes <= int(size.removesuffix("Gi")) * 2**30
    assert f"{ON_DISK} times `spool_max_bytes`" in (ROOT / "docs" / "gateway.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SERVED)
def test_a_certificate_has_the_name_that_prometheus_asks_for(name) -> None:
    """The manifest's head names it, it is a Service's of the same file, and its Secret is no other manifest's."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    ((service, namespace),) = CERTIFICATE.findall(text)
    labels = _workload(name)["spec"]["template"]["metadata"]["labels"]
    (selector,) = (f"{label}={value}" for label, value in labels.items())
    (job,) = (
        one
        for one in PROMETHEUS["scrape_configs"]
        for discovery in one.get("kubernetes_sd_configs", [])
        if discovery["selectors"] == [{"role": "pod", "label": selector}]
    )

    assert job["tls_config"]["server_name"] == f"{service}.{namespace}.svc"
    assert [one["namespaces"]["names"] for one in job["kubernetes_sd_configs"]] == [[namespace]]
    assert (service, namespace) in {
        (one["metadata"]["name"], one["metadata"]["namespace"]) for one in _of_kind(name, "Service")
    }
    assert all(_secret_of_tls(one) != _secret_of_tls(name) for one in SERVED if one != name)


def _secret_of_tls(name):
    return _volumes(_pod(name))["tls"]["secret"]["secretName"]


def test_prometheus_has_a_job_for_each_manifest_and_no_other() -> None:
    """Whose pods' ports are those that it keeps."""
    jobs = [one for one in PROMETHEUS["scrape_configs"] if "kubernetes_sd_configs" in one]
    ports = {port["name"] for name in SERVED for port in _ours(name)["ports"]}

    assert len(jobs) == len(SERVED)
    for job in jobs:
        kept = [one["regex"] for one in job["relabel_configs"] if one.get("action") == "keep"]
        assert set(kept) == ports


@pytest.mark.parametrize("name", FILES)
def test_every_secret_is_made_in_a_manifests_head(name) -> None:
    """In its own, or in the one that its head refers to; the certificate's always in its own."""
    own = dict(map(reversed, SECRET.findall((FOLDER / name).read_text(encoding="utf-8"))))
    others = dict(map(reversed, SECRET.findall((FOLDER / "statefulset.yaml").read_text(encoding="utf-8"))))

    for volume in _volumes(_pod(name)).values():
        if "secret" not in volume:
            continue
        secret = volume["secret"]["secretName"]
        if volume["name"] == "tls":
            assert own[secret] == "tls"
        else:
            assert (own | others)[secret] == "generic"


def test_kafkas_gateways_are_those_of_http_with_a_topic() -> None:
    """The two manifests differ in nothing but the names, the topic, and the pause for clients."""
    http, kafka = _options("statefulset.yaml"), _options("kafka.yaml")
    of_kafka = {name for name in kafka if http[name] != kafka[name]}

    assert of_kafka == {"kafka_bootstrap", "topic", "group", "kafka_config", "dead_letter_topic"}
    assert _variables(_ours("statefulset.yaml")) == _variables(_ours("kafka.yaml"))


def test_the_drained_claim_is_a_pods_of_a_stateful_set() -> None:
    """Of HTTP's, and the head names one of Kafka's; the settings are that pod's, since events are bound to them."""
    claim = _volumes(_pod("drain-job.yaml"))["spool"]["persistentVolumeClaim"]["claimName"]
    head = (FOLDER / "drain-job.yaml").read_text(encoding="utf-8").partition("apiVersion")[0]
    named = re.findall(r"spool-[\w-]+-\d", head)

    assert claim == named[0]
    for name, one in zip(STATEFUL, named, strict=True):
        workload = _workload(name)
        (template,) = workload["spec"]["volumeClaimTemplates"]
        prefix, _, ordinal = one.rpartition("-")
        assert prefix == f"{template['metadata']['name']}-{workload['metadata']['name']}"
        assert int(ordinal) >= workload["spec"]["replicas"]
        assert _variables(_ours("drain-job.yaml")).items() <= _variables(_ours(name)).items()
    assert _ours("drain-job.yaml")["args"][:2] == ["spool", "drain"]
    assert parsed(drain, _ours("drain-job.yaml")["args"][2:])["timeout"] == 3600


def test_a_nodes_pods_reach_the_gateway_of_their_node() -> None:
    """The Service stays on the node, and a new gateway is there before the old one goes."""
    (service,) = _of_kind("daemonset.yaml", "Service")
    spec = _workload("daemonset.yaml")["spec"]

    assert service["spec"]["internalTrafficPolicy"] == "Local"
    assert spec["updateStrategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert "ports" in _ours("daemonset.yaml")
    assert all("hostPort" not in port for port in _ours("daemonset.yaml")["ports"])


def test_the_sidecar_is_a_native_one_that_the_job_reaches_over_loopback() -> None:
    """It starts first, never ends the pod by itself, and the job's container is given no token."""
    pod, sidecar = _pod("sidecar-job.yaml"), _ours("sidecar-job.yaml")
    (job,) = pod["containers"]

    assert sidecar in pod["initContainers"]
    assert sidecar["restartPolicy"] == "Always"
    assert _options("sidecar-job.yaml")["host"] == "127.0.0.1"
    assert _variables(job)["OPENLINEAGE_URL"] == "http://127.0.0.1:8766"
    assert "volumeMounts" not in job
    assert all("127.0.0.1:8766/" in sidecar[probe]["exec"]["command"][2] for probe in ("startupProbe", "livenessProbe"))
