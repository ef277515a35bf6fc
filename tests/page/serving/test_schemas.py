"""Schemas of the API follow from signatures and docstrings."""

import inspect

import pytest

pytest.importorskip("pydantic")

from vendiscore_page.serving import schemas
from vendiscore_page.serving.api_calls import API


def example(texts: list[str], q: float | str = 1.0) -> dict:
    """Compute an example.

    It takes two
    lines.

    Args:
        texts: Some texts.
        q: The order.

    Returns:
        VS (number): The score.
        note (string or null): A note.
    """
    return {}


def test_docstring_is_split_into_its_parts():
    assert schemas.parse_docstring(example) == (
        "Compute an example.",
        "Compute an example. It takes two lines.",
        {"texts": "Some texts.", "q": "The order."},
        ["VS (number): The score.", "note (string or null): A note."],
    )


def test_input_schema_has_types_descriptions_and_defaults():
    schema = schemas.make_input_schema(example)
    assert schema["properties"]["q"] == {
        "anyOf": [{"type": "number"}, {"type": "string"}],
        "description": "The order.",
        "default": 1.0,
    }
    assert schema["properties"]["texts"]["items"] == {"type": "string"}
    assert schema["properties"]["texts"]["examples"] == [schemas.EXAMPLES["texts"]]
    assert schema["required"] == ["texts"]
    assert schema["additionalProperties"] is False


def test_output_schema_has_fields_and_scores_of_other_orders():
    schema = schemas.make_output_schema(example)
    assert schema["properties"]["note"] == {"type": ["string", "null"], "description": "A note."}
    assert schema["patternProperties"] == {"^VS_q[^_]+$": schema["properties"]["VS"]}


@pytest.mark.parametrize("function", API)
def test_every_argument_and_result_of_the_api_is_described(function):
    schema = schemas.make_input_schema(function)
    assert list(schema["properties"]) == list(inspect.signature(function).parameters)
    for side in (schema, schemas.make_output_schema(function)):
        assert side["properties"]
        for name, field in side["properties"].items():
            assert field["description"].endswith("."), name


def test_openapi_has_one_operation_per_function():
    document = schemas.make_openapi(API)
    operations = {path: item["post"]["operationId"] for path, item in document["paths"].items()}
    assert operations == {f"/api/{each.__name__}": each.__name__ for each in API}
    operation = document["paths"]["/api/compute"]["post"]
    assert operation["summary"] + " " == operation["description"][: len(operation["summary"]) + 1]
    assert set(operation["responses"]) == {"200", "413", "422", "429", "503"}
