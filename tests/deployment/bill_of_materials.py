#!/usr/bin/env python3
"""Checks the bill of materials of a build. SPDX's own tools have to find it valid. It has to name libraries that the
program links, and each package whose headers were compiled in has to be in it or needed by one that is.

Usage: bill_of_materials.py BUILD     skipped (77) where spdx-tools cannot be had through pip
"""
import json
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import packages  # noqa: E402

COMPILER = re.compile(r"^/usr/(lib/gcc|include/(c\+\+|x86_64-linux-gnu/c\+\+))")


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def headers(build):
    """System headers that objects of the product were compiled with."""
    used, ours = set(), False
    for line in output("ninja", "-C", build, "-t", "deps").splitlines():
        if line and not line.startswith(" "):
            ours = line.startswith(("src/", "streaming/"))
        elif ours and line.strip().startswith("/usr/include/"):
            used.add(line.strip())
    return used


def owners(files):
    said = subprocess.run(["dpkg-query", "--search", *files], capture_output=True, text=True).stdout
    return {line.split(":")[0] for line in said.splitlines()}


def needed(names):
    """The packages, and all that they depend on."""
    seen, todo = set(), set(names)
    while todo:
        seen |= todo
        said = output("dpkg-query", "--show", "--showformat=${Pre-Depends}, ${Depends}\n", *sorted(todo))
        wanted = {re.split(r"[ (:]", alternative.strip())[0] for line in said.splitlines() for entry in line.split(",")
                  for alternative in entry.split("|")} - {""}
        installed = subprocess.run(["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *sorted(wanted)],
                                   capture_output=True, text=True).stdout
        todo = {line.split()[0] for line in installed.splitlines() if line.endswith(" installed")} - seen
    return seen


def main(build):
    file = Path(build, "packaging/nustream.spdx.json")
    bill = json.loads(file.read_text())
    listed = {package["name"] for package in bill["packages"]} - {"nustream"}
    loaded = re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-dW", str(Path(build, "nustream"))))
    links = [relation for relation in bill["relationships"] if relation["relationshipType"] == "DYNAMIC_LINK"]
    if len(loaded) < 10 or len(links) < 10:
        sys.exit(f"only {len(loaded)} libraries, {len(links)} of them in the bill")
    covered = needed(listed)
    compiled = headers(build)
    unlisted = owners(sorted(compiled)) - covered
    if not compiled or unlisted:
        sys.exit(f"{len(compiled)} headers; their packages are not in the bill: {unlisted}")
    if owners(sorted(compiled)) <= needed(listed - {"libsodium-dev", "libcli11-dev"}):
        sys.exit("a package that is left out would not be noticed")
    tools = packages.pip("spdx-tools==0.8.5")
    said = subprocess.run([sys.executable, "-m", "spdx_tools.spdx.clitools.pyspdxtools", "-i", str(file)],
                          env={"PYTHONPATH": str(tools), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    if said.returncode:
        sys.exit(f"no valid SPDX: {said.stdout}{said.stderr}")
    print(f"{len(listed)} packages, {len(compiled)} headers, valid {bill['spdxVersion']}")


main(sys.argv[1])
