#!/usr/bin/env python3
"""Checks with readelf what is shipped: the program is position-independent, its tables are read-only once they are bound,
no stack can be run, stacks are guarded, copies are checked, and targets of indirect jumps are marked. It must hold no path
of the machine that built it.

Usage: hardening.py ROOT BUILD READELF COMPILER
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def readelf(tool, option, file):
    return subprocess.run([tool, "--wide", option, str(file)], check=True, capture_output=True, text=True).stdout


def missing(tool, program, archives):
    """Names of the defences that the program, or an object of the archives, lacks."""
    header, segments = readelf(tool, "--file-header", program), readelf(tool, "--program-headers", program)
    dynamic, symbols = readelf(tool, "--dynamic", program), readelf(tool, "--dyn-syms", program)
    flags = " ".join(re.findall(r"\((?:FLAGS|FLAGS_1)\)\s+(.*)", dynamic))
    stack = re.search(r"GNU_STACK(?:\s+0x[0-9a-f]+){5}\s+(\S+)", segments)
    found = {
        "PIE": "DYN (" in header and "PIE" in flags,
        "RELRO": "GNU_RELRO" in segments and "BIND_NOW" in flags and "NOW" in flags,
        "no executable stack": stack is not None and stack[1] == "RW",
        "no writable code": not re.search(r"LOAD.*RWE", segments),
        "stack protector": "__stack_chk_fail@" in symbols,
        "_FORTIFY_SOURCE": re.search(r"__\w+_chk@", symbols.replace("__stack_chk_fail@", "")) is not None,
        "no search path of its own": "RPATH" not in dynamic and "RUNPATH" not in dynamic,
    }
    machine = re.search(r"Machine:\s+(.*)", header)[1]
    property_of = {"Advanced Micro Devices X86-64": "x86 feature: IBT, SHSTK", "AArch64": "AArch64 feature: BTI, PAC"}
    for archive in archives:
        # The linker keeps the property only where the C library's own start files have it, which Debian's have not: so
        # each object is looked at.
        notes = readelf(tool, "--notes", archive).split("\nFile: ")[1:]
        without = [note.splitlines()[0] for note in notes if property_of[machine] not in note]
        found[f"-fcf-protection in {Path(archive).name}"] = bool(notes) and not without
    return [name for name, is_there in found.items() if not is_there]


def main(root, build, tool, compiler):
    program = Path(build, "nustream")
    archives = [Path(build, "src/libnustream.a"), Path(build, "streaming/libnustream_service.a")]
    lacking = missing(tool, program, archives)
    if lacking:
        sys.exit(f"{program} has no {', no '.join(lacking)}")
    content = program.read_bytes()
    for place in {root, str(Path(root).resolve()), str(Path(build).resolve())}:
        if place.encode() in content:
            sys.exit(f"{program} names {place}: its bytes depend on where it was built")
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder, "plain")
        subprocess.run([compiler, "-no-pie", "-fno-stack-protector", "-Wl,-z,norelro,-z,execstack,-z,lazy", "-x", "c++", "-",
                        "-o", str(plain)], input="int main() {}", text=True, check=True)
        lacking = missing(tool, plain, [])
        if lacking != ["PIE", "RELRO", "no executable stack", "stack protector", "_FORTIFY_SOURCE"]:
            sys.exit(f"of a program without any defence it says that it lacks {lacking}")
    print(f"{program}: hardened")


main(*sys.argv[1:])
