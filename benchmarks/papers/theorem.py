"""The theorem and the lemmas of the Vendi paper: Friedman & Dieng, arXiv 2210.02410, §3 and §7.

Each statement is checked for random matrices, at order 1 and sometimes at other orders. A set that
violates its condition is also checked, for which the statement must fail. The theorem has four
properties, which the proof calls (a), (b), (c) and (e).
"""

from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, run
from scipy.linalg import block_diag, logm

from vendiscore import compute

DRAWS = 50
ORDERS = (0.5, 1, 2, "inf")

GROUP = Group(
    name="theorem",
    title="The theorem and its lemmas",
    source="Friedman & Dieng, arXiv 2210.02410, Theorem 3.1, Lemmas 3.1 and 7.1, §3.1, §3.3, §3.4 "
    "and §7.5",
    method=f"Each statement on {DRAWS} kernels of 2 to 20 samples with normal features of 2 to 8 "
    "columns, and on sets that break its condition. Sample sizes on ten classes without similarity "
    "between them, 1,000 draws.",
    agrees=(
        "All four properties, both lemmas and the dual form hold up to rounding errors, and "
        "fail if their conditions are violated. The bias of small samples is also reproduced."
    ),
)


def score(K: np.ndarray, q: float | str = 1, p: np.ndarray | None = None) -> float:
    weights = {} if p is None else {"p": p}
    return float(next(iter(compute(K, score_K=True, q=q, **weights).values())))


def unit_rows(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def draw_rows(rng: np.random.Generator, n: int | None = None) -> np.ndarray:
    """Draw unit rows, some in few dimensions and some in many."""
    return unit_rows(rng.standard_normal((n or int(rng.integers(2, 21)), int(rng.integers(2, 9)))))


def gram_matrix(X: np.ndarray) -> np.ndarray:
    K = X @ X.T
    np.fill_diagonal(K, 1)
    return K


def relative_difference(a: float, b: float) -> float:
    return abs(a / b - 1)


def check_effective_number() -> Finding:
    """Check that the score lies between 1 (n copies) and n (n samples without similarity)."""
    ends = [abs(score(np.eye(n)) - n) / n for n in range(1, 51)]
    ends += [abs(score(np.ones((n, n))) - 1) for n in range(1, 51)]
    rng = np.random.default_rng(0)
    shares = [score(gram_matrix(draw_rows(rng, n))) / n for n in range(2, 52)]
    half = score(np.full((10, 10), 0.5) + 0.5 * np.eye(10))
    return claim(
        "(a) effective number: n samples without similarity have n, n copies 1",
        "Theorem 3.1: the largest and the smallest value",
        max(ends) < 1e-12 and max(shares) < 1 and min(shares) * 2 > 1 / 26 and half < 9,
        f"to {max(ends):.0e} for n of 1 to 50; of 50 drawn kernels none above {max(shares):.2f} n; "
        f"ten samples alike by 0.5 have {half:.2f}",
    )


def check_identical_elements() -> Finding:
    """Check that two identical samples count as one sample with the sum of their weights."""
    rng = np.random.default_rng(1)
    result, broken = [], []
    for _ in range(DRAWS):
        X = draw_rows(rng)
        p = rng.dirichlet(np.ones(len(X) + 1))
        merged = np.append(p[1:-1], p[0] + p[-1])  # the last row is a copy of the first
        for q in ORDERS:
            separate_score = score(gram_matrix(np.concatenate([X, X[:1]])), q, p)
            result.append(
                relative_difference(
                    separate_score, score(gram_matrix(np.concatenate([X[1:], X[:1]])), q, merged)
                )
            )
        near = unit_rows(X[:1] + 0.3 * rng.standard_normal(X[:1].shape))
        broken.append(
            relative_difference(
                score(gram_matrix(np.concatenate([X, near])), 1, p),
                score(gram_matrix(np.concatenate([X[1:], X[:1]])), 1, merged),
            )
        )
    return claim(
        "(b) identical elements: their weights can be added",
        "Theorem 3.1: the score is unchanged",
        max(result) < 1e-9 and np.median(broken) > 1e-4,
        f"to {max(result):.0e} at orders 0.5, 1, 2 and ∞; with a near copy in place of the copy "
        f"the median change is {100 * np.median(broken):.1f} %",
    )


def partition_error(groups: list[np.ndarray], q: float | str, between: float = 0.0) -> float:
    """Return the relative difference of the score from exp(H) times the product of the scores of
    the groups.
    """
    sizes = np.array([len(group) for group in groups])
    p = sizes / sizes.sum()
    expected = np.exp(-(p * np.log(p)).sum()) * np.prod(
        [score(group, q) ** share for group, share in zip(groups, p, strict=True)]
    )
    # `between` adds a feature that all samples have in common.
    return relative_difference(
        score((1 - between) * block_diag(*groups) + between, q), float(expected)
    )


def check_partitioning() -> Finding:
    """Check that the score of groups without similarity between them follows from their scores."""
    rng = np.random.default_rng(2)
    kernels = [[gram_matrix(draw_rows(rng, n)) for n in (3, 5, 9)] for _ in range(DRAWS)]
    result = [partition_error(parts, 1) for parts in kernels]
    similar_errors = [partition_error(parts, 1, between=0.1) for parts in kernels]
    second = [partition_error(parts, 2) for parts in kernels]
    return claim(
        "(c) partitioning: groups without similarity between them",
        "Theorem 3.1: exp(H of the shares) Π VS(Sᵢ)^pᵢ",
        max(result) < 1e-10 < 1e-3 < min(np.median(similar_errors), np.median(second)),
        f"to {max(result):.0e}; with a similarity of 0.1 between groups off by "
        f"{100 * np.median(similar_errors):.1f} %, at order 2 by {100 * np.median(second):.1f} % "
        "(medians): "
        "it is a property of order 1",
    )


def check_symmetry() -> Finding:
    """Check that the score does not change if samples and weights are permuted together."""
    rng = np.random.default_rng(3)
    result, broken = [], []
    for _ in range(DRAWS):
        K = gram_matrix(draw_rows(rng))
        p = rng.dirichlet(np.ones(len(K)))
        turn = rng.permutation(len(K))
        turned = K[np.ix_(turn, turn)]
        result += [relative_difference(score(turned, q, p[turn]), score(K, q, p)) for q in ORDERS]
        broken.append(relative_difference(score(turned, 1, p), score(K, 1, p)))
    return claim(
        "(e) symmetry: the order of the samples",
        "Theorem 3.1: does not matter",
        max(result) < 1e-9 and np.median(broken) > 1e-3,
        f"to {max(result):.0e}; if the weights stay behind, the median change is "
        f"{100 * np.median(broken):.1f} %",
    )


def check_lemmas() -> list[Finding]:
    """Check the formula with a matrix logarithm, and the score of samples without similarity."""
    rng = np.random.default_rng(4)
    traces, signs, weights, similar_ratios = [], [], [], []
    for _ in range(DRAWS):
        n = int(rng.integers(2, 9))
        K = 0.9 * gram_matrix(draw_rows(rng, n)) + 0.1 * np.eye(
            n
        )  # the matrix logarithm needs full rank
        trace = float(np.trace(K / n @ logm(K / n)).real)
        traces.append(relative_difference(score(K), np.exp(-trace)))
        signs.append(np.exp(trace) * score(K))
        p = rng.dirichlet(np.ones(n))
        entropy = float(np.exp(-(p * np.log(p)).sum()))
        weights.append(relative_difference(score(np.eye(n), 1, p), entropy))
        similar_ratios.append(score(0.8 * np.eye(n) + 0.2, 1, p) / entropy)
    return [
        claim(
            "Lemma 3.1: exp(−tr (K/n) log (K/n)), by SciPy's logarithm of a matrix",
            "the Vendi Score",
            max(traces) < 1e-9 and max(map(abs, np.array(signs) - 1)) < 1e-9,
            f"to {max(traces):.0e}; with + in place of − it is 1 / VS",
        ),
        claim(
            "Lemma 7.1: the weighted score of samples without similarity",
            "exp(H(p))",
            max(weights) < 1e-12 and max(similar_ratios) < 1,
            f"to {max(weights):.0e}; with similarities of 0.2 it is {min(similar_ratios):.2f} to "
            f"{max(similar_ratios):.2f} of it",
        ),
    ]


def effective_rank(M: np.ndarray) -> float:
    """Return the effective rank of Roy & Vetterli: exp(H) of normalized singular values."""
    shares = np.linalg.svd(M, compute_uv=False)
    shares = shares[shares > 1e-12 * shares.max()] / shares.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def check_spectra() -> list[Finding]:
    """Check that the effective rank and eigenvalues of the covariance give the Vendi Score."""
    rng = np.random.default_rng(5)
    same, vectors, dual, centred = [], [], [], []
    for _ in range(DRAWS):
        X = unit_rows(rng.standard_normal((20, int(rng.integers(2, 9)))) + 1)
        vs = score(gram_matrix(X))
        same.append(relative_difference(effective_rank(gram_matrix(X)), vs))
        vectors.append(effective_rank(X) / vs)
        by_covariance = compute(X, score_dual=True)["VS"]
        dual.append(relative_difference(by_covariance, vs))
        shares = np.linalg.eigvalsh(np.cov(X.T))
        shares = shares[shares > 0] / shares.sum()
        centred.append(float(np.exp(-(shares * np.log(shares)).sum())) / vs)
    return [
        claim(
            "§3.1: the effective rank of K (Roy & Vetterli 2007)",
            "is the Vendi Score",
            max(same) < 1e-9 and min(vectors) > 1,
            f"to {max(same):.0e}; of the vectors themselves, whose singular values are roots, it "
            f"is {min(vectors):.2f} to {max(vectors):.2f} times as large",
        ),
        claim(
            "§3.3: eigenvalues of the covariance, with vectors at hand",
            "the exact score",
            max(dual) < 1e-10 and np.median(np.abs(np.array(centred) - 1)) > 0.01,
            f"to {max(dual):.0e}; with the means subtracted, as np.cov does, {min(centred):.2f} to "
            f"{max(centred):.2f} of it",
        ),
    ]


def check_other_methods() -> list[Finding]:
    """Check statements about determinantal point processes and graph Laplacians."""
    rng = np.random.default_rng(6)
    X = unit_rows(rng.standard_normal((6, 8)))
    pair = [gram_matrix(X), gram_matrix(np.concatenate([X, X[:1]]))]
    volumes = [abs(np.linalg.det(K)) for K in pair]
    values = [score(K) for K in pair]
    parts = np.kron(np.eye(3), np.ones((4, 4)))
    linked = {
        "three groups": parts,
        "three groups, all linked by 0.1": np.maximum(parts, 0.1),
        "one group, alike by 0.1": np.full((12, 12), 0.1) + 0.9 * np.eye(12),
    }
    counts = {}
    for name, K in linked.items():
        laplacian = np.diag(K.sum(axis=1)) - K
        counts[name] = int((np.linalg.eigvalsh(laplacian) < 1e-9).sum()), score(K)
    first, second, third = counts.values()
    return [
        claim(
            "§3.4: the likelihood of a determinantal point process, with a duplicate",
            "always 0",
            volumes[1] < 1e-12 < volumes[0] and relative_difference(values[1], values[0]) < 0.2,
            f"|K| {volumes[0]:.2f} of six samples, {volumes[1]:.0e} with a copy of one; VS "
            f"{values[0]:.2f} and {values[1]:.2f}",
        ),
        claim(
            "§3.4: the multiplicity of 0 in the graph Laplacian's spectrum",
            "is the number of components; the score tells fully connected graphs apart",
            (first[0], second[0], third[0]) == (3, 1, 1) and third[1] > 1.5 * second[1],
            "; ".join(f"{name}: {count}, VS {vs:.2f}" for name, (count, vs) in counts.items()),
        ),
    ]


def entropy_errors(p: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return estimates of the entropy minus the entropy, shape (sizes, draws)."""
    shares = np.array([rng.multinomial(n, p, 1000) / n for n in sizes])
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return -(shares * logs).sum(axis=2) + (p * np.log(p)).sum()


def check_sample_sizes() -> list[Finding]:
    """Check the bias of entropy estimates from n samples, and their rate of convergence."""
    rng = np.random.default_rng(7)
    small_sizes, large_sizes = 20 * 2 ** np.arange(6), 1000 * 2 ** np.arange(6)
    slopes, low, above = {}, {}, {}
    for name, p in (("uneven", 1 / np.arange(1, 11)), ("even", np.ones(10))):
        p = p / p.sum()
        gaps = entropy_errors(p, small_sizes, rng)
        low[name], above[name] = float(gaps.mean(axis=1).max()), float((gaps > 0).mean())
        errors = np.sqrt((entropy_errors(p, large_sizes, rng) ** 2).mean(axis=1))
        slopes[name] = float(np.polyfit(np.log(large_sizes), np.log(errors), 1)[0])
    return [
        claim(
            "§7.5: the mean of estimates from n samples",
            "E[Ĥ] ≤ H, by Jensen's inequality",
            max(low.values()) < 0 < above["uneven"],
            f"below H at six sizes of {small_sizes[0]} to {small_sizes[-1]}, of ten uneven "
            "classes and of ten even "
            f"ones; of single estimates {100 * above['uneven']:.0f} % of uneven classes are above, "
            f"of even ones {100 * above['even']:.0f} %",
            why=f"largest mean {max(low.values()):.4f}",
        ),
        claim(
            "§7.5: the rate of convergence",
            "1/√n (Bach 2022)",
            abs(slopes["uneven"] + 0.5) < 0.05,
            f"the error falls as n to the power {slopes['uneven']:.2f}; faster where the entropy "
            f"is at its largest: of ten even classes {slopes['even']:.2f}",
            why=f"a power of {slopes['uneven']:.2f}",
        ),
    ]


def findings(data: Path) -> list[Finding]:
    """Check the properties of the Vendi Score that the paper proves or claims."""
    return [
        check_effective_number(),
        check_identical_elements(),
        check_partitioning(),
        check_symmetry(),
        *check_lemmas(),
        *check_spectra(),
        *check_other_methods(),
        *check_sample_sizes(),
    ]


if __name__ == "__main__":
    run(GROUP, findings)
