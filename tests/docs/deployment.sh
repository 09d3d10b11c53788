#!/usr/bin/env bash
# Checks the files under docker/: alert rules fire and stay quiet when they should, configurations parse, and no metric is
# used that docs/metrics.md does not know. Usage: deployment.sh ROOT NUSTREAM
set -euo pipefail
cd "$1/docker"
promtool check rules prometheus/public_rules.yml prometheus/operator_rules.yml
promtool test rules prometheus/public_rules_test.yml prometheus/operator_rules_test.yml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed "s#/run/secrets/operator_token#$work/token#" prometheus/prometheus.yml >"$work/prometheus.yml"
cp prometheus/*_rules.yml "$work/"
printf token >"$work/token"
promtool check config "$work/prometheus.yml"
# The example of docs/metrics.md for another Prometheus has to parse as well.
sed -n '/^```yaml$/,/^```$/p' ../docs/metrics.md | sed '/^```/d' >"$work/example.yml"
sed -i "s#/etc/prometheus/nustream-token#$work/token#" "$work/example.yml"
grep -q scrape_configs "$work/example.yml"
promtool check config "$work/example.yml"
known=$(grep -oE '\b(nustream|process)_[a-z_]+' ../docs/metrics.md | sort -u)
used=$(grep -ohE '\b(nustream|process)_[a-z_]+' prometheus/*_rules.yml grafana/dashboards/*.json |
  grep -v '^nustream_key$' | sed -E 's/_(bucket|sum|count)$//' | sort -u)
unknown=$(comm -13 <(printf '%s\n' "$known") <(printf '%s\n' "$used"))
[ -z "$unknown" ] || { printf 'not in docs/metrics.md: %s\n' $unknown >&2; exit 1; }
# Public rules and the public dashboard show public metrics only.
operators=$(sed -n '/^## Operator metrics/,/^## /p' ../docs/metrics.md | grep -oE '^\| `(nustream|process)_[a-z_]+`' | tr -d '|` ')
for metric in $operators; do
  if grep -qE "\b$metric\b" prometheus/public_rules.yml grafana/dashboards/public.json; then
    printf 'an operator metric on the public side: %s\n' "$metric" >&2
    exit 1
  fi
done
python3 grafana/dashboards.py --check
python3 - ../docs/metrics.md grafana/dashboards <<'PYTHON'
import json, re, sys
from pathlib import Path
page = Path(sys.argv[1]).read_text()
sections = {"public": page.split("\n## Operator metrics")[0], "operator": page.split("\n## Operator metrics")[1].split("\n## ")[0]}
for name, section in sections.items():
    dashboard = json.loads(Path(sys.argv[2], f"{name}.json").read_text())
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource" and variables["datasource"]["query"] == "prometheus", name
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert "state-timeline" in {panel["type"] for panel in panels}, f"{name}: no state timeline"
    shown = set()
    for panel in panels:
        where = f"{name}: {panel['title']}"
        assert len(panel["description"]) > 20 and panel["fieldConfig"]["defaults"]["unit"], f"{where}: no description or unit"
        asked = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
        assert panel["targets"] and all(source["uid"] == "${datasource}" for source in asked), f"{where}: another datasource"
        for target in panel["targets"]:
            shown |= set(re.findall(r"\b(?:nustream|process)_[a-z_]+", target["expr"]))
            used = set(re.findall(r"\$(\w+)", target["expr"]))
            assert used <= set(variables), f"{where}: {used}"
    documented = set(re.findall(r"^\| `([a-z_]+)` \|", section.split("\n| `state` | meaning")[0], re.MULTILINE))
    documented -= {name for name in documented if not name.startswith(("nustream_", "process_"))}
    shown = {re.sub("_(bucket|sum|count)$", "", metric) for metric in shown}
    assert not documented - shown, f"no panel of the dashboard {name} shows {documented - shown}"
PYTHON
python3 "$1/tests/docs/compose.py" .
# systemd warns of a key in the unit that it does not know, and any warning fails here.
if command -v systemd-analyze >/dev/null; then
  sed "s#^ExecStart=/usr/bin/nustream#ExecStart=$2#" nustream.service >"$work/nustream.service"
  said=$(systemd-analyze verify --recursive-errors=no "$work/nustream.service" 2>&1 | grep -F nustream.service) || true
  [ -z "$said" ] || { printf 'docker/nustream.service: %s\n' "$said" >&2; exit 1; }
  systemd-analyze security --offline=true --threshold=35 "$work/nustream.service" >"$work/security" ||
    { cat "$work/security" >&2; exit 1; }
else
  printf 'no systemd-analyze here: docker/nustream.service was not read\n'
fi
# The Dockerfile has to install the packages that every build needs.
wanted=$(cd "$1" && source cmake/setup.sh && printf '%s\n' "${product_packages[@]}" | sort)
installed=$(sed -n '/ AS build$/,/^COPY/p' Dockerfile | grep -oE '\b[a-z][a-z0-9+.-]*(-[a-z0-9.]+)?\b|g\+\+' | sort -u)
missing=$(comm -23 <(printf '%s\n' "$wanted") <(printf '%s\n' "$installed"))
[ -z "$missing" ] || { printf 'docker/Dockerfile does not install: %s\n' $missing >&2; exit 1; }
NUSTREAM_KEY_FILE=/run/secrets/nustream_key "$2" check stream.toml >/dev/null
printf 'deployment files are sound\n'
