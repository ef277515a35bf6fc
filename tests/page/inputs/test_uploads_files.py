"""Files of all formats are read correctly, or raise a question that locates the problem."""

import io

import numpy as np
import pytest
import user_files as files
from hostile_files import encode_grey_png
from page_answers import check_comparison, compare_as_json
from rejections import get_rejection_message

import vendiscore
from vendiscore.report import AskError
from vendiscore_page.answers.sample_readout import read_answer
from vendiscore_page.inputs.uploads import InputSettings, RefusedError, UserInput, read

for package in ("rdkit", "pyarrow", "pillow_heif"):
    pytest.importorskip(package)
Image = pytest.importorskip("PIL.Image")


def make_upload(name: str, data: bytes) -> UserInput:
    return UserInput(files=[(name, data)])


def is_equal(samples, values) -> bool:
    if isinstance(samples, np.ndarray):
        return np.array_equal(samples, values)
    return samples == values


@pytest.mark.parametrize(
    "file",
    [*files.text_files(), *files.molecule_files(), *files.vector_files()],
    ids=lambda file: f"{file.kind}: {file.name}",
)
def test_file_is_read_correctly_with_note(file):
    result = read(make_upload(file.name, file.data))
    assert result.kind == file.kind
    assert is_equal(result.values, file.values)
    assert list(result.places) == file.locations
    assert not result.problems
    assert result.total == len(result) == len(file.values)
    assert file.note in " ".join([result.sentence, *result.notes])
    assert result.name.startswith((file.name, *file.name.split(".")[:1], "b.csv"))


@pytest.mark.parametrize("name", ["a/b.txt", "a\\b.txt"])
def test_file_name_omits_folders(name):
    assert read(make_upload(name, b"one\ntwo")).name == "b.txt"


@pytest.mark.parametrize("file", files.ambiguous_files(), ids=lambda file: file.name)
def test_ambiguous_file_raises_ask_error_with_working_choices(file):
    with pytest.raises(AskError) as caught:
        read(make_upload(file.name, file.data))
    assert file.question in caught.value.question == str(caught.value)
    matching_choices = [
        options for _, options in caught.value.choices if file.options.items() <= options.items()
    ]
    assert len(matching_choices) == 1
    assert is_equal(
        read(make_upload(file.name, file.data), InputSettings(**matching_choices[0])).values,
        file.values,
    )
    assert all(label for label, _ in caught.value.choices)


@pytest.mark.parametrize(
    "file", files.rejected_files(), ids=lambda file: f"{file.name}: {file.message}"
)
def test_rejected_file_raises_error_with_hint(file):
    with pytest.raises(RefusedError) as caught:
        read(make_upload(file.name, file.data))
    assert file.message in str(caught.value)
    assert not isinstance(caught.value, AskError)


@pytest.mark.parametrize(
    ("name", "form", "options"),
    [
        ("a.png", "PNG", {}),
        ("a.jpg", "JPEG", {}),
        ("a.JPEG", "JPEG", {}),
        ("a.webp", "WEBP", {}),
        ("a.gif", "GIF", {}),
        ("a.bmp", "BMP", {}),
        ("IMG_0001.HEIC", "HEIF", {"quality": 90}),
        ("a.avif", "AVIF", {"quality": 90}),
        ("no ending", "PNG", {}),
        ("wrong.txt", "JPEG", {}),
        ("heic without an ending", "HEIF", {"quality": 90}),
    ],
)
def test_image_formats_are_read(name, form, options):
    if form == "AVIF" and ".avif" not in Image.registered_extensions():
        pytest.skip("this Pillow was built without AVIF")
    result = read(make_upload(name, files.encode_photo(form, **options)))
    assert (result.kind, result.places, result.problems) == ("images", [name], {})
    expected = read(make_upload("right.png", files.encode_photo("PNG"))).values[0].small
    difference = np.asarray(result.values[0].small, float) - np.asarray(expected, float)
    assert abs(difference).mean() < 6
    assert result.values[0].thumbnail.startswith("data:image/png;base64,")


@pytest.mark.parametrize("form", ["JPEG", "HEIF"])
def test_rotated_photos_are_turned_upright(form):
    flat = read(make_upload("a.png", files.encode_photo("PNG"))).values[0].small
    result = read(make_upload("a", files.encode_rotated_photo(form))).values[0].small
    expected = flat.transpose(Image.Transpose.ROTATE_270)
    assert abs(np.asarray(result, float) - np.asarray(expected, float)).mean() < 6


def test_large_photo_is_read_at_reduced_size_with_note():
    large = files.encode_photo("JPEG", 4000, 3000, quality=90)
    result = read(make_upload("IMG.jpg", large))
    assert result.notes[1].startswith("1 large photo was read at a reduced size, of at least 512")
    picture = result.values[0]
    assert picture.reduced
    assert len(picture.data) < len(large) / 4
    full_image = Image.open(io.BytesIO(large)).convert("RGB").resize((32, 32))
    assert abs(np.asarray(picture.small, int) - np.asarray(full_image, int)).max() <= 2


def test_photos_and_zip_of_photos_are_read_as_same_samples():
    photos = [(f"IMG {i}.jpg", files.encode_photo(seed=i)) for i in range(20)]
    result = read(UserInput(files=photos))
    assert (result.kind, len(result), result.name) == ("images", 20, "20 files")
    assert result.places == [name for name, _ in photos]
    zip_samples = read(
        make_upload("photos.zip", files.encode_zip({f"trip/{n}": d for n, d in photos}))
    )
    assert zip_samples.places == result.places
    assert zip_samples.name == "photos.zip"
    assert [p.small.tobytes() for p in zip_samples.values] == [
        p.small.tobytes() for p in result.values
    ]


TABLE = b"id,answer\n1,yes it is\n2,no it is not\n"


@pytest.mark.parametrize(
    ("entries", "kinds"),
    [
        ({"a.csv": TABLE, "b.txt": b"q r"}, ["1 table or other file (a.csv)", "1 .txt file (b"]),
        ({"a.csv": TABLE, "p.png": b"x"}, ["1 table or other file (a.csv)", "1 image (p.png)"]),
        ({"d/p.png": b"x", "d/p.txt": b"q r"}, ["1 image (d/p.png)", "1 .txt file (d/p.txt)"]),
        (
            {"a.txt": b"a", "b.txt": b"b", "c.csv": TABLE, "p.png": b"broken"},
            ["2 .txt files (a.txt, b.txt)", "1 table or other file (c.csv)", "1 image (p.png)"],
        ),
        ({"a.json": b"[]", "b.npy": b""}, ["2 tables or other files (a.json, b.npy)"]),
    ],
)
def test_zip_with_several_kinds_of_samples_is_rejected(entries, kinds):
    message = get_rejection_message(read, make_upload("a.zip", files.encode_zip(entries)))
    assert "a.zip must contain images, .txt files or a single table, got" in message
    assert all(kind in message for kind in kinds)


COMPANIONS = (
    "README.md",
    "readme_en.txt",
    "LICENSE",
    "LICENSE.txt",
    "metadata.csv",
    "CITATION.cff",
)


@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.png"])
@pytest.mark.parametrize("is_zip", [False, True])
def test_files_that_accompany_samples_are_left_out_with_a_note(name, is_zip):
    data = {"a.csv": TABLE, "a.txt": b"one two\nthree four", "a.png": encode_grey_png(9, 9)}[name]
    entries = dict.fromkeys(COMPANIONS, b"a,b\n1,2\n") | {name: data}
    if is_zip:
        system = {".DS_Store": b"x", "__MACOSX/._a.csv": b"x", "b.pdf": b"x", "c/": b""}
        submission = make_upload("a.zip", files.encode_zip(entries | system))
    else:
        submission = UserInput(files=list(entries.items()))
    result = read(submission)
    alone = read(make_upload(name, data))
    assert (result.kind, result.places) == (alone.kind, alone.places)
    left = [*COMPANIONS, "b.pdf"] if is_zip else COMPANIONS
    assert result.notes == (*alone.notes, f"Files that were not read: {', '.join(left)}.")


def test_files_that_accompany_samples_are_read_without_others():
    for name in ("README.md", "license.txt", "metadata.csv"):
        data = TABLE if name.endswith("csv") else b"one two\nthree four"
        for submission in (
            make_upload(name, data),
            make_upload("a.zip", files.encode_zip({name: data})),
        ):
            result = read(submission)
            assert len(result) == 2
            assert not any("not read" in note for note in result.notes)
    result = read(UserInput(files=[("noticed.txt", b"a"), ("licensed.txt", b"b")]))
    assert len(result) == 2


def test_several_text_files_are_one_sample_each():
    text_files = [("a.txt", b"hello\nyou"), ("b.txt", b"good\nbye\n\nnow")]
    result = read(UserInput(files=text_files), InputSettings(files="texts"))
    assert (result.values, result.places, result.unit) == (
        ["hello\nyou", "good\nbye\n\nnow"],
        ["a.txt", "b.txt"],
        "file",
    )
    assert result.notes == ("Read 2 files.",)


WORDS = [[f"{word} {i} of them" for i in range(5)] for word in ("apples", "pears")]
LINE_FILES = [("a.txt", "\n".join(WORDS[0]).encode()), ("b.txt", "\n".join(WORDS[1]).encode())]


def test_several_text_files_are_a_question():
    with pytest.raises(AskError, match="What do these 2 text files contain") as caught:
        read(UserInput(files=LINE_FILES))
    assert [options for _, options in caught.value.choices] == [
        {"files": "texts"},
        {"files": "sets"},
        {"files": "set"},
    ]
    with pytest.raises(AskError) as caught:
        read(UserInput(files=[(f"{i}.txt", b"one\ntwo") for i in range(9)]))
    assert {"files": "sets"} not in [options for _, options in caught.value.choices]
    # The files have a single line each, so all readings are the same.
    result = read(UserInput(files=[("a.txt", b"one\n\n"), ("b.txt", b"two")]))
    assert result.values == ["one", "two"]


def test_text_files_are_compared_as_sets():
    samples = read(UserInput(files=LINE_FILES), InputSettings(files="sets"))
    assert samples.sets == ["a.txt"] * 5 + ["b.txt"] * 5
    assert samples.places[5] == "b.txt:1"
    answer = read_answer(samples)
    assert answer["current"] == "Which of the 2 files is most diverse?"
    expected = vendiscore.compare({"a.txt": WORDS[0], "b.txt": WORDS[1]}, k="ngram_overlap")
    check_comparison(compare_as_json({"A": samples}), expected)


def test_lines_of_text_files_are_one_set():
    samples = read(UserInput(files=LINE_FILES), InputSettings(files="set"))
    assert samples.values == [*WORDS[0], *WORDS[1]]
    assert not samples.sets
    answer = read_answer(samples)
    assert answer["current"] == "Score the texts of all files together"
    for question in answer["questions"]:
        again = read(UserInput(files=LINE_FILES), InputSettings(**question["options"]))
        assert read_answer(again)["current"] == question["label"]


def test_parts_of_text_files_are_split_by_separator():
    parts = [("a.txt", b"one\ntwo\n---\nthree"), ("b.txt", b"four\n---\nfive\nsix")]
    samples = read(UserInput(files=parts), InputSettings(files="set", separator="---"))
    assert samples.values == ["one\ntwo", "three", "four", "five\nsix"]
    with pytest.raises(RefusedError, match="Unknown files"):
        read(UserInput(files=parts), InputSettings(files="all"))


def test_files_of_different_types_are_rejected():
    submission = UserInput(files=[("a.csv", b"a\nb"), ("b.npy", files.encode_npy(files.VECTORS))])
    with pytest.raises(
        RefusedError, match=r"got a.csv, b.npy; send one file at a time, or use the Compare"
    ):
        read(submission)


def test_sample_type_can_be_chosen():
    table = make_upload(
        "a.csv", b"text,smiles,x,y\nan acid it is,CC(=O)O,1,2\na ring it is,c1ccccc1,3,5\n"
    )
    result = read(table, InputSettings(kind="molecules"))
    assert (result.kind, result.kinds) == ("molecules", ("texts", "vectors"))
    assert result.name == "a.csv › smiles"
    texts = read(table, InputSettings(kind="texts"))
    assert (texts.values[1], texts.kinds) == ("a ring it is", ("molecules", "vectors"))
    assert read(table, InputSettings(kind="vectors")).values.tolist() == [[1, 2], [3, 5]]
    assert read(table, InputSettings(column="text")).kind == "texts"
    assert read(table, InputSettings(column="y")).values.tolist() == [[2], [5]]
    assert result.columns == ("text", "smiles", "x", "y")


@pytest.mark.parametrize("kind", ["texts", "molecules", "vectors"])
def test_by_groups_rows_by_column(kind):
    rows = [f"{'ab'[i % 2]},{smiles},{i}.5,{i}" for i, smiles in enumerate(files.SMILES)]
    table = "\n".join(["lab,smiles,x,y", *rows]).encode()
    result = read(make_upload("a.csv", table), InputSettings(kind=kind, by="lab"))
    assert (result.groups, result.by) == (["a", "b", "a"], "lab")
    expected = [[0.5, 0], [1.5, 1], [2.5, 2]] if kind == "vectors" else files.SMILES
    assert is_equal(result.values, expected)


@pytest.mark.parametrize(
    "options", [InputSettings(column="three"), InputSettings(column="one", by="three")]
)
def test_missing_column_error_lists_available_columns(options):
    with pytest.raises(RefusedError, match=r"no column 'three'.* Available: one, two"):
        read(make_upload("a.csv", b"one,two\nso it is,no it is\n"), options)


def test_invalid_molecules_are_listed_on_reading():
    smiles = [*files.SMILES * 7, "C1CC", "XX", "foo(", "n1", "[Q]", "CCN"]
    result = read(
        make_upload(
            "a.csv", ("id,SMILES\n" + "\n".join(f"{i},{s}" for i, s in enumerate(smiles))).encode()
        )
    )
    assert len(result) == 27
    assert list(result.problems) == [21, 22, 23, 24, 25]
    assert result.describe_locations(result.problems) == "rows 23–27"
    assert result.problems[21].startswith("is not a SMILES that RDKit can parse")
