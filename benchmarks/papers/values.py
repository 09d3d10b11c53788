"""Figures of docs/results in the texts of docs/reproduction: what a reference stands for, and how it is written.

A text holds references in braces: {FILE/KEY/KEY|FORM}. FILE is a file of docs/results without ".json". A KEY is a key
of an object or an index of a list; [KEY=VALUE], with ";" between several, is the element of a list that has these
values (of a list of lists by index: [0=100]). FORM is one of

    .3      three decimals, without the 0 before the point
    ~3      three significant digits
    %.1     hundredfold, one decimal
    .3 se   value (standard error): of {"mean" or "median", "standard_error"} or of a point [x, y, standard error]

and after the path one of these may be asked for, of a list of points: `slope` (of log y over log x), `least`, `least at`
(its x); and `slope of NAME over X`, of a list of objects such as {X: …, NAME: {"mean": …, "standard_error": …}}. Under
the form `.2 se` a slope has a standard error, by the delta method from those of its points (slope_error). {A ÷ B|FORM}
is a quotient. {z of FILE, FILE|FORM} is the largest distance of a point of a series "…, simulated" from the point of the
series "…, exact", in the former's standard errors."""

import json
import math
import re
from decimal import ROUND_HALF_UP, Decimal

from .closed_forms import log_slope


class Unknown(Exception):
    """Raised for a reference that stands for nothing."""


class Results:
    def __init__(self, folder):
        self.folder, self.read, self.used = folder, {}, set()

    def of(self, name):
        if name not in self.read:
            path = self.folder / f"{name}.json"
            if not path.exists():
                raise Unknown(f"there is no docs/results/{name}.json")
            self.read[name] = json.loads(path.read_text())
        self.used.add(name)
        return self.read[name]


def matches(element, conditions):
    for condition in conditions.split(";"):
        key, _, wanted = condition.strip().partition("=")
        index = int(key) if isinstance(element, list) else key
        try:
            found = element[index]
        except (KeyError, IndexError):
            return False
        if found != wanted and not (isinstance(found, (int, float)) and found == number(wanted)):
            return False
    return True


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def at(value, path):
    for selected, key in re.findall(r"\[([^\]]*)\]|([^/\[\]]+)", path):
        if selected:
            found = [element for element in value if matches(element, selected)]
            if len(found) != 1:
                raise Unknown(f"{len(found)} elements have {selected} in {path}")
            value = found[0]
            continue
        try:
            value = value[int(key) if isinstance(value, list) else key]
        except (KeyError, IndexError, ValueError, TypeError):
            raise Unknown(f"there is no {key} in {path}") from None
    return value


def slope_error(points):
    """The standard error of log_slope by the delta method. The slope is Σ w_i log y_i with w_i = (log x_i − their
    mean)/Σ(log x_i − their mean)², and log y_i has the standard error s_i/y_i. The points are taken to be independent
    of each other. Where they share draws that move all of them the same way, the slope's own error is smaller."""
    logs = [math.log(point[0]) for point in points]
    middle = sum(logs) / len(logs)
    spread = sum((x - middle) ** 2 for x in logs)
    return math.sqrt(sum(((x - middle) / spread * point[2] / point[1]) ** 2 for x, point in zip(logs, points)))


def asked_of(points, what):
    if what.startswith("slope of "):
        name, _, x = what.removeprefix("slope of ").partition(" over ")
        return asked_of([[each[x], each[name]["mean"], each[name]["standard_error"]] for each in points], "slope")
    pairs = [(point[0], point[1]) for point in points]
    if what == "slope":
        has_errors = all(len(point) > 2 for point in points)
        return {"mean": log_slope(pairs), "standard_error": slope_error(points)} if has_errors else log_slope(pairs)
    best = min(pairs, key=lambda pair: pair[1])
    return {"least": best[1], "least at": best[0]}[what]


def value_of(results, reference):
    """The value at one path, or what is asked of the points there."""
    path, _, asked = reference.partition("|")
    name, _, rest = path.strip().partition("/")
    found = at(results.of(name), rest)
    return asked_of(found, asked.strip()) if asked else found


def largest_z(results, names):
    """The largest distance of a simulated point from the exact one, in its standard errors."""
    furthest = 0
    for name in names:
        series = {each["series"]: each["points"] for each in results.of(name)["series"]}
        for title, points in series.items():
            if title.endswith(", simulated"):
                exact = series[title.replace("simulated", "exact")]
                furthest = max(furthest, *(abs(a[1] - b[1]) / a[2] for a, b in zip(points, exact, strict=True)))
    return furthest


def combined(results, expression):
    if expression.startswith("z of "):
        return largest_z(results, expression.removeprefix("z of ").split(", "))
    parts = [value_of(results, part) for part in expression.split(" ÷ ")]
    return parts[0] / parts[1] if len(parts) == 2 else parts[0]


def decimals(value, digits):
    """The value with `digits` decimals. Halves are rounded up, as in the results."""
    rounded = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return re.sub(r"^(-?)0\.", r"\1.", f"{rounded or abs(rounded):,f}").replace("-", "−")


def significant(value, digits):
    if not value:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    if -7 < exponent < 7:
        return decimals(value, digits - 1 - exponent)
    return re.sub(r"e(-?)\+?0*", lambda sign: f"e{sign[1]}", f"{value:.{digits - 1}e}")


def with_error(value, form):
    if isinstance(value, list):
        middle, error = value[1], value[2]
    else:
        middle, error = value.get("mean", value.get("median")), value["standard_error"]
    return f"{formed(middle, form)} ({significant(100 * error if form.startswith('%') else error, 2)})"


def formed(value, form):
    if form.endswith(" se"):
        return with_error(value, form.removesuffix(" se"))
    if isinstance(value, dict) and "mean" in value:
        value = value["mean"]
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Unknown(f"{value!r} is no number")
    if form.startswith("%"):
        return formed(float(100 * Decimal(str(value))), form[1:])
    if form[0] == "~":
        return significant(value, int(form[1:]))
    return decimals(value, int(form[1:]))


def filled(results, text):
    """The text with its figures in their places."""
    def one(found):
        expression, _, form = found[1].rpartition("|")
        if not expression:
            raise Unknown(f"{{{found[1]}}} has no form")
        return formed(combined(results, expression), form.strip())
    return re.sub(r"\{([^{}]*)\}", one, text)


def files_of(text):
    """The results that a text's references name."""
    return {name for found in re.findall(r"\{([^{}]*)\}", text) for name in re.findall(r"(?:^| ÷ )(\w+)/", found)}
