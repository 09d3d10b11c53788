"""CHANGELOG.md has the form of Keep a Changelog, and the newest version is the one that is built and packaged."""

import re

from pages import count, mistake, root

KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def check_versions():
    text = (root / "CHANGELOG.md").read_text()
    heads = re.findall(r"^## (.*)$", text, re.M)
    count("versions")
    if not heads or heads[0] != "[Unreleased]":
        mistake("CHANGELOG.md", "what is not released yet does not come first")
    found = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d", head) for head in heads[1:]]
    for head, version in zip(heads[1:], found):
        if not version:
            mistake("CHANGELOG.md", f"'{head}' is no version with its date")
    for kind in sorted(set(re.findall(r"^### (.*)$", text, re.M)) - KINDS):
        mistake("CHANGELOG.md", f"'{kind}' is no kind of change")
    newest = found[0][1] if found and found[0] else None
    built = re.search(r"^project\(nustream VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.M)[1]
    packaged = re.match(r"nustream \(([\d.]+)", (root / "packaging/debian/changelog").read_text())[1]
    if newest != built or newest != packaged:
        mistake("CHANGELOG.md", f"the newest version is {newest}, CMakeLists.txt builds {built}, and Debian's changelog has {packaged}")
