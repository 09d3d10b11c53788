#!/usr/bin/env python3
"""Checks docker/compose.yaml as Compose reads it: its keys exist; names, ports, files and settings fit each other; and
operators' series are on an internal network alone. Checks docker/compose.digests.yaml too, which pins the images.

Usage: compose.py FOLDER
"""
import ipaddress
import os
import re
import sys
import tomllib

import yaml

SERVICE_KEYS = {
    "build", "cap_drop", "command", "depends_on", "entrypoint", "environment", "healthcheck", "image", "logging",
    "mem_limit", "networks", "pids_limit", "ports", "read_only", "restart", "secrets", "security_opt",
    "stop_grace_period", "tmpfs", "ulimits", "user", "volumes",
}
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}
MADE_BEFOREHAND = {"./secrets/key", "./secrets/operator_token", "./secrets/grafana_password"}  # docs/deployment.md makes them


def require(holds, message):
    if not holds:
        sys.exit(f"compose.yaml: {message}")


def check_service(name, service, compose):
    unknown = set(service) - SERVICE_KEYS
    require(not unknown, f"{name}: {unknown}")
    require("image" in service or "build" in service, f"{name}: neither image nor build")
    if "build" in service:
        context = service["build"]["context"]
        require(os.path.isfile(os.path.join(context, service["build"]["dockerfile"])), f"{name}: no Dockerfile")
    else:
        require(name == "nustream" or ":" in service["image"], f"{name}: an image without a version")
    for volume in service.get("volumes", []):
        source, target, *mode = volume.split(":")
        require(target.startswith("/") and mode in ([], ["ro"]), f"{name}: volume {volume}")
        known = os.path.exists(source) if source.startswith(".") else source in compose["volumes"]
        require(known, f"{name}: volume {volume} comes from nowhere")
    for secret in service.get("secrets", []):
        # Compose ignores owner and mode of a file's secret: only the short form says what happens.
        require(isinstance(secret, str) and secret in compose["secrets"], f"{name}: secret {secret}")
    for network in service.get("networks", []):
        require(network in compose["networks"], f"{name}: network {network}")
    for port in service.get("ports", []):
        require(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port), f"{name}: port {port} is open beyond this machine")
    needed = service.get("depends_on", {})
    for other in needed:
        require(other in compose["services"], f"{name}: depends on {other}")
        condition = needed[other]["condition"] if isinstance(needed, dict) else "service_started"
        require(condition in CONDITIONS, f"{name}: condition {condition}")
        healthy = condition != "service_healthy" or "healthcheck" in compose["services"][other]
        require(healthy, f"{name}: waits for the health of {other}, which nobody looks at")
    require(service.get("networks"), f"{name}: in no network")
    require(service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"],
            f"{name} has more rights than it needs")
    require({"max-size", "max-file"} <= set(service["logging"]["options"]), f"{name}: its log grows for ever")


def ports_of(service):
    return {port.rsplit(":", 1)[1] for port in service.get("ports", [])}


def check_together(services, stream, prometheus, grafana):
    """Several files give the same names, ports and paths, and have to agree."""
    kafka, nustream = services["kafka"]["environment"], services["nustream"]
    broker = stream["kafka"]["brokers"]
    require(kafka["KAFKA_ADVERTISED_LISTENERS"] == f"PLAINTEXT://{broker}", f"nobody is {broker}")
    require("kafka:" + kafka["KAFKA_LOG_DIRS"] in services["kafka"]["volumes"], "the broker's log is on no volume")
    producer = services["producer"]["command"][0]
    require(producer.endswith(f"--bootstrap-server {broker} --topic {stream['kafka']['topic']}"),
            "the producer writes elsewhere")
    require(re.match(r"/play \S+ \d+ \|", producer), "the producer is not throttled")
    for limit in ("KAFKA_LOG_RETENTION_HOURS", "KAFKA_LOG_RETENTION_BYTES"):
        require(int(kafka[limit]) > 0, f"the broker keeps its topics for ever: {limit}")
    for limit in ("time", "size"):
        require(any(word.startswith(f"--storage.tsdb.retention.{limit}=") for word in services["prometheus"]["command"]),
                f"Prometheus keeps its series for ever: {limit}")
    public = stream["serve"]["public_address"].rsplit(":", 1)[1]
    operator = stream["serve"]["operator_address"].rsplit(":", 1)[1]
    require(ports_of(nustream) == {public}, "the public listener alone is published")
    require(stream["serve"]["health_address"] == "127.0.0.1:" + nustream["environment"]["NUSTREAM_HEALTH_PORT"],
            "the health check asks elsewhere")
    targets = {target for job in prometheus["scrape_configs"] for entry in job["static_configs"]
               for target in entry["targets"]}
    require(targets == {f"nustream:{public}", f"nustream:{operator}"}, f"Prometheus scrapes {targets}")
    token = stream["serve"]["operator_token_file"]
    for name in ("nustream", "prometheus"):
        require(token.removeprefix("/run/secrets/") in services[name]["secrets"], f"{name} has no token")
        # Only its owner can read a secret of mode 0600.
        require(services[name]["user"].startswith("${NUSTREAM_USER:?"), f"{name} does not own its secrets")
    for job in prometheus["scrape_configs"]:
        authorized = job.get("authorization", {}).get("credentials_file") == token
        require(authorized == (job["job_name"] == "nustream-operator"), f"token of job {job['job_name']}")
    variable = stream["state"]["key_file_env"]
    require(nustream["environment"][variable] == "/run/secrets/nustream_key" and "nustream_key" in nustream["secrets"],
            "the key file is elsewhere")
    for source in grafana["datasources"]:
        require(source["url"] == "http://prometheus:9090", "Grafana asks elsewhere")
    require(nustream["read_only"] and nustream["ulimits"]["core"] == 0, "the service has more rights than it needs")
    # Docker's policy knows no exit codes: tests/deployment/supervised.sh is about those that are not restarted.
    require(nustream["restart"] == "on-failure" and nustream["entrypoint"] == ["/usr/bin/nustream-supervised"],
            "the service is restarted where that does not help, or never")


def check_operators(compose, stream):
    """What depends on data is read on an internal network, by Prometheus, and seen behind a password."""
    services, networks = compose["services"], compose["networks"]
    address, _ = stream["serve"]["operator_address"].rsplit(":", 1)
    require(services["nustream"]["networks"]["operator"] == {"ipv4_address": address},
            f"the operator's listener is at {address}, which is not its address on the operators' network")
    subnet = ipaddress.ip_network(networks["operator"]["ipam"]["config"][0]["subnet"])
    require(ipaddress.ip_address(address) in subnet, f"{address} is not in {subnet}")
    on_it = {name for name, service in services.items() if "operator" in service["networks"]}
    require(on_it == {"nustream", "prometheus", "grafana"}, f"on the operators' network: {on_it}")
    for network in ("operator", "stream"):
        require(networks[network].get("internal") is True, f"the network {network} leads out")
    require(list(services["prometheus"]["networks"]) == ["operator"] and not ports_of(services["prometheus"]),
            "Prometheus holds operators' series and can be asked from outside")
    shown = services["grafana"]["environment"]
    require(shown["GF_SECURITY_ADMIN_PASSWORD__FILE"] == "/run/secrets/grafana_password" and
            "grafana_password" in services["grafana"]["secrets"] and shown["GF_AUTH_ANONYMOUS_ENABLED"] == "false" and
            shown["GF_SECURITY_ADMIN_USER"] != "admin", "Grafana shows operators' series to anyone")


def check_digests(compose, override, dockerfile):
    """The override pins every image, and a pin has the tag of the image that it takes the place of."""
    base = re.search(r"^ARG BASE=(\S+)$", dockerfile, re.MULTILINE)[1]
    require(set(override) == {"services"} and set(override["services"]) == set(compose["services"]),
            "the override pins other services")
    for name, service in compose["services"].items():
        pinned = override["services"][name]
        image = pinned["build"]["args"]["BASE"] if "build" in service else pinned["image"]
        tag = base if "build" in service else service["image"]
        require(re.fullmatch(re.escape(tag) + r"@sha256:[0-9a-f]{64}", image), f"{name}: {image} is not {tag} by digest")


def main(folder):
    os.chdir(folder)

    def load(path):
        with open(path) as file:
            return yaml.safe_load(file)

    compose = load("compose.yaml")
    unknown = {key for key in compose if not key.startswith("x-")} - {"name", "services", "networks", "volumes", "secrets"}
    require(not unknown, f"{unknown}")
    for name, service in compose["services"].items():
        check_service(name, service, compose)
    require({secret["file"] for secret in compose["secrets"].values()} == MADE_BEFOREHAND, "other secrets are made")
    with open("../docs/deployment.md") as guide:
        made = guide.read()
    for path in [*MADE_BEFOREHAND, "./.env"]:
        require(path.replace("./", "docker/") in made, f"docs/deployment.md does not make {path}")
    with open("stream.toml", "rb") as file:
        stream = tomllib.load(file)
    check_together(compose["services"], stream, load("prometheus/prometheus.yml"),
                   load("grafana/provisioning/datasources/prometheus.yml"))
    check_operators(compose, stream)
    with open("Dockerfile") as file:
        check_digests(compose, load("compose.digests.yaml"), file.read())


main(sys.argv[1])
