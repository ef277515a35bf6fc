"""Arguments of `compute` as text: only literals, allowed names and values within the limits."""

import pytest

pytest.importorskip("matplotlib")
from vendiscore import list_kernels, list_measures
from vendiscore_page.answers.call_arguments import (
    FORBIDDEN,
    MAX_LENGTHS,
    MAX_NUMBERS,
    describe_error,
    format_arguments,
    list_allowed_names,
    list_kernel_names,
    list_offered_kernels,
    names_encoder,
    parse_arguments,
)
from vendiscore_page.quotas import RefusedError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        (
            'k="rbf", sigma=0.5, q=2, measures=["VS", "IntDiv"]',
            {"k": "rbf", "sigma": 0.5, "q": 2, "measures": ["VS", "IntDiv"]},
        ),
        ("compute(samples, q=[0, 1],\n        ns=(1, 2))", {"q": [0, 1], "ns": [1, 2]}),
        ("vendiscore.compute(samples)", {}),
        ("samples, q=-1", {"q": -1}),
        ('q="inf",  # order', {"q": "inf"}),
        (
            'measures={"Magnitude": {"t": [0.5, 1]}, "VS": {}}',
            {"measures": {"Magnitude": {"t": [0.5, 1]}, "VS": {}}},
        ),
        ('k={"morgan:smiles": 0.5, "tags:odors": 0.5}', None),
        ("given_prompt=True, prompts='a, b'", None),
    ],
)
def test_arguments_are_parsed(text, expected):
    arguments = parse_arguments(text)
    assert expected is None or arguments == expected
    assert parse_arguments(format_arguments(arguments)) == arguments


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "must be text"),
        ("rbf", "must have a name"),
        ("**{'q': 1}", "must have a name"),
        ("q=1, q=2", "`q` is set twice"),
        ("q=1); import os; (", "cannot be read"),
        ("q=__import__('os').getpid()", "must be a number, a text"),
        ("k=lambda a, b: 1", "must be a number, a text"),
        ("q=b'1'", "unsupported bytes"),
        ("q=1j", "unsupported complex"),
        ("q=0x" + "f" * 90_000, "unsupported number"),
        ("q=" + "9" * 90_000, "cannot be read"),
        ("q=" + "-" * 90_000 + "1", "cannot be read"),
        ("q=" + "1+" * 45_000 + "1", "cannot be read"),
        ("q=" + "[" * 90_000, "cannot be read"),
        ("q=\x00", "cannot be read"),
        ("q='\ud800'", "cannot be read"),
        ("q=" + "1" * 100_001, "100,003 characters"),
        ("samples=['a']", "send the samples separately"),
        ("sigmaa=1", "Did you mean `sigma`"),
        ("kernel='rbf'", "Did you mean `k`"),
        ("k='/etc/passwd'", "Unknown kernel"),
        ("k='sentence-transformers/all-mpnet-base-v2'", "Unknown kernel"),
        ("k={'dinov2:image': 1}", "Unknown kernel"),
        ("k='text_embeddings'", "(Unknown|needs a model)"),
        ("k='image_embeddings', model_path='/tmp'", "cannot be set|Unknown"),
        *(
            (text.format(given_k), "(Unknown|needs a model)")
            for given_k in ("'text_embeddings'", "{'labels': 0.5, 'text_embeddings': 0.5}")
            for text in (
                "measures='ConditionalVS', given_k={}",
                "measures={{'ConditionalVS': {{'given': ['a', 'b'], 'given_k': {}}}}}",
            )
        ),
        ("measures='Vs'", "Did you mean 'VS'"),
        ("measures={'ConditionalVS': {'given_k': 'pixels'}}", "cannot compare images"),
        ("k='equivalence', same='(a+)+$'", "must be 'exact'"),
        ("k='equivalence', same='/models/judge'", "must be 'exact'"),
        ("k={'bleu': 1}, options={'bleu': {'tokenize': 'flores200'}}", "`tokenize` cannot be set"),
        ("method='estimate', rtol=1e-8", "must be at least 0.001"),
        ("measures='BetweenVS', permutations=10_000_000", "at most 9,999"),
        ("measures={'Magnitude': {'t': [" + "1," * 501 + "]}}", "up to 500 entries"),
        ("k='rdkit', max_path=30", "at most 7"),
        *((f"{name}='x'", f"`{name}` cannot be set here") for name in sorted(FORBIDDEN)),
        *((f"{name}={limit + 1:g}", "at most") for name, limit in MAX_NUMBERS.items()),
        *((f"{name}={[1] * (limit + 1)}", "up to") for name, limit in MAX_LENGTHS.items()),
    ],
)
def test_invalid_arguments_are_rejected(text, message):
    with pytest.raises(RefusedError, match=message):
        parse_arguments(text)


@pytest.mark.usefixtures("cached_encoders")
def test_conditions_are_compared_by_no_other_model_than_those_offered():
    model = "model_path='sentence-transformers/all-MiniLM-L6-v2'"
    for given_k in ("'text_embeddings'", "['labels', 'text_embeddings']"):
        for options in ("", f", {model}", f", k='text_embeddings', {model}"):
            with pytest.raises(RefusedError, match="needs a model; use given_k='semantic' instead"):
                parse_arguments(f"measures='ConditionalVS', given_k={given_k}{options}")
    assert parse_arguments("given_k='semantic'") == {"given_k": "semantic"}


def test_every_argument_and_option_of_the_library_is_allowed_or_forbidden():
    names = {name for kernel in list_kernels() for name in kernel.options}
    names |= {name for measure in list_measures() for name in measure.options}
    assert names <= list_allowed_names() | FORBIDDEN
    assert not list_allowed_names() & FORBIDDEN
    assert set(MAX_NUMBERS) | set(MAX_LENGTHS) <= list_allowed_names()


def test_all_kernels_without_models_can_be_selected():
    embeddings = {"text_embeddings", "image_embeddings"}
    assert {kernel.name for kernel in list_kernels()} - embeddings <= set(list_kernel_names())
    assert names_encoder("k='text_embeddings'")
    assert not names_encoder("k='rbf', q=2")
    for name in list_offered_kernels():
        assert names_encoder(f"k={name!r}")
        assert parse_arguments(f"k={name!r}") == {"k": name}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("`x` is wrong; pass normalize=True", "`x` is wrong; pass normalize=True"),
        ("bad k; use k='rbf', or pass a function", "bad k; use k='rbf'"),
        ("bad. Use vendiscore.list_kernels()", "bad"),
        ("needs rdkit; run pip install -e '.[molecules]'", "needs rdkit"),
        (
            "it is 2; pass device='cpu' (2 samples cannot be used: 0, 1)",
            "it is 2 (2 samples cannot be used: 0, 1)",
        ),
    ],
)
def test_errors_keep_only_valid_suggestions(message, expected):
    assert describe_error(ValueError(message)) == expected


def test_errors_of_other_tools_name_the_tool_with_the_suggested_argument():
    message = "the diagonal is 2; pass normalize=True"
    described = describe_error(ValueError(message), ("rows", "kernel"))
    assert (
        described == "the diagonal is 2; pass normalize=True, as an argument of the tool `compute`"
    )
    assert describe_error(ValueError("q is 7; pass q=1"), ("q",)) == "q is 7; pass q=1"
