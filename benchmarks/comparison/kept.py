"""Where a comparison keeps what it measured, so that a run that was stopped goes on where it was."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def file_of(name, whole):
    """The file of JSON lines of a whole comparison. A comparison of tiny counts keeps nothing, and gets None."""
    if not whole:
        return None
    path = ROOT / "build/compare" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
