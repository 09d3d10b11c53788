"""Says what was measured, in sentences that take every number and direction from the measurements."""

import math

from .numbers import number, time_of


def listed(words):
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def times(row):
    return f"×{number(row['ratio_min'])}"


def of_replay(section):
    base = next(row for row in section["rows"] if row["name"] == section["baseline"])
    others = [f"{times(row)} for {row['name']}{'' if row['private'] else ' (no privacy)'}"
              for row in section["rows"] if row is not base]
    return f"{base['name']}, private: {time_of(base['nanoseconds_min'])} a row. Of that time: {'; '.join(others)}."


def of_dimensions(sections, what):
    """One line for each contender with its times in every dimension; all dimensions have the same contenders."""
    dimensions = [section["name"].rpartition("= ")[2] for section in sections]
    base, rows = sections[0]["baseline"], {}
    for section in sections:
        for row in section["rows"]:
            rows.setdefault(row["name"], []).append(row)
    took = ", ".join(time_of(row["nanoseconds_min"]) for row in rows.pop(base))
    others = [f"{', '.join(map(times, each))} for {name}" for name, each in rows.items()]
    return f"{what} of {base}, at d = {listed(dimensions)}: {took}. Of that time: {'; '.join(others)}."


def best_foreign(stream, kind):
    return min((row[kind] for row in stream["strategies"] if row["peer"] != "nustream"), key=lambda error: error["mean"])


def of_accuracy(streams, kind, strategy):
    """Compares our strategy with the best foreign one of each stream."""
    told, below, above = [], 0, 0
    for stream in streams:
        ours = next(row[kind] for row in stream["strategies"] if row["strategy"] == strategy)
        best = best_foreign(stream, kind)
        apart = 2 * math.hypot(ours["standard_error"], best["standard_error"])
        below += ours["mean"] < best["mean"] - apart
        above += ours["mean"] > best["mean"] + apart
        told.append(f"{stream['stream']} ×{ours['mean'] / best['mean']:.2f}")
    return (f"nustream, {strategy}: {listed(told)}; by more than two standard errors below it on {below} and above it "
            f"on {above} of {len(streams)} streams.")


def of_accounting(stream):
    pairs = [(row["sensitivity"], row["sensitivity_by_nustream"]) for row in stream["strategies"]
             if row["peer"] != "nustream"]
    largest = max(abs(theirs / ours - 1) for theirs, ours in pairs)
    return (f"The two accountings differ by at most {largest:.1g} of the sensitivity; nustream's is the larger one for "
            f"{sum(theirs < ours for theirs, ours in pairs)} of {len(pairs)} strategies.")


def accuracy_sentences(streams):
    ours = [row["strategy"] for row in streams[0]["strategies"]
            if row["peer"] == "nustream" and row["strategy"] != "independent"]
    return [f"What noise at one ρ does to the {kind}, over the same for the best of jax-privacy's strategies on the "
            f"stream:\n" + "\n".join(f"  - {of_accuracy(streams, kind, each)}" for each in ours)
            for kind in ("iterate", "average")]


def sentences(result):
    """All sentences, as the items of a list."""
    sections, streams = result["sections"], result["accuracy"]
    told = [of_replay(next(section for section in sections if section["name"] == "replay"))]
    told += [of_dimensions([section for section in sections if section["name"].startswith(kind)], what)
             for kind, what in (("step loop", "A step in memory"), ("noise", "A sample of noise"))]
    if any(row["peer"] != "nustream" for row in streams[0]["strategies"]):
        told += [*accuracy_sentences(streams), of_accounting(streams[0])]
    return told
