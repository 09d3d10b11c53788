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
    """A property of a GoogleTest's case: of one whose name begins so, whose parameter holds so, in such a suite."""
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
    """The number in what is promised of it."""
    return lambda result: Decimal(re.search(NUMBER, kind(name, "bar")(result))[1])


def named(kind, name, key):
    def of(result):
        for each in result[kind]:
            if each["name"] == name:
                return each[key]
        raise Missing(f"{name} among {kind}")
    return of


def bars(kind, *names):
    """What stands on the page once for several has to be promised of each: of the strictest."""
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
