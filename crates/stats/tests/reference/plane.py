"""The expected bend of `a_bend_is_as_likely_as_by_the_f_test` in src/regression/plane.rs.

Run with: python3 plane.py
"""

x = [0.0, 2.0, 1.0, 3.0, 7.0, 0.0, 4.0, 2.0, 5.0, 6.0]
z = [0.0, 0.0, 1.0, 1.0, 1.0, 3.0, 3.0, 4.0, 4.0, 4.0]
y = [5.1, 9.2, 10.3, 14.6, 21.8, 13.8, 22.3, 21.4, 27.1, 28.8]


def solve(rows, right):
    """Gauss with pivots."""
    rows = [row[:] + [b] for row, b in zip(rows, right)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(len(rows)):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def fit(columns, w):
    """Normal equations."""
    dot = lambda a, b: sum(wi * p * q for wi, p, q in zip(w, a, b))
    found = solve([[dot(a, b) for b in columns] for a in columns], [dot(a, y) for a in columns])
    return [sum(c * column[i] for c, column in zip(found, columns)) for i in range(len(y))]


def squares(fitted, w):
    return sum(wi * (yi - fi) ** 2 for wi, yi, fi in zip(w, y, fitted))


plane = [[1.0] * len(y), x, z]
w = [1 / yi**2 for yi in y]
for _ in range(200):
    fitted = fit(plane, w)
    w = [1 / fi**2 for fi in fitted]
fitted = fit(plane, w)
# A level for each z, and one slope in x.
levels = [x] + [[float(zi == level) for zi in z] for level in sorted(set(z))]
of_levels = squares(fit(levels, w), w)
more, free = len(levels) - 1 - 2, len(y) - len(levels)
ratio = (squares(fitted, w) - of_levels) / more / (of_levels / free)
# F(2, d) has a closed form.
assert more == 2
print("free", free, "F", ratio, "chance", (1 + 2 * ratio / free) ** (-free / 2))
