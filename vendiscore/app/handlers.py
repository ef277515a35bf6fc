"""The API, and the tools of MCP: plain functions of plain values."""

from __future__ import annotations

import math
from typing import Any

from ..errors import SampleError
from ..progress import finish
from . import group_report, report
from .comparing import Compared
from .comparison_report import turned
from .grouping import place, pooled
from .jobs import Job, comparable, comparison, image_job, molecule_job, text_job, vector_job
from .limits import MAX_SETS, RefusedError
from .pictures import decoded


def text(
    texts: list[str] | list[list[str]],
    kernel: str = "ngram_overlap",
    ns: list[int] = [1, 2, 3, 4],  # noqa: B006 (shown in the schema, never written to)
    unit: str = "word",
    q: float = 1.0,
) -> dict[str, Any]:
    """Vendi Score of texts: how many effectively different ones there are.

    Args:
        texts: Up to 1,000 texts, such as answers of a model to one prompt; or lists of texts, such
            as the answers to each prompt, which are groups: each is scored by itself.
        kernel: "ngram_overlap" compares the n-grams two texts share; "MiniLM", where it is
            installed, what they mean.
        ns: Lengths of the n-grams.
        unit: "word" or "char": what n-grams are made of.
        q: Order of at least 0. Small q counts rare texts, large q the commonest only; 1 is usual.

    Returns:
        VS (from 1 to n), sentence, shares, profile, redundant pairs, samples that stand alone,
        details and code. Of groups their mean VS, its standard error VS_se, and groups: label, n
        and VS of each.
    """
    return _answer(text_job(texts, kernel, ns, unit), q)


def images(
    images: list[str] | list[list[str]], kernel: str = "pixels", q: float = 1.0
) -> dict[str, Any]:
    """Vendi Score of images: how many effectively different ones there are.

    Args:
        images: Up to 200 image files (PNG, JPEG, WebP, GIF, BMP), each encoded as base64; or lists
            of them, which are groups.
        kernel: "pixels" is the cosine similarity of the images at 32 × 32 pixels; "DINOv2",
            where it is installed, compares what they show.
        q: Order of at least 0. Small q counts rare images, large q the commonest only; 1 is usual.

    Returns:
        VS (from 1 to n), sentence, shares, profile, redundant pairs, samples that stand alone,
        details and code. Of groups their mean VS, its standard error VS_se, and groups: label, n
        and VS of each.
    """
    flat, groups = pooled(images, "base64 strings")
    return _answer(image_job(decoded(flat, place(groups, "Image")), kernel, groups=groups), q)


def molecules(
    smiles: list[str] | list[list[str]], kernel: str = "morgan", q: float = 1.0
) -> dict[str, Any]:
    """Vendi Score of molecules: how many effectively different ones there are.

    Args:
        smiles: Up to 1,000 molecules as SMILES; or lists of them, which are groups.
        kernel: Fingerprint whose Tanimoto similarity is taken: "morgan", "rdkit", "maccs",
            "atom_pair" or "topological_torsion".
        q: Order of at least 0. Small q counts rare molecules, large q the commonest only; 1 is
            usual.

    Returns:
        VS (from 1 to n), sentence, shares, profile, redundant pairs, samples that stand alone,
        details and code. Of groups their mean VS, its standard error VS_se, and groups: label, n
        and VS of each.
    """
    return _answer(molecule_job(smiles, kernel), q)


def vectors(
    rows: list[list[float]] | list[list[list[float]]],
    kernel: str = "cosine",
    sigma: float = 0.0,
    q: float = 1.0,
) -> dict[str, Any]:
    """Vendi Score of vectors (embeddings, say) or of a similarity matrix.

    Args:
        rows: Up to 1,000 rows of as many numbers each, one row a sample; or lists of rows, which
            are groups.
        kernel: "cosine"; "rbf" or "laplacian" with bandwidth sigma; "X" or "dual" for dot products
            of normalised rows; "K" if rows is a similarity matrix with ones on its diagonal;
            "K, clipped" to set its negative eigenvalues to zero.
        sigma: Bandwidth of "rbf" and "laplacian"; 0 for the median distance.
        q: Order of at least 0. Small q counts rare samples, large q the commonest only; 1 is
            usual.

    Returns:
        VS (from 1 to n), sentence, shares, profile, redundant pairs, samples that stand alone,
        details and code. Of groups their mean VS, its standard error VS_se, and groups: label, n
        and VS of each.
    """
    return _answer(vector_job(rows, kernel, sigma), q)


def compare(
    sets: list[list],  # type: ignore[type-arg]  # what a schema can be made of
    kind: str = "texts",
    kernel: str = "ngram_overlap",
    q: float = 1.0,
    permutations: int = 299,
) -> dict[str, Any]:
    """Compare the diversity of two or three sets, and say which differences are beyond chance.

    A larger set scores higher for its size alone, so all are drawn down to the size of the
    smallest, 100 at most, without replacement. Their samples are then exchanged at random, to see
    how often chance makes as much of a difference.

    Args:
        sets: Two or three lists of 4 to 1,000 samples each.
        kind: "texts", "images" (files as base64), "molecules" (SMILES) or "vectors" (rows of
            numbers).
        kernel: A kernel of that kind: "ngram_overlap" or "MiniLM"; "pixels" or "DINOv2";
            "morgan", "rdkit", "maccs", "atom_pair" or "topological_torsion"; "cosine", "rbf" or
            "laplacian".
        q: Order of at least 0. Small q counts rare samples, large q the commonest only; 1 is
            usual.
        permutations: How often samples are exchanged at most, from 299 to 999.

    Returns:
        Per set n, VS and VS at matched size, each with standard error and interval; difference of
        each other set to the first, with interval, p and verdict; a sentence.
    """
    if not isinstance(sets, list):
        raise RefusedError(f"Expected a list of sets, got {type(sets).__name__}.")
    if len(sets) > MAX_SETS:
        raise RefusedError(f"Two or three sets can be compared, got {len(sets)}.")
    if kind == "images" and all(isinstance(images, list) for images in sets):
        sets = [decoded(images) for images in sets]
    jobs = [comparable(samples, kind, kernel) for samples in sets]
    return _comparison_record(finish(comparison(jobs, q, permutations)))


def _comparison_record(compared: Compared) -> dict[str, Any]:
    """A comparison as plain values."""
    result = compared.comparison
    first, *others = result.names
    rows = [turned(result, name, first) for name in others]
    return {
        "matched_size": result.sets[0].size,
        "q": result.q if math.isfinite(result.q) else "inf",
        "level": result.level,
        "sets": [
            {
                "n": row.n,
                "VS": row.score,
                "VS_se": row.se,
                "VS_low": row.low,
                "VS_high": row.high,
                "matched": row.matched,
                "matched_se": row.matched_se,
                "matched_low": row.matched_low,
                "matched_high": row.matched_high,
            }
            for row in result.sets
        ],
        "differences_to_first": [
            {
                "difference": row.difference,
                "low": row.low,
                "high": row.high,
                "p": row.p,
                "p_adjusted": row.p_adjusted,
                "verdict": result.verdict(row.a, row.b),
            }
            for row in rows
        ],
        "sentence": result.sentence,
        "arguments": dict(compared.arguments),
    }


def _answer(job: Job, q: float) -> dict[str, Any]:
    if job.groups is None:
        return report.record(finish(job.score(q)), job.what) | {"code": job.code(q)}
    try:
        found = finish(job.by_group(q))
    except SampleError as error:
        raise job.groups.located(error) from error.__cause__
    return group_report.record(found, job.what) | {"code": job.code(q)}
