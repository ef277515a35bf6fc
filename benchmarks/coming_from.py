"""Compare calls of other packages with calls of vendiscore: values must agree to 1e-9.

    python benchmarks/coming_from.py --json benchmarks/results/coming_from.json

Requires the other packages in a folder on PYTHONPATH: `pip install --no-deps --target FOLDER
emb-diversity==0.1.0 prdc==0.2 sentropy==1.5.0 seqme==0.5.1 polyleven moocore umap-learn pynndescent
numba llvmlite`. Their other requirements are those of the tests.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import emb_diversity
import numpy as np
import seqme
from pairs import collect_environment
from prdc import compute_prdc
from sentropy import sentropy

from vendiscore import compute, explain, score, score_K

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((60, 8)), RNG.standard_normal((50, 8)) + 0.3
K = np.exp(-np.abs(X[:, :1] - X[:, 0]))
P = RNG.dirichlet(np.ones(60))

Call = Callable[[], float]
PAIRS: dict[str, list[tuple[str, Call, str, Call]]] = {
    "emb-diversity": [
        (
            "vendi_score(X)",
            lambda: emb_diversity.vendi_score(X)["value"],
            'compute(X, k="cosine")',
            lambda: compute(X, k="cosine")["VS"],
        ),
        (
            "mean_pw_dist(X)",
            lambda: emb_diversity.mean_pw_dist(X)["value"],
            '1 − compute(X, k="cosine", measures="AvgSim")',
            lambda: 1 - compute(X, k="cosine", measures="AvgSim")["AvgSim"],
        ),
        (
            "chamfer_dist(X)",
            lambda: emb_diversity.chamfer_dist(X)["value"],
            '1 − explain(X, k="cosine").nearest_similarity.mean()',
            lambda: 1 - explain(X, k="cosine").nearest_similarity.mean(),
        ),
        (
            "renyi_entropy(X)",
            lambda: emb_diversity.renyi_entropy(X)["value"],
            'compute(X, k="cosine", measures="RKE")',
            lambda: compute(X, k="cosine", measures="RKE")["RKE"],
        ),
    ],
    "sentropy": [
        (
            "sentropy(p, similarity=K)",
            lambda: sentropy(P, similarity=K),
            'compute(K, score_K=True, p=p, measures="LC")',
            lambda: compute(K, score_K=True, p=P, measures="LC")["LC"],
        ),
        (
            'sentropy(p, similarity=K, measure="vendi", level="overall")',
            lambda: sentropy(P, similarity=K, measure="vendi", level="overall"),
            "score_K(K, p=p)",
            lambda: score_K(K, p=P),
        ),
    ],
    "prdc": [
        (
            f'compute_prdc(Y, X, 5)["{name.lower()}"]',
            lambda name=name: compute_prdc(Y, X, 5)[name.lower()],
            f'compute(X, Y, measures="{name}")',
            lambda name=name: compute(X, Y, measures=name)[name],
        )
        for name in ("Precision", "Recall", "Density", "Coverage")
    ],
    "seqme": [
        (
            f"FKEA(embedder, bandwidth=b, alpha={q}, n_random_fourier_features=None)(sequences)",
            lambda q=q: (
                seqme.metrics.FKEA(
                    lambda _: X,
                    bandwidth=8.0,
                    alpha=q,
                    n_random_fourier_features=None,
                    strict=False,
                )(["A"] * len(X)).value
            ),
            f'compute(X, k="rbf", sigma=(b / 2) ** 0.5{", q=2" if q == 2 else ""})',
            lambda q=q: score(X, k="rbf", sigma=2.0, q=q),
        )
        for q in (1, 2)
    ],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    for package, pairs in PAIRS.items():
        for their_call, peer_call, our_call, call in pairs:
            a, b = float(peer_call()), float(call())
            assert abs(a - b) <= 1e-9 * abs(a), (their_call, a, b)
            rows.append(
                {"package": package, "theirs": their_call, "ours": our_call, "value": round(b, 4)}
            )
            print(f"{package}: {their_call} = {our_call} = {b:.4f}")
    if options.json:
        facts = {"environment": collect_environment(*PAIRS), "same": rows}
        options.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
