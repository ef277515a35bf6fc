"""Molecules by IntDiv and by VS: Friedman & Dieng, arXiv 2210.02410, §4.2 and Table 4.

The paper scores samples of eight generators of the MOSES benchmark, and its data, by Tanimoto
similarity of Morgan fingerprints (radius 2; 1,024 bits in the authors' code). IntDiv ranks the
hidden Markov model (hmm) among the most diverse, and VS ranks it last: it repeats molecules, which
hardly changes a mean over pairs.

The data sets contain one of MOSES's samples, that of the junction tree model (JT-VAE, "jtn"), which
its authors published: its row is computed again from 1,500 random molecules. If the folder of data
sets contains the other samples, as `moses/hmm_3.csv` and so on, the table is computed. Otherwise
its claims are checked on sets of equal size made from 3,522 odorants: with three SMILES n-gram
models that the script trains, a generator that joins two fragments, draws from one class, and a few
molecules that are repeated.

The sample size is unclear. The paper states the first 2,500 valid molecules of each sample. The
notebook of the authors' repository (vertaix/Vendi-Score, examples/molecules.ipynb) prints the
values of the table from the third samples, of which it reads 1,500 valid molecules each. Of the
30,000 lines of the hmm's third sample, a proportion of 0.052733 is valid (metrics_hmm_3.csv of
molecularsets/moses), which is 1,582 lines.

    python benchmarks/papers/moses.py --json benchmarks/results/papers/moses.json
"""

import csv
import gzip
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from findings import Finding, Group, cannot, claim, compare_number, format_mean, run
from rdkit import Chem, RDLogger
from rdkit.Chem.rdMolDescriptors import CalcNumRings
from scipy.stats import spearmanr

from vendiscore import as_similarity, compute, select

GROUP = Group(
    name="moses",
    title="Generators of molecules: IntDiv and VS",
    source="Friedman & Dieng, arXiv 2210.02410, §4.2 and Table 4",
    method="Tanimoto of Morgan fingerprints (radius 2, 1,024 bits), sets of 1,000 valid molecules, "
    "five seeds, mean ± standard error. JT-VAE's own samples are at hand, and its row of the "
    "table is checked. For the claims, sets are made from 3,522 odorants (n-gram models of "
    "SMILES, joined fragments, one class, few molecules repeated).",
    agrees=(
        "Both numbers of JT-VAE are reproduced. Duplicates hardly change IntDiv, but reduce "
        "VS strongly. The method that joins fragments has the highest VS."
    ),
    needs=("leffingwell_odors.csv",),
    packages=("rdkit",),
)

# Table 4: IntDiv and VS
PRINTED = {
    "original": ("0.855", "403.9"),
    "aae": ("0.859", "501.1"),
    "char_rnn": ("0.856", "482.4"),
    "combinatorial": ("0.873", "536.9"),
    "hmm": ("0.871", "250.9"),
    "jtn": ("0.856", "489.5"),
    "latent_gan": ("0.857", "486.4"),
    "ngram": ("0.874", "479.8"),
    "vae": ("0.856", "475.3"),
}
PRINTED_CORRELATION = spearmanr(*np.array(list(PRINTED.values()), dtype=float).T).statistic
NOTEBOOK_SIZE = 1500  # molecules per sample that the notebook of the repository reads

SET_SIZE = 1000
SEEDS = 5
JTVAE = "jtvae_moses_samples.smi.gz"
JTVAE_DRAWS = 10  # number of draws of NOTEBOOK_SIZE molecules of JT-VAE
N_REPEATED = 200  # different molecules of sets with repeats
MORGAN = {"k": "morgan", "radius": 2, "n_bits": 1024}

Draw = Callable[[int, np.random.Generator], list[str]]


def scores(smiles: list[str]) -> tuple[float, float]:
    """Return IntDiv and VS."""
    result = compute(smiles, measures=["IntDiv", "VS"], **MORGAN)
    return result["IntDiv"], result["VS"]


def is_valid(smiles: str) -> bool:
    return bool(smiles) and Chem.MolFromSmiles(smiles) is not None


def ngram_model(corpus: list[str], order: int) -> Draw:
    """Return a function that draws SMILES from an n-gram model of characters.

    The distribution of a character depends on the `order` characters before it. `^` is the
    beginning of a molecule and `$` the end. Invalid SMILES are drawn again.
    """
    follow: dict[str, Counter[str]] = defaultdict(Counter)
    for smiles in corpus:
        text = "^" * order + smiles + "$"
        for i in range(order, len(text)):
            follow[text[i - order : i]][text[i]] += 1
    tables = {
        past: (list(counts), np.cumsum(list(counts.values())) / counts.total())
        for past, counts in follow.items()
    }

    def draw(n: int, rng: np.random.Generator) -> list[str]:
        """Draw n valid molecules, letter by letter, from the model of n-grams of letters."""
        out: list[str] = []
        while len(out) < n:
            text = "^" * order
            while not text.endswith("$") and len(text) < 120:
                letters, cumulative = tables[text[-order:]]
                text += letters[int(np.searchsorted(cumulative, rng.random(), side="right"))]
            smiles = text.strip("^$")
            if is_valid(smiles):
                out.append(smiles)
        return out

    return draw


def join_fragments(corpus: list[str]) -> Draw:
    """Return a function that draws molecules, joined from two fragments. Fragments are molecules
    that are cut at a single bond outside rings.
    """
    halves: set[str] = set()
    for smiles in corpus:
        molecule = Chem.MolFromSmiles(smiles)
        for bond in molecule.GetBonds():
            if bond.GetBondTypeAsDouble() == 1 and not bond.IsInRing():
                cut = Chem.FragmentOnBonds(molecule, [bond.GetIdx()], dummyLabels=[(0, 0)])
                halves |= set(Chem.MolToSmiles(cut).split("."))
    pool = [Chem.MolFromSmiles(half) for half in sorted(halves)]
    pool = [half for half in pool if half is not None and half.GetNumAtoms() > 2]

    def draw(n: int, rng: np.random.Generator) -> list[str]:
        """Draw n valid molecules, each of which joins two random halves by a single bond."""
        out: list[str] = []
        while len(out) < n:
            a, b = (pool[i] for i in rng.integers(len(pool), size=2))
            combined = Chem.RWMol(Chem.CombineMols(a, b))
            ends = [atom for atom in combined.GetAtoms() if atom.GetAtomicNum() == 0]
            combined.AddBond(
                *(end.GetNeighbors()[0].GetIdx() for end in ends), Chem.BondType.SINGLE
            )
            for index in sorted((end.GetIdx() for end in ends), reverse=True):
                combined.RemoveAtom(index)
            smiles = Chem.MolToSmiles(combined)
            if is_valid(smiles):
                out.append(smiles)
        return out

    return draw


def draw_without_replacement(pool: list[str]) -> Draw:
    """Return a function that draws from `pool` without replacement."""
    return lambda n, rng: [pool[i] for i in rng.choice(len(pool), n, replace=False)]


def repeat_samples(pool: list[str], n: int) -> list[str]:
    """Repeat samples in order until there are n."""
    return [pool[i % len(pool)] for i in range(n)]


def draw_few_repeated(corpus: list[str]) -> Draw:
    """Return a function that draws N_REPEATED molecules, and repeats them."""
    return lambda n, rng: repeat_samples(draw_without_replacement(corpus)(N_REPEATED, rng), n)


def draw_diverse_repeated(corpus: list[str]) -> Draw:
    """Return a function that selects the most diverse molecules of a draw, and repeats them."""

    def draw(n: int, rng: np.random.Generator) -> list[str]:
        samples = draw_without_replacement(corpus)(n, rng)
        return repeat_samples(
            [samples[i] for i in select(samples, N_REPEATED, swaps=False, **MORGAN).places], n
        )

    return draw


def compute_table(draws: dict[str, Draw]) -> dict[str, np.ndarray]:
    """Return IntDiv, VS and the number of different molecules, for each set and seed."""
    result = {}
    for name, draw in draws.items():
        sets = [draw(SET_SIZE, np.random.default_rng(seed)) for seed in range(SEEDS)]
        result[name] = np.array([(*scores(s), len({Chem.CanonSmiles(x) for x in s})) for s in sets])
    return result


def match_intdiv(samples: list[str]) -> tuple[float, float, float]:
    """Select N_REPEATED molecules whose IntDiv is close to that of all samples.

    Return the difference of IntDiv (selection minus all samples), VS of the selection, and VS of
    all samples. The first a selected molecules are the most diverse ones, and the others are
    random. The number a is found by bisection.
    """
    K = as_similarity(samples, **MORGAN)
    goal = compute(K, measures=["IntDiv", "VS"])
    diverse = list(select(samples, N_REPEATED, swaps=False, **MORGAN).places)
    remaining = [i for i in range(len(samples)) if i not in set(diverse)]
    low, high = 0, N_REPEATED
    tried = []
    while high - low > 1:
        a = (low + high) // 2
        result = compute(
            K.take(diverse[:a] + remaining[: N_REPEATED - a]), measures=["IntDiv", "VS"]
        )
        tried.append((result["IntDiv"] - goal["IntDiv"], result["VS"], goal["VS"]))
        low, high = (a, high) if tried[-1][0] < 0 else (low, a)
    return min(tried, key=lambda trial: abs(trial[0]))


def check_jtvae(data: Path) -> list[Finding]:
    """Check the row of JT-VAE in Table 4, with random molecules of its authors' sample. The printed
    values come from a single sample of this size, so they have the standard deviation of one draw.
    """
    paper = f"{PRINTED['jtn'][0]}, {PRINTED['jtn'][1]}"
    if not (data / JTVAE).exists():
        return [
            cannot("JT-VAE: IntDiv and VS", paper, f"{JTVAE} is not in the folder of data sets")
        ]
    with gzip.open(data / JTVAE, "rt", encoding="utf-8") as file:
        jtvae_samples = [line.strip() for line in file.readlines()[1:]]

    def score_draw(n: int, seed: int) -> tuple[float, float]:
        order = np.random.default_rng(seed).permutation(len(jtvae_samples))
        shuffled = (jtvae_samples[i] for i in order)
        return scores([x for x, _ in zip(filter(is_valid, shuffled), range(n), strict=False)])

    result = np.array([score_draw(NOTEBOOK_SIZE, seed) for seed in range(JTVAE_DRAWS)])
    larger = np.array([score_draw(2500, seed) for seed in range(SEEDS)])
    deviation = result.std(axis=0, ddof=1)
    relative_errors = [
        scores_of_draws[:, 1].mean() / float(PRINTED["jtn"][1]) - 1
        for scores_of_draws in (result, larger)
    ]
    ours = [
        compare_number(
            f"JT-VAE: {name} of {NOTEBOOK_SIZE:,}, beside the deviation of one draw",
            PRINTED["jtn"][i],
            float(result[:, i].mean()),
            float(deviation[i]),
            f"{JTVAE_DRAWS} draws have a mean of {result[:, i].mean():.4g}",
        )
        for i, name in enumerate(("IntDiv", "VS"))
    ]
    return [
        *ours,
        claim(
            "the size of the samples of Table 4",
            "2,500 valid molecules, in the text",
            bool(abs(larger[:, 1].mean() - float(PRINTED["jtn"][1])) < 2 * deviation[1]),
            f"VS of JT-VAE {format_mean(result[:, 1], 1)} of {NOTEBOOK_SIZE:,} and "
            f"{format_mean(larger[:, 1], 1)} of "
            f"2,500, printed {PRINTED['jtn'][1]}",
            f"VS differs from the printed value by {relative_errors[1]:+.0%} for 2,500 molecules "
            f"and by {relative_errors[0]:+.1%} for {NOTEBOOK_SIZE:,}, the number that the authors' "
            "notebook reads, so the values of the table are for this number",
        ),
    ]


def format_rank(value: float, values: list[float]) -> str:
    """Format the rank of a value among others, starting with the largest."""
    return f"number {1 + sum(other > value for other in values)} of {len(values)}"


def check_printed(data: Path, by_size: str) -> list[Finding]:
    """Check the other rows of Table 4, if their samples are available."""
    folder = data / "moses"
    if not (folder / "hmm_3.csv").exists():
        text = " · ".join(f"{name} {a}, {b}" for name, (a, b) in PRINTED.items() if name != "jtn")
        return [
            cannot(
                "the other rows of Table 4: IntDiv and VS",
                text,
                "the samples of MOSES are not in the folder of data sets. The authors' notebook "
                "prints these numbers from 1,500 molecules a sample, and the hmm's sample has but "
                "1,582 valid ones (30,000 × 0.052733). VS goes by the size: of odorants it is "
                f"{by_size}",
            )
        ]
    result = []
    for name, (div, vs) in PRINTED.items():
        path = folder / ("test.csv" if name == "original" else f"{name}_3.csv")
        with open(path, encoding="utf-8") as file:
            lines = (line.strip().split(",")[0] for line in file.readlines()[1:])
        chosen = [smiles for smiles in lines if is_valid(smiles)][:NOTEBOOK_SIZE]
        ours = scores(chosen)
        result.append(compare_number(f"{name}: IntDiv of {len(chosen)}", div, ours[0]))
        result.append(compare_number(f"{name}: VS of {len(chosen)}", vs, ours[1]))
    return result


def findings(data: Path) -> list[Finding]:
    """Compare scores of molecules with the printed values and claims."""
    RDLogger.DisableLog("rdApp.*")
    with open(data / "leffingwell_odors.csv", encoding="utf-8") as file:
        corpus = [row["smiles"] for row in csv.DictReader(file) if is_valid(row["smiles"])]
    rings = [CalcNumRings(Chem.MolFromSmiles(smiles)) for smiles in corpus]
    draws = {
        "odorants": draw_without_replacement(corpus),
        "n-gram of 8": ngram_model(corpus, 8),
        "n-gram of 4": ngram_model(corpus, 4),
        "n-gram of 2": ngram_model(corpus, 2),
        "joined fragments": join_fragments(corpus),
        "with a ring": draw_without_replacement(
            [s for s, r in zip(corpus, rings, strict=True) if r]
        ),
        "without a ring": draw_without_replacement(
            [s for s, r in zip(corpus, rings, strict=True) if not r]
        ),
        "few, repeated": draw_few_repeated(corpus),
        "few and unlike, repeated": draw_diverse_repeated(corpus),
    }
    rows = compute_table(draws)
    by_size = ", ".join(
        f"{scores(draws['odorants'](n, np.random.default_rng(0)))[1]:.0f} of {n}"
        for n in (1000, 1500, 2500)
    )
    result = [*check_jtvae(data), *check_printed(data, by_size)]

    ranks = np.array(
        [
            spearmanr([v[s, 0] for v in rows.values()], [v[s, 1] for v in rows.values()]).statistic
            for s in range(SEEDS)
        ]
    )
    odorants, ngrams = rows["odorants"], [v for k, v in rows.items() if k.startswith("n-gram")]
    joined, few_repeated, diverse_repeated = (
        rows[name] for name in ("joined fragments", "few, repeated", "few and unlike, repeated")
    )
    result.append(
        claim(
            "nine sets, by IntDiv and by VS",
            f"the two rank differently: ρ = {PRINTED_CORRELATION:.2f} over the nine rows of Table "
            "4",
            bool((joined[:, 0] < odorants[:, 0]).all() and (joined[:, 1] > odorants[:, 1]).all()),
            "joined fragments are below the odorants by IntDiv and above by VS, in each draw; "
            f"ρ = {format_mean(ranks, 2)} over these nine: "
            + "; ".join(
                f"{name} {format_mean(v[:, 0], 3)}, {format_mean(v[:, 1], 0)} "
                f"({v[:, 2].mean():.0f} different)"
                for name, v in rows.items()
            ),
        )
    )
    many_texts = draws["n-gram of 8"](2 * SET_SIZE, np.random.default_rng(0))
    fresh = scores(list(dict.fromkeys(map(Chem.CanonSmiles, many_texts)))[:SET_SIZE])
    means = [v[:, 0].mean() for v in rows.values()]
    theirs = format_rank(
        float(PRINTED["combinatorial"][0]), [float(div) for div, _ in PRINTED.values()]
    )
    closed = (fresh[1] - ngrams[0][:, 1].mean()) / (odorants[:, 1].mean() - ngrams[0][:, 1].mean())
    first = all(
        (diverse_repeated[:, 0] > v[:, 0]).all()
        for name, v in rows.items()
        if v is not diverse_repeated
    )
    result += [
        claim(
            "few and unlike molecules, repeated",
            "the hmm is among the most diverse by IntDiv and far below the data by VS, since it "
            "has clusters of identical molecules",
            first and bool((diverse_repeated[:, 1] < 0.75 * odorants[:, 1]).all()),
            f"{N_REPEATED} molecules {SET_SIZE // N_REPEATED} times each: "
            f"{format_rank(diverse_repeated[:, 0].mean(), means)} by IntDiv, VS "
            f"{format_mean(diverse_repeated[:, 1], 0)} against the odorants' "
            f"{format_mean(odorants[:, 1], 0)}. Not last, as "
            "the hmm is: the n-gram models repeat molecules that are alike, and are low by both",
        ),
        claim(
            "few molecules, repeated, against as many different ones (the null)",
            "duplicates hardly move IntDiv, VS sees them",
            bool(
                (few_repeated[:, 0] > 0.97 * odorants[:, 0]).all()
                and (few_repeated[:, 1] < 0.5 * odorants[:, 1]).all()
            ),
            f"IntDiv {100 * (few_repeated[:, 0].mean() / odorants[:, 0].mean() - 1):+.1f} %, VS "
            f"{100 * (few_repeated[:, 1].mean() / odorants[:, 1].mean() - 1):+.0f} %",
        ),
        claim(
            "a generator that puts fragments together",
            "the combinatorial generator has the highest VS, above the data",
            all((joined[:, 1] > v[:, 1]).all() for v in rows.values() if v is not joined),
            f"VS {format_mean(joined[:, 1], 0)}, the highest, at an IntDiv of "
            f"{format_mean(joined[:, 0], 3)} "
            f"that is {format_rank(joined[:, 0].mean(), means)} ({theirs} in Table 4, where "
            "fragments "
            "are others)",
        ),
        claim(
            "a SMILES n-gram model compared with its data",
            "the n-gram model has the highest IntDiv (0.874 against 0.855), and a VS above the "
            "data's (479.8 against 403.9)",
            bool((ngrams[0][:, :2] > odorants[:, :2]).all()),
            "contexts of 2, 4, 8 characters: VS "
            + ", ".join(format_mean(v[:, 1], 0) for v in reversed(ngrams))
            + f", all below the odorants' {format_mean(odorants[:, 1], 0)}, and so is IntDiv",
            why=f"our model repeats molecules: {SET_SIZE} draws contain "
            f"{ngrams[0][:, 2].mean():.0f} different ones with contexts of 8 characters, and "
            f"{ngrams[2][:, 2].mean():.0f} with contexts of 2. {SET_SIZE} different molecules with "
            f"contexts of 8 have IntDiv {fresh[0]:.3f} and VS {fresh[1]:.0f}, which is "
            f"{closed:.0%} of the way to the VS of the odorants. The model of MOSES was trained "
            "with many more molecules",
        ),
    ]

    pairs = np.array(
        [match_intdiv(draws["odorants"](SET_SIZE, np.random.default_rng(s))) for s in range(SEEDS)]
    )
    repeat_differences = [rows["odorants"][s] - rows["odorants"][s - 1] for s in range(SEEDS)]
    result.append(
        claim(
            f"{N_REPEATED} molecules chosen so that their IntDiv is that of {SET_SIZE}",
            "sets of similar IntDiv can be far apart by VS (Figure 3)",
            bool(
                (np.abs(pairs[:, 0]) < max(abs(d[0]) for d in repeat_differences)).all()
                and (pairs[:, 1] < 0.6 * pairs[:, 2]).all()
            ),
            f"IntDiv within {np.abs(pairs[:, 0]).max():.4f}, VS {format_mean(pairs[:, 1], 0)} "
            "against "
            f"{format_mean(pairs[:, 2], 0)}; two draws of {SET_SIZE} (the null) differ by at most "
            f"{max(abs(d[0]) for d in repeat_differences):.4f} and "
            f"{max(abs(d[1]) for d in repeat_differences):.0f}",
        )
    )

    two_sets = [
        draws[name](SET_SIZE, np.random.default_rng(0)) for name in ("odorants", "few, repeated")
    ]
    orders = [compute(s, q=[0.5, 1, 2, "inf"], **MORGAN) for s in two_sets]
    kernels = {
        name: [compute(s, k=name)["VS"] for s in two_sets]
        for name in ("maccs", "rdkit", "atom_pair")
    }
    remaining_proportion = {
        q: orders[1][f"VS_q{q}"] / orders[0][f"VS_q{q}"] for q in ("0.5", "1", "2", "inf")
    }
    result.append(
        claim(
            "few, repeated, under other orders and other fingerprints",
            "VS (q = 1, Morgan) sees duplicates",
            remaining_proportion["1"] < 0.5
            and remaining_proportion["inf"] > 0.9
            and all(b < a for a, b in kernels.values()),
            "VS of few, repeated, as a share of the odorants': "
            + ", ".join(f"{share:.2f} at q = {q}" for q, share in remaining_proportion.items())
            + " (the highest orders are as blind as IntDiv); at q = 1 "
            + ", ".join(f"{b / a:.2f} by {name}" for name, (a, b) in kernels.items()),
        )
    )
    return result


if __name__ == "__main__":
    run(GROUP, findings)
