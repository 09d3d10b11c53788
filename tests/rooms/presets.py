#!/usr/bin/env python3
"""presets.py ROOT: configures every preset, so that a library or a room that one of them lacks is seen before anybody
builds that preset.

presets.py ROOT --build: builds the preset of ./run instead, hardly optimised. That preset compiles its files in
other batches than the presets with tests, in which some files are replaced, and names may collide in its batches alone."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])


def presets():
    listed = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    return [preset for preset in listed if not preset.get("hidden")]


def configured(name, folder, *settings):
    """Configures a preset. What cmake prints of its error, or nothing where it succeeds."""
    done = subprocess.run(["cmake", "--preset", name, "-B", folder, *settings], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "" if done.returncode == 0 else done.stdout[done.stdout.find("CMake Error"):]


def configure_all():
    failed = []
    for preset in presets():
        compiler = preset["cacheVariables"].get("CMAKE_CXX_COMPILER", "c++")
        if shutil.which(compiler) is None:
            print(f"{preset['name']}: not tried, since there is no {compiler}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            if wrong := configured(preset["name"], folder):
                failed.append(preset["name"])
                print(f"{preset['name']}: {wrong[:1500]}")
    return failed


def build_release():
    # Not -O0: there the precompiled header keeps a pragma of fmt's, under which a header of Eigen's does not compile.
    with tempfile.TemporaryDirectory() as folder:
        if wrong := configured("release", folder, "-DCMAKE_CXX_FLAGS_RELEASE=-Og -w"):
            return [wrong]
        done = subprocess.run(["cmake", "--build", folder, "--target", "nustream", "-j2"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 0:
            done = subprocess.run([f"{folder}/nustream", "--version"], text=True, stdout=subprocess.PIPE)
        return [] if done.returncode == 0 else [done.stdout[-3000:]]


failed = build_release() if "--build" in sys.argv[2:] else configure_all()
for what in failed:
    print("failed:", what)
sys.exit(1 if failed else 0)
