"""The program knows every key and choice in the tables of a page, and every key that it reads is on the page."""

import re
import tempfile
from pathlib import Path

from configurations import write_bases
from pages import count, mistake, nustream, root


def check_keys():
    text = (root / "docs/configuration.md").read_text() + (root / "docs/kafka.md").read_text()
    named = set(re.findall(r"[`.]([a-z][a-z0-9_]*)(?:`|\]| = )", text))
    read = set()
    for source in (root / "streaming/config").glob("*.cpp"):
        read |= set(re.findall(r'(?:section|root|model|stream|descent|noise|privacy|kafka|serve|state|plan|local)\w*'
                               r'\.\w+(?:<[\w:]+>)?\("([a-z][a-z0-9_]*)"', source.read_text()))
    for key in sorted(read):
        count("keys that are read")
        if key not in named and f"[{key}]" not in text and f"[[{key}]]" not in text:
            mistake("docs/configuration.md", f"the program reads '{key}', which is not on the page")
    with tempfile.TemporaryDirectory() as folder:
        write_bases(folder)
        check_keys_of(folder, "docs/configuration.md", list(chapters((root / "docs/configuration.md").read_text())))
        check_keys_of(folder, "docs/local.md", [(["local"], (root / "docs/local.md").read_text())])


def check_keys_of(folder, page, parts):
    for sections, text in parts:
        keys = keys_of_tables(text)
        text += "".join(other for names, other in parts if any(f"as in [{name}]" in text for name in names))
        for place in [PLACES.get(section, section) for section in sections if keys]:
            for key in keys:
                if "." not in key or key.startswith(place + "."):
                    check_key(folder, page, key if "." in key else f"{place}.{key}", text)
            known = re.search(r"unknown key; known here: (.*)", set_key(folder, place + ".no_such_key", "1"))
            if not known:
                mistake(page, f"keys of {place} are not checked: any is accepted")
            for key in known[1].split(", ") if known else []:
                if not re.search(rf"`({place}\.)?{key}[`. ]", text):
                    mistake(page, f"the program knows {place}.{key}, which is not in its section of the page")


PLACES = {"features": "features.0", "instruments": "instruments.0", "endogenous": "endogenous.0"}


def chapters(text):
    """The sections that a heading of the second order names, and the text below it."""
    for part in re.split(r"^(?=## )", text, flags=re.M):
        yield re.findall(r"\[+([a-z_]+)\]+", part.splitlines()[0]), part


def keys_of_tables(text):
    """Keys in the first column of tables with the heading "key", and in the column "parameters" of others."""
    keys = []
    for table in re.findall(r"^\|.*\n\|[-|]+\n(?:\|.*\n)+", text, re.M):
        heading, _, *rows = table.splitlines()
        for row in rows:
            cells = row.split(" | ")
            if re.match(r"\| key (of \[\w+\] )?\|", heading):
                keys += re.findall(r"`([a-z_0-9.]+)`", cells[0])
            elif "| parameters |" in heading:
                keys += re.findall(r"`([a-z_0-9]+)`", cells[1])
    return keys


def set_key(folder, key, value):
    """What `nustream check` says of the setting, on a configuration that has the key's section."""
    file = Path(key.split(".")[0] + ".toml")
    file = file if Path(folder, file).exists() else "page.toml"
    return nustream(["check", str(file), "--set", f"{key}={value}"], folder).stderr.strip()


def check_key(folder, page, key, text):
    count("keys that are documented")
    error = set_key(folder, key, "1")
    if "unknown key" in error:
        mistake(page, f"{key} is no key: {error}")
    choices = re.search(r"allowed is one of (.*)$", set_key(folder, key, '"no such choice"'))
    for choice in choices[1].split(", ") if choices else []:
        count("choices")
        if not re.search(rf'`"?{re.escape(choice)}"?`', text):
            mistake(page, f"the choice {choice} of {key} is not on the page")
