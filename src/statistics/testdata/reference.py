"""Makes reference.txt: what scipy says of the functions of src/statistics. One line a value: the
function, its arguments, the result. Samples are named; their values stand in lines `sample`.
Run with scipy 1.11 or newer: python3 reference.py > reference.txt"""
import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(20261201)
SAMPLES = {
    'a5': rng.normal(6.2, 0.05, 5), 'b5': rng.normal(6.25, 0.12, 5),
    'a8': rng.normal(0, 1, 8), 'b6': rng.normal(0.8, 2, 6),
    'a12': rng.lognormal(3, 0.6, 12), 'b9': rng.lognormal(3.3, 0.4, 9),
    'ties': np.array([1., 2, 2, 3, 3, 3, 4]), 'tied': np.array([2., 3, 3, 5]),
}


def line(*parts):
    print(*[p if isinstance(p, (str, int)) else repr(float(p)) for p in parts])


def ranks(n, p, level=0.95):
    tail = (1 - level) / 2
    cdf = stats.binom.cdf(np.arange(-1, n + 1), n, p)
    low = max([k for k in range(1, n + 1) if cdf[k] <= tail], default=0)
    sf = stats.binom.sf(np.arange(-1, n + 1), n, p)
    high = min([k for k in range(1, n + 1) if sf[k] <= tail], default=0)
    return low, high


def distributions():
    for z in (-8, -3.3, -1, 0, 0.5, 2, 6):
        line('normal_cdf', z, stats.norm.cdf(z))
    for p in (1e-9, 0.01, 0.5, 0.975, 0.9999):
        line('normal_quantile', p, stats.norm.ppf(p))
    for df in (1, 2.7, 4, 9.3, 60, 1e4):
        for t in (-12, -2, 0, 0.7, 4):
            line('t_cdf', t, df, stats.t.cdf(t, df))
        for p in (0.001, 0.05, 0.5, 0.95, 0.9995):
            line('t_quantile', p, df, stats.t.ppf(p, df))
    for k, n, p in ((0, 5, .5), (17, 50, .5), (97, 100, .99), (9879, 10000, .99), (3, 7, .01)):
        line('binomial_cdf', k, n, p, stats.binom.cdf(k, n, p))


def quantiles():
    for n in (5, 6, 50, 71, 72, 100, 200, 300, 367, 368, 500, 1000, 2000, 5000, 10000):
        for p in (0.5, 0.9, 0.95, 0.99):
            line('ranks', n, p, *ranks(n, p))


def two_samples():
    for a, b in (('a5', 'b5'), ('a8', 'b6'), ('a12', 'b9'), ('ties', 'tied')):
        x, y = SAMPLES[a], SAMPLES[b]
        for margin in (0, 0.05):
            # the base moved up by the margin: H1 is mean(y) > mean(x) + margin
            w = stats.ttest_ind(y, x + margin, equal_var=False, alternative='greater')
            line('welch_p_above', a, b, margin, w.pvalue)
        w = stats.ttest_ind(y, x, equal_var=False)
        ci = w.confidence_interval(0.90)
        line('welch', a, b, w.df, ci.low, ci.high)
        u = stats.mannwhitneyu(y, x)
        line('mann_whitney_u', a, b, u.statistic)
        p = stats.permutation_test((y, x), lambda s, t: np.mean(s) - np.mean(t),
                                   alternative='greater', n_resamples=np.inf)
        line('permutation', a, b, p.pvalue)
    x, y = SAMPLES['a5'], SAMPLES['b5']
    ci = stats.ttest_rel(y, x).confidence_interval(0.90)
    line('paired', 'a5', 'b5', ci.low, ci.high)
    for name in ('a8', 'a12'):
        x = SAMPLES[name]
        half = stats.t.ppf(0.95, len(x) - 1) * x.std(ddof=1) * np.sqrt(1 + 1 / len(x))
        line('prediction', name, x.mean() - half, x.mean() + half)
    # TOST by scipy: the larger of two one-sided Welch tests around the margin
    for margin in (0.05, 0.2, 2.0):
        x, y = SAMPLES['a5'], SAMPLES['b5']
        p = max(stats.ttest_ind(y, x - margin, equal_var=False, alternative='greater').pvalue,
                stats.ttest_ind(y, x + margin, equal_var=False, alternative='less').pvalue)
        line('tost', 'a5', 'b5', margin, p)


def families():
    p = [0.01, 0.04, 0.03, 0.005, 0.5]
    order = np.argsort(p)
    adjusted, highest = [0.0] * len(p), 0
    for i, at in enumerate(order):
        highest = max(highest, min(1, p[at] * (len(p) - i)))
        adjusted[at] = highest
    line('holm', *p, *adjusted)
    line('bh', *p, *stats.false_discovery_control(p))


def shares():
    for a, n, b, m in ((1, 100, 6, 100), (0, 50, 4, 60), (10, 1000, 22, 900), (3, 5, 3, 5)):
        p = stats.fisher_exact([[b, m - b], [a, n - a]], alternative='greater').pvalue
        line('fisher', a, n, b, m, p)
        wa = stats.binomtest(a, n).proportion_ci(0.95, method='wilson')
        wb = stats.binomtest(b, m).proportion_ci(0.95, method='wilson')
        d = b / m - a / n
        line('newcombe', a, n, b, m,
             d - np.hypot(b / m - wb.low, wa.high - a / n),
             d + np.hypot(wb.high - b / m, a / n - wa.low))


def orders():
    for name in ('a12', 'b9', 'ties'):
        x = SAMPLES[name]
        line('spearman', name, stats.spearmanr(x, np.arange(len(x))).statistic)
        c = x - x.mean()
        rho = float((c[1:] * c[:-1]).sum() / (c * c).sum())
        line('lag1', name, rho)
        bounded = max(rho, 0)
        line('n_eff', name, len(x) * (1 - bounded) / (1 + bounded))


print('# scipy', scipy.__version__, 'numpy', np.__version__)
for key, values in SAMPLES.items():
    line('sample', key, *values)
for part in (distributions, quantiles, two_samples, families, shares, orders):
    part()
