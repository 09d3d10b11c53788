"""Complete configurations are valid, and so are fragments on top of a small one."""

import re
import tempfile
from pathlib import Path

from pages import blocks, count, mistake, name_of, nustream, pages, root

BASE = {
    "stream": '[stream]\nname = "page"\ninput = "page.csv"\n',
    "target": '[target]\ncolumn = "y"\n',
    "features": '[[features]]\ncolumn = "x"\n',
    "descent": "[descent]\nstep_size = 0.1\nclip_norm = 1.0\n",
    "privacy": "[privacy]\nrho = 0.5\ndelta = 1e-6\n",
    "noise": "[noise]\nnu = 0.01\n",
}


def write_bases(folder):
    """Writes small configurations, which together have every section; returns their names."""
    base = "".join(BASE.values())
    two_stage = base.replace("[[features]]", '[[instruments]]\ncolumn = "z"\n[[endogenous]]')
    texts = {"page": base,
             "kafka": base + '[kafka]\nbrokers = "localhost:9092"\ntopic = "input"\n',
             "first_stage": two_stage + "[first_stage]\nstep_size = 0.1\nclip_norm = 1.0\n",
             "public_rows": two_stage.replace("[privacy]", '[privacy]\nprotects = "target"')
             + "[first_stage]\nstep_size = 0.1\nprivate = false\n",
             "moments": two_stage + '[model]\nestimator = "moments"\n'
             + "[moments]\nrow_norm = 4\nregressor_bound = 5\nresidual_bound = 6\n",
             "solved": base + '[model]\nestimator = "moments"\n[moments]\nrow_norm = 4\nresidual_bound = 6\n',
             "estimate": base + "[estimate]\nsteps = 1\n",
             "weight": base + '[weight]\ncolumn = "n"\nmax = 5\n',
             "exposure": base + '[model]\nloss = "poisson"\n[exposure]\ncolumn = "days"\nmax = 5\n',
             "users": base.replace('"page.csv"\n', '"page.csv"\ntime = "when"\n')
             .replace("[privacy]", '[privacy]\nunit = "user"\nuser = "who"')
             + '[users]\nparticipations = 4\nperiod = "P1D"\ntimes = "trusted"\n',
             "tail": base.replace("clip_norm = 1.0\n", 'clip_norm = 1.0\naverage = "tail"\n'),
             "local": next(text for text in blocks(root / "docs/local.md", "toml") if "[stream]" in text)}
    for name, text in texts.items():
        Path(folder, name + ".toml").write_text(text)
    return [name + ".toml" for name in texts]


def tables(text):
    """{header: text} of the tables of a configuration; the tables of an array are joined."""
    found = {}
    for part in re.split(r"^(?=\[)", text, flags=re.M):
        header = re.match(r"\[+([a-z_]+)\]+", part)
        if header:
            found[header[1]] = found.get(header[1], "") + part
    return found


def check_configurations():
    for page in pages:
        earlier = {}
        for text in blocks(page, "toml"):
            now = tables(text)
            if "stream" in now:
                whole, earlier = text, {}
            else:  # a fragment stands on a small configuration and on the page's fragments before it
                earlier.update(now)
                merged = dict(BASE)
                if "instruments" in earlier:
                    merged.pop("features")
                for header, part in earlier.items():
                    lines = part
                    if header in BASE and header != "features":  # keys of the small one that the fragment does not set
                        said = set(re.findall(r"^(\w+) *=", part, re.M))
                        lines += "".join(line + "\n" for line in BASE[header].splitlines()[1:]
                                         if line.split(" ")[0] not in said)
                    merged[header] = lines
                whole = "".join(merged.values())
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "page.toml").write_text(whole)
                result = nustream(["check", "page.toml"], folder)
            count("configurations")
            if result.returncode != 0:
                mistake(name_of(page), f"a configuration is refused: {result.stderr.strip()}\n{whole}")
