"""Reads from the project's own sources which programs, tests, presets, campaigns and results of campaigns there are."""

import json
import re
from itertools import product

CALL = r"\b{}\s*\(([^()]*)\)"


def words_of(text):
    return [word.strip('"') for word in re.findall(r'"[^"]*"|[^\s"]+', text)]


def expanded(text):
    """CMake without comments, with its lists put in for their names and its loops over words written out."""
    text = re.sub(r"#.*", "", text)
    sets = {found[1]: found[2].strip() for found in re.finditer(r"\bset\(\s*(\w+)\s([^()]*)\)", text)}

    def loop(found):
        name, over, body = found[1], found[2].split(), found[3]
        if over[:2] == ["IN", "LISTS"]:
            over = [word for each in over[2:] for word in sets.get(each, "").split()]
        return "\n".join(body.replace("${" + name + "}", word) for word in over)

    text = re.sub(r"\bforeach\(\s*(\w+)\s+([^()]*)\)(.*?)\bendforeach\(\)", loop, text, flags=re.S)
    for name, value in sets.items():
        text = text.replace("${" + name + "}", value)
    return text


class Repository:
    def __init__(self, root):
        self.root = root
        self.programs = {}  # {path in a preset's build folder: the sources that are given as words}
        self.tests = []  # as ctest names them, without what a parameter adds
        for folder in ("streaming", "tests", "benchmarks"):
            for path in sorted([root / folder / "CMakeLists.txt", *(root / folder).rglob("*.cmake")]):
                if path.parent.name != "package":
                    self._read(folder, expanded(path.read_text()))
        self.tests += self.planted_bugs()
        presets = json.loads((root / "CMakePresets.json").read_text())["configurePresets"]
        self.presets = {preset["name"] for preset in presets if not preset.get("hidden")}
        run = (root / "tests/campaign/run").read_text()
        self.bodies = {found[1]: found[2] or found[3] for found in
                       re.finditer(r"^(\w+)\(\) \{(?:([^\n]*) \}$|\n(.*?)^\})", run, re.M | re.S)}
        self.campaigns = re.search(r"^campaigns=\(([^)]*)\)", run, re.M)[1].split()

    def _read(self, folder, text):
        if folder == "streaming":
            folder = "."
        for found in re.finditer(CALL.format(r"(add_executable|nustream_\w*(?:test|benchmark))"), text):
            name, *sources = words_of(found[2])
            if "$" in name:
                continue  # the function that is called
            at_top = folder == "." or re.search(rf"\({name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY", text)
            self.programs[name if at_top else f"{folder}/{name}"] = sources
            if found[1] in ("nustream_broker_test", "nustream_attach_test"):
                self.tests.append(name)
            elif found[1].endswith("_test"):
                self.tests += self.cases(sources)
        for found in re.finditer(CALL.format("nustream_planted_twins"), text):
            self.programs |= {f"{folder}/{name}_planted": [] for name in found[1].split() if "$" not in name}
        self.tests += [name for name in re.findall(r"\badd_test\(NAME (\S+)", text) if "$" not in name]

    def planted_bugs(self):
        patches = sorted((self.root / "tests/planted").glob("*.patch"))
        return ["Of/PlantedBugs.AreCaught/" + patch.stem.replace("-", "_") for patch in patches]

    def cases(self, sources):
        """The cases in a GoogleTest's sources: Suite.Name, Prefix/Suite.Name/."""
        names = []
        for source in sources:
            path = self.root / "tests" / source
            text = path.read_text() if path.suffix == ".cpp" and path.exists() else ""
            prefixes = re.findall(r"INSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+)", text)
            for kind, suite, case in re.findall(r"^TEST(_F|_P|)\(\s*(\w+),\s*(\w+)\)", text, re.M):
                names += [f"{prefix}/{suite}.{case}/" for prefix, of in prefixes if of == suite] if kind == "_P" \
                    else [f"{suite}.{case}"]
        return names

    def results(self, campaign):
        """Files under docs/results that the campaign writes under names of its own."""
        body = self.bodies[campaign]
        names = set(re.findall(r"(?:run_tests|sharded) \w+ (\w+)", body))
        scripts = [self.root / path for path in re.findall(r"\b(?:benchmarks|tests)/[\w/]+", body)]
        text = body + "".join(path.read_text() for path in scripts if path.is_file())
        for name in re.findall(r"docs/results/([\w$]+)\.json", text):
            variables = re.findall(r"\$(\w+)", name)
            loops = [re.search(rf"for {variable} in ([^;]*);", body)[1].split() for variable in variables]
            for values in product(*loops):
                now = name
                for variable, value in zip(variables, values):
                    now = now.replace("$" + variable, value)
                names.add(now)
        for other in self.campaigns:
            if other != campaign and re.search(rf"\|\| \{{ {other} ", body):
                names |= self.results(other)
        return names
