"""Times contenders in turns, round by round, so that a change of clock frequency hits all of them alike."""

import statistics
import time


class Case:
    """`run` is called once in each round and returns {name: nanoseconds per item}, for one contender or for several
    that one program times itself. `about` goes into the results as it is: {name: {"peer": …, "private": …, "note": …}}."""

    def __init__(self, run, about):
        self.run = run
        self.about = about


def timed(name, items, work, **about):
    """Makes a case whose call of `work` does `items` pieces of work."""

    def run():
        begin = time.perf_counter_ns()
        work()
        return {name: (time.perf_counter_ns() - begin) / items}

    return Case(run, {name: about})


def measure(cases, rounds, baseline):
    """Returns rows of {"name", "nanoseconds_min", "nanoseconds_median", "ratio_min", "ratio_median", …about}. Ratios
    are the time of a contender over that of `baseline`. One more round warms up (compilation, page cache) and is not
    counted."""
    samples = {}
    for turn in range(rounds + 1):
        for case in cases:
            for name, nanoseconds in case.run().items():
                if turn > 0:
                    samples.setdefault(name, []).append(nanoseconds)
    about = {name: told for case in cases for name, told in case.about.items()}
    smallest, middle = min(samples[baseline]), statistics.median(samples[baseline])
    return [{"name": name, **about[name], "nanoseconds_min": min(taken), "nanoseconds_median": statistics.median(taken),
             "ratio_min": min(taken) / smallest, "ratio_median": statistics.median(taken) / middle}
            for name, taken in samples.items()]
