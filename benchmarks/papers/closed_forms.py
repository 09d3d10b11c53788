"""The papers' formulas, evaluated as the papers print them. Nothing of the library runs here, so that its own values
have something beside them that shares no code with it. `benchmarks/figures --closed-forms` writes them to
docs/results/closed_forms.json.

CDP+ is in the units of docs/reproduction.md: ρ = G = 1, and F has the ½ of its equation (8)."""

import cmath
import math
import random

from .quadrature import mean_over


def distance(nu, omega):
    """|1 − (1 − ν)e^{iω}|², in a form that keeps its digits near ω = 0."""
    return nu * nu + 4 * (1 - nu) * math.sin(omega / 2) ** 2


def spectrum_of_nu(nu):
    return lambda omega: math.sqrt(distance(nu, omega))


def white(_):
    return 1.0


def squared_sensitivity(spectrum):
    """γ_∞² (CDP+ equation 5)."""
    return mean_over(lambda omega: 1 / spectrum(omega))


def variances(spectrum, eta, eigenvalues):
    """The iterate's variance along each eigenvector, for seed noise of variance 1, without what x xᵀ multiplies in."""
    return [eta * eta * mean_over(lambda omega, rate=eta * each: spectrum(omega) / distance(rate, omega))
            for each in eigenvalues]


def linear_excess(spectrum, eta, eigenvalues):
    """The lower bound of Theorem C.18 for this correlation. It leaves out the noise that x xᵀ multiplies in."""
    sums = zip(eigenvalues, variances(spectrum, eta, eigenvalues))
    return squared_sensitivity(spectrum) / 2 * math.fsum(each * variance / 2 for each, variance in sums)


def exact_excess(spectrum, eta, eigenvalues):
    """The error with the noise that Gaussian x xᵀ multiplies in: E x xᵀMx xᵀ = 2HMH + Tr(HM)H closes the recursion."""
    rates = [eta * each for each in eigenvalues]
    fed = math.fsum(rate / (2 * (1 - rate)) for rate in rates)
    own = math.fsum((2 - rate) * each * variance / (2 * (1 - rate)) for rate, each, variance in
                    zip(rates, eigenvalues, variances(spectrum, eta, eigenvalues)))
    return squared_sensitivity(spectrum) / 2 * own / 2 / (1 - fed)


def least_excess(eta, eigenvalues):
    """The least excess of any Toeplitz correlation without the noise of x xᵀ. By the Cauchy–Schwarz inequality it is
    reached at |B|² = 1/√h (C.3)."""
    h = lambda omega: math.fsum(each / distance(eta * each, omega) for each in eigenvalues)
    return eta * eta / 4 * mean_over(lambda omega: math.sqrt(h(omega))) ** 2


def log_slope(points):
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(column) / len(logs) for column in zip(*logs))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def power_law(d, alpha):
    return [k ** -alpha for k in range(1, d + 1)]


def coefficients(nu, count):
    """β of equation (7)."""
    beta = [1.0]
    for t in range(1, count):
        beta.append(beta[-1] * (2 * t - 3) / (2 * t) * (1 - nu))
    return beta


def of_the_mean():
    """The values of figure 1, and the orders of Theorem 2.1."""
    by_eta = []
    for eta in (1e-6, 1e-4, .001, .01, .1, .5, .9, .99):
        gamma = squared_sensitivity(spectrum_of_nu(eta))
        by_eta.append({"eta": eta, "ratio": eta * (2 - eta) * gamma ** 2,
                       "over_eta": 1 / (2 - eta), "over_eta_squared_log_squared": gamma ** 2 / math.log(1 / eta) ** 2})
    eta = .1
    beta = coefficients(eta, 4000)
    covariances = [math.fsum(beta[t] * beta[t + lag] for t in range(3000)) for lag in range(6)]
    spectrum = [{"omega": name, "closed": distance(eta, omega) ** .5,
                 "of_the_coefficients": abs(sum(each * complex(math.cos(omega * t), math.sin(omega * t))
                                                for t, each in enumerate(beta))) ** 2}
                for name, omega in (("0", 0.0), ("1", 1.0), ("pi", math.pi))]
    later = [(t, -each / (1 - eta) ** t) for t, each in enumerate(beta) if t in (100, 200, 400)]
    return {"by_eta": by_eta, "coefficients": {"eta": eta, "first": beta[1:6], "later_decay": log_slope(later)},
            "covariances_of_the_noise": covariances, "spectrum": spectrum}


def of_figure_2():
    """Slopes of the lines of Theorem 2.2 over the settings of figure 2, with every constant left out."""
    def slope(settings):
        sgd = [(x, eta * len(eigenvalues)) for x, eigenvalues, eta in settings]
        bare = [(x, eta ** 2 * sum(eigenvalues)) for x, eigenvalues, eta in settings]
        logarithms = [math.log(1 / (eta * eigenvalues[-1])) ** 2 for _, eigenvalues, eta in settings]
        nu = [(x, y * logarithm) for (x, y), logarithm in zip(bare, logarithms)]
        return {"independent": log_slope(sgd), "nu": log_slope(nu), "nu, without its logarithm": log_slope(bare)}

    by_alpha = [power_law(128, alpha) for alpha in (1, .9, .8, .7, .6, .5, .4)]
    return {"dimension": slope([(d, power_law(d, 1), .02) for d in (16, 32, 64, 128, 256, 512)]),
            "effective dimension": slope([(sum(each) / each[0], each, .02) for each in by_alpha]),
            "step size": slope([(eta, power_law(128, 1), eta) for eta in (.02, .04, .08, .16)])}


def of_one_problem():
    """The values of one problem: d = 128, λ = 1/k, η = .02."""
    eigenvalues, eta = power_law(128, 1), .02
    trace = sum(eigenvalues)
    damping = math.sqrt(eta * trace / 128)
    kinds = {"independent": white, "nu = eta mu": spectrum_of_nu(eta / 128),
             "damped anti-PGD": lambda omega: distance(damping, omega)}
    radius = 3 * trace  # R² and C_kurt of Gaussian features (property C.3)
    found = {}
    for name, spectrum in kinds.items():
        linear, exact = linear_excess(spectrum, eta, eigenvalues), exact_excess(spectrum, eta, eigenvalues)
        upper = 2 * linear * (1 + 3 / (1 - eta * radius) ** 2)
        along = [(each, each * variance) for each, variance in
                 zip(eigenvalues, variances(spectrum, eta, eigenvalues))]
        found[name] = {"exact": exact, "theorem_C.18": linear, "theorem_C.15": upper,
                       "exact_over_lower": exact / linear, "exact_over_upper": exact / upper,
                       "slope_of_a_direction": log_slope(along)}
    bound = eta ** 2 * trace / 16  # Theorem C.18's last inequality, with the ½ of equation (8)
    least = least_excess(eta, eigenvalues)
    bounds = math.sqrt(eta ** 2 * trace * eta * 128)
    return {**found, "least": least, "bound_for_every_correlation": bound, "least_over_bound": least / bound,
            "squared_logarithm": math.log(128 / eta) ** 2,
            "geometric_mean_of_the_errors": math.sqrt(least * found["independent"]["exact"]),
            "geometric_mean_of_the_bounds": bounds, "damped_anti_pgd_bound": eta ** 1.5 * math.sqrt(128 * trace)}


def rate_of_table_4(a, d, eta):
    """The last column of Table 4 for λ_k = k^−a: the quotient of the two columns before it, which for a = 2 has log²
    where the table prints log³."""
    log = math.log(d / eta)
    if a == 0:
        return eta * math.log(1 / eta) ** 2
    if a < 1:
        return eta * log ** 2 / ((1 - a) * d ** a)
    return eta / d * log ** (3 if a == 1 else 2)


def of_table_4():
    """The ratio of ν-FTRL at ν = ημ to independent noise, exact, over the table's rate; η = 1e-4."""
    eta, table = 1e-4, []
    for a in (0, .25, .5, 1, 2, 3):
        rows = []
        for d in (16, 64, 256, 1024):
            eigenvalues = power_law(d, a)
            sums = {kind: exact_excess(spectrum, eta, eigenvalues)
                    for kind, spectrum in (("sgd", white), ("nu", spectrum_of_nu(eta * eigenvalues[-1])))}
            ratio = sums["nu"] / sums["sgd"]
            rows.append({"d": d, "ratio": ratio, "over_rate": ratio / rate_of_table_4(a, d, eta)})
        shares = [row["over_rate"] for row in rows]
        table.append({"a": a, "rows": rows, "largest_over_smallest": max(shares) / min(shares)})
    return table


def moving_clip(batch, steps, seed):
    """A clip norm that follows the median of gradient norms |N(0, 1)|, divided by that median. Each step multiplies it by
    e^(−.2(b − ½)), where b is the share of a minibatch that is below it (Andrew et al. 2021)."""
    draw, median, found = random.Random(seed), .67448975, []
    clip = median
    for _ in range(steps):
        found.append(clip / median)
        below = sum(abs(draw.gauss(0, 1)) <= clip for _ in range(batch)) / batch
        clip *= math.exp(-.2 * (below - .5))
    return found


def of_adaptive_clipping():
    """What noise leaves in the last iterate where each step's noise is multiplied by a clip norm that moves: η = ν = .02,
    curvature 1, T = 1,024. Values are γ times the deviation, root mean square over 8 paths."""
    eta, steps = .02, 1024
    beta, gamma = coefficients(eta, steps), math.sqrt(squared_sensitivity(spectrum_of_nu(eta)))

    def variance(clips, correlated):
        pulls = [eta * (1 - eta) ** (steps - 1 - t) * clip for t, clip in enumerate(clips)]
        if correlated:
            pulls = [gamma * math.fsum(beta[t - s] * pulls[t] for t in range(s, steps)) for s in range(steps)]
        return math.fsum(each * each for each in pulls)

    rows = []
    for batch in (0, 1, 10, 100):
        paths = [moving_clip(batch, steps, seed) for seed in range(8)] if batch else [[1.0] * steps]
        rows.append({"batch": batch, **{name: math.sqrt(sum(variance(path, name == "nu") for path in paths) / len(paths))
                                        for name in ("independent", "nu")}})
    return rows


def of_training():
    """The same with plain steps at the same reach η/(1 − μ) = .02: momentum, and a cooldown over the last quarter to a
    twentieth. A step's share of the last iterate is followed back from it."""
    steps, reach = 1024, .02
    beta, gamma = coefficients(reach, steps), math.sqrt(squared_sensitivity(spectrum_of_nu(reach)))

    def left(momentum, cools, correlated):
        of_theta, of_velocity, pulls = 1.0, 0.0, [0.0] * steps
        for t in reversed(range(steps)):
            share = min(1, (steps - t) / (steps / 4)) if cools else 1
            eta = reach * (1 - momentum) * (.05 + .95 * share)
            pulls[t] = of_velocity - eta * of_theta
            of_theta, of_velocity = of_theta + pulls[t], momentum * pulls[t]
        if correlated:
            pulls = [gamma * math.fsum(beta[t - s] * pulls[t] for t in range(s, steps)) for s in range(steps)]
        return math.sqrt(math.fsum(each * each for each in pulls))

    return [{"training": name, "nu": left(momentum, cools, True), "independent": left(momentum, cools, False)}
            for name, momentum, cools in (("plain", 0, False), ("momentum .9", .9, False), ("momentum .95", .95, False),
                                          ("cooldown", 0, True))]


def loss_of_prefix_sums(gram):
    """The squared sensitivity times the largest error of a running sum, for one participation: C is any matrix with these
    products CᵀC, and the decoder is the one of least variance."""
    steps, lower, errors = len(gram), [], []
    for t in range(steps):
        row = []
        for s in range(t + 1):
            rest = gram[t][s] - math.fsum(row[k] * (row[k] if s == t else lower[s][k]) for k in range(s))
            row.append(math.sqrt(rest) if s == t else rest / lower[s][s])
        lower.append(row)
    for last in range(steps):
        found = []
        for t in range(steps):
            found.append(((1.0 if t <= last else 0.0) - math.fsum(a * b for a, b in zip(lower[t], found))) / lower[t][t])
        errors.append(math.fsum(each * each for each in found))
    return max(gram[t][t] for t in range(steps)) * max(errors)


def of_prefix_sums():
    """Two mechanisms of CDP+ Table 3 beside ν = 0. The circulant one has the absolute values of the eigenvalues of the
    circulant matrix of 2T steps in which running sums are a block; full Honaker has the nodes of a tree that hold a
    leaf."""
    height = 6
    steps = 2 ** height
    sizes = [abs(sum(cmath.exp(-1j * math.pi * f * j / steps) for j in range(steps))) for f in range(2 * steps)]
    x = [math.fsum(size * math.cos(math.pi * f * k / steps) for f, size in enumerate(sizes)) / (2 * steps)
         for k in range(steps)]
    squares, entry = 0.0, 1.0
    for t in range(steps):
        squares += entry * entry
        entry *= (2 * t + 1) / (2 * t + 2)
    return {"steps": steps, "circulant": loss_of_prefix_sums([[x[abs(s - t)] for s in range(steps)] for t in range(steps)]),
            "full honaker": loss_of_prefix_sums([[float(height + 1 - (s ^ t).bit_length()) for s in range(steps)]
                                                 for t in range(steps)]),
            "nu = 0": squares ** 2}


def of_tuned_nu():
    """ν by CDP+ section 4's rule, the squared error (3) of prefix sums under one budget, T = 1,000 and one participation;
    and the exact error that this ν has on the one problem, over the error of ν = ημ."""
    steps, eta, eigenvalues = 1000, .02, power_law(128, 1)

    def squared_error(nu):
        encoder = [1.0]
        for t in range(steps - 1):
            encoder.append(encoder[-1] * (2 * t + 1) / (2 * t + 2) * (1 - nu))
        prefix, errors, running = [], 0.0, 0.0
        for beta in coefficients(nu, steps):
            prefix.append((prefix[-1] if prefix else 0.0) + beta)
            running += prefix[-1] ** 2
            errors += running
        return math.fsum(each * each for each in encoder) * errors / steps

    nus = [0.0] + [10 ** (-power / 8) for power in range(48, 7, -1)]
    errors = {nu: squared_error(nu) for nu in nus}
    best = min(nus, key=errors.get)
    return {"nu": best, "below_nu_0": 1 - errors[best] / errors[0.0],
            "over_eta_mu": exact_excess(spectrum_of_nu(best), eta, eigenvalues)
            / exact_excess(spectrum_of_nu(eta / 128), eta, eigenvalues)}


def solved(matrix, right):
    """The solution of a linear system, by Gauss's elimination with pivots."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for k in range(len(rows)):
        pivot = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(len(rows)):
            if i != k:
                share = rows[i][k] / rows[k][k]
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[k])]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def of_clipped_loss():
    """BDE+ section 2.5: how far the end of clipped gradients without noise is from the minimum of the sum of Huber's losses
    with thresholds γ/‖x_i‖ (by reweighted least squares), and how far least squares is from that minimum."""
    draw, p, n, gamma = random.Random(2), 3, 150, 1.0
    truth = [.8, -.5, .3]
    x = [[draw.gauss(0, 1) for _ in range(p)] for _ in range(n)]
    y = [sum(a * b for a, b in zip(row, truth)) + draw.gauss(0, 1) ** 3 for row in x]
    length = [math.sqrt(sum(a * a for a in row)) for row in x]

    def residuals(theta):
        return [sum(a * b for a, b in zip(row, theta)) - value for row, value in zip(x, y)]

    def weighted(weights):
        matrix = [[math.fsum(w * row[i] * row[j] for w, row in zip(weights, x)) for j in range(p)] for i in range(p)]
        return solved(matrix, [math.fsum(w * row[i] * value for w, row, value in zip(weights, x, y)) for i in range(p)])

    descended, clipped = [0.0] * p, 0
    for _ in range(400):
        pulls = residuals(descended)
        clipped = sum(abs(r) * size > gamma for r, size in zip(pulls, length)) / n
        kept = [max(-gamma / size, min(gamma / size, r)) for r, size in zip(pulls, length)]
        descended = [theta - .8 * math.fsum(r * row[j] for r, row in zip(kept, x)) / n for j, theta in enumerate(descended)]
    huber = weighted([1.0] * n)
    plain = huber
    for _ in range(400):
        huber = weighted([min(1.0, gamma / (size * max(abs(r), 1e-300))) for r, size in zip(residuals(huber), length)])
    return {"clipped": clipped, "apart": math.dist(descended, huber), "from_least_squares": math.dist(plain, huber)}


def normal(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def exact_delta(mu, epsilon):
    """δ at ε of a Gaussian mechanism whose sensitivity over its standard deviation is μ."""
    return normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu)


def root(function, low, high):
    """The root of a function that falls."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def three_epsilons(rho, delta):
    """Bun and Steinke's conversion, the best over α of zCDP (CDP+ appendix A.2), and the exact curve."""
    best = min(rho * alpha + math.log(1 / (alpha * delta)) / (alpha - 1) + math.log(1 - 1 / alpha)
               for alpha in (1 + 10 ** (exponent / 2000) for exponent in range(-4000, 8001)))
    mu = math.sqrt(2 * rho)
    return {"rho": rho, "delta": delta, "bun_steinke": rho + 2 * math.sqrt(rho * math.log(1 / delta)),
            "zcdp": best, "exact": root(lambda epsilon: exact_delta(mu, epsilon) - delta, 1e-9, 200)}


def of_bde():
    """Lemma 2.1's λ, Lemma 2.3's distance at n = 64,000 (Σ = I), and what Lemma 2.6's constants ask for."""
    p, n, steps, rho, eta = 10, 64000, 30, .5, .25
    gamma = 5 * math.sqrt(p)
    noise = math.sqrt(2 * steps / rho) * gamma / n
    decay = (1 - eta) ** 2
    spread = eta * noise * math.sqrt((1 - decay ** steps) / (1 - decay))
    mean_length = math.sqrt(2) * math.gamma((p + 1) / 2) / math.gamma(p / 2)
    c0 = 12 * math.log(5 * 1000 * 10 / .05) ** 1.5
    return {"lambda": math.sqrt(2 * 10 / .05) * gamma / 1000, "distance": spread * mean_length,
            "spent_by_lambda": 10 * (2 * gamma / 1000) ** 2 / (2 * (math.sqrt(2 * 10 / .05) * gamma / 1000) ** 2),
            "least_squares_width": 2 * 1.959964 / math.sqrt(10000), "c0": c0, "clip_norm_over_root_p": 4 * c0 ** 2}


def of_iv():
    """What λ of Proposition 3.1 spends of the ρ that it is made for: T steps of Δ²/(2λ²), Δ = 2γ/n."""
    steps, rho, gamma, n = 20, 5.0, 37.2, 1000
    noise = 2 * gamma / n * math.sqrt(steps / rho)
    spent = steps * (2 * gamma / n) ** 2 / (2 * noise ** 2)
    return {"lambda": noise, "exact_lambda": noise / math.sqrt(2), "spent": spent, "spent_over_claimed": spent / rho}


def of_nldp():
    """The paper's constants over those of the exact curve, where the two parts have sensitivities 2r² and 2r, r = 1, and
    each gets half of μ²; and what one part with the paper's constants costs by the exact curve."""
    rows, delta = [], 1e-5
    for epsilon in (.5, 1, 2, 5, 10, 20, 40, 50):
        paper = math.sqrt(32 * math.log(2.5 / delta)) / epsilon
        mu = root(lambda value, e=epsilon: delta - exact_delta(value, e), 1e-3, 50)
        rows.append({"epsilon": epsilon, "stddev": paper, "over_exact": paper * mu / (2 * math.sqrt(2)),
                     "spent": root(lambda e, m=2 * math.sqrt(2) / paper: exact_delta(m, e) - delta, 1e-9, 400)})
    return rows


def closed_forms():
    return {"mean": of_the_mean(), "figure 2": of_figure_2(), "one problem": of_one_problem(), "table 4": of_table_4(),
            "adaptive clipping": of_adaptive_clipping(), "training": of_training(), "prefix sums": of_prefix_sums(),
            "tuned nu": of_tuned_nu(),
            "epsilon": [three_epsilons(rho, delta) for rho, delta in
                        ((.015, 1e-6), (.1, 1e-5), (1, 1e-5), (10, 1e-5))],
            "BDE+": {**of_bde(), "clipped loss": of_clipped_loss()},
            "IV": of_iv(), "NLDP": of_nldp()}
