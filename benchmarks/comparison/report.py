"""Makes the tables of the page, and the charts that stand beside the JSON."""

import json
import subprocess

from .numbers import number, time_of
from .says import sentences

OURS, PRIVATE, PLAIN = 0, 1, 5  # hues in a chart
LEGEND = [(OURS, "nustream"), (PRIVATE, "others, with noise"), (PLAIN, "without privacy")]


def speed_table(section):
    lines = [f"| per {section['unit']} | private | least | median | ratio (median) | |", "|---|---|---|---|---|---|"]
    for row in section["rows"]:
        lines.append(f"| {row['name']} | {'yes' if row['private'] else 'no'} | {time_of(row['nanoseconds_min'])} | "
                     f"{time_of(row['nanoseconds_median'])} | ×{number(row['ratio_min'])} "
                     f"(×{number(row['ratio_median'])}) | {row['note']} |")
    steps = f"; one timing is of {section['steps']:,} steps" if "steps" in section else ""
    return f"{section['title']}{steps}; ratios are to {section['baseline']}.\n\n" + "\n".join(lines) + "\n"


def with_error(value):
    return f"{value['mean']:.4g} ({value['standard_error']:.1g})"


def accuracy_table(stream):
    known = "noise_free_from_answer" in stream
    lines = [f"**{stream['stream']}** ({stream['about']}): {stream['steps']:,} steps, η = {stream['step_size']:g}, clip "
             f"{stream['clip_norm']:g}, {stream['seeds']} seeds; suggested ν = {stream['suggested_nu']:g}."
             + (f" The average without noise is {stream['noise_free_from_answer']:.3g} from the answer." if known else ""),
             "", "| strategy | iterate | ratio | average | ratio | average from the answer |", "|---|---|---|---|---|---|"]
    for row in stream["strategies"]:
        iterate, average = row["iterate"], row["average"]
        answer = with_error(row["average_from_answer"]) if known else ""
        name = row["strategy"] if row["peer"] != "nustream" else f"nustream: {row['strategy']}"
        lines.append(f"| {name} | {with_error(iterate)} | ×{number(iterate['ratio'])} | {with_error(average)} | "
                     f"×{number(average['ratio'])} | {answer} |")
    return "\n".join(lines) + "\n"


def accounting_table(streams):
    rows = [row for row in streams[0]["strategies"] if row["peer"] != "nustream"]
    if not rows:
        return ""
    lines = ["| strategy | sensitivity by jax-privacy | by nustream | theirs over ours, − 1 |", "|---|---|---|---|"]
    for row in rows:
        theirs, ours = row["sensitivity"], row["sensitivity_by_nustream"]
        lines.append(f"| {row['strategy']} | {theirs:.9g} | {ours:.9g} | {theirs / ours - 1:.1e} |")
    return "\n".join(lines) + "\n"


def machine_text(result):
    machine = result["machine"]
    versions = ", ".join(f"{name} {told['version']}" for name, told in result["peers"].items() if "version" in told)
    skipped = "; ".join(f"{name} ({told['skipped']})" for name, told in result["peers"].items() if "skipped" in told)
    return (f"Core {machine['core']} of {machine['cpus']} of a machine with {machine['cpu']}; compiler "
            f"{machine['compiler']}, Python {machine['python']}; {versions or 'no peer'}; {result['settings']['rounds']} "
            f"rounds.{' Skipped: ' + skipped + '.' if skipped else ''}\n")


def page(result, charts):
    """Everything between the page's markers. `charts` is the folder of the charts as the page links it."""
    parts = ["## What it says", "\n".join(f"- {sentence}" for sentence in sentences(result)),
             "## Measured", machine_text(result)]
    for section in result["sections"]:
        if section["name"] == "replay":
            parts += ["### From bytes to a model", f"![replay]({charts}compare_replay.svg)", speed_table(section)]
    for kind, heading in (("step loop", "### A step in memory"), ("noise", "### A sample of noise")):
        parts += [heading, f"![{kind}]({charts}compare_{kind.replace(' ', '_')}.svg)"]
        parts += [speed_table(section) for section in result["sections"] if section["name"].startswith(kind)]
    parts += ["### Accuracy at equal ρ", f"![accuracy]({charts}compare_accuracy.svg)"]
    parts += [accuracy_table(stream) for stream in result["accuracy"]]
    accounting = accounting_table(result["accuracy"])
    if accounting:
        parts += ["### Two accountings of the same strategies", accounting]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def hue_of(row):
    if row["peer"] == "nustream" and row.get("private", True):
        return OURS
    return PRIVATE if row.get("private", True) else PLAIN


def draw(program, title, axis, groups, keys):
    """Draws an SVG with `program`, the project's own drawing code (benchmarks/draw_chart.cpp). `groups` is a list of
    (heading, rows)."""
    asked = {"title": title, "axis": {"title": axis, "logarithmic": True},
             "keys": [{"name": name, "hue": hue} for hue, name in keys],
             "groups": [{"heading": heading, "rows": rows} for heading, rows in groups]}
    return subprocess.run([str(program)], input=json.dumps(asked), capture_output=True, text=True, check=True).stdout


def charts(result, folder, program):
    for kind, title in (("replay", "From bytes to a model: nanoseconds a row"),
                        ("step loop", "A step in memory: nanoseconds"),
                        ("noise", "Noise: nanoseconds per coordinate and step")):
        groups = [(section["title"], [{"label": row["name"], "value": row["nanoseconds_min"], "hue": hue_of(row),
                                       "shown": number(row["nanoseconds_min"])} for row in section["rows"]])
                  for section in result["sections"] if section["name"].startswith(kind)]
        shown = {row["hue"] for _, rows in groups for row in rows}
        keys = [(hue, text) for hue, text in LEGEND if hue in shown]
        name = f"compare_{kind.replace(' ', '_')}.svg"
        (folder / name).write_text(draw(program, title, "ns, logarithmic", groups, keys))
    groups = [(f"{stream['stream']}, {stream['loss']}" if stream["stream"] != stream["loss"] else stream["stream"],
               [{"label": row["strategy"], "value": row["iterate"]["mean"], "hue": hue_of(row),
                 "error": row["iterate"]["standard_error"], "shown": number(row["iterate"]["mean"])}
                for row in stream["strategies"]]) for stream in result["accuracy"]]
    (folder / "compare_accuracy.svg").write_text(draw(
        program, "What the noise does to the iterate, at the same ρ",
        "root mean square distance from the run without noise over the second half, logarithmic",
        groups, [(OURS, "nustream"), (PRIVATE, "jax-privacy's strategies")]))
