"""Expected values of tests/lines.rs, from numpy's dense matrices and scipy's root finder.

Run with: python3 regression.py
"""

import numpy as np
from scipy import optimize, stats

x = np.array([0, 8, 60, 130, 520, 1000, 4100, 8200, 33000, 65000], float)
y = np.array([1010, 1030, 1065, 1140, 1490, 2080, 5020, 9350, 34600, 64100], float)
design = np.column_stack([np.ones_like(x), x])


def show(name, values):
    print(name, [repr(float(v)) for v in np.atleast_1d(values)])


def r_squared(residual, w):
    mean = np.sum(w * y) / np.sum(w)
    return 1 - np.sum(w * residual**2) / np.sum(w * (y - mean) ** 2)


def fieller(a, b, cov, degrees):
    t = stats.t.ppf(0.975, degrees)
    inside = lambda rho: (a - rho * b) ** 2 - t**2 * (cov[0, 0] - 2 * rho * cov[0, 1] + rho**2 * cov[1, 1])
    middle, reach = a / b, 2 * abs(a / b)
    return [optimize.brentq(inside, middle - reach, middle), optimize.brentq(inside, middle, middle + reach)]


print("relative")
# The estimating equations of least relative squares: sum of (y - m)/m^2 times the gradient of m.
scale = np.array([1000.0, 1.0])
equations = lambda b: design.T @ ((y - design @ (b * scale)) / (design @ (b * scale)) ** 2) * scale
b = optimize.root(equations, [1.0, 1.0], tol=1e-15).x * scale
fitted = design @ b
w = 1 / fitted**2
degrees = len(x) - 2
variance = np.sum(w * (y - fitted) ** 2) / degrees
cov = variance * np.linalg.inv(design.T @ (design * w[:, None]))
show("coefficients", b)
show("variances, covariance", [cov[0, 0], cov[1, 1], cov[0, 1]])
show("r_squared", r_squared(y - fitted, w))
show("ratio", fieller(*b, cov, degrees))

print("ordinary")
pinv = np.linalg.pinv(design)
b = pinv @ y
residual = y - design @ b
hat = design @ pinv
maker = np.eye(len(x)) - hat
h = np.diag(hat)
scale = np.clip(design @ b, y / 4, y * 4)
unlikely = [
    len(x) * np.log(np.sum(residual**2 / (1 - h) / scale**power)) + power * np.sum(np.log(scale)) for power in range(3)
]
power = int(np.argmin(unlikely))
show("working power", power)
noise = np.diag(scale**power)
cov = pinv @ np.diag(residual**2 / (1 - h) ** 2) @ pinv.T


def deviate(factor, weights, counts):
    """The normal deviate of P(|Z| > factor sqrt(sum of weights chi2(counts))), Lugannani and Rice."""
    q = factor**2
    cumulant = lambda t: -0.5 * np.log(1 - 2 * t) - 0.5 * np.sum(counts * np.log(1 + 2 * t * q * weights))
    first = lambda t: 1 / (1 - 2 * t) - np.sum(counts * q * weights / (1 + 2 * t * q * weights))
    t = optimize.brentq(first, 0, 0.5 - 1e-12, xtol=1e-15)
    second = 2 / (1 - 2 * t) ** 2 + np.sum(2 * counts * (q * weights / (1 + 2 * t * q * weights)) ** 2)
    root = np.sqrt(-2 * cumulant(t))
    return root + np.log(t * np.sqrt(second) / root) / root


def equivalent(weights, shared):
    """Degrees of the t distribution with the tails of a ratio to unequal squares."""

    def heavier(degrees):
        factor = stats.t.ppf(0.975, degrees)
        one = np.array([1.0])
        unequal = deviate(factor, weights / shared, np.full(len(weights), shared))
        return unequal - deviate(factor, one / degrees, one * degrees)

    return optimize.brentq(heavier, 1, len(x) - 2, xtol=1e-12)


bias, degrees = [], []
for c in [*pinv, b[1] * pinv[0] - b[0] * pinv[1]]:
    # The sandwich is the quadratic form r' A r with r = maker e, and e has the covariance noise.
    form = maker @ np.diag(c**2 / (1 - h) ** 2) @ maker @ noise
    mean = np.trace(form)
    weights = c**2 / (1 - h) ** 2 * np.diag(maker @ noise @ maker) / mean
    bias.append(mean / (c @ noise @ c))
    degrees.append(equivalent(weights, np.sum(weights**2) * mean**2 / np.trace(form @ form)))
show("coefficients", b)
show("HC3 variances, covariance", [cov[0, 0], cov[1, 1], cov[0, 1]])
show("bias", bias)
show("variances", [cov[0, 0] / bias[0], cov[1, 1] / bias[1]])
show("covariance", cov[0, 1] / np.sqrt(bias[0] * bias[1]))
show("degrees", degrees)
cov = np.array([[cov[0, 0] / bias[0], cov[0, 1] / np.sqrt(bias[0] * bias[1])], [0, cov[1, 1] / bias[1]]])
show("ratio", fieller(*b, cov, degrees[2]))
show("r_squared", r_squared(residual, np.ones_like(x)))
