"""The role of a column follows from the last noun of its name."""

import pytest

from vendiscore.report import role_of


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("answer", "text"),
        ("modelAnswer_2", "text"),
        ("Antworten", "text"),
        ("text", "text"),
        ("prompt", "prompt"),
        ("input_text", "prompt"),
        ("prompt_id", "id"),
        ("model", "model"),
        ("model_id", "model"),
        ("generator", "model"),
        ("Unnamed: 0", "id"),
        ("class", "label"),
        ("seed", "label"),
        ("answer_score", "other"),
        ("reference", "reference"),
        ("gold_answer", "reference"),
        ("groundTruth", "reference"),
        ("completion_reason", "other"),
        ("output_length", ""),
        ("prompt_text", "prompt"),
        ("model_name", "model"),
        ("temperature", "setting"),
        ("Réponse", "text"),
        ("RéponseJSON", ""),
        ("回答", "text"),
        ("HTMLText", ""),
        ("prompt_full_text", "prompt"),
        ("translation_fr", "text"),
        ("prompt_zh", "prompt"),
        ("text_en", "text"),
        ("source_en", ""),  # of translations, not a model
        ("target_de", ""),
        ("city", ""),
        ("", ""),
    ],
)
def test_column_name_determines_role_such_as_prompt_or_id(name, role):
    assert role_of(name) == role


@pytest.mark.parametrize("name", ["answer", "prompt", "model", "id", "label", "score"])
def test_role_of_column_name_does_not_depend_on_case_number_and_plural(name):
    role = role_of(name)
    assert role
    assert {
        role_of(variant) for variant in (name.upper(), name.title(), f"{name}_1", f"{name}s")
    } == {role}
