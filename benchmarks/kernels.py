"""Kernels against `vendi_score` 0.0.3: Tanimoto of molecules, n-grams of questions.

    python benchmarks/kernels.py [tanimoto] [ngrams] [--data FOLDER] [--repeats 3] [--json FILE]

Ours and theirs must agree before anything is timed, and take turns, each run in a process of its
own, so that its peak of memory is its own too. Peaks are above what the imports and the samples
take. `vendi_score.text_utils.ngram_vendi_score` itself does not run on SciPy ≥ 1.14, so
`their_ngrams` is its algorithm, and `their_tanimoto` that of `molecule_utils.get_tanimoto_K`.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

MOLECULES = 2500
NS = (1, 2, 3, 4)


def smiles(data: Path) -> list[str]:
    with (data / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        return [row["smiles"] for row in csv.DictReader(file)][:MOLECULES]


def questions(data: Path) -> list[str]:
    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        return [row["question"] for row in csv.DictReader(file, delimiter="\t")]


def read_molecules(data: Path) -> list[Any]:
    from rdkit.Chem import MolFromSmiles

    return [MolFromSmiles(text) for text in smiles(data)]


def our_tanimoto(molecules: list[Any]) -> np.ndarray:
    from vendiscore.registry import apply_kernel

    return apply_kernel("morgan", molecules, {}).dense()


def their_tanimoto(molecules: list[Any]) -> np.ndarray:
    from rdkit import DataStructs, rdBase
    from rdkit.Chem.AllChem import GetMorganFingerprintAsBitVect

    with rdBase.BlockLogs():  # the call is deprecated, and says so for every molecule
        fingerprints = [GetMorganFingerprintAsBitVect(m, 2, nBits=1024) for m in molecules]
    n = len(molecules)
    K = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            K[i, j] = K[j, i] = DataStructs.FingerprintSimilarity(fingerprints[i], fingerprints[j])
    return K


def our_ngrams(texts: list[str]) -> float:
    from vendiscore import score

    return float(score(texts, "ngram_overlap", ns=NS))


def their_ngrams(texts: list[str]) -> float:
    from vendi_score.vendi import score_K

    return float(score_K(their_ngram_matrix(texts)))


def their_ngram_matrix(texts: list[str]) -> np.ndarray:
    from nltk.tokenize import NLTKWordTokenizer
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    matrices = []
    for n in NS:
        vectorizer = CountVectorizer(
            tokenizer=NLTKWordTokenizer().tokenize,
            token_pattern=None,
            ngram_range=(n, n),
            lowercase=False,
        )
        X = normalize(vectorizer.fit_transform(texts))
        matrices.append((X @ X.T).toarray())
    return np.stack(matrices).mean(axis=0)


def our_scored_molecules(molecules: list[Any]) -> float:
    from vendiscore import score

    return float(score(molecules, "morgan"))


def their_scored_molecules(molecules: list[Any]) -> float:
    from vendi_score.vendi import score_K

    return float(score_K(their_tanimoto(molecules)))


# name: (reads the samples, ours, theirs)
TASKS: dict[str, tuple[Callable[[Path], list[Any]], Callable[..., Any], Callable[..., Any]]] = {
    "Tanimoto matrix": (read_molecules, our_tanimoto, their_tanimoto),
    "Vendi Score of Tanimoto": (read_molecules, our_scored_molecules, their_scored_molecules),
    "Vendi Score of n-grams": (questions, our_ngrams, their_ngrams),
}


def assert_agreement(which: list[str], data: Path) -> None:
    if "tanimoto" in which:
        molecules = read_molecules(data)
        ours, theirs = our_tanimoto(molecules), their_tanimoto(molecules)
        np.testing.assert_array_equal(ours, theirs)
        print(f"Tanimoto: all {len(molecules)}² similarities are equal to the last bit")
    if "ngrams" in which:
        from vendi_score.vendi import score_K

        texts = questions(data)
        K = their_ngram_matrix(texts)
        short = int((np.diag(K) < 1 - 1e-9).sum())
        theirs, ours = float(score_K(K, normalize=True)), our_ngrams(texts)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
        print(
            f"n-grams: ours {ours:.6f}, theirs {theirs:.6f} with a diagonal of 1 "
            f"({float(score_K(K)):.6f} as it is: {short} of {len(texts)} questions are shorter "
            f"than {max(NS)} tokens)"
        )


def measure(task: str, side: int, data: Path, answer: Connection) -> None:
    """Seconds, and the peak in MB above what was there before, of one run in a fresh process."""
    read, *sides = TASKS[task]
    samples = read(data)
    sides[side](samples[:20])  # imports
    before = peak_mb()
    start = time.perf_counter()
    sides[side](samples)
    seconds = time.perf_counter() - start
    answer.send((seconds, peak_mb() - before))


def peak_mb() -> float:
    """Linux's own record; `getrusage` would count the parent of a spawned process too."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise OSError("no VmHWM in /proc/self/status: peaks of memory are read on Linux only")


def run(task: str, side: int, data: Path) -> tuple[float, float]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=measure, args=(task, side, data, theirs))
    process.start()
    theirs.close()
    result: tuple[float, float] = ours.recv()
    process.join()
    return result


def main() -> None:
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("which", nargs="*", default=["tanimoto", "ngrams"])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("VENDISCORE_DATA", "")))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    data = arguments.data if arguments.data != Path() else root.parent / "shared" / "data"

    assert_agreement(arguments.which, data)
    packages = ("vendiscore", "vendi-score", "numpy", "scipy", "rdkit", "nltk", "scikit-learn")
    report: dict[str, Any] = {
        "dtype": "float64",
        "threads": os.environ.get("OMP_NUM_THREADS", f"all {os.cpu_count()}"),
        "repeats": arguments.repeats,
        "versions": {name: package_version(name) for name in packages},
        "results": [],
    }
    print(
        f"{report['dtype']}, threads: {report['threads']}, repeats: {report['repeats']}, "
        + ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    )
    for task, (read, *_) in TASKS.items():
        if not any(word in task.replace("-", "").lower() for word in arguments.which):
            continue
        runs: tuple[list[Any], list[Any]] = ([], [])
        for _ in range(arguments.repeats):
            for side in (0, 1):
                runs[side].append(run(task, side, data))
        (ours, our_peak), (theirs, their_peak) = (
            [statistics.median(values) for values in zip(*side, strict=True)] for side in runs
        )
        ratios = sorted(t[0] / o[0] for o, t in zip(*runs, strict=True))
        n = len(read(data))
        report["results"].append(
            {
                "task": task,
                "n": n,
                "d": 1024 if read is read_molecules else f"ns={NS}",
                "seconds": {"vendiscore": ours, "vendi_score": theirs},
                "peak_mb": {"vendiscore": our_peak, "vendi_score": their_peak},
                "ratios": ratios,
            }
        )
        print(
            f"{task}, n = {n}, d: {report['results'][-1]['d']}: ours {ours:.3f} s, {our_peak:.0f} "
            f"MB; theirs {theirs:.3f} s, {their_peak:.0f} MB; ratio of times "
            f"{statistics.median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f}), of peaks "
            f"{their_peak / max(our_peak, 1):.1f}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def package_version(name: str) -> str:
    if name == "vendiscore":
        import vendiscore

        return vendiscore.__version__
    return version(name)


if __name__ == "__main__":
    main()
