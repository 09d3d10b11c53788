#!/usr/bin/env python3
"""Checks the dashboards against Grafana's own types. Grafana's package @grafana/schema declares a dashboard, and for each
kind of panel its options and its field settings; TypeScript's compiler checks the JSON against these declarations. A key
that Grafana does not know fails, as does a value that it does not take.

Where npm is out of reach the test is skipped (77).
Usage: dashboard_schema.py ROOT
"""
import json
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import packages  # noqa: E402
import typescript  # noqa: E402

# Which declarations hold a kind's options, and which its field settings.
KINDS = {"timeseries": "timeseries", "stat": "stat", "gauge": "gauge", "state-timeline": "statetimeline"}


def union(declaration):
    """An enumeration as the union of its values, which is what JSON holds of it."""
    values = re.findall(r"= ([^,\n]+)", declaration[2])
    return f"export type {declaration[1]} = {' | '.join(values)};"


def declarations(work):
    """Grafana's declarations, with values in the place of enumerations."""
    source = packages.npm(packages.GRAFANA) / "@grafana/schema/dist/esm"
    for path in [*source.glob("raw/**/*.d.ts"), *source.glob("common/*.d.ts")]:
        text = re.sub(r"export declare enum (\w+) \{(.*?)\}", union, path.read_text(), flags=re.DOTALL)
        target = work / "types" / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    (work / "types/index.d.ts").write_text("export * from './common/common.gen';\n")


def checks(name, dashboard):
    """TypeScript that compiles only if the dashboard has the types that Grafana declares."""
    lines = [f"const {name}: d.Dashboard = {json.dumps(dashboard)};"]
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            continue
        kind = KINDS[panel["type"]]
        settings = panel["fieldConfig"]["defaults"].get("custom", {})
        own = f"{kind}.FieldConfig" if kind in ("timeseries", "statetimeline") else "Record<string, never>"
        lines += [f"const {name}{panel['id']}: Partial<{kind}.Options> = {json.dumps(panel['options'])};",
                  f"const {name}{panel['id']}f: Partial<{own}> = {json.dumps(settings)};",
                  f"const {name}{panel['id']}q: Query[] = {json.dumps(panel['targets'])};"]
        for override in panel["fieldConfig"]["overrides"]:
            overridden = {item["id"].removeprefix("custom."): item["value"] for item in override["properties"]}
            lines.append(f"{{ const overridden: Partial<{own}> = {json.dumps(overridden)}; }}")
    return lines


def compiled(lines):
    """What the compiler says."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        declarations(work)
        imports = [f"import type * as {kind} from './types/raw/composable/{kind}/panelcfg/x/"
                   f"{next((work / 'types/raw/composable' / kind / 'panelcfg/x').glob('*.d.ts')).name[:-5]}';"
                   for kind in KINDS.values()]
        query = "interface Query { refId: string; datasource: d.DataSourceRef; expr: string; legendFormat: string }"
        dashboard = "import type * as d from './types/raw/dashboard/x/dashboard_types.gen';"
        return typescript.said(work, [dashboard, *imports, query, *lines], {"@grafana/schema": ["./types/index.d.ts"]})


def main(root):
    boards = {f"the_{path.stem}": json.loads(path.read_text()) for path in Path(root, "docker/grafana/dashboards").glob("*.json")}
    if set(boards) != {"the_public", "the_operator"}:
        sys.exit(f"other dashboards: {set(boards)}")
    said = compiled([line for name, board in boards.items() for line in checks(name, board)])
    if said:
        sys.exit(f"Grafana does not take the dashboards:\n{said}")
    # The check has to fail: here are a key that no dashboard has, a kind of graph that no panel has, and an option of
    # another panel.
    planted = json.loads(json.dumps(boards["the_public"]))
    planted["colour"] = "blue"
    planted["panels"][1]["options"]["graphMode"] = "pie"
    planted["panels"][2]["options"]["rowHeight"] = 1
    said = compiled(checks("planted", planted)).splitlines()
    errors = [line for line in said if ": error TS" in line]
    if len(errors) != 3:
        sys.exit("planted mistakes were not told: " + "\n".join(said))
    print(f"{sum(len(board['panels']) for board in boards.values())} panels are as {packages.GRAFANA} declares them")


main(sys.argv[1])
