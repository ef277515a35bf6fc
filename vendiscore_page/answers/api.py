"""The public API and the tools of MCP, whose schemas are the lines of these docstrings."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from vendiscore.core.errors import quoted
from vendiscore.progress import finish
from vendiscore.report import Findings
from vendiscore.signature import plain

from ..aliases import Record
from ..inputs.pictures import decode_images
from ..inputs.visitor_samples import Samples
from ..quotas import MAX_SAMPLES, RefusedError, check_count, check_sets
from . import kernel_menu, several_sets
from .different_sources import asked_of, different, shown
from .distinctive_samples import only
from .group_lists import place, pooled
from .jobs import Job, image_job, job_of, text_job, vector_job
from .kernel_menu import DEFAULT_ORDER, DEFAULT_THRESHOLD

FEW = 4  # pairs that are named, and samples that stand alone


def vendi_score_texts(
    texts: list[str] | list[list[str]],
    kernel: str = "ngram_overlap",
    ns: list[int] = [1, 2, 3, 4],  # noqa: B006 (shown in the schema, never written to)
    unit: str = "word",
    q: float | str = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    prompts: list[str] = [],  # noqa: B006
) -> Record:
    """Return the Vendi Score of texts, the effective number of different ones, and similar texts.

    Args:
        texts: Up to 1,000 texts, such as answers to one prompt; or lists of them, one a group.
        kernel: "ngram_overlap" (n-grams in common) or, where it is installed, "MiniLM" (meaning).
        ns: Lengths of the n-grams.
        unit: Unit of the n-grams: "word" or "char".
        q: Order from 0 to "inf": 1 is usual; lower orders count rare texts more.
        threshold: Least similarity of texts in one group, at most 1.
        prompts: Prompts to condition on: one for all texts, or one a group or text (a mean).

    Returns:
        VS (number): Vendi Score, from 1 to n; for lists of texts the mean of their scores.
        VS_se (number): Standard error of VS, which is left out where none is known.
        VS_low (number): Lower end of the 95 % interval of VS.
        VS_high (number): Upper end of the 95 % interval of VS.
        n (integer): Number of texts.
        q (number or string): Order of the score.
        sentence (string): The score in words.
        shares (array): Eigenvalues of the similarity matrix, which sum to 1, largest first.
        profile (object): Scores by their orders, from 0 to 5.
        alike (object): Groups of similar texts with the threshold, and the pairs next to it.
        stand_alone (array): Texts that are least similar to any other text.
        by_group (array): For lists: label, n and VS of each; then shares to stand_alone are absent.
        details (object): How the score was computed.
        code (string): Python that prints the same score.
    """
    job = text_job(texts, kernel, {"ns": ns, "unit": unit}, prompts=prompts)
    return _answer(job, q, threshold)


def vendi_score_images(
    images: list[str] | list[list[str]],
    kernel: str = "pixels",
    q: float | str = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
) -> Record:
    """Return the Vendi Score of images, the effective number of different ones, and similar images.

    Args:
        images: Up to 200 image files, each encoded as base64; or lists of them, one a group.
        kernel: "pixels" (32 × 32 pixels) or, where it is installed, "DINOv2" (what they show).
        q: Order from 0 to "inf": 1 is usual; lower orders count rare images more.
        threshold: Least similarity of images in one group, at most 1.

    Returns:
        The fields of `vendi_score_texts`, with images by their places in the list, from 0.
    """
    flat, groups = pooled(images, "base64 strings")
    found = decode_images(flat, place(groups, "Image"))
    return _answer(image_job(found, kernel, groups=groups), q, threshold)


def vendi_score_molecules(
    smiles: list[str] | list[list[str]],
    kernel: str = "morgan",
    q: float | str = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    prompts: list[str] = [],  # noqa: B006
) -> Record:
    """Return the Vendi Score of molecules, their effective number, and similar molecules.

    Args:
        smiles: Up to 1,000 molecules as SMILES; or lists of them, one a group.
        kernel: "morgan", "rdkit", "maccs", "atom_pair" or "topological_torsion" fingerprints.
        q: Order from 0 to "inf": 1 is usual; lower orders count rare molecules more.
        threshold: Least similarity of molecules in one group, at most 1.
        prompts: SMILES to condition on: one for all, or one a group or molecule (a mean).

    Returns:
        The fields of `vendi_score_texts`.
    """
    return _answer(text_job(smiles, kernel, kind="molecules", prompts=prompts), q, threshold)


def vendi_score_vectors(
    rows: list[list[float]] | list[list[list[float]]],
    kernel: str = "cosine",
    sigma: float = 0.0,
    q: float | str = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    prompts: list[list[float]] = [],  # noqa: B006
) -> Record:
    """Return the Vendi Score of vectors, such as embeddings, or of a similarity matrix.

    Args:
        rows: Rows of equal length, one row a sample; or lists of rows, one a group.
        kernel: "cosine", "rbf" or "laplacian"; "K" or "K, clipped" for a similarity matrix.
        sigma: Bandwidth of "rbf" and "laplacian"; 0 for the median distance.
        q: Order from 0 to "inf": 1 is usual; lower orders count rare rows more.
        threshold: Least similarity of rows in one group, at most 1.
        prompts: Rows to condition on: one for all rows, or one a group or row (a mean).

    Returns:
        The fields of `vendi_score_texts`, with rows by their places, from 0. "X" and "dual" are
        other names of "cosine"; "K, clipped" sets negative eigenvalues to zero.
    """
    return _answer(vector_job(rows, kernel, {"sigma": sigma}, prompts=prompts), q, threshold)


def vendi_compare(
    sets: list,  # type: ignore[type-arg]  # what a schema can be made of
    kind: str = "texts",
    kernel: str = "ngram_overlap",
    q: float | str = DEFAULT_ORDER,
    permutations: int = several_sets.MIN_PERMUTATIONS,
    names: list[str] = [],  # noqa: B006 (shown in the schema, never written to)
    prompts: list = [],  # type: ignore[type-arg]  # noqa: B006
) -> Record:
    """Compare the Vendi Scores of two to eight sets or models, and tell differences from chance.

    Lists are subsampled to the size of the smallest, 100 at most, since larger sets score higher.
    A row has a "text", "image", "molecule" or "vector". Models that answered prompts twice or more
    have the mean of their scores within these prompts, and are compared within them.

    Args:
        sets: Two to eight lists of samples; or rows {"model": …, "prompt": …, "text": …}.
        kind: "texts", "images" (files as base64), "molecules" (SMILES) or "vectors" (rows).
        kernel: A kernel of the tool that scores samples of this kind, except for matrices.
        q: Order from 0 to "inf": 1 is usual; lower orders count rare samples more.
        permutations: Largest number of random exchanges, from 299 to 999.
        names: Names of the sets; A, B, C and so on by default.
        prompts: Prompts to condition on: one for all samples, or a list for each set.

    Returns:
        q (number or string): Order of the scores.
        sentence (string): The sets ranked in words.
        verdicts (array): The difference of each two sets in words.
        matched_size (integer): Number of samples that every set is subsampled to.
        within (integer): Number of prompts within which models are compared; 0 for lists.
        level (number): Level of the intervals.
        rows (array): Per set n, VS with se, and VS at the matched size with its interval.
        pairs (array): Per pair the difference with its interval, p of permutations, and a verdict.
        signature (string): All settings, for others to reproduce the comparison.
        kernel (string): The kernel.
        only (array): Per set that differs the samples that others lack.
        sources (object or null): Effective number of different sets; null without prompts.
        arguments (object): Keywords of `compute` in Python for the same scores.
    """
    if not isinstance(sets, list):
        raise RefusedError(f"Expected a list of sets, got {type(sets).__name__}.")
    asked: list[list[str]] = []
    if any(isinstance(row, dict) for row in sets):
        models, asked = _models(sets, kind)
        names, sets = [*models], [*models.values()]
    check_sets(len(sets))
    if kind == "images" and all(isinstance(images, list) for images in sets):
        sets = [decode_images(images) for images in sets]
    if kernel_menu.choice(kind, kernel).is_matrix:
        raise RefusedError(f"Similarity matrices cannot be compared; {kernel!r} takes one set.")
    jobs = {}
    given: object = prompts
    own_lists = isinstance(given, list) and len(given) == len(sets)
    own = prompts if own_lists else [prompts] * len(sets)
    for name, samples, taken in zip(_names(names, len(sets)), sets, own, strict=True):
        if not isinstance(samples, list):
            raise RefusedError(f"Expected a list of {kind}, got {type(samples).__name__}.")
        every = [*range(len(samples))]
        jobs[name] = job_of(Samples(samples, every, kind=kind), every, kernel, prompts=taken)
        if jobs[name].groups is not None:
            raise RefusedError(
                f"A set of a comparison is one list of {kind}, not a list of lists; put all of its "
                f"{kind} in one."
            )
        check_count(len(samples), MAX_SAMPLES, "samples in a set")
    counts = [Counter(own) for own in asked]
    twice = {x for x in {*chain(*asked)} - {""} if all(count[x] > 1 for count in counts)}
    within = asked if len(twice) > 1 else []
    found = finish(several_sets.compare_steps(jobs, q, permutations, within))
    answers = asked_of(jobs, dict(zip(jobs, asked or [[]] * len(jobs), strict=True)))
    counted = different(found.together, [*jobs], answers, found.comparison.q, kind)
    places = {name: range(len(job.samples)) for name, job in jobs.items()}
    rare = only(found.together, jobs, places)
    for each in rare:
        for sample in each["samples"]:
            sample.pop("image", None)
    return several_sets.answer(found) | {
        "kernel": kernel,
        "only": rare,
        "sources": counted and shown(counted),
        "arguments": {name: x for name, x in found.arguments.items() if name != "prompts"},
    }


def _models(rows: list[Any], kind: object) -> tuple[dict[str, list[Any]], list[list[str]]]:
    """Return the samples of each model of a table, and the prompts that they answer."""
    sample = str(kind).removesuffix("s")
    models: dict[str, list[Any]] = {}
    asked: dict[str, list[str]] = {}
    for i, row in enumerate(rows):
        if not isinstance(row, dict) or "model" not in row or sample not in row:
            raise RefusedError(
                f'Row {i} must be an object with "model" and "{sample}", and can '
                f'have "prompt", got {quoted(row)}.'
            )
        models.setdefault(str(row["model"]), []).append(row[sample])
        asked.setdefault(str(row["model"]), []).append(str(row.get("prompt") or ""))
    return models, [*asked.values()]


def _names(names: Any, count: int) -> list[str]:
    if not names:
        return list("ABCDEFGH"[:count])
    known = isinstance(names, list) and all(isinstance(name, str) and name for name in names)
    if not known or not count == len(names) == len(set(names)):
        raise RefusedError(f"Expected {count} names that all differ, got {quoted(names)}.")
    return names


@np.errstate(all="ignore")
def _answer(job: Job, q: object, threshold: object) -> Record:
    found = finish(job.findings(q, threshold))
    sure = {f"VS_{name}": found.beside(name) for name in ("se", "low", "high")}
    answer: Record = {
        "VS": found.value,
        **{name: value for name, value in sure.items() if value is not None},
        "n": found.n,
        "q": kernel_menu.order_in_json(found.order),
        "sentence": job.sentence(found),
    }
    details = dict(found.details)
    if found.grouped:
        answer["by_group"] = details.pop("groups")
    else:
        answer |= _whole(found, job)
    return answer | {"details": plain(details), "code": job.code(found)}


def _whole(found: Findings, job: Job) -> Record:
    explained = found.explanation

    def named(place: int) -> Record:
        return {"place": place} | ({"sample": job.texts(place)} if job.texts else {})

    def paired(pairs: Iterable[tuple[int, int, float]]) -> list[Record]:
        return [{"a": named(i), "b": named(j), "similarity": alike} for i, j, alike in pairs]

    above, below = explained.boundary()
    closest = explained.nearest_similarity
    few = min(FEW, max(1, len(closest) // 3), len(closest) - 1)
    alone = np.argsort(closest, kind="stable")[:few]
    places = found.places.tolist()
    profile = zip(found.profile_orders, found.profile.tolist(), strict=True)
    return {
        "shares": [round(share, 9) for share in found.spectrum.values.tolist() if share > 0],
        "profile": {f"{q:g}": value for q, value in profile},
        "alike": {
            "threshold": explained.threshold,
            "repeats": {f"{level:g}": count for level, count in explained.repeats.items()},
            "groups": [
                {"keep": named(keep), "rest": [named(place) for place in rest]}
                for keep, rest in explained.groups
            ],
            "boundary": {"above": paired(above), "below": paired(below)},
            "VS_without": explained.score_without_duplicates,
        },
        "stand_alone": [
            {**named(places[i]), "similarity_to_nearest": float(closest[i])} for i in alone
        ],
    }
