"""The public API and the tools of MCP, whose schemas are the lines of these docstrings."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain

import numpy as np

from vendiscore.report import ReportData, sentences
from vendiscore.support.errors import short_repr
from vendiscore.support.progress import run_steps

from ..aliases import Record
from ..inputs.pictures import decode_images
from ..inputs.visitor_samples import Samples
from ..quotas import MAX_SAMPLES, RefusedError, check_count, check_sets
from . import several_sets
from .call_arguments import parse_arguments
from .compute_call import compute_call
from .group_lists import can_compare_within, flatten_lists, make_position_formatter
from .jobs import Job, Settings, build_image_job, build_text_job, build_vector_job
from .kernel_menu import DEFAULT_ORDER, DEFAULT_THRESHOLD, USUAL_KERNELS, check_choice
from .result_fields import get_api_fields

N_STAND_ALONE = 4  # samples that stand alone
_COMPARED = (
    *("q", "finding", "sentence", "verdicts", "matched_size", "within", "missing_cells"),
    *("level", "rows", "pairs", "quality", "signature", "comparison", "sources", "notes"),
)


def vendi_score_texts(
    texts: list[str] | list[list[str]],
    kernel: str = "ngram_overlap",
    ns: list[int] = [1, 2, 3, 4],  # noqa: B006 (shown in the schema, never written to)
    unit: str = "word",
    q: float | str = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    prompts: list[str] = [],  # noqa: B006
    allow_repeats: bool = True,
) -> Record:
    """Compute the Vendi Score of texts, which is their effective number, and find near-duplicates.

    Args:
        texts: Up to 1,000 texts, such as answers to one prompt; or lists of them, one per group.
        kernel: "ngram_overlap" (shared n-grams) or, where it is installed, "MiniLM" (meaning).
        ns: Lengths of the n-grams.
        unit: Unit of the n-grams: "word" or "char".
        q: Order from 0 to "inf": 1 by default; lower orders weight rare texts more.
        threshold: Minimum similarity of near-duplicates, at most 1.
        prompts: Prompts to condition on: one for all texts, or one per group or text (then a mean).
        allow_repeats: Whether a sample can occur more than once in the population.

    Returns:
        VS (number): Vendi Score, 1 to n, or the mean over lists; at q = 2 the field is VS_q2, etc.
        VS_se (number): Standard error of VS, if available; at q = 2 the field is VS_q2_se, etc.
        VS_low (number): Lower end of the 95 % interval of VS; at q = 2 VS_q2_low, etc.
        VS_high (number): Upper end of the 95 % interval of VS; at q = 2 VS_q2_high, etc.
        n (integer): Number of texts.
        q (number or string): Order of the score.
        finding (string): The main result in a short sentence.
        sentence (string): Explanation of the score.
        shares (array): Eigenvalues of the similarity matrix, which sum to 1, largest first.
        profile (object): Scores by their orders, from 0 to 5.
        alike (object): Groups of near-duplicates, threshold, and the pairs closest to it.
        stand_alone (array): Texts that are least similar to any other text.
        by_group (array): label, n, VS of each list; then shares to stand_alone are absent.
        details (object): Kernel, options, method and interval of the score.
        code (string): Python that prints the same score.
    """
    job = build_text_job(texts, kernel, {"ns": ns, "unit": unit}, prompts=prompts)
    return _answer(job, q, threshold, allow_repeats)


def vendi_score_images(
    images: list[str] | list[list[str]],
    kernel: str = "pixels",
    q: float | str = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    allow_repeats: bool = True,
) -> Record:
    """Compute the Vendi Score of images, which is their effective number, and find near-duplicates.

    Args:
        images: Up to 200 image files, each encoded as base64; or lists of them, one per group.
        kernel: "pixels" (32 × 32 pixels) or, where it is installed, "DINOv2" (what they show).
        q: Order from 0 to "inf": 1 by default; lower orders weight rare images more.
        threshold: Minimum similarity of near-duplicates, at most 1.
        allow_repeats: Whether a sample can occur more than once in the population.

    Returns:
        The fields of `vendi_score_texts`, with indices of images in the list, from 0.
    """
    flat, groups = flatten_lists(images, "base64 strings")
    pictures = decode_images(flat, make_position_formatter(groups, "Image"))
    return _answer(build_image_job(pictures, kernel, groups=groups), q, threshold, allow_repeats)


def vendi_score_molecules(
    smiles: list[str] | list[list[str]],
    kernel: str = "morgan",
    q: float | str = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    prompts: list[str] = [],  # noqa: B006
    allow_repeats: bool = True,
) -> Record:
    """Compute the Vendi Score of molecules, their effective number, and find near-duplicates.

    Args:
        smiles: Up to 1,000 molecules as SMILES; or lists of them, one per group.
        kernel: "morgan", "rdkit", "maccs", "atom_pair" or "topological_torsion" fingerprints.
        q: Order from 0 to "inf": 1 by default; lower orders weight rare molecules more.
        threshold: Minimum similarity of near-duplicates, at most 1.
        prompts: SMILES to condition on: one for all, or one per group or molecule (then a mean).
        allow_repeats: Whether a sample can occur more than once in the population.

    Returns:
        The fields of `vendi_score_texts`.
    """
    job = build_text_job(smiles, kernel, kind="molecules", prompts=prompts)
    return _answer(job, q, threshold, allow_repeats)


def vendi_score_vectors(
    rows: list[list[float]] | list[list[list[float]]],
    kernel: str = "cosine",
    sigma: float = 0.0,
    q: float | str = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    prompts: list[list[float]] = [],  # noqa: B006
    allow_repeats: bool = True,
) -> Record:
    """Compute the Vendi Score of vectors, such as embeddings, or of a similarity matrix.

    Args:
        rows: Rows of equal length, one row per sample; or lists of rows, one per group.
        kernel: "cosine", "rbf", "laplacian"; "K" or "K, clipped" for similarities from -1 to 1.
        sigma: Bandwidth of "rbf" and "laplacian"; 0 for the median distance.
        q: Order from 0 to "inf": 1 by default; lower orders weight rare rows more.
        threshold: Minimum similarity of near-duplicates, at most 1.
        prompts: Rows to condition on: one for all rows, or one per group or row (then a mean).
        allow_repeats: Whether a sample can occur more than once in the population.

    Returns:
        The fields of `vendi_score_texts`, with indices of rows, from 0. "K, clipped" sets
        negative eigenvalues to zero.
    """
    job = build_vector_job(rows, kernel, {"sigma": sigma}, prompts=prompts)
    return _answer(job, q, threshold, allow_repeats)


def vendi_compare(
    sets: list | dict,  # type: ignore[type-arg]  # what a schema can be made of
    kind: str = "texts",
    kernel: str = "",
    q: float | str = DEFAULT_ORDER,
    prompts: list = [],  # type: ignore[type-arg]  # noqa: B006
    allow_repeats: bool = True,
) -> Record:
    """Compare the Vendi Scores of two to eight sets or models, and test the differences.

    Lists are subsampled to the size of the smallest, 100 at most, since larger sets score higher.
    A row has a "text", "image", "molecule" or "vector". Models that answered prompts twice or more
    have the mean of their scores within these prompts, and are compared within them. If a model
    lacks some of the prompts, an additive model adjusts the means of three or more models. If every
    row also has "correct": true or false, as many correct answers of the models are compared.

    Args:
        sets: Lists, {"name": [samples]}, or rows {"model": …, "prompt": …, "text": …}.
        kind: "texts", "images" (files as base64), "molecules" (SMILES) or "vectors" (rows).
        kernel: A kernel of the tool for samples of this kind, by default the one that it uses.
        q: Order from 0 to "inf": 1 by default; lower orders weight rare samples more.
        prompts: Prompts to condition on: one for all samples, or for each list a list of them.
        allow_repeats: Whether a sample can occur more than once in the population.

    Returns:
        q (number or string): Order of the scores.
        finding (string): The most and the least diverse set with their scores.
        sentence (string): Which sets are more diverse than which.
        verdicts (array): Sentence on the difference of each pair of sets.
        matched_size (integer): Number of samples that every set is subsampled to.
        within (integer): Number of prompts within which models are compared; 0 for lists.
        missing_cells (integer): Combinations of a model and a prompt without two answers.
        level (number): Level of the intervals.
        rows (array): Per set n, n_per_group (with prompts), VS (or VS_q2 etc.), se and interval.
        pairs (array): Per pair the difference, its interval, p of permutations and the verdict.
        quality (object or null): Parts of each difference in log VS: correct answers, failures.
        signature (string): All settings, to reproduce the comparison.
        comparison (string): Kernel, options and q.
        sources (object or null): Effective number of different sets; null without prompts.
        notes (array): Notes, such as on prompts that were not used.
    """
    check_choice(kind, tuple(USUAL_KERNELS), "kind")
    rows = _parse_rows(sets, kind)
    check_sets(len({model for model, *_ in rows}))
    labels, row_prompts, values, indices, correct = map(list, zip(*rows, strict=True))
    check_count(max(Counter(labels).values()), MAX_SAMPLES, "samples in a set")
    if flatten_lists(values, kind, rows=kind == "vectors")[1] is not None:
        raise RefusedError(f"Each set must be one list of {kind}, not a list of lists.")
    if prompts and kind == "vectors":
        raise RefusedError("Prompts are not supported for comparisons of vectors; remove them.")
    if kind == "images":
        values = decode_images(values)
    roles: Record = {"sets": labels, "asked": row_prompts if any(row_prompts) else []}
    if can_compare_within(labels, row_prompts):
        roles["groups"] = row_prompts
    roles |= _check_correct(correct, "groups" in roles)
    if any(isinstance(set_prompts, list) for set_prompts in prompts):
        sample_prompts = [*chain(*prompts)]
        if len(sample_prompts) != len(values):
            raise RefusedError(
                f"Pass one prompt for all samples, or {len(values)} prompts, one each."
            )
        roles["prompts"] = sample_prompts
    pooled_sets = {"": Samples(values, indices, kind=kind, **roles)}
    settings = Settings(
        kernel or USUAL_KERNELS[kind], q=q, prompts=prompts, allow_repeats=allow_repeats
    )
    page = run_steps(several_sets.compare(pooled_sets, settings))
    return {name: page[name] for name in _COMPARED}


def compute(samples: list, arguments: str = "") -> Record:  # type: ignore[type-arg]
    """Compute the Vendi Score, magnitude or another measure with any arguments of the library.

    Examples of arguments: k="rbf", sigma=0.5, q=[1, 2], measures=["VS", "IntDiv"], or
    measures={"Magnitude": {"t": [0.5, 1]}, "MagArea": {}}, references=[[1, 2], [3, 4]].

    Args:
        samples: Texts, SMILES, rows, a matrix, images as base64, objects, or lists of these.
        arguments: Arguments of `vendiscore.compute` as Python text, such as k="cosine", q=2.

    Returns:
        values (object): Value of each measure, under the names that the library returns.
        notes (array): Notes, such as on samples that were left out.
        signature (string): All settings, to reproduce the values.
        details (object): Settings, sizes and options; only with details=True.
    """
    return compute_call(samples, parse_arguments(arguments))


def _check_correct(correct: list[object], is_grouped: bool) -> Record:
    """Return whether samples are correct as fields of `Samples`, if rows contain it."""
    stated = [value for value in correct if value is not None]
    if not stated:
        return {}
    if len(stated) < len(correct) or not all(isinstance(value, bool) for value in stated):
        invalid = next(value for value in correct if not isinstance(value, bool))
        raise RefusedError(
            f'"correct" must be true or false in all rows or in none, got {short_repr(invalid)}.'
        )
    if not is_grouped:
        raise RefusedError(
            '"correct" requires rows with prompts that the models answered at least twice.'
        )
    return {"correct": stated, "correct_by": "correct"}


def _parse_rows(sets: object, kind: object) -> list[tuple[str, str, object, int, object]]:
    """Return the model, prompt, sample, index and correctness of each row; lists are models."""
    if not isinstance(sets, (list, dict)):
        raise RefusedError(f"Expected sets or rows, got {type(sets).__name__}.")
    sets_by_name = sets if isinstance(sets, dict) else {chr(65 + i): x for i, x in enumerate(sets)}
    sample = str(kind).removesuffix("s")
    rows: list[tuple[str, str, object, int, object]] = []
    for i, (name, value) in enumerate(sets_by_name.items()):
        if isinstance(value, list):
            rows += [(name, "", set_sample, index, None) for index, set_sample in enumerate(value)]
        elif isinstance(value, dict) and "model" in value and sample in value:
            prompt = str(value.get("prompt") or "")
            model = str(value["model"])
            rows.append((model, prompt, value[sample], i, value.get("correct")))
        else:
            raise RefusedError(
                f'Set {i} must be a list of {kind}, or a row with "model", "{sample}" and '
                f'optionally "prompt" and "correct", got {short_repr(value)}.'
            )
    return rows


@np.errstate(all="ignore")
def _answer(job: Job, q: object, threshold: object, allow_repeats: object) -> Record:
    report_data = run_steps(job.compute_steps(q, threshold, allow_repeats))
    answer = get_api_fields(report_data) | {
        "finding": sentences.describe_finding(report_data, job.sample_name),
        "sentence": job.sentence(report_data),
        "code": job.code(report_data),
    }
    if report_data.grouped:
        del answer["details"]["groups"]  # which are `by_group`
        return answer
    answer["shares"] = [round(share, 9) for share in answer["shares"] if share > 0]
    return answer | _describe_duplicates(report_data, job)


def _describe_duplicates(report_data: ReportData, job: Job) -> Record:
    """Return groups of similar samples, and the samples that are least similar to any other."""
    explanation = report_data.explanation

    def describe_sample(index: int) -> Record:
        return {"place": index} | ({"sample": job.texts(index)} if job.texts else {})

    def describe_pairs(pairs: Iterable[tuple[int, int, float]]) -> list[Record]:
        return [
            {"a": describe_sample(i), "b": describe_sample(j), "similarity": similarity}
            for i, j, similarity in pairs
        ]

    above, below = explanation.boundary()
    closest = explanation.nearest_similarity
    n_shown = min(N_STAND_ALONE, max(1, len(closest) // 3), len(closest) - 1)
    least_similar = np.argsort(closest, kind="stable")[:n_shown]
    indices = report_data.indices.tolist()
    return {
        "alike": {
            "threshold": explanation.threshold,
            "repeats": {f"{level:g}": count for level, count in explanation.repeats.items()},
            "groups": [
                {"keep": describe_sample(keep), "rest": [describe_sample(index) for index in rest]}
                for keep, rest in explanation.groups
            ],
            "boundary": {"above": describe_pairs(above), "below": describe_pairs(below)},
            f"{report_data.key}_without": explanation.score_without_duplicates,
        },
        "stand_alone": [
            {**describe_sample(indices[i]), "similarity_to_nearest": float(closest[i])}
            for i in least_similar
        ],
    }
