"""Values in the results of campaigns: functions of what a file of docs/results holds, numbers as Decimal."""

import re
from decimal import Decimal

NUMBER = r"((?:\d[\d,]*)?\.?\d+(?:e-?\d+)?)"


class Missing(Exception):
    pass


def plain(*keys):
    """A value by its keys."""
    def of(result):
        for key in keys:
            result = result[key]
        return result
    return of


def case(name, key, choose=min, holding="", suite=""):
    """The property `key` of GoogleTest cases whose name begins with `name`, in suites with `suite` in their name, with a
    parameter that matches `holding`; of several values the one that `choose` takes."""
    def of(result):
        found = [Decimal(each[key]) for cases in result["testsuites"] if suite in cases["name"]
                 for each in cases["testsuite"] if each["name"].startswith(name) and key in each
                 and re.search(holding, each.get("value_param", ""))]
        if not found:
            raise Missing(f"{key} of {name}")
        return choose(found)
    return of


def timing(name, key="nanoseconds_min"):
    return named("timings", name, key)


def ratio(name, key="min"):
    return named("ratios", name, key)


def figure(name, key="value"):
    return named("figures", name, key)


def bar(kind, name):
    """The number in the bar of a timing, ratio or figure: what is promised of it."""
    return lambda result: Decimal(re.search(NUMBER, kind(name, "bar")(result))[1])


def named(kind, name, key):
    def of(result):
        for each in result[kind]:
            if each["name"] == name:
                return each[key]
        raise Missing(f"{name} among {kind}")
    return of


def bars(kind, *names):
    """The strictest of several bars: the page gives a single promise, which has to hold for each."""
    return least(*(bar(kind, name) for name in names))


def times(factor, value):
    return lambda result: Decimal(str(factor)) * value(result)


def per(value, divisor):
    return lambda result: value(result) / divisor(result)


def most(*values):
    return lambda result: max(value(result) for value in values)


def least(*values):
    return lambda result: min(value(result) for value in values)


def total(key):
    return lambda result: sum(result[key].values())
