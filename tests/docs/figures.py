"""Checks the figures that pages copy from docs/results by hand. It can be run alone: figures.py ROOT NUSTREAM starts no
program.

A figure is a page, a piece of its text with {} in the place of each number, a result, and the values that belong in these
places. A number is right if it is within half a unit of the last digit that the page gives; {~3} has three significant digits, and {*} is
text."""

import json
import re
import sys
from decimal import ROUND_HALF_UP, Decimal

from pages import count, mistake, mistakes, root
from results import (NUMBER, Missing, bar, bars, case, figure, least, most, per, plain, ratio, times, timing, total)

RESULTS, RELIABILITY = "docs/results.md", "docs/reliability.md"

# Kills, histories and long runs.

def kills(*names):
    return [case(name, "kills") for name in names]


def quarters(what):
    return [figure(f"{what}, {quarter} quarter") for quarter in ("second", "last")]


def recovery(of, kinds):
    return [times(".001", case("", f"{of}_milliseconds_{kind}")) for kind in kinds]


HISTORIES = "HistoriesUnderFaults"
CUT = "network_mended_milliseconds_max"
FIGURES = [
    (RELIABILITY, "{} kills under {} seeds", "reliability_kills", [plain("kills"), plain("seeds")]),
    (RELIABILITY, "if it does so that often ({} kills); {} kills at random moments; 60 folders under "
     "real keys with {} kills", "kills", kills("AtEveryNamedPlace", "AtRandomMoments", "UnderARealKey")),
    (RELIABILITY, "the journal alone, with {} kills at its places and {} at random moments", "kills_journal",
     kills("AtEveryNamedPlace", "AtRandomMoments")),
    (RELIABILITY, "reports of local privacy, with {} at random moments", "kills_local", kills("AtRandomMoments")),
    (RELIABILITY, "in three lives each ({} kills), and {} times at random moments, four times a folder", "kills_witness",
     kills("AtEveryNamedPlace", "AtRandomMoments")),
    (RELIABILITY, "{} histories with {} crashes and {} power failures", "simulation",
     [case(HISTORIES, key) for key in ("histories", "folder_a_crash", "folder_a_power_failure")]),
    (RELIABILITY, "{} records through a pipe. It had {} MiB resident in the second quarter of the run", "memory",
     [plain("records"), times(1 / 1024, plain("resident_kib", "second_quarter_max"))]),
    (RESULTS, "{} records through a pipe: {} MiB resident", "memory",
     [plain("records"), times(1 / 1024, plain("resident_kib", "last_quarter_max"))]),
    (RELIABILITY, "| resident, largest | {} MiB | {} MiB |", "reliability_hours", quarters("resident")),
    (RELIABILITY, "| open descriptors, most | {} | {} |", "reliability_hours", quarters("descriptors")),
    (RELIABILITY, "| the lane's sealed state | {} bytes | {} bytes |", "reliability_hours", quarters("state")),
    (RELIABILITY, "{} records took one step each. The number of waiting records was read every five seconds and was never "
     "above {}:", "reliability_hours",
     [figure("records"), figure("lag, largest of the samples")]),
    (RELIABILITY, "The service used {}% of a core", "reliability_hours", [times(100, figure("processor"))]),
    (RELIABILITY, "each boundary of a transaction ({}), and at random moments under a real key ({})", "attach_kills",
     kills("AtEveryBoundary", "AtRandomMoments")),
    (RELIABILITY, "lanes moving there and back in {} of {} rounds; in groups of three instances, {} instances killed or ended",
     "attach_disturbances",
     [case("TwoInstances", "rounds_in_which_lanes_moved_there_and_back"), case("TwoInstances", "rounds"),
      case("ThreeInstances", "instances_ended")]),
    (RELIABILITY, "| the broker killed {} times;", "attach_disturbances", [case("ABrokerKilled", "broker_kills")]),
    (RELIABILITY, "| the network cut for {} s | publishing again {} and {} s after it was mended | {} s |",
     "attach_disturbances",
     [case("ANetworkThatIsCut", "seconds_cut"), times(".001", case("ANetworkThatIsCut", CUT)),
      times(".001", case("ANetworkThatIsCut", CUT, max)), *recovery("network_mended", ["bar"])]),
    (RELIABILITY, "publishing again after {} s (median of {}), {} s (worst) | {} s |\n| the broker", "attach_recovery",
     [*recovery("service_restarted", ["median"]), case("", "service_restarted_count"),
      *recovery("service_restarted", ["max", "bar"])]),
    (RELIABILITY, "killed and ready again | publishing again after {} s (median of {}), {} s (worst) | {} s |",
     "attach_recovery",
     [*recovery("broker_ready", ["median"]), case("", "broker_ready_count"),
      *recovery("broker_ready", ["max", "bar"])]),
]

# Errors and noise.

FIGURES += [
    (RESULTS, f"| {correlation} | {rho} | {{}} ({{}}) | {{}} ({{}}) |", "retail_privacy_error",
     [plain("rows", at, key) for key in ("last", "last_se", "average", "average_se")])
    for at, (correlation, rho) in enumerate((("independent", .01), ("rational ν = 0.002", .01),
                                             ("rational ν = 0.002", 1)))]
FIGURES += [
    (RESULTS, "(or `build/test/benchmarks/retail_privacy_error {}`): {} keys each", "retail_privacy_error",
     [plain("runs"), plain("runs")]),
    (RESULTS, "The noise-off run itself ends {} from least squares", "retail_privacy_error",
     [plain("noise_off", "distance_to_least_squares")])]
FIGURES += [
    (RESULTS, f"| {eta} | {{}} ({{}}) | {{}} |", "mean_variance_ratio",
     [plain("rows", at, key) for key in ("ratio", "standard_error", "theory")])
    for at, eta in enumerate((.5, .1, .02))]


def fit(at, family):
    def of(key):
        def value(result):
            return next(each[key] for each in result["prefix_sums"][at]["fits"] if each["family"] == family)
        return value
    return [of("loss"), of("seconds")]


def optimised(at, error, steps):
    dense = [] if steps == "10,000" else fit(at, "dense")
    return (RESULTS, f"| {error}, {steps} | {{}} | {{}} | {{}} ({{}}) | {{}} ({{}}) | {{}} ({{}}) |"
            + (" {} ({}) | {} |" if dense else " | {} |"), "optimised_correlations",
            [plain("prefix_sums", at, "independent"), plain("prefix_sums", at, "nu_0"), *fit(at, "toeplitz"),
             *fit(at, "toeplitz, 64 bands"), *fit(at, "rational, 5 poles"), *dense, plain("prefix_sums", at, "least")])


FIGURES += [optimised(at, error, steps) for at, (error, steps) in enumerate(
    (error, steps) for error in ("max", "mean") for steps in ("100", "1,000", "10,000"))]
FIGURES += [
    (RESULTS, f"| {condition} | {{}}% | {{}}% | {{}}% |", "optimised_correlations",
     [plain("theorem_3_1", at, key) for key in ("percent_below_nu", "percent_with_4_poles", "paper")])
    for at, condition in enumerate((10, 30, 100, 300))]


def over_claimed(name, correlation):
    """The case with this correlation. The rational one is the default, so the settings of its case name none."""
    holding = r"^(?!.*correlation)" if correlation == "rational" else rf"correlation = \W*{correlation}\W"
    return case(name, "sigma_over_claimed", holding=holding)


SHORT, LONG = "OfAKnownStream", "AreIndependentFromBlockToBlock"
PLAYED = ("rational", "independent", "nu", "windowed")
FIGURES += [
    (RESULTS, "{} residuals of each of five correlations (256 steps, three coordinates, two lanes and two epochs under "
     "each of {} keys", "residuals",
     [case(SHORT, "residuals"), times(1 / (256 * 3 * 2 * 2), case(SHORT, "residuals"))]),
    (RESULTS, "with a standard error of {} ", "residuals",
     [lambda result: (2 * case(SHORT, "residuals")(result)) ** Decimal("-.5")]),
    (RESULTS, "| games of 256 steps | {} | {} | {} | {} | {} |", "residuals",
     [*(over_claimed(SHORT, correlation) for correlation in PLAYED),
      case(SHORT, "sigma_over_claimed", suite="TreeResiduals")]),
    (RESULTS, "| games of three blocks of noise (12,288 steps, {} keys) | {} | {} | {} | {} | |", "residuals",
     [times(1 / (12288 * 3 * 2 * 2), case(LONG, "residuals")),
      *(over_claimed(LONG, correlation) for correlation in PLAYED)]),
    (RESULTS, "through the real command under a fresh key: {} residuals", "residuals",
     [case("AreThoseOfItsClaim", "residuals")]),
]

IN_MEMORY, BROKER, DISK = (f"NeighboursShowTheSame{where}" for where in
                           ("AtNoMoreThan", "UnderFaultsOfTheBroker", "UnderFaultsOfTheDisk"))
UNSHIFTED = "of_those_that_showed_the_record_without_the_shift"
FIGURES += [
    (RESULTS, "(`results/coupling.json`): {} pairs of streams that differ in one record", "coupling",
     [case(IN_MEMORY, "pairs")]),
    (RESULTS, "die at moments of their own, {} million times in all", "coupling",
     [times("1e-6", case(IN_MEMORY, "processes_that_died"))]),
    (RESULTS, "(largest share {})", "coupling", [case(IN_MEMORY, "largest_share_of_the_claimed_sensitivity")]),
    (RESULTS, "The record moved a gradient in {} of them; {} took part several times, {} in several stages ({} with "
     "second moments), {} differ in a private target alone. Where the shift was left out, {} of {} showed the record.",
     "coupling",
     [case(IN_MEMORY, key) for key in ("pairs_that_differ", "pairs_of_several_passes", "pairs_of_several_stages",
                                       "pairs_with_second_moments", "pairs_that_differ_in_a_private_target",
                                       "of_those_that_showed_the_record", "compared_without_the_shift")]),
    (RESULTS, "{} pairs more under faults of the broker and {} under those of the disk", "coupling",
     [case(BROKER, "pairs"), case(DISK, "pairs")]),
    (RESULTS, "without the shift {} of {} and {} of {} showed it", "coupling",
     [case(where, key) for where in (BROKER, DISK) for key in (UNSHIFTED, "pairs_that_differ")]),
    (RESULTS, "`./test --campaign aarch64`: {} words", "aarch64", [plain("words")]),
]

# Speed.

SIZES = (10, 128, 1000)
INDEPENDENT = [timing(f"independent, d = {d}") for d in (1, *SIZES)]
STANDARD = timing("mt19937_64 and normal_distribution")
OVER = "rational over independent"


FIGURES += [
    (RESULTS, "`./test --campaign benchmarks`, one core of an {*} with AVX-512", "benchmark_noise",
     [plain("machine", "cpu")]),
    (RESULTS, "| keyed Gaussian, d = 1 / 10 / 128 / 1000 | {} / {} / {} / {} |", "benchmark_noise", INDEPENDENT),
    (RESULTS, "| mt19937_64 with std::normal_distribution | {} ({} to {} times slower;", "benchmark_noise",
     [STANDARD, per(STANDARD, most(*INDEPENDENT)), per(STANDARD, least(*INDEPENDENT))]),
    (RESULTS, "| rational m = 6 over independent, d = 10 / 128 / 1000 | ×{} / ×{} / ×{} (promised: {}) |",
     "benchmark_noise",
     [*(ratio(f"{OVER}, d = {d}") for d in SIZES), bars(ratio, *(f"{OVER}, d = {d}" for d in SIZES))]),
    (RESULTS, "| the same from step 1e7 | ×{} / ×{} / ×{} |", "benchmark_noise",
     [ratio(f"{OVER} from step 1e7, d = {d}") for d in SIZES]),
    (RESULTS, "| d = 1 | ×{} |", "benchmark_noise", [ratio(f"{OVER}, d = 1")]),
    (RESULTS, "| plain SGD / with a clip | {} / {} |", "benchmark_descent",
     [timing("plain, d = 10"), timing("clipped, d = 10")]),
    (RESULTS, "| the lane: clip, grid, ready noise | {} |", "benchmark_descent", [timing("lane, d = 10")]),
    (RESULTS, "| the lane in minibatches of 32, per record | {} |", "benchmark_descent",
     [timing("lane, minibatches of 32, d = 10")]),
    (RESULTS, "| std::from_chars alone | {} |", "benchmark_replay", [timing("from_chars alone")]),
    (RESULTS, "| the reader (framing, fields, exact numbers, rows) | {} |", "benchmark_replay", [timing("reader")]),
    (RESULTS, "| plain SGD over the reader | {} |", "benchmark_replay", [timing("plain SGD over the reader")]),
    (RESULTS, "commits | {}: {} million records a second, ×{} of plain SGD (promised: {}) |", "benchmark_replay",
     [timing("private replay"), lambda result: 1000 / timing("private replay")(result),
      ratio("private replay over plain SGD"), bar(ratio, "private replay over plain SGD")]),
    (RESULTS, "A commit with an outbox of 500 bytes takes {} ms where the bare system calls take {} ",
     "benchmark_journal",
     [times("1e-6", timing(f"{calls}, outbox of 500 B")) for calls in ("commit", "bare calls")]),
    (RESULTS, "| DP-GD, p = 10 | ×{} (promised: {}) |", "benchmark_full_batch",
     [ratio("DP-GD over plain"), bar(ratio, "DP-GD over plain")]),
    (RESULTS, "| DP-2S-GD, 10 instruments, 1 / 10 endogenous regressors | ×{} / ×{} (promised: {}) |",
     "benchmark_full_batch",
     [*(ratio(f"DP-2S-GD over plain, regressors: {number}") for number in (1, 10)),
      bars(ratio, *(f"DP-2S-GD over plain, regressors: {number}" for number in (1, 10)))]),
    (RESULTS, "×{} of the time of the readers that call zlib and libzstd themselves for\ngzip, ×{} for zstd, ×{} for bzip2 "
     "and ×{} for xz", "benchmark_archives",
     [ratio(f"libarchive over own, {kind}") for kind in ("gzip", "zstd", "bzip2", "xz")]),
    (RESULTS, "{} s for packages, {} s to build, {} s to replay; once more: {} s in all", "first_run",
     [*(plain("first", part) for part in ("packages", "build", "replay")), total("again")]),
    ("README.md", "time: packages {} s, build {} s, replay {} s", "first_run",
     [plain("first", part) for part in ("packages", "build", "replay")]),
]

# An attached service.

CONSUME = "consume, decode and step over bare consume"
BATCHES = (1, 100, 1000, 10000, 50000)
RATE = "attach over the bare loop, {} a batch"
ECHO, AS_MANY = "echo of releases alone", "echo of as many bytes as attach"


def latencies(milliseconds):
    def at(what):
        return [figure(f"{what}, batches of {milliseconds} ms, {share}") for share in ("p50", "p99")]
    return [*at(ECHO), *at(AS_MANY), *at("attach"), *at(f"attach less {ECHO}")]


FULL, LOAD, STEADY = "attach, its queue full", "attach under load", "attach at 1,000 records a second"
FIGURES += [
    (RESULTS, "take {} ns a record where a bare consume loop takes {}, ×{} (promised: {}); in memory, decode and step "
     "take {}.", "benchmark_attach_consume",
     [timing("consume, decode, step"), timing("bare consume"), ratio(CONSUME), bar(ratio, CONSUME),
      timing("decode, step")]),
    (RESULTS, "| attach, ns a record | {~2} | {~3} | {~3} | {~3} | {~3} |", "benchmark_attach_exactly_once",
     [timing(f"attach, {batch} a batch") for batch in BATCHES]),
    (RESULTS, "| over the bare loop | ×{} | ×{} | ×{} | ×{} (promised: {}) | ×{} |",
     "benchmark_attach_exactly_once",
     [*(ratio(RATE.format(batch)) for batch in BATCHES[:4]), bar(ratio, RATE.format(10000)),
      ratio(RATE.format(50000))]),
    (RESULTS, "| 20 ms | {} / {} | {} / {} | {} / {} | {} / {} |", "benchmark_attach_latency", latencies(20)),
    (RESULTS, "| 5 ms, shorter than one transaction | {} / {} | {} / {} | {} / {} | {} / {} |",
     "benchmark_attach_latency", latencies(5)),
    (RESULTS, "with as many bytes as attach writes, the difference is {}.", "benchmark_attach_latency",
     [figure(f"attach less {AS_MANY}, batches of 5 ms, p50")]),
    (RESULTS, "resident, second quarter / last quarter | {} / {} MiB |\n| catching up at {} million records a second: "
     "largest resident; processor | {} MiB; {} cores, {} ns a record |", "benchmark_attach_memory",
     [*quarters(f"{FULL}: resident"), times("1e-6", figure(f"{LOAD}: rate")), figure(f"{LOAD}: resident, largest"),
      figure(f"{LOAD}: processor"), figure(f"{LOAD}: processor time")]),
    (RESULTS, "| behind once it has caught up | {} records |", "benchmark_attach_memory",
     [figure("attach, lag when it has caught up")]),
    (RESULTS, "| idle | {}% of a core (promised: {}%) |", "benchmark_attach_memory",
     [times(100, figure("attach idle: processor")), times(100, bar(figure, "attach idle: processor"))]),
    (RESULTS, "| at 1,000 records a second | {}% of a core; ", "benchmark_attach_memory",
     [times(100, figure(f"{STEADY}: processor"))]),
    (RESULTS, "| `nustream record` of the same topic: resident, second quarter / last quarter | {} / {} MiB |",
     "benchmark_attach_memory", quarters("record: resident")),
]


def unit_of(said, digits):
    """The unit of the last digit that counts."""
    number = Decimal(said.replace(",", ""))
    if digits and number:
        return Decimal(1).scaleb(number.adjusted() - digits + 1)
    return Decimal(1).scaleb(min(number.as_tuple().exponent, 0))


def as_said(value, said, unit):
    """The value in the page's own way of writing it."""
    number = (value / unit).quantize(Decimal(1), ROUND_HALF_UP) * unit
    if "e" in said:
        return re.sub(r"\.?0*e\+?", "e", f"{number:.6e}") if number else "0"
    text = f"{number:,f}"
    return text[1:] if said.startswith(".") and text.startswith("0.") else text


def wanted(value, said, kind):
    """None where the page is right, else what it should say."""
    if kind == "*":
        return None if said == value else value
    number, unit = Decimal(value), unit_of(said, int(kind.strip("~") or 0))
    right = abs(Decimal(said.replace(",", "")) - number) * 2 <= unit
    return None if right else f"{as_said(number, said, unit)} ({number:.8g})"


def check_figure(page, text, form, name, values):
    kinds = re.findall(r"\{([~\d*]*)\}", form)
    parts = [re.escape(part) for part in re.split(r"\{[~\d*]*\}", form)]
    numbers = [r"(.+?)" if kind == "*" else NUMBER for kind in kinds]
    pattern = "".join(part + number for part, number in zip(parts, [*numbers, ""]))
    found = list(re.finditer(r"(?<![\d.,])" + re.sub(r"(?:\\[ \n])+", r"\\s+", pattern), text))
    if len(found) != 1:
        return mistake(page, f"in {len(found)} places, not in one, is said of docs/results/{name}.json: {form}")
    for at, (value, kind) in enumerate(zip(values, kinds, strict=True), 1):
        count("figures")
        said = found[0][at]
        if right := wanted(value, said, kind):
            line = text.count("\n", 0, found[0].start(at)) + 1
            mistake(f"{page}:{line}", f"it says {said}; docs/results/{name}.json has {right}: number {at} of: {form}")


def check_figures():
    for page, form, name, kinds in FIGURES:
        path = root / f"docs/results/{name}.json"
        if not path.exists():
            continue  # campaigns.py says so, where it has to be there
        result = json.loads(path.read_text(), parse_float=Decimal, parse_int=Decimal)
        try:
            values = [kind(result) for kind in kinds]
        except (Missing, KeyError, IndexError, StopIteration) as missing:
            mistake(f"docs/results/{name}.json", f"it lacks {missing}, of which {page} says: {form}")
            continue
        check_figure(page, (root / page).read_text(), form, name, values)


if __name__ == "__main__":
    check_figures()
    print("\n".join(mistakes), file=sys.stderr)
    sys.exit(1 if mistakes else 0)
