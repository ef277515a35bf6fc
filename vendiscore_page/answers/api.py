"""The public API and the tools of MCP, which show the first line of each argument alone."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from vendiscore.core.errors import quoted
from vendiscore.progress import finish
from vendiscore.report import Findings, sentences
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
from .redundant_pairs import redundant_pairs

FEW = 4  # pairs that are named, and samples that stand alone


def vendi_score_texts(
    texts: list[str] | list[list[str]],
    kernel: str = "ngram_overlap",
    ns: list[int] = [1, 2, 3, 4],  # noqa: B006 (shown in the schema, never written to)
    unit: str = "word",
    q: float = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    prompts: list[str] = [],  # noqa: B006
) -> Record:
    """Return the Vendi Score of texts, the effective number of different ones, and similar texts.

    Args:
        texts: Up to 1,000 texts, such as answers to one prompt; or lists of them, one a group.
        kernel: "ngram_overlap" (n-grams in common) or, where it is installed, "MiniLM" (meaning).
        ns: Lengths of the n-grams.
        unit: Unit of the n-grams: "word" or "char".
        q: Order of at least 0: 1 is usual, less counts rare texts more, more counts them less.
        threshold: Least similarity of texts in one group, at most 1.
        prompts: Prompts to condition on: one for all texts, or one a group or text (a mean).

    Returns:
        VS (from 1 to n) with VS_se, VS_low and VS_high, sentence, shares, profile,
        groups of similar texts, redundant pairs, texts that stand alone, details and code.
        For lists the mean VS, its standard error VS_se, and by_group: label, n and VS of each.
    """
    job = text_job(texts, kernel, {"ns": ns, "unit": unit}, prompts=prompts)
    return _answer(job, q, threshold)


def vendi_score_images(
    images: list[str] | list[list[str]],
    kernel: str = "pixels",
    q: float = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
) -> Record:
    """Return the Vendi Score of images, the effective number of different ones, and similar images.

    Args:
        images: Up to 200 image files, each encoded as base64; or lists of them, one a group.
        kernel: "pixels" (32 × 32 pixels) or, where it is installed, "DINOv2" (what they show).
        q: Order of at least 0: 1 is usual, less counts rare images more, more counts them less.
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
    q: float = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    prompts: list[str] = [],  # noqa: B006
) -> Record:
    """Return the Vendi Score of molecules, their effective number, and similar molecules.

    Args:
        smiles: Up to 1,000 molecules as SMILES; or lists of them, one a group.
        kernel: "morgan", "rdkit", "maccs", "atom_pair" or "topological_torsion" fingerprints.
        q: Order of at least 0: 1 is usual, less counts rare molecules more, more counts them less.
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
    q: float = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    prompts: list[list[float]] = [],  # noqa: B006
) -> Record:
    """Return the Vendi Score of vectors, such as embeddings, or of a similarity matrix.

    Args:
        rows: Rows of equal length, one row a sample; or lists of rows, one a group.
        kernel: "cosine", "rbf" or "laplacian"; "K" or "K, clipped" for a similarity matrix.
        sigma: Bandwidth of "rbf" and "laplacian"; 0 for the median distance.
        q: Order of at least 0: 1 is usual, less counts rare rows more, more counts them less.
        threshold: Least similarity of rows in one group, at most 1.
        prompts: Rows to condition on: one for all rows, or one a group or row (a mean).

    Returns:
        The fields of `vendi_score_texts`, with rows by their places, from 0. "X" and "dual" are
        other names of "cosine"; "K, clipped" sets negative eigenvalues to zero.
    """
    return _answer(vector_job(rows, kernel, {"sigma": sigma}, prompts=prompts), q, threshold)


def vendi_compare(
    sets: list[list],  # type: ignore[type-arg]  # what a schema can be made of
    kind: str = "texts",
    kernel: str = "ngram_overlap",
    q: float = DEFAULT_ORDER,
    permutations: int = several_sets.MIN_PERMUTATIONS,
    names: list[str] = [],  # noqa: B006 (shown in the schema, never written to)
    prompts: list = [],  # type: ignore[type-arg]  # noqa: B006
    asked: list[list[str]] = [],  # noqa: B006
) -> Record:
    """Compare the Vendi Scores of two to eight sets, and report which differences are significant.

    Sets are subsampled to the size of the smallest, 100 at most, since larger sets score higher;
    p is the share of random exchanges of samples between sets that differ as much.

    Args:
        sets: Two to eight lists of 4 to 1,000 samples each.
        kind: "texts", "images" (files as base64), "molecules" (SMILES) or "vectors" (rows).
        kernel: A kernel of the tool that scores samples of this kind, except for matrices.
        q: Order of at least 0: 1 is usual, less counts rare samples more, more counts them less.
        permutations: Largest number of random exchanges, from 299 to 999.
        names: Names of the sets; A, B, C and so on by default.
        prompts: Prompts to condition on: one for all samples, or a list for each set.
        asked: Prompts that samples answer, not conditioned on: a list for each set.

    Returns:
        Per set n, VS and VS at matched size with its interval; per pair the difference with
        interval, p and verdict; a sentence; per set that differs the samples that others lack.
        "sources" is the effective number of different sets: VS with VS_low and VS_high, a
        sentence, the gain by each set, nearest and farthest pair, prompts that separate sets most
        and least; null for texts without a prompt each, `asked` or `prompts`.
    """
    if not isinstance(sets, list):
        raise RefusedError(f"Expected a list of sets, got {type(sets).__name__}.")
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
    answers = _asked(asked, jobs)
    found = finish(several_sets.compare_steps(jobs, q, permutations))
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


def _asked(asked: object, jobs: dict[str, Job]) -> list[list[str]]:
    lists = asked or [[]] * len(jobs)
    if not isinstance(lists, list) or len(lists) != len(jobs):
        raise RefusedError(f"`asked` must be {len(jobs)} lists, one for each set.")
    for (name, job), own in zip(jobs.items(), lists, strict=True):
        strings = isinstance(own, list) and all(isinstance(prompt, str) for prompt in own)
        if not strings or (asked and len(own) != len(job.samples)):
            raise RefusedError(
                f"`asked` must have a prompt for each of the {len(job.samples)} samples of set "
                f"{name:.60}, as strings."
            )
    return asked_of(jobs, dict(zip(jobs, lists, strict=True)))


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
        "copies": sentences.copies(found, job.what) if found.distinct < found.n else "",
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
        "redundant_pairs": paired(
            (places[i], places[j], alike) for i, j, alike in redundant_pairs(found.K, FEW)
        ),
        "stand_alone": [
            {**named(places[i]), "similarity_to_nearest": float(closest[i])} for i in alone
        ],
    }
