#!/usr/bin/env python3
"""Writes the dashboards. What a panel shows, what it means and its unit stand here once, and Grafana's JSON is made of it.
Public figures and operators' figures never meet on one dashboard.

Usage: dashboards.py          writes docker/grafana/dashboards/
       dashboards.py --check  says whether what lies there is what would be written
"""
import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "dashboards"
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
STREAM = 'stream="$stream"'
LANES = 'stream="$stream",lane=~"$lane"'
OF_ONE = 'stream="$stream",lane="$lane",feature=~"$feature"'


def variable(name, label, query, **more):
    return {"name": name, "label": label, "type": "query", "datasource": DATASOURCE, "query": query, "refresh": 2,
            "sort": 3, "current": {"text": "", "value": ""}, **more}


SOURCE = {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "refresh": 1,
          "current": {"text": "Prometheus", "value": "prometheus"}}
STREAM_VARIABLE = variable("stream", "Stream", "label_values(nustream_steps_total, stream)")
ALL = {"includeAll": True, "multi": True, "current": {"text": "All", "value": "$__all"}}


def panel(kind, title, description, unit, targets, width=12, height=8, **more):
    """Each of `targets` is (query, legend). `more` has what is special to a kind of panel: options, custom, …"""
    defaults = {"unit": unit, **more.get("defaults", {})}
    if "custom" in more:
        defaults["custom"] = more["custom"]
    built = {"title": title, "type": kind, "description": description, "datasource": DATASOURCE,
             "gridPos": {"w": width, "h": height}, "options": more["options"],
             "fieldConfig": {"defaults": defaults, "overrides": more.get("overrides", [])},
             "targets": [{"refId": chr(ord("A") + number), "datasource": DATASOURCE, "expr": query,
                          "legendFormat": legend} for number, (query, legend) in enumerate(targets)]}
    if "repeat" in more:
        built |= {"repeat": more["repeat"], "repeatDirection": "h", "maxPerRow": 3}
    return built


def lines(title, description, unit, *targets, **more):
    options = {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
               "tooltip": {"mode": "multi", "sort": "none"}}
    return panel("timeseries", title, description, unit, targets, options=options, **more)


def number(title, description, unit, query, legend="", **more):
    options = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "none",
               "graphMode": "none", "textMode": "auto"}
    return panel("stat", title, description, unit, [(query, legend)], width=6, height=4, options=options, **more)


def gauge(title, description, query, legend, warn, alarm):
    steps = [{"color": "green", "value": None}, {"color": "orange", "value": warn}, {"color": "red", "value": alarm}]
    options = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
               "showThresholdLabels": False, "showThresholdMarkers": True}
    return panel("gauge", title, description, "percentunit", [(query, legend)], width=6, height=4, options=options,
                 defaults={"min": 0, "max": 1, "thresholds": {"mode": "absolute", "steps": steps}})


def states(title, description, query, legend, names, **more):
    """A state timeline. `names` has (name, colour) of each state, and the query's value is the state's place in it."""
    mapped = {str(place): {"text": text, "color": color, "index": place} for place, (text, color) in enumerate(names)}
    options = {"mergeValues": True, "rowHeight": 0.8, "showValue": "auto",
               "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
               "tooltip": {"mode": "single", "sort": "none"}}
    return panel("state-timeline", title, description, "none", [(query, legend)], options=options,
                 defaults={"mappings": [{"type": "value", "options": mapped}]}, custom={"fillOpacity": 80}, **more)


def coded(metric, label, by, names):
    """A query for the place in `names` of the state whose series is 1, for each value of the labels `by`."""
    return " + ".join(f'{place} * sum by ({by}) ({metric}{{{STREAM},{label}="{name}"}})'
                      for place, (name, _) in enumerate(names))


def row(title):
    return {"title": title, "type": "row", "collapsed": False, "gridPos": {"w": 24, "h": 1}, "panels": []}


def override(name, **properties):
    return {"matcher": {"id": "byName", "options": name},
            "properties": [{"id": f"custom.{key}", "value": value} for key, value in properties.items()]}


def quantiles(metric):
    return [(f"histogram_quantile({share}, sum by (le) (rate({metric}_bucket{{{STREAM}}}[5m])))", name)
            for share, name in ((0.5, "p50"), (0.99, "p99"))]


def public():
    band = [override("upper", fillBelowTo="lower", lineWidth=0, fillOpacity=20), override("lower", lineWidth=0),
            override("last iterate", lineStyle={"fill": "dash", "dash": [4, 4]}, lineWidth=1)]
    late = [("on time", "green"), ("late", "red")]
    return [
        row("Summary"),
        number("Committed steps", "Steps of the present epoch whose state is durable, of all lanes together.", "locale",
               f"sum(nustream_steps_total{{{STREAM}}})"),
        number("Last release", "How long ago any lane published.", "s",
               f"time() - max(nustream_last_release_timestamp_seconds{{{STREAM}}})"),
        gauge("Budget used", "The share of privacy.budget that the ledger has charged, for the lane that is nearest to it. "
              "A lane takes no step that would cross the budget. No data without a budget.",
              f"max(nustream_zcdp_rho_ledger{{{STREAM}}} / nustream_zcdp_rho_budget{{{STREAM}}})", "", 0.8, 0.99),
        number("Epsilon over all epochs", "What everything that was ever published about a record comes to, at each "
               "delta and by each conversion.", "none",
               f"max by (delta, conversion) (nustream_epsilon_ledger{{{STREAM}}})", "{{conversion}}, delta {{delta}}"),
        states("Releases", "A lane is late where it has stepped three times release.every beyond its last release.",
               f"nustream_steps_total{{{STREAM}}} - nustream_last_release_steps{{{STREAM}}} "
               f"> bool 3 * nustream_release_every_steps{{{STREAM}}}", "lane {{lane}}", late, width=12, height=6),
        states("Public listener", "Whether an instance answers. Readiness and its reasons are the operator's.",
               'up{job="nustream-public"}', "{{instance}}", [("away", "red"), ("answers", "green")], width=12, height=6),
        row("Estimates of lane $lane"),
        lines("$feature", "The average that is quoted, with its confidence interval as a band, and the last iterate "
              "dashed. What the interval covers is in every release.", "none",
              (f"nustream_interval_upper{{{OF_ONE}}}", "upper"), (f"nustream_interval_lower{{{OF_ONE}}}", "lower"),
              (f"nustream_estimate_average{{{OF_ONE}}}", "average"), (f"nustream_estimate{{{OF_ONE}}}", "last iterate"),
              width=8, repeat="feature", overrides=band),
        number("Directions that noise hides", "For models that are solved from running sums: the number of directions of the "
               "features about which a lane's last release says nothing. 0 where no lane solves sums.", "none",
               f"max(nustream_floored_directions{{{STREAM}}}) or vector(0)"),
        row("Combined model"),
        number("Lanes in the model", "The combined model is the mean of this many lanes. No data without a model topic.",
               "none", f"max(nustream_model_lanes{{{STREAM}}})"),
        number("Age of the model", "How long ago the last combined model was published.", "s",
               f"time() - max(nustream_model_timestamp_seconds{{{STREAM}}})"),
        row("Privacy"),
        lines("Spent, in rho of zCDP", "What the record or user whom it has cost most has spent, in this epoch and over all "
              "epochs in the ledger, beside the limit that this epoch never exceeds and the budget. The spend of an epoch tends to its "
              "limit by design.",
              "none", (f"nustream_zcdp_rho_spent{{{STREAM}}}", "this epoch, lane {{lane}}"),
              (f"nustream_zcdp_rho_ledger{{{STREAM}}}", "ledger, lane {{lane}}"),
              (f"nustream_zcdp_rho_limit{{{STREAM}}}", "limit of the epoch, lane {{lane}}"),
              (f"nustream_zcdp_rho_budget{{{STREAM}}}", "budget, lane {{lane}}")),
        lines("Epsilon", "The same as epsilon, at each delta and by each conversion.", "none",
              (f"nustream_epsilon{{{STREAM}}}", "this epoch, {{conversion}}, delta {{delta}}, lane {{lane}}"),
              (f"nustream_epsilon_ledger{{{STREAM}}}", "ledger, {{conversion}}, delta {{delta}}, lane {{lane}}")),
        lines("Steps until the budget stops", "How many more steps each lane may take. No data where the budget never "
              "stops it.", "locale",
              (f"nustream_budget_stop_steps{{{STREAM}}} - nustream_steps_total{{{STREAM}}}", "lane {{lane}}")),
        lines("Epoch", "Which epoch each lane is in. A new one is a decision that somebody made.", "none",
              (f"nustream_epoch{{{STREAM}}}", "lane {{lane}}")),
        row("Lanes"),
        lines("Steps a second", "Every record is a step, usable or not.", "ops",
              (f"rate(nustream_steps_total{{{STREAM}}}[1m])", "lane {{lane}}")),
        lines("Releases a minute", "Published by the instance that has the lane.", "opm",
              (f"60 * rate(nustream_releases_total{{{STREAM}}}[5m])", "lane {{lane}}")),
        row("Settings, which are public"),
        number("Noise multiplier", "Standard deviation of the seed noise, in units of the clip norm's sensitivity.",
               "none", f"max(nustream_noise_multiplier{{{STREAM}}})"),
        number("Sensitivity", "How far one unit can move the encoded gradients over the epoch, in units of one gradient's.",
               "none", f"max(nustream_sensitivity{{{STREAM}}})"),
        number("Step size", "The step size of the next step, in units of the parameter per gradient unit.", "none",
               f"max(nustream_step_size{{{STREAM}}})"),
        number("Unit of the promise", "Whom the promise is about: single records, their targets, or users. How many lanes "
               "promise it.", "none", f"count by (protects) (nustream_promise_info{{{STREAM}}})", "{{protects}}"),
        number("Version", "How many instances run each version. Two versions for long mean an upgrade that stopped half way.", "none",
               "count by (version) (nustream_build_info)", "{{version}}"),
    ]


def operator():
    lanes = [("waiting", "orange"), ("restoring", "yellow"), ("running", "green"), ("draining", "blue"),
             ("finished", "purple"), ("failed", "red")]
    phases = [("starting", "yellow"), ("serving", "green"), ("rejoining", "red"), ("draining", "blue")]
    process = 'job="nustream-operator"'
    return [
        row("Readiness"),
        states("Ready", "Whether /readyz of an instance answers 200. Its operator's listener says what it waits for.",
               f"max by (instance) (nustream_ready{{{STREAM}}})", "{{instance}}",
               [("not ready", "red"), ("ready", "green")]),
        states("Phase", "Rejoining: the instance is out of its group, and waits for brokers.",
               coded("nustream_phase", "phase", "instance", phases), "{{instance}}", phases),
        states("Lanes", "What each lane does. A lane that waits or restores for minutes, or has failed, needs somebody.",
               coded("nustream_lane_state", "state", "lane", lanes), "lane {{lane}}", lanes),
        lines("Rebalances", "How often in ten minutes the group gave an instance partitions, or took some. Several mean "
              "that instances come and go.", "none",
              (f"increase(nustream_rebalances_total{{{STREAM}}}[10m])", "{{instance}}")),
        row("Input"),
        lines("Lag", "Offsets from the next record to the end of the partition. Control records count, so it can stay "
              "at 1.", "locale", (f"nustream_consumer_lag_records{{{LANES}}}", "partition {{partition}}")),
        lines("Records a second", "Records that took their step in a committed batch.", "ops",
              (f"rate(nustream_records_total{{{LANES}}}[1m])", "lane {{lane}}")),
        lines("Unusable records a minute", "Each took a step with a zero gradient; the dead letters hold them.", "opm",
              (f"60 * rate(nustream_records_rejected_total{{{LANES}}}[5m])", "{{reason}}, lane {{lane}}")),
        lines("Clipped gradients", "Share of the last batch's gradients that the clip norm cut. Above a half it bites.",
              "percentunit", (f"nustream_gradients_clipped_ratio{{{LANES}}}", "lane {{lane}}"),
              defaults={"min": 0, "max": 1}),
        lines("Dead letters given up", "Dead letters that could not be written, counted since this instance took the lane. Any raises an alert.",
              "locale", (f"nustream_dead_letters_failed_total{{{LANES}}}", "lane {{lane}}")),
        row("Commits and releases"),
        lines("Transactions a minute", "Aborted ones are computed again; fenced ones belong to another owner of the lane; how "
              "those that timed out ended is not known until the producer is made anew.", "opm",
              (f"60 * rate(nustream_transactions_total{{{LANES}}}[5m])", "{{outcome}}, lane {{lane}}")),
        lines("Batch", "The time from the first record of a batch to its close.", "s", *quantiles("nustream_batch_seconds")),
        lines("Commit", "The time from a batch's close to the end of its transaction.", "s", *quantiles("nustream_commit_seconds")),
        lines("Release latency", "The time from a batch's close until its releases are public.", "s",
              *quantiles("nustream_release_latency_seconds")),
        lines("Noise ahead", "Steps whose noise is made and not used yet. 0 under load: noise is the bottleneck.", "locale",
              (f"nustream_noise_ahead_steps{{{LANES}}}", "lane {{lane}}")),
        lines("Lanes that hold the model up", "Their last release is under other settings than the rest. No data without "
              "a model topic.", "none", (f"nustream_model_waiting_lanes{{{STREAM}}}", "{{instance}}")),
        row("Process"),
        lines("Memory", "Resident memory. It should be flat over days.", "bytes",
              (f"process_resident_memory_bytes{{{process}}}", "{{instance}}")),
        lines("Processor", "Cores in use, for the user and the system together.", "none", (f"rate(process_cpu_seconds_total{{{process}}}[1m])", "{{instance}}")),
        lines("Descriptors", "Open file descriptors, as a share of those that the process may open.", "percentunit",
              (f"process_open_fds{{{process}}} / process_max_fds{{{process}}}", "{{instance}}")),
        lines("Running for", "The time since the process started. A saw is a process that keeps starting again.", "s",
              (f"time() - process_start_time_seconds{{{process}}}", "{{instance}}")),
    ]


def placed(panels):
    """Numbers the panels and places them from left to right; a new line begins where one does not fit, and with a row."""
    x = y = line = 0
    for number_of, item in enumerate(panels, 1):
        place = item["gridPos"]
        if x + place["w"] > 24:
            x, y, line = 0, y + line, 0
        item["id"], item["gridPos"] = number_of, {"x": x, "y": y, **place}
        x, line = x + place["w"], max(line, place["h"])
    return panels


def dashboard(name, title, description, variables, panels):
    return {"uid": f"nustream-{name}", "title": title, "description": description, "tags": ["nustream"],
            "timezone": "utc", "editable": True, "graphTooltip": 1, "schemaVersion": 39, "version": 1, "refresh": "10s",
            "time": {"from": "now-1h", "to": "now"}, "templating": {"list": variables}, "panels": placed(panels)}


def dashboards():
    several = variable("lane", "Lanes", f"label_values(nustream_steps_total{{{STREAM}}}, lane)", allValue=".*", **ALL)
    one = variable("lane", "Lane", f"label_values(nustream_steps_total{{{STREAM}}}, lane)")
    feature = variable("feature", "Coefficients", f"label_values(nustream_estimate{{{STREAM}}}, feature)", **ALL)
    return {
        "public.json": dashboard("public", "nustream: public", "Figures that may be shown to anyone: functions of what is "
                                 "published, of public settings and of step counts.",
                                 [SOURCE, STREAM_VARIABLE, one, feature], public()),
        "operator.json": dashboard("operator", "nustream: operator", "Figures that depend on data and are not private: "
                                   "for the operator alone.", [SOURCE, STREAM_VARIABLE, several], operator()),
    }


def main():
    differs = False
    for name, content in dashboards().items():
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        if sys.argv[1:] == ["--check"]:
            differs |= (FOLDER / name).read_text() != text
        else:
            (FOLDER / name).write_text(text)
    if differs:
        sys.exit("docker/grafana/dashboards is not what dashboards.py writes: run it")


main()
