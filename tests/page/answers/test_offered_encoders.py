"""Encoders of the web app: only offered names, work in steps, and the scores of the library."""

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from page_answers import compare_as_json, make_samples, score_as_json, score_samples

from vendiscore import as_similarity, compute

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
pytest.importorskip("PIL")
from PIL import Image

from vendiscore import SampleError
from vendiscore.support.progress import run_steps
from vendiscore_page.answers import api, jobs, kernel_menu, offered_encoders, one_set
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.inputs import examples
from vendiscore_page.inputs.pictures import read_pictures
from vendiscore_page.quotas import RefusedError

TEXTS = [*examples.find_example("A model in a rut").text.splitlines(), "Look, Jane.", "Look, Jane."]
MINILM = offered_encoders.ALLOWED["texts"]["MiniLM"]
DINOV2 = offered_encoders.ALLOWED["images"]["DINOv2"]


@pytest.fixture
def empty_cache(monkeypatch):
    """An empty cache of encoded sets."""
    monkeypatch.setattr(offered_encoders, "_recent", OrderedDict())


@pytest.fixture
def files(tmp_path):
    """Image files of several sizes, in colour and greyscale."""
    rng = np.random.default_rng(0)
    paths = []
    for i, shape in enumerate([(90, 120, 3), (200, 70, 3), (64, 64), (33, 50, 3), (300, 300)]):
        path = tmp_path / f"{i}.png"
        smooth = Image.fromarray(rng.integers(0, 256, (5, 4, *shape[2:]), dtype=np.uint8))
        smooth.resize(shape[1::-1]).save(path)
        paths.append(str(path))
    return paths


def test_unavailable_encoders_are_not_offered(monkeypatch):
    offered_encoders.list_offered.cache_clear()
    monkeypatch.setattr(offered_encoders, "find_spec", lambda name: None)
    assert offered_encoders.list_offered("texts") == offered_encoders.list_offered("images") == {}
    monkeypatch.undo()
    offered_encoders.list_offered.cache_clear()
    monkeypatch.setitem(
        offered_encoders.ALLOWED["texts"], "Other", {"model_path": "nobody/nothing"}
    )
    assert "Other" not in offered_encoders.list_offered("texts")
    offered_encoders.list_offered.cache_clear()
    # A Space downloads encoders when it is built, and offers only these.
    monkeypatch.setenv("SPACE_ID", "anyone/vendiscore")
    assert "Other" not in offered_encoders.list_offered("texts")
    assert offered_encoders.list_absent("texts") == []
    monkeypatch.undo()
    offered_encoders.list_offered.cache_clear()


@pytest.fixture
def static_vectors_only(monkeypatch):
    """Static word vectors are installed, and no encoder is available."""
    for name in ("tokenizers", "wordllama"):
        if find_spec(name) is None:
            pytest.skip(f"needs {name}")
    monkeypatch.setattr(offered_encoders, "_is_cached", lambda model: False)
    offered_encoders.list_offered.cache_clear()
    yield
    monkeypatch.undo()
    offered_encoders.list_offered.cache_clear()


@pytest.mark.usefixtures("static_vectors_only")
def test_static_vectors_replace_unavailable_encoder():
    assert offered_encoders.list_offered("images") == {}
    menu = kernel_menu.build_menu("texts")
    assert menu["default"] == "static vectors"
    assert menu["note"] == (
        "MiniLM is not available here, so meaning is compared by static vectors, which ignore the "
        "order of words."
    )
    assert kernel_menu.build_menu("images")["note"] == (
        "DINOv2 is not available here, so only pixels can be compared."
    )
    assert kernel_menu.build_menu("vectors")["note"] == ""
    result = score_as_json(TEXTS, kernel="static vectors")
    assert result["VS"] == pytest.approx(compute(TEXTS, k="static")["VS"], rel=1e-6)
    assert result["sentence"].startswith("By what they mean (static vectors), this set of 14 texts")
    assert "model_path='wordllama'" in result["code"]
    wording_result = score_samples(TEXTS, kernel="ngram_overlap")
    assert "To compare meaning, use the Python package" not in wording_result.answer["wording"]
    assert run_steps(wording_result.second())["sentence"].endswith(" by meaning (static vectors)")


@pytest.mark.usefixtures("cached_encoders")
def test_static_vectors_are_not_offered_with_minilm():
    assert list(offered_encoders.list_offered("texts")) == ["MiniLM"]
    assert kernel_menu.build_menu("texts")["note"] == ""


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
def test_error_of_incomplete_encoder_names_other_kernels(monkeypatch):
    monkeypatch.setattr(offered_encoders, "_encoders", {})

    def encoder(**options):
        raise FileNotFoundError("tokenizer.json")

    monkeypatch.setattr(offered_encoders, "encoder", encoder)
    with pytest.raises(RefusedError, match=r"MiniLM cannot be loaded .*: ngram_overlap"):
        score_as_json(TEXTS, kernel="MiniLM")
    with pytest.raises(RefusedError, match=r"DINOv2 cannot be loaded .*: pixels"):
        offered_encoders._load_encoder("images", DINOV2)


@pytest.mark.usefixtures("cached_encoders")
def test_jobs_accept_only_offered_encoder_names():
    assert jobs.build_text_job(["a", "b"], "MiniLM").arguments == MINILM
    with pytest.raises(RefusedError, match="pick one of MiniLM, ngram_overlap"):
        jobs.build_text_job(["a", "b"], "sentence-transformers/all-MiniLM-L6-v2")
    with pytest.raises(RefusedError, match="pick one of DINOv2, pixels"):
        jobs.build_image_job([], "MiniLM")


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
@pytest.mark.parametrize("batch_size", [64, 4, 1])
def test_text_score_matches_compute_for_any_batch_size(monkeypatch, batch_size):
    monkeypatch.setitem(offered_encoders._BATCH, "text", batch_size)
    expected = compute(TEXTS, **MINILM, ci=0.95, details=True)
    result = api.vendi_score_texts(TEXTS, "MiniLM")
    # The batch size changes the last digits of single precision.
    assert result["VS"] == pytest.approx(expected["VS"], rel=1e-15 if batch_size == 64 else 1e-6)
    assert result["details"]["signature"] == expected["details"]["signature"]


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
def test_scores_of_text_groups_match_compute():
    nested = [TEXTS[:3], TEXTS[3:9], TEXTS[9:]]
    expected = compute(nested, **MINILM, ci=0.95, details=True)
    result = api.vendi_score_texts(nested, "MiniLM")
    assert result["VS"] == pytest.approx(expected["VS"], rel=1e-6)
    assert result["VS_se"] == pytest.approx(expected["VS_se"], rel=1e-5)
    assert result["details"]["signature"] == expected["details"]["signature"]


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
def test_truncated_texts_are_counted_over_all_batches(monkeypatch):
    monkeypatch.setitem(offered_encoders._BATCH, "text", 1)
    texts = [f"{i} " + "word " * 600 for i in range(3)]
    with pytest.warns(UserWarning, match="represents 4 of 4 samples only in part"):
        result = run_steps(offered_encoders.compute_similarity([*texts, texts[0]], MINILM))
    assert "represents 4 of 4 samples only in part; sample 0 is truncated at" in result.notes[0]


@pytest.mark.usefixtures("cached_encoders")
def test_available_encoder_is_default_kernel():
    menu = one_set.build_menu()["kinds"]
    assert menu["texts"]["default"] == "MiniLM"
    assert menu["images"]["default"] == "DINOv2"
    assert kernel_menu.find_choice("texts", "MiniLM").label == "mean the same"
    assert Settings().select_kernel(make_samples([], "images")).kernel == "DINOv2"
    assert one_set.is_long(make_samples(["a"]), Settings())
    assert not one_set.is_long(make_samples(["a"]), Settings("ngram_overlap"))


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
def test_encoding_reports_progress_and_is_cached(monkeypatch):
    monkeypatch.setitem(offered_encoders._BATCH, "text", 2)
    messages = list(one_set.score(make_samples(TEXTS), Settings("MiniLM")))
    assert messages[0] == "Encoding: 0 of 13 done."
    assert len(messages) > 3
    assert list(one_set.score(make_samples(TEXTS), Settings("MiniLM", q=2))) == []
    expected = compute(TEXTS, **MINILM, q=2)["VS_q2"]
    result = score_as_json(TEXTS, kernel="MiniLM", q=2)
    assert result["VS_q2"] == pytest.approx(expected, rel=1e-6)
    assert result["comparison"] == "MiniLM · q 2"
    assert result["sentence"].startswith("By what they mean (MiniLM), this set of 14 texts")
    assert "model_path='sentence-transformers/all-MiniLM-L6-v2'" in result["code"]


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
def test_cache_keeps_recent_sets_only():
    sets = [[f"text {i}", "another"] for i in range(offered_encoders._MAX_RECENT + 1)]
    first, *_, last = [
        run_steps(offered_encoders.compute_similarity(texts, MINILM)) for texts in sets
    ]
    assert run_steps(offered_encoders.compute_similarity(sets[-1], MINILM)) is last
    assert run_steps(offered_encoders.compute_similarity(sets[0], MINILM)) is not first
    assert (
        run_steps(offered_encoders.compute_similarity(sets[-1], MINILM | {"pooling": "cls"}))
        is not last
    )


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
def test_image_score_matches_compute_of_files(files, monkeypatch):
    monkeypatch.setitem(offered_encoders._BATCH, "images", 2)
    expected = compute(files, **DINOV2)["VS"]
    assert 1.0001 < expected < 4.9999
    samples = read_pictures([(Path(path).name, Path(path).read_bytes()) for path in files], "A")
    assert score_as_json(samples, kernel="DINOv2")["VS"] == pytest.approx(expected, rel=1e-6)
    assert score_as_json(samples, kernel="pixels")["VS"] != pytest.approx(expected)


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
def test_error_names_index_of_unreadable_image(files, monkeypatch):
    monkeypatch.setitem(offered_encoders._BATCH, "images", 2)
    data = [Path(path).read_bytes() for path in files]
    with pytest.raises(SampleError, match="sample 5 cannot be read"):
        run_steps(offered_encoders.compute_similarity([data[0], *data[:4], data[4][:60]], DINOV2))


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
@pytest.mark.parametrize("kernel", ["pixels", "DINOv2"])
def test_comparison_of_images_matches_compute(files, kernel):
    data = [(Path(path).name, Path(path).read_bytes()) for path in files]
    answer = compare_as_json(
        {"A": read_pictures(data, "A"), "B": read_pictures(data[:4], "B")}, "images", kernel
    )
    options = DINOV2 if kernel == "DINOv2" else {"k": "pixels", "mode": "RGB"}
    rows = {row["name"]: row for row in answer["rows"]}
    for name, image_paths in {"A": files, "B": files[:4]}.items():
        assert rows[name]["VS"] == pytest.approx(compute(image_paths, **options)["VS"], rel=1e-5)
    assert "glob(name + '/*')) for name in ['A', 'B']" in answer["code"]
    assert answer["map"]["place"] == [name for name, _ in [*data, *data[:4]]]
    assert all(image.startswith("data:image/") for image in answer["map"]["image"])


@pytest.fixture
def loaded_models(monkeypatch):
    """A list of the models that transformers loads during the test."""
    transformers = pytest.importorskip("transformers")
    monkeypatch.setattr(offered_encoders, "_encoders", {})
    result = []
    load = transformers.AutoModel.from_pretrained

    def counting(path, *args, **options):
        result.append(path)
        return load(path, *args, **options)

    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", counting)
    return result


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
def test_model_is_loaded_once_for_many_texts_and_users(loaded_models):
    texts = [f"{i} bottles" for i in range(1000)]
    notes = list(one_set.score(make_samples(texts), Settings("MiniLM")))
    assert "Encoding: 512 of 1,000 done." in notes
    assert loaded_models == [MINILM["model_path"]]
    with ThreadPoolExecutor(4) as pool:
        sets = [[f"{i} cats", f"{i} dogs"] for i in range(8)]
        list(pool.map(lambda texts: api.vendi_score_texts(texts, "MiniLM"), sets))
    assert loaded_models == [MINILM["model_path"]]


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
def test_concurrent_users_load_model_once(loaded_models):
    with ThreadPoolExecutor(4) as pool:
        sets = [[f"{i} cats", f"{i} dogs"] for i in range(4)]
        result = list(pool.map(lambda texts: api.vendi_score_texts(texts, "MiniLM")["VS"], sets))
    assert loaded_models == [MINILM["model_path"]]
    for texts, vs in zip(sets, result, strict=True):
        assert vs == pytest.approx(compute(texts, **MINILM)["VS"], rel=1e-6)


@pytest.mark.usefixtures("cached_encoders", "empty_cache")
def test_encoding_can_be_stopped_between_batches(monkeypatch, loaded_models):
    monkeypatch.setitem(offered_encoders._BATCH, "text", 2)
    steps = offered_encoders.compute_similarity(TEXTS, MINILM)
    assert [next(steps) for _ in range(3)][-1] == "Encoding: 2 of 13 done."
    steps.close()
    assert not offered_encoders._recent


def test_similarity_in_context_matches_library(cached_encoders, empty_cache):
    answers = ["A dog barked.", "The neighbour's cat, probably.", "Where was the noise?"]
    options = {**MINILM, "given_prompt": True}
    for prompts in (["Where was the noise?"], ["What was it?", "Who is there?", "Why?"]):
        similarity = run_steps(
            offered_encoders.compute_similarity(answers, {**options, "prompts": prompts})
        )
        assert similarity.settings["prompts"] == "given, in context"
        expected = as_similarity(answers, prompts=prompts, **options).dense()
        np.testing.assert_allclose(similarity.dense(), expected, atol=1e-5)
