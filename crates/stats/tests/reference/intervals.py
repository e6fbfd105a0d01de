"""Expected values of tests/independent.rs, from scipy and numpy.

Run with: python3 intervals.py
"""

import numpy as np
from scipy import stats

print("student factors")
for degrees, confidence in [(1, 0.95), (2.5, 0.95), (19, 0.95), (7, 0.99), (1e6, 0.95)]:
    print(degrees, confidence, repr(float(stats.t.ppf(0.5 + confidence / 2, degrees))))

print("quantiles")
samples = [3.1, 4.1, 5.9, 2.6, 5.3, 5.8, 9.7, 9.3, 2.3, 8.4]
for p in [0.1, 0.25, 0.5, 0.9, 0.99]:
    print(p, repr(float(np.quantile(samples, p))))

print("weighted line")
x = np.array([1, 2, 4, 8, 16, 32], float)
y = np.array([21.9, 24.2, 27.7, 36.3, 51.8, 85.0])
w = 1 / y**2
design = np.column_stack([np.ones_like(x), x])
root = np.sqrt(w)[:, None]
solution, *_ = np.linalg.lstsq(design * root, y * root[:, 0], rcond=None)
print("intercept, slope", [repr(float(v)) for v in solution])
