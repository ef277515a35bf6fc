"""Suggest a valid name or call in the message about an invalid one."""

import difflib
import functools
import importlib
import inspect
import re
import sys
from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Literal, NoReturn, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
NameKind = Literal["kernel", "keyword", "measure", "metric", "name", "objective"]
# Minimum `difflib` ratio of a suggestion; 0.6 would suggest "cosine" for "size".
MIN_NAME_SIMILARITY = 0.65
# Longer lists of names are truncated.
MAX_LISTED_NAMES = 12

# Names of this package, and synonyms in other libraries, in the form of `normalize_name`. If a
# synonym has several names, the first accepted one is suggested.
SYNONYMS = {
    "k": "kernel kernelname kernelfn kernelfunction similarity sim similarityfn similarityfunction",
    "p": "weights weight probs probabilities sampleweight sampleweights",
    "q": "order orders alpha",
    "ci": "confidence confidencelevel confidenceinterval interval cilevel level",
    "level": "confidence confidencelevel confidenceinterval cilevel ci",
    "allow_repeats": "repeats norepeats recurrence continuous",
    "size": "n top topk num count nsamples numsamples budget",
    "ns": "n ngram ngrams ngramrange",
    "seed": "randomstate randomseed rng",
    "samples": "texts text sentences generations images molecules smiles inputs input x prediction "
    "predictions data",
    "references": "reference refs targets target",
    "groups": "group groupby",
    "measures": "measure metrics",
    "threshold": "cutoff thresh minsimilarity",
    "normalize": "normalise normalized",
    "sigma": "bandwidth lengthscale",
    "model_path": "modelname modelid modelnameorpath checkpoint",
    "n_bits": "fpsize",
    "ngram_overlap": "ngrams text texts string strings words bagofwords tfidf",
    "text_embeddings": "sbert sentencetransformers bert simcse",
    "static": "wordllama model2vec potion glove word2vec wordvectors staticvectors",
    "equivalence": "nli entailment semanticequivalence noveltybench",
    "image_embeddings": "inception inceptionv3",
    "pixels": "image images photos pictures",
    "morgan": "ecfp ecfp4 smiles molecule molecules fingerprint fingerprints",
    "tanimoto": "jaccard tanimotosimilarity bits bitvectors bitvect",
    "cosine": "cosinesimilarity cossim cos",
    "rbf": "gaussian squaredexponential",
    "euclidean": "l2",
    "manhattan": "l1",
    "linear": "dot dotproduct inner innerproduct",
    "labels": "classes categories",
    "VS": "vendi vendiscore diversity",
    "IntDiv": "internaldiversity",
    "NgramDiversity": "distinct distinctn distinct1 distinct2",
    "generative": "prdc precisionrecall",
    "list_kernels": "availablekernels kernelnames",
    "list_measures": "availablemeasures listmetrics",
    "growth": "rarefaction accumulation",
    "encoder": "embed encode embedding",
    "compare": "permutationtest significance",
    "effective_number": "hill hillnumber hillnumbers renyi entropy",
    "spectrum": "eigenvalues eigvals",
}

# For each kind of name: words, and a sentence about what to use instead.
REPLACEMENT_HINTS = {
    "kernel": {
        "precomputed matrix gram grammatrix similaritymatrix kernelmatrix": (
            "A similarity matrix is passed with score_K=True instead of `k`."
        ),
        "euclidean sqeuclidean l2 manhattan cityblock l1 distance": (
            "Distances become similarities by k='rbf' (Euclidean) or k='laplacian' (Manhattan); "
            "measures='MagArea' takes distances as they are, by `metric`."
        ),
        "embedding embeddings": (
            "k='text_embeddings' embeds texts, k='image_embeddings' images; vectors that are "
            "embeddings already are compared by k='cosine'."
        ),
        "minilm allminilml6v2": (
            "Did you mean k='semantic', or k='sentence-transformers/all-MiniLM-L6-v2'?"
        ),
        "meaning semantics": "Did you mean k='semantic', or k='static' without a network?",
        "dino dinov2": "Did you mean k='facebook/dinov2-base'?",
        "clip": "Did you mean k='openai/clip-vit-base-patch32'?",
        "ecfp6": "Did you mean k='morgan', radius=3?",
        "levenshtein editdistance edit rouge bertscore": (
            "Such a similarity is passed as a function: k=lambda a, b: …, 1 for equal samples."
        ),
        "polynomial poly": (
            "Pass RowsSimilarity.of_rows(U, lambda A, B: (A @ B.T) ** 3, psd=True) of unit rows U."
        ),
    },
    "keyword": {
        "precomputed similaritymatrix kernelmatrix matrix gram": (
            "A similarity matrix is passed with score_K=True."
        ),
        "psd": "Pass it to `compute`: compute(K, score_K=True, psd='clip')[\"VS\"].",
        "dedup deduplicate dropduplicates": "explain(samples).kept leaves out near-duplicates.",
        "column columns columnname textcolumn field": "Pass the column as the samples: df['text'].",
        "w": "Multiply the columns instead: X * w ** (1 / exponent) of metric='minkowski'.",
        "v": "Divide the columns instead: metric='euclidean' of X / sqrt(V).",
        "vi": "Multiply the rows instead: metric='euclidean' of X @ cholesky(VI).",
        "gamma": "Pass sigma=1/sqrt(2·gamma) with k='rbf', or sigma=1/gamma with k='laplacian'.",
        "seed randomstate randomseed rng": (
            "Nothing is drawn at random here: leave it out, or add method='estimate' to `compute`."
        ),
        "device cuda gpu": (
            "Arrays and tensors are scored where they are: leave it out, except with "
            "k='text_embeddings' and k='image_embeddings', which load a model."
        ),
        "verbose progress progressbar tqdm": (
            "A bar shows itself when work takes more than two seconds: leave it out."
        ),
        "njobs numworkers workers": "NumPy uses all cores by itself: leave it out.",
        "precision dtype": (
            "A State adds up in double precision: leave it out; compute(samples, k='cosine') "
            "multiplies many float32 rows of unit length in single precision."
        ),
        "bootstrap nbootstrap": "Intervals are found without bootstrap: pass ci=0.95.",
        "embeddings embedding features": "Pass embeddings as the samples, with k='cosine'.",
        "embed embedder encode encoder embeddingfunction featureextractor": (
            "Pass k='text_embeddings' or k='image_embeddings' with model=encoder, a function or an "
            "object that has encode."
        ),
        "standardize standardise scaler zscore": (
            "Standardise the columns first: (X - X.mean(0)) / X.std(0)."
        ),
        "test paired": (
            "compare tests by permutations, with `groups` within prompts: leave it out."
        ),
        "n top topk num count nsamples numsamples budget": (
            "select(samples, size) chooses so many samples."
        ),
        "measures": "compute(samples, measures=…, ci=0.95) has intervals of other measures.",
        "counts abundances": (
            "compute(counts=…) scores counts of species; other functions take the species of each "
            "individual, for example from np.repeat, with k='labels'."
        ),
        "by": "compare(samples, by=labels) compares sets, groups=labels scores each alone.",
        "clusters": (
            "compute(samples, clusters=labels, ci=0.95) has the interval of clusters; to compare "
            "sets, or to see them grow, pass one sample of each cluster."
        ),
    },
    "measure": {
        "fid frechetinceptiondistance": "'KID' and 'MMD' compare two sets of embeddings.",
        "ken": "novelty(samples, references) ranks the samples that references lack.",
        "jensenshannon": (
            "It is the logarithm of 'BetweenVS' of both sets as groups: compute(samples + "
            "references, groups=labels, measures='BetweenVS'), with half of the weight `p` for "
            "each set."
        ),
    },
    "metric": {
        "jaccard": "k='tanimoto' with metric='1-k' has this distance of rows of 0 and 1.",
        "dice": "k='tanimoto' with coefficient='dice' and metric='1-k' has this distance.",
        "seuclidean": (
            "Divide the columns instead: metric='euclidean' of X / X.std(axis=0, ddof=1)."
        ),
        "mahalanobis": (
            "Multiply the rows instead: metric='euclidean' of X @ cholesky(inv(cov(X.T))), by "
            "functions of numpy.linalg."
        ),
    },
    "objective": {
        "logdet": "'vendi' differs as much; DPPy (dppy) and apricot-select have log det",
        "maxmin": "'vendi' differs as much; RDKit's MaxMinPicker keeps the least distance large",
    },
    "name": {
        "nearduplicates duplicates findduplicates dedupe dedup deduplicate dropduplicates": (
            "explain(samples).groups lists near-duplicates, and explain(samples).kept the places "
            "of the samples that are left without them."
        ),
        "subset choose sample diversesubset selectdiverse": "Did you mean select(samples, size)?",
        "vendi vendiscore vendikernel diversity diversityscore metric loadmetric": (
            "compute(samples) returns the Vendi Score in a dict, score(samples) as a number; "
            "load('vendiscore') is the metric of Hugging Face."
        ),
        "precisionrecall precision recall coverage density prdc": (
            "Did you mean compute(samples, references, k='cosine', "
            "measures=['Precision', 'Recall'])?"
        ),
        "perprompt pergroup": "compute(answers, groups=prompts) scores the answers to each prompt.",
        "bootstrap": "compute(samples, ci=0.95) has an interval, without bootstrap.",
        "plot plotting": "Results have a plot: compare(a, b).plot(), growth(samples).plot().",
        "help": "help(compute) describes the main function, list_kernels() lists all kernels.",
        "cosine cosinesimilarity rbf morgan ngramoverlap textembeddings bleu kernel kernels": (
            "Kernels are passed by name: compute(samples, k='cosine'); list_kernels() lists all."
        ),
        "intdiv intdivk selfbleu distinctn novelty mmd kid metrics measures measure": (
            "Measures have names: compute(samples, measures='IntDiv'); list_measures() lists all."
        ),
        "magnitude": (
            "Did you mean mag_area(samples), magnitude_function(samples), or at one scale "
            "compute(samples, measures='Magnitude')?"
        ),
        "magnitudearea": "Did you mean mag_area(samples)?",
        "effectiverank": (
            "The Vendi Score is the effective rank of a similarity matrix: score_K(K), or "
            "score_X(X) of features."
        ),
        "scoretexts scoretext scoreimages scoremolecules textutils imageutils moleculeutils": (
            "One function scores all kinds of samples: compute(samples), with k='pixels' for "
            "images and k='morgan' for molecules."
        ),
        "plots": "Each picture is a function of it: dir(plots) lists them.",
    },
}

# A model is OWNER/NAME on the Hugging Face Hub or a path. It is taken to be an image model if its
# name contains one of _VISION_MODEL_NAMES.
_VISION_MODEL_NAMES = (
    "dino",
    "clip",
    "vit",
    "resnet",
    "inception",
    "convnext",
    "swin",
    "beit",
    "mae",
)
_HUB_ID = re.compile(r"[^/]*(?:/[^/]+)+")

_NAMES_BY_SYNONYM: dict[str, list[str]] = {}
for _name, _synonyms in SYNONYMS.items():
    for _synonym in _synonyms.split():
        _NAMES_BY_SYNONYM.setdefault(_synonym, []).append(_name)
_HINTS_BY_WORD = {
    kind: {word: sentence for words, sentence in table.items() for word in words.split()}
    for kind, table in REPLACEMENT_HINTS.items()
}


def closest_name(name: object, candidates: Iterable[str]) -> str | None:
    """Return the candidate that `name` is a synonym, prefix or misspelling of, or None."""
    candidates, word = sorted(candidates), normalize_name(str(name))
    if not word:
        return None
    keys = {normalize_name(ours): ours for ours in candidates}
    if ours := resolve_synonym(name, candidates) or keys.get(word):
        return ours
    longer = [ours for key, ours in keys.items() if len(word) > 2 and key.startswith(word)]
    close = (
        longer
        if len(longer) == 1
        else difflib.get_close_matches(word, keys, n=1, cutoff=MIN_NAME_SIMILARITY)
    )
    return keys[normalize_name(close[0])] if close else None


def resolve_synonym(name: object, candidates: Iterable[str]) -> str | None:
    """Return the candidate that `name` is a synonym of, or None."""
    candidates = set(candidates)
    return next(
        (
            ours
            for ours in _NAMES_BY_SYNONYM.get(normalize_name(str(name)), ())
            if ours in candidates
        ),
        None,
    )


def replacement_hint(name: object, kind: NameKind) -> str:
    """Return a sentence about what to use instead of `name`, or ""."""
    return _HINTS_BY_WORD[kind].get(normalize_name(str(name)), "")


def model_modality(name: str) -> Literal["text", "image"] | None:
    """Guess from a Hub id or path whether a model embeds text or images; None for other names."""
    if not _HUB_ID.fullmatch(name.replace("\\", "/").rstrip("/")):
        return None
    return "image" if any(word in name.lower() for word in _VISION_MODEL_NAMES) else "text"


def suggest_name(
    name: object,
    candidates: Iterable[str],
    extra_names: Iterable[str] = (),
    *,
    quote: str = "'",
    fallback: str = "",
    kind: NameKind | None = None,
) -> str:
    """Return a hint for an unknown name, and the list of available names if it is short.

    Parameters
    ----------
    name : object
        The unknown name.
    candidates : iterable of str
        Names that are listed and may be suggested.
    extra_names : iterable of str, optional
        Further names that may be suggested.
    quote : str, default "'"
        Quotation mark around the suggestion.
    fallback : str, default ""
        Returned if there is no suggestion and the list is long; by default its first names are.
    kind : NameKind, optional
        Which of REPLACEMENT_HINTS to use.
    """
    names = sorted(candidates)
    accepted = {*names, *({*extra_names} - {str(name)})}
    hint = replacement_hint(name, kind) if kind and not resolve_synonym(name, accepted) else ""
    close = None if hint else closest_name(name, accepted)
    if close:
        hint = f"Did you mean {quote}{close}{quote}?"
    if len(names) > MAX_LISTED_NAMES:
        return hint or fallback or f"Available: {', '.join(names[:MAX_LISTED_NAMES])}, …"
    listed = f"Available: {', '.join(names)}." if names else ""
    return f"{hint} {listed}".strip()


def normalize_name(name: str) -> str:
    """Return a name in lower case, with letters and digits only."""
    return "".join(filter(str.isalnum, name.lower()))


@functools.cache
def with_call_hints(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Wrap a function to explain calls with unknown, missing or superfluous arguments."""

    @functools.wraps(function)
    def call(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
        return _call_with_hints(function, function, args, options)

    call.__module__ = __name__.partition(".")[0]  # pickle imports it from there
    return call


class HelpfulCallMeta(ABCMeta):
    """Metaclass: constructor calls with invalid arguments raise an error with a hint."""

    def __call__(cls, *args: object, **options: object) -> Any:
        return _call_with_hints(super().__call__, cls, args, options)

    @property
    def __signature__(cls) -> inspect.Signature:
        """Signature of `__init__`, for `help` and the documentation."""
        _self, *others = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
        return inspect.Signature(others)


def _call_with_hints(
    function: Callable[..., Result],
    documented_callable: Callable[..., object],
    args: Sequence[object],
    options: Mapping[str, object],
) -> Result:
    """Call `function`; if its arguments are invalid, raise a TypeError with a hint.

    The hint is based on the signature of `documented_callable`.
    """
    try:
        return function(*args, **options)
    except (AttributeError, TypeError) as error:
        inside = error.__traceback__ is None or error.__traceback__.tb_next is not None
        why = "" if inside else describe_call_error(documented_callable, args, options)
        if not why and hasattr(documented_callable, "_call_hint"):
            hint = documented_callable._call_hint
            why = f"a {documented_callable.__name__} cannot be made of these arguments; {hint}"
        if not why:
            raise
        raise TypeError(why) from (error if inside else None)


def describe_call_error(
    function: Callable[..., object], args: Sequence[object], options: Mapping[str, object]
) -> str:
    """Describe which arguments do not fit the signature of a function; "" if all do."""
    parameters = inspect.signature(function).parameters.values()
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters)
    named = [each for each in parameters if not each.kind.description.startswith("variadic")]
    by_place = [each.name for each in named if each.kind is not each.KEYWORD_ONLY]
    passed = {*by_place[: len(args)], *options}
    needed = [each for each in named if each.default is each.empty]
    missing = [each.name for each in needed if each.name not in passed]
    shown = [each.name if each.name in by_place else f"{each.name}=…" for each in needed]
    call = f"{function.__name__}({', '.join(shown)})"
    known = {each.name for each in named}
    for name in options:
        if name not in known and (not takes_any or resolve_synonym(name, missing)):
            hint = suggest_name(name, known, quote="`", kind="keyword") or "Leave it out."
            return f"unknown keyword `{name}`. {hint}"
    if missing:
        hints = (replacement_hint(name, "keyword") for name in options if name not in known)
        hint = next(filter(None, hints), "")
        return f"`{missing[0]}` is missing: pass {call}{hint and '. '}{hint}"
    if len(args) > len(by_place):
        return (
            f"{len(by_place)} of {len(args)} arguments can be passed without their names; "
            f"pass {function.__name__}({', '.join(by_place)}), and others as name=value"
        )
    return ""


class NonCallableModule(ModuleType):
    """A module with a name that users may try to call; a call raises an error with a hint."""

    def __call__(self, *args: object, **options: object) -> NoReturn:
        name = self.__name__.rpartition(".")[2]
        raise TypeError(
            f"`{name}` is a module, and cannot be called. {replacement_hint(name, 'name')}"
        )

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return importlib.import_module, (self.__name__,)


def make_non_callable(module: str) -> None:
    """Make calls of a module raise an error with its hint in `REPLACEMENT_HINTS`."""
    sys.modules[module].__class__ = NonCallableModule
