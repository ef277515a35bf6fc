"""Ambiguous folders raise errors that suggest runnable commands."""

import shlex

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes files into a folder and returns its path."""
    top = tmp_path / "data set"
    rng = np.random.default_rng(0)

    def add(*names: str) -> str:
        for name in names:
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("png"):
                Image.fromarray(rng.integers(0, 255, (8, 8, 3), np.uint8)).save(top / name)
            else:
                (top / name).write_text("text\na b c\nd e f\n")
        return str(top)

    return add


IMAGES_IN_FOLDERS = ("a/1.png", "a/2.png", "b/1.png", "b/2.png")
AMBIGUOUS_FOLDERS = {
    "images and a text": (("1.png", "2.png", "notes.txt"), "2 images, 1 .txt file"),
    "images and a licence": (("1.png", "2.png", "LICENSE.txt"), "2 images, 1 .txt file"),
    "folders of images and a text": ((*IMAGES_IN_FOLDERS, "notes.txt"), "4 images, 1 .txt file"),
    "images and texts below": ((*IMAGES_IN_FOLDERS, "a/notes.txt"), "4 images, 1 .txt file"),
    "texts and a table": (("1.txt", "2.txt", "t.csv"), "2 .txt files, tables or other data ('t"),
    "images and a table": (("1.png", "2.png", "t.csv"), "2 images, tables or other data ('t.csv'"),
    "images here and below": (
        ("0.png", *IMAGES_IN_FOLDERS),
        "1 image, and its folders have 4 more",
    ),
}


@pytest.mark.parametrize("name", AMBIGUOUS_FOLDERS)
@pytest.mark.parametrize("command", ["score", "explain"])
def test_ambiguous_folder_error_suggests_runnable_commands(run, folder, name, command):
    files, message = AMBIGUOUS_FOLDERS[name]
    start = [] if command == "score" else [command]
    code, out, err = run(*start, folder(*files))
    assert (code, out) == (2, "")
    question, *lines = err.splitlines()
    assert message in question
    assert len(lines) > 1
    for line in lines:
        assert run(*shlex.split(line)[1:])[0] == 0, line


def test_stray_text_makes_image_folder_ambiguous(run, folder):
    path = folder(*IMAGES_IN_FOLDERS, "notes.txt")
    code, out, err = run(path)
    assert (code, out) == (2, "")
    lines = [line.removeprefix(f"  vendiscore {shlex.quote(path)} ") for line in err.splitlines()]
    assert lines[1:] == [
        "-k pixels --subfolders",
        "-k pixels --by folder",
        "-k pixels --group-by folder",
        "-k ngram_overlap",
    ]
    assert "\nn = 4\n" in run(path, "-k", "pixels", "--subfolders")[1]


def test_subfolders_option_includes_or_excludes_nested_files(run, folder):
    path = folder("0.png", *IMAGES_IN_FOLDERS)
    assert "\nn = 5\n" in run(path, "--subfolders")[1]
    assert "\nn = 1\n" in run(path, "--no-subfolders")[1]


def test_other_files_in_image_folder_are_ignored_with_note(run, folder):
    code, _, err = run(folder("1.png", "2.png", "README.md", "a.pdf"))
    assert code == 0
    assert "left out, as no images: 'README.md', 'a.pdf'" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--group-by", "folder", "--no-subfolders"), "remove --no-subfolders"),
        (("-k", "ngram_overlap", "--subfolders"), "the folder has no .txt files"),
    ],
)
def test_options_that_do_not_fit_folder_are_rejected(run, folder, options, message):
    code, out, err = run(folder(*IMAGES_IN_FOLDERS), *options)
    assert (code, out) == (1, "")
    assert message in err


def test_subfolders_option_rejects_file(run, save):
    code, _, err = run(save("a.txt", "a b\n"), "--subfolders")
    assert code == 1
    assert "not a folder; remove --subfolders" in err
