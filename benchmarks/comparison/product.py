"""Runs nustream and its benchmarks as anybody would from a shell."""

import json
import os
import subprocess
import tempfile
from pathlib import Path


PROGRAMS = ("benchmark_noise", "benchmark_descent", "draw_chart", "make_segment")


class Product:
    def __init__(self, build, programs=PROGRAMS):
        self.command = Path(build, "nustream")
        self.benchmarks = Path(build, "benchmarks")
        for program in (self.command, *(self.benchmarks / name for name in programs)):
            if not program.is_file():
                raise SystemExit(f"{program} is not built: ./test --quick builds it, or leave out --quick")

    def draws(self):
        """Whether the program that draws charts is built."""
        return (self.benchmarks / "draw_chart").is_file()

    def run(self, *arguments):
        """Returns the standard output. A failure ends the comparison with the command's own line."""
        result = subprocess.run([str(self.command), *map(str, arguments)], capture_output=True, text=True)
        if result.returncode != 0:
            raise SystemExit(f"nustream {arguments[0]} ended with {result.returncode}: {result.stderr.strip()}")
        return result.stdout

    def replay(self, config, *arguments):
        """Makes a run, whose state, key and witness are in a folder of its own that is removed afterwards. Returns its
        releases as a list of objects. The folder has a new name at each run: under the same name the run would be
        refused, because the witness knows of the run before, whose state is gone."""
        with tempfile.TemporaryDirectory(dir=Path(config).parent) as run:
            state = Path(run, "state")
            self.run("replay", config, "--quiet", "--set", f"state.directory={state}", "--set",
                     f"state.key_directory={Path(run, 'keys')}", *arguments)
            with open(state / "releases.jsonl") as lines:
                return [json.loads(line) for line in lines]

    def estimate(self, config, *arguments):
        """The coefficients, by name, of a descent over the whole table. The run has a folder of its own, as in replay."""
        with tempfile.TemporaryDirectory(dir=Path(config).parent) as run:
            told = self.run("estimate", config, "--json", "--set", f"state.directory={Path(run, 'state')}", "--set",
                            f"state.key_directory={Path(run, 'keys')}", *arguments)
            return json.loads(told)["estimate"]

    def plan(self, config):
        return json.loads(self.run("plan", config, "--json"))

    def benchmark(self, name, folder, **asked):
        """Runs a benchmark program that times each case once, with `asked` in its environment. Returns {case:
        nanoseconds}."""
        result = Path(folder, name + ".json")
        environment = {key: str(value) for key, value in asked.items()}
        subprocess.run([str(self.benchmarks / name), str(result)], check=True,
                       env={**os.environ, **environment, "ROUNDS": "1"})
        return {row["name"]: row["nanoseconds_min"] for row in json.loads(result.read_text())["timings"]}

    def compiler(self, folder):
        """A part of the machine's description that the benchmarks write."""
        machine = json.loads(Path(folder, "benchmark_noise.json").read_text())["machine"]
        return machine["cpu"], machine["compiler"]
