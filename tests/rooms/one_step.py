#!/usr/bin/env python3
"""Contributions are made short, and noise is added, by the functions of src/descent/private_step.h alone.

Usage: one_step.py ROOT

Reads the sources without comments and strings, and looks for code that looks like a clip (a clamp, the smaller of
something and a quotient, a choice between a quotient and something else, a division by a root) or like an addition of
noise (a sum with something that is called noise, or a loop over noise). Each such line is either in private_step.h or
in ALLOWED, where it says why it may be there. An entry of ALLOWED that fits no line is an error too.
"""
import pathlib
import re
import sys

HOME = "src/descent/private_step.h"

CALLED_NOISE = r"(?:\w+(?:\.|->))*(?:\w+_)?(?:noise|noisy|added)_?(?:\[[^\]]*\])?(?![\w(])"
LOOKS_LIKE = {
    "clip": re.compile(r"\bclamp\([^;]*, -[^;]*, |"  # held to ± a bound
                       r"\bf?min(?:<\w+>)?\(\{?(?:1(?:\.0)?, [^;]* / |[^;]* / [^;]*, 1(?:\.0)?\))|"  # min(1, bound / norm)
                       r"[<>]=? [^;?]*\? (?:[^:;]* / [^:;]* : 1\b|1(?:\.0)? : [^;]* / )|"  # the same, as a choice
                       r"\bif \([^;]*[<>][^;]*\) [^;]*(?:\*= [^;]* / |/= )|"  # if (norm > bound) x *= bound / norm
                       r"\b1(?:\.0)? / (?:std::)?(?:sqrt|hypot)\("),
    "noise": re.compile(rf"[\w)\]}}] (?:\+|-|\+=|-=) (?:[\w:<>]+[({{])?{CALLED_NOISE}|"
                        rf"(?<![\w.>]){CALLED_NOISE} [+-] |"
                        rf"\bint64_t [^;]*: {CALLED_NOISE}\)"),
}

# A folder or file, a part of the line ("" for all lines), and why that may be there.
ALLOWED = [
    ("src/descent/clipped_count.cpp", "behind_ = noised(behind_,", "calls the function"),
    ("src/descent/kernel_body.h", "job.noise + t * job.dimension", "a place in memory"),
    ("src/inference/adassp.cpp", "", "another mechanism, for comparison alone"),
    ("src/inference/local_solver.cpp", "", "variances of noise that clients have added"),
    ("src/inference/expected_error.cpp", "each.left", "a share of steps"),
    ("src/inference/two_stage_rules.cpp", "noise.first", "a bound with a variance of noise"),
    ("src/moments/estimate.cpp", "informs + noise", "variances of noise"),
    ("src/moments/expected_error.cpp", "", "predicts what the clip and the noise will do"),
    ("src/moments/interval.cpp", "noise.transpose()", "a covariance of noise"),
    ("src/moments/participation.cpp", "separation", "a number of steps"),
    ("src/moments/sampling.cpp", "grown_within", "of sums that have their noise"),
    ("src/privacy/", "", "sees no record"),
    ("src/ranges/pilot.cpp", "residuals.middle", "variances of noise"),
    ("include/nustream/model/logistic.h", "tail", "the logistic function"),
    ("streaming/audit/", "", "the adversary computes the mechanism in its own words, to compare"),
    ("streaming/chart/", "", "places in a picture"),
    ("streaming/cli/", "", "predictions, which see no record"),
    ("streaming/console/", "", "shows progress"),
    ("streaming/journal/state_record.cpp", "size +=", "bytes"),
    ("streaming/local/", "added", "numbers of reports"),
]


def bare(text):
    """The text with comments and strings blanked; lines stay where they are."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.DOTALL)


def suspects(root):
    """(file, number of the line, kind, line) of all lines that look like a clip or an addition of noise."""
    root = pathlib.Path(root)
    for base in ("src", "include/nustream", "streaming"):
        for file in sorted((root / base).rglob("*")):
            name = file.relative_to(root).as_posix()
            if file.suffix not in (".h", ".cpp") or name == HOME:
                continue
            for number, line in enumerate(bare(file.read_text()).split("\n"), 1):
                for kind, pattern in LOOKS_LIKE.items():
                    if pattern.search(line):
                        yield name, number, kind, line.strip()


def strangers(root):
    """Messages about the lines that are not allowed, and about entries of ALLOWED that fit none."""
    unused = list(ALLOWED)
    for name, number, kind, line in suspects(root):
        fitting = [entry for entry in ALLOWED if name.startswith(entry[0]) and entry[1] in line]
        unused = [entry for entry in unused if entry not in fitting]
        if not fitting:
            yield f"{name}:{number}: {'clips' if kind == 'clip' else 'adds noise'} beside {HOME}: {line}"
    for where, part, _ in unused:
        yield f"tests/rooms/one_step.py allows '{part}' in {where}, where it is no more"


if __name__ == "__main__":
    messages = list(strangers(sys.argv[1]))
    for message in messages:
        print(message)
    sys.exit(1 if messages else 0)
