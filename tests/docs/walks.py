"""Runs the commands of whole pages, as somebody types them."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from pages import blocks, count, mistake, nustream, program, root


def run_pages_of_one_stream():
    """Runs the commands of README's part about a stream of one's own."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(root / "examples/retail/online_retail_events.csv.gz", folder)
        config = (root / "examples/retail/retail.toml").read_text()
        config = config.replace('name = "retail"', 'name = "mine"').replace("runs/retail", "runs/mine")
        Path(folder, "mine.toml").write_text(config)
        lines = [line for text in blocks(root / "README.md", "") for line in text.splitlines() if "mine" in line
                 and line.startswith("./run ")]
        if len(lines) < 4:
            mistake("README.md", "the commands for an own stream are not found")
        for line in lines:
            words = shlex.split(line, comments=True)[1:]
            if words[0] == "replay":
                words += ["--to", "20000"]
            result = nustream(words, folder)
            count("commands that were run")
            if result.returncode != 0:
                mistake("README.md", f"{line} ended with {result.returncode}: {result.stderr.strip()}")


def run_line(page, line, name, folder):
    """A line of the shell, with the program in the place of `name`."""
    result = subprocess.run(line.replace(name, shlex.quote(program), 1), shell=True, cwd=folder, capture_output=True,
                            text=True, timeout=120)
    count("commands that were run")
    if result.returncode != 0:
        mistake(page, f"{line} ended with {result.returncode}: {result.stderr.strip()}")


def run_local_page():
    page = root / "docs/local.md"
    config = next(text for text in blocks(page, "toml") if "[stream]" in text)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "survey.toml").write_text(config)
        Path(folder, "my-record.csv").write_text("user,age,income,bought\nu1,50,31000,1\n")
        Path(folder, "public.csv").write_text("user,age,income,bought\n" + "".join(
            f"p{i},{30 + i % 40},{20000 + 900 * (i % 37)},\n" for i in range(200)))
        lines = [line for text in blocks(page, "") for line in text.splitlines() if line.startswith("nustream ")]
        for line in lines:
            run_line("docs/local.md", line.partition("#")[0].strip(), "nustream", folder)


def run_deployment_page():
    """The page's first block makes what Compose mounts, and files that it hands to Docker have to exist."""
    page = root / "docs/deployment.md"
    *made, last = next(blocks(page, ""), "").strip().splitlines()
    for file in re.findall(r"docker \S+(?: \S+)*? -f (\S+)", page.read_text()):
        count("paths")
        if not (root / file).is_file():
            mistake("docs/deployment.md", f"{file} is not there")
    if not last.startswith("docker compose "):
        mistake("docs/deployment.md", f"ends with {last}")
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(Path(folder, "docker"))
        for line in made:
            run_line("docs/deployment.md", line, "./run", folder)
        for secret in ("key", "operator_token", "grafana_password"):
            file = Path(folder, "docker/secrets", secret)
            if not file.is_file() or file.stat().st_size != 32 or file.stat().st_mode & 0o077:
                mistake("docs/deployment.md", f"does not make docker/secrets/{secret} of 32 bytes for its owner alone")
        user = Path(folder, "docker/.env")
        if not user.is_file() or not re.fullmatch(r"NUSTREAM_USER=\d+:\d+\n", user.read_text()):
            mistake("docs/deployment.md", "does not make docker/.env")
