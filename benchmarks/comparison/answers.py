"""The answer of a stream: the parameters that it was made from, or the fit without privacy over all of its rows."""


def of(stream, names):
    """The answer as {parameter: value}, or None where real data have to be fitted and numpy is not installed."""
    if stream.answer is not None:
        return dict(zip(names, stream.answer))
    try:
        import numpy
    except ImportError:
        return None
    return dict(zip(names, fit(numpy, stream, True)))


def fit(numpy, stream, intercept):
    """The fit of all rows without privacy; the intercept comes first where there is one."""
    table = numpy.array(stream.rows, dtype=float)
    x, y = table[:, :-1], table[:, -1]
    if intercept:
        x = numpy.column_stack([numpy.ones(len(table)), x])
    theta = newton(numpy, x, y) if stream.loss == "logistic" else numpy.linalg.lstsq(x, y, rcond=None)[0]
    return theta.tolist()


def newton(numpy, x, y):
    """Fits a logistic regression by Newton's method, to the last bits."""
    theta = numpy.zeros(x.shape[1])
    for _ in range(50):
        chance = 1 / (1 + numpy.exp(-x @ theta))
        step = numpy.linalg.solve(x.T @ (x * (chance * (1 - chance))[:, None]), x.T @ (chance - y))
        theta -= step
        if numpy.abs(step).max() < 1e-12:
            return theta
    raise ArithmeticError("Newton's method did not end")
