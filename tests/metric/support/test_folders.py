"""Folders of images as samples: selection and order of files, warnings about ignored files."""

import io
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

import vendiscore
from vendiscore import SampleError, State, as_similarity, compute, mag_area
from vendiscore.similarity.sample_arrays import as_samples

Image = pytest.importorskip("PIL.Image")


def encode_png(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


PICTURES = np.random.default_rng(0).integers(0, 256, (12, 8, 6, 3), dtype=np.uint8)


@pytest.fixture
def photos(tmp_path) -> Path:
    """Folder with twelve images, "1.png" to "12.PNG", written in another order."""
    folder = tmp_path / "my photos"
    folder.mkdir()
    for i in (3, 0, 11, 7, 1, 2, 4, 5, 6, 8, 9, 10):
        (folder / f"{i + 1}{'.PNG' if i == 11 else '.png'}").write_bytes(encode_png(PICTURES[i]))
    return folder


def sorted_files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir(), key=lambda path: path.name)


@pytest.mark.parametrize("convert", [str, Path, lambda path: f"{path}/"])
def test_compute_accepts_a_folder_as_its_images_sorted_by_name(convert, photos):
    files = sorted_files(photos)
    assert [path.name for path in files[:4]] == ["1.png", "10.png", "11.png", "12.PNG"]
    result = compute(convert(photos), k="pixels", details=True)
    assert result["VS"] == compute(files, k="pixels")["VS"]
    assert result["details"]["n"] == 12
    note = f"The samples are the 12 image files of the folder {str(photos)!r}, by name."
    assert note in result["details"]["notes"]
    p = np.arange(1, 13) / 78
    assert compute(convert(photos), k="pixels", p=p) == compute(files, k="pixels", p=p)


def test_all_functions_accept_folders(photos, tmp_path):
    files = sorted_files(photos)
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    for i in range(3):
        (other_folder / f"{i}.png").write_bytes(encode_png(255 - PICTURES[i]))
    other_files = sorted_files(other_folder)
    options = {"k": "pixels", "measures": ["VS", "MagDiff"], "details": True}
    result = compute(photos, other_folder, **options)
    expected = compute(files, other_files, **options)
    assert (result["VS"], result["MagDiff"]) == (expected["VS"], expected["MagDiff"])
    assert mag_area(photos, k="pixels") == mag_area(files, k="pixels")
    mixed = {"pixels": 0.5, "image_embeddings": 0.5}
    model = {"image_embeddings": {"model": lambda images: [np.ravel(i)[:9] for i in images]}}
    mixture_result = compute(photos, k=mixed, options=model, details=True)
    assert mixture_result["VS"] == compute(files, k=mixed, options=model)["VS"]
    assert any("12 image files" in note for note in mixture_result["details"]["notes"])
    groups = [i % 2 for i in range(12)]
    assert compute(photos, k="pixels", groups=groups) == compute(files, k="pixels", groups=groups)
    assert compute([files[:6], files[6:]], k="pixels") == compute(
        photos, k="pixels", groups=[0] * 6 + [1] * 6
    )
    state = State.empty(k="pixels", size=8, mode="RGB").update(photos)
    assert state.compute()["VS"] == pytest.approx(compute(files, k="pixels", size=8)["VS"])
    metric = vendiscore.load("vendiscore")
    assert metric.compute(predictions=str(photos), k="pixels") == compute(files, k="pixels")
    metric.add_batch(predictions=str(photos))
    metric.add_batch(predictions=other_files)
    assert metric.compute(k="pixels") == compute(files + other_files, k="pixels")


def test_folder_without_kernel_raises_with_the_image_kernels(photos):
    with pytest.raises(ValueError, match=r"`k` is required.*k='pixels' or k='image_embeddings'"):
        compute(str(photos))


def test_other_files_in_a_folder_are_ignored_with_a_warning(photos, save):
    expected = compute(photos, k="pixels")
    for name in (
        ".DS_Store",
        "Thumbs.db",
        "desktop.ini",
        "._1.png",
    ):  # hidden files of operating systems
        (photos / name).write_bytes(b"x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compute(photos, k="pixels") == expected
    (photos / "labels.csv").write_text("1,2")
    with pytest.warns(UserWarning, match=r"the 12 image files of .*; 1 other file or folder is "
                      r"ignored: 'labels\.csv'$"):  # fmt: skip
        assert compute(photos, k="pixels") == expected
    (photos / "more").mkdir()
    (photos / "more" / "13.png").write_bytes(encode_png(PICTURES[0]))
    for i in range(7):
        (photos / f"note {i}").write_text("a")
    with pytest.warns(
        UserWarning, match=r"9 other files or folders are ignored: 'labels\.csv', .*, …$"
    ):
        result = compute(photos, k="pixels", details=True)
    assert result["VS"] == expected["VS"]
    assert any("by name, without 9 other files or folders." in note
               for note in result["details"]["notes"])  # fmt: skip


def test_folder_without_images_raises_with_its_contents(tmp_path):
    with pytest.raises(ValueError, match=r"got the folder '.*' with no files; check the path"):
        compute(tmp_path, k="pixels")
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "README").write_text("a")
    with pytest.raises(ValueError, match=r"with 'README', 'a\.txt'; pass the contents of"):
        compute(str(tmp_path), k="ngram_overlap")
    for name in ("cats", "dogs"):
        (tmp_path / name).mkdir()
    with pytest.raises(
        ValueError, match=r"with 'README', 'a\.txt', 'cats/', 'dogs/'; .*rglob\('\*\.png"
    ):
        compute(tmp_path, k="pixels")


def test_paths_that_are_not_folders_are_rejected(photos):
    for path in (photos / "1.png", photos / "missing", f"{photos}/missing/"):
        with pytest.raises(TypeError, match=r"got the path '.*', which is not a folder; check"):
            compute(path, k="pixels")
    with pytest.raises(TypeError, match="got one str; pass "):
        compute(str(photos / "1.png"), k="pixels")
    for options in ({"k": "pixels"}, {"k": "image_embeddings", "model": len}):
        with pytest.raises(
            SampleError, match=r"sample 1 is a folder, not an image: '.*[…/].*photos'; pas"
        ):
            compute([PICTURES[0], photos], **options)


def test_other_kernels_reject_folders_with_a_hint(photos):
    for k in ("ngram_overlap", "bleu", "cosine", "tanimoto"):
        with pytest.raises(
            SampleError, match=r"sample 0 .*got \w*Path: .*for image files, pass k='pixels'"
        ):
            compute(photos, k=k)


def test_groups_rejects_folders(photos):
    for groups in (str(photos), photos):
        with pytest.raises(TypeError, match="`groups` must contain one label"):
            compute(photos, k="pixels", groups=groups)


def add_unusable_images(folder: Path) -> None:
    (folder / "10.png").write_bytes(b"broken")
    Image.new("RGB", (8, 6)).save(folder / "2.png")
    Image.new("RGBA", (8, 6), (9, 9, 9, 9)).save(folder / "5.png")


def test_errors_about_images_name_the_files(photos):
    add_unusable_images(photos)
    (photos / "6.png").unlink()
    (photos / "6.png").symlink_to(photos / "gone")
    with pytest.raises(SampleError) as caught:
        compute(photos, k="pixels")
    problems = caught.value.problems
    names = {i: path.name for i, path in enumerate(sorted_files(photos))}
    assert {names[i] for i in problems} == {"10.png", "2.png", "5.png", "6.png"}
    for i, problem in problems.items():
        assert str(photos / names[i]) in problem
    (black_index,) = (i for i, name in names.items() if name == "2.png")
    assert (
        problems[black_index]
        == f"({photos / '2.png'}) is completely black, so its cosine is undefined; remove it"
    )
    with pytest.warns(UserWarning, match="dropped 4 of 12 samples"):
        result = compute(photos, k="pixels", on_error="skip", details=True)
    usable_files = [path for i, path in enumerate(sorted_files(photos)) if i not in problems]
    assert result["VS"] == compute(usable_files, k="pixels")["VS"]
    # Lists of paths and values of a `datasets.Image` column give the same error.
    for convert in (str, lambda path: {"bytes": None, "path": str(path)}):
        with pytest.raises(SampleError, match=r"sample \d \(.*2\.png\) is completely black"):
            compute([convert(path) for path in [*usable_files, photos / "2.png"]], k="pixels")


def test_errors_of_an_image_model_name_the_files(photos):
    def model(images):
        return np.array([np.ravel(image)[:5] * (i != 3) for i, image in enumerate(images)])

    with pytest.raises(SampleError, match=r"sample 3 \(.*12\.PNG\) has an embedding of zeros"):
        compute(photos, k="image_embeddings", model=model)
    add_unusable_images(photos)
    with pytest.raises(SampleError, match=r"sample 1 cannot be read as an image: .*10\.png"):
        compute(photos, k="image_embeddings", model=lambda images: [[1.0]] * len(images))


def test_as_samples_returns_the_paths_of_a_folder(photos):
    result = as_samples(photos)
    assert isinstance(result, list)
    assert [*result] == sorted_files(photos)
    np.testing.assert_array_equal(
        as_similarity(photos, k=lambda a, b: float(a == b)).dense(), np.eye(12)
    )


def test_strings_that_are_not_folders_raise_with_a_hint(photos, monkeypatch):
    monkeypatch.chdir(photos.parent)
    for path in ("photos", "my/photos", "photo"):
        with pytest.raises(TypeError, match=f"'{path}' is not a folder"):
            compute(path, k="pixels")
    shutil.copy(photos / "1.png", "1.png")
    with pytest.raises(TypeError, match=r"use vendiscore\.compute\(\*\*vendiscore\.read\('1\.png'"):
        compute("1.png", k="pixels")
    with pytest.raises(TypeError, match=r"pass \['one text', …\]$"):
        compute("one text")


def test_compare_names_sets_after_their_folders(photos, tmp_path, monkeypatch):
    for name in ("gen", "real", "other/gen"):
        shutil.copytree(photos, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    options = {"k": "pixels", "permutations": 19}
    assert vendiscore.compare("gen", "real", **options).names == ["gen", "real"]
    assert vendiscore.compare(Path("gen"), "real/", **options).names == ["gen", "real"]
    assert vendiscore.compare("gen", sorted_files(photos), **options).names == ["gen", "B"]
    folders = ["gen", "other/gen"]
    assert vendiscore.compare(*folders, **options).names == folders
    assert vendiscore.compare("gen", "gen", **options).names == ["A", "B"]
    assert vendiscore.compare("gen", "real", names=["x", "y"], **options).names == ["x", "y"]
