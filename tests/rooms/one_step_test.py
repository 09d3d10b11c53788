#!/usr/bin/env python3
"""No source clips or adds noise beside private_step.h, and one_step.py would find one that did."""
import pathlib
import shutil
import sys
import tempfile

import one_step

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Each has a file and lines that it must not have.
WRONG = [
    ("src/moments/batch_sums.cpp", "scaled.residuals[endogenous] = std::clamp(error, -1.0, 1.0);"),
    ("src/moments/batch_sums.cpp", "if (squares < infinity) return 1 / std::sqrt(squares);"),
    ("src/moments/running_sums.cpp", "const Wide noisy = of.noised ? sums[j] + added[j] : sums[j];"),
    ("src/descent/clipped_count.cpp", "for (const std::int64_t units : noise) behind_ += units;"),
    ("src/descent/loop.cpp", "sum[j] += noise[j];"),
    ("src/ranges/histogram.cpp", "counts_.push_back(static_cast<double>(counts.counts_[i] * units + added) * spacing);"),
    ("src/ranges/scores.cpp", "const double counts = std::min({1.0, bound / squares, bounds_.curvature / heavy});"),
    ("src/ranges/scores.cpp", "values.push_back(static_cast<double>(block.sums[i] + WideUnits{noise[i]}) * spacing);"),
    ("src/users/contribution.cpp", "const double share = charged.allowed < norm ? charged.allowed / norm : 1;"),
    ("src/lane/lane.cpp", "const double factor = std::min(1.0, clip / norm);"),
    ("streaming/engine/stepper.cpp", "if (norm > clip) gradient *= clip / norm;"),
    ("streaming/fit/fit.cpp", "total = total + static_cast<Wide>(draw.noise[i]);"),
]


def main():
    failures = list(one_step.strangers(ROOT))
    for file, line in WRONG:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / file
            copy.parent.mkdir(parents=True)
            shutil.copy(ROOT / file, copy)
            with copy.open("a") as out:
                out.write(line + "\n")
            if not any(message.startswith(file + ":") for message in one_step.strangers(folder)):
                failures.append(f"{file} with {line}: not found to be wrong")
    for line in failures:
        print(line)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
