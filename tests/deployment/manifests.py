#!/usr/bin/env python3
"""Checks deploy/kubernetes/nustream.yaml: what the manifests promise of rights, probes, networks and members, and that the
program takes their configuration and arguments. tests/deployment/helm.py makes the manifests anew from the chart.

Usage: manifests.py ROOT NUSTREAM
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml


def require(holds, message):
    if not holds:
        sys.exit(f"deploy/kubernetes/nustream.yaml: {message}")


def check_rights(pod, container):
    """The pod has no more rights than the service needs."""
    rights, its_own = pod["securityContext"], container["securityContext"]
    require(rights["runAsNonRoot"] and rights["runAsUser"] == 64604, "it does not run as the image's user")
    require(rights["seccompProfile"] == {"type": "RuntimeDefault"}, "all system calls are allowed")
    require(its_own == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]}}, "more rights than it needs")
    require(pod["automountServiceAccountToken"] is False, "it is given a token of the cluster")
    require(container["resources"]["limits"]["memory"], "no bound on memory")
    secret = next(volume["secret"] for volume in pod["volumes"] if volume["name"] == "secrets")
    # A key that its group may write, or others read, is refused by the program (77).
    require(secret["defaultMode"] == 0o440 and rights["fsGroup"] == rights["runAsGroup"], "the key is not its user's alone")
    require(all(mount["readOnly"] for mount in container["volumeMounts"]), "a mount can be written")


def check_probes(container):
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    require(ports == {"public": 9464, "operator": 9465, "health": 9466}, f"ports {ports}")
    for probe, path in (("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
        require(container[probe]["httpGet"] == {"path": path, "port": "health"}, f"{probe} asks elsewhere")
    for name, port in ports.items():
        setting = {"health": "health_address"}.get(name, f"{name}_address")
        require(f"--set=serve.{setting}=0.0.0.0:{port}" in container["args"], f"nobody listens at the port {name}")


def check_members(pods, container):
    """Each pod is a member under its own name, which it keeps."""
    require("--set=kafka.group_instance_id=$(POD_NAME)" in container["args"], "no static membership")
    name = next(variable for variable in container["env"] if variable["name"] == "POD_NAME")
    require(name["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.name"}}, "POD_NAME is another")
    session = next(word for word in container["args"] if word.startswith("session.timeout.ms="))
    grace = pods["template"]["spec"]["terminationGracePeriodSeconds"]
    require(int(session.split("=")[1]) / 1000 > grace > 30, "a pod that is replaced loses its lanes, or is killed first")
    require(pods["podManagementPolicy"] == "Parallel", "one pod that is not ready keeps the others away")


def check_networks(policy, pod_labels, operator_service):
    require(policy["podSelector"]["matchLabels"].items() <= pod_labels.items(), "the policy is of other pods")
    require(policy["policyTypes"] == ["Ingress", "Egress"], "the policy leaves a direction open")
    for rule in policy["ingress"]:
        if "operator" in [port["port"] for port in rule["ports"]]:
            require(rule.get("from") and all(rule["from"]), "anyone may ask the operator's listener")
    reached = {port["port"] for rule in policy["egress"] for port in rule["ports"]}
    require(reached == {53, 9092}, f"it may reach {reached}")
    require(operator_service["clusterIP"] == "None" and operator_service["publishNotReadyAddresses"],
            "Prometheus does not see a pod that is not ready")


def check_monitors(monitors, rules):
    require(set(monitors) == {"nustream-public", "nustream-operator"}, f"monitors {set(monitors)}")
    for name, monitor in monitors.items():
        endpoint, = monitor["endpoints"]
        require(endpoint["port"] == name.removeprefix("nustream-"), f"{name} scrapes {endpoint['port']}")
        require({"targetLabel": "job", "replacement": name} in endpoint["relabelings"], f"{name} has another job")
        require(("authorization" in endpoint) == (name == "nustream-operator"), f"{name}: the token is elsewhere")
    for name, rule in rules.items():
        shipped = yaml.safe_load(Path("docker/prometheus", f"{name.removeprefix('nustream-')}_rules.yml").read_text())
        require(rule == shipped, f"{name}: the alerts are not those of docker/prometheus")


def check_program(program, container, settings):
    """The program takes the configuration with the pod's arguments."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(settings)
        file.flush()
        require(container["args"][:2] == ["attach", "/etc/nustream/stream.toml"], "another command")
        words = [word.replace("$(POD_NAME)", "nustream-0") for word in container["args"][2:]]
        said = subprocess.run([program, "check", file.name, *words], capture_output=True, text=True,
                              env={"NUSTREAM_KEY_FILE": "/run/secrets/nustream/key"})
        require(said.returncode == 0, f"the program refuses it: {said.stderr}")
        planted = subprocess.run([program, "check", file.name, *words, "--set=serve.health_adress=0.0.0.0:1"],
                                 capture_output=True, text=True)
        require(planted.returncode == 78, "a wrong name would not be noticed")


def main(program):
    kinds = {}
    for document in yaml.safe_load_all(Path("deploy/kubernetes/nustream.yaml").read_text()):
        kinds.setdefault(document["kind"], {})[document["metadata"]["name"]] = document.get("spec", document.get("data"))
    pods = kinds["StatefulSet"]["nustream"]
    labels, pod = pods["template"]["metadata"]["labels"], pods["template"]["spec"]
    container, = pod["containers"]
    check_rights(pod, container)
    check_probes(container)
    check_members(pods, container)
    check_networks(kinds["NetworkPolicy"]["nustream"], labels, kinds["Service"]["nustream-pods"])
    require(pods["serviceName"] == "nustream-pods", "the pods have no names")
    budget = kinds["PodDisruptionBudget"]["nustream"]
    require(budget["maxUnavailable"] == 1 and budget["selector"] == pods["selector"], "a drained node takes several")
    check_monitors(kinds["ServiceMonitor"], kinds["PrometheusRule"])
    check_program(program, container, kinds["ConfigMap"]["nustream"]["stream.toml"])
    for name in ("key", "operator_token"):
        require(f"--from-file={name}=" in Path("docs/deployment.md").read_text(), f"docs/deployment.md does not make {name}")
    print(f"{sum(map(len, kinds.values()))} manifests are sound")


PROGRAM = str(Path(sys.argv[2]).resolve())
os.chdir(sys.argv[1])
main(PROGRAM)
