"""The three lines of Python that the page shows give the number that the page shows."""

import base64
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from drawn import png

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore.app import examples, handlers, shows

ROOT = Path(__file__).resolve().parents[1]
IMAGES = examples.images()["Shapes in three colours"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in: the lines need the package and no clone of it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def printed(capsys):
    """What the lines print."""

    def run(code: str):
        assert len(code.splitlines()) == 3
        exec(code, {})
        return eval(capsys.readouterr().out.splitlines()[-1])

    return run


def last(steps) -> tuple[str, str]:
    *_, (page, code) = steps
    return page, code


def everything(page: str) -> bytes:
    """The download."""
    return base64.b64decode(re.search('json;base64,([^"]+)"', page).group(1))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "ask",
    [
        lambda: handlers.text(examples.TEXTS["A primer"].splitlines(), ns=[1, 2], q=2),
        lambda: handlers.molecules(examples.MOLECULES["Small medicines"].splitlines(), q=0.5),
        lambda: handlers.vectors([[1, 0], [1, 1], [0, 2]], "rbf", 0.7, q="inf"),
        lambda: handlers.vectors([[1, 0.5], [0.5, 1]], "K"),
        lambda: handlers.text([["a b", "a c"], ["d", "d", "e f"]], ns=[1, 2], q=2),
        lambda: handlers.molecules([["CCO", "CCC"], ["CCCC", "c1ccccc1"]], q=0.5),
        lambda: handlers.vectors([[[1, 0], [1, 1]], [[0, 2], [3, 1], [1, 1]]], "rbf"),
    ],
)
def test_few_samples_are_written_out(printed, ask):
    case = ask()
    found = printed(case["code"])
    assert found["VS"] == pytest.approx(case["VS"], rel=1e-12)
    assert found.get("VS_se", 0) == pytest.approx(case.get("VS_se", 0), rel=1e-9)


def test_on_a_space_the_lines_load_the_metric_of_the_space(printed, folder, monkeypatch):
    """A Space is named like a path of two parts: here, that of a folder with the metric."""
    space = folder / "someone" / "vendiscore"
    space.mkdir(parents=True)
    for name in ("vendiscore.py", "library.py"):
        (space / name).symlink_to(ROOT / name)
    monkeypatch.setenv("SPACE_ID", "someone/vendiscore")
    case = handlers.text(["a b", "c d", "a d"])
    assert 'evaluate.load("someone/vendiscore").compute(samples=samples, ' in case["code"]
    assert printed(case["code"])["VS"] == pytest.approx(case["VS"], rel=1e-12)


def test_many_samples_are_read_from_the_download(printed, folder):
    box = "\n".join(f"text {i} of many, each of which is a little longer" for i in range(40))
    page, code = last(shows.show_text(box, None, None, "ngram_overlap", [1], "char", 1, 1))
    (folder / "vendiscore.json").write_bytes(everything(page))
    assert f"VS = {printed(code)['VS']:.6f}" in page


def test_many_samples_in_groups_are_read_from_the_download(printed, folder):
    box = "\n".join(f"text {i} of many, a little longer" + "\n" * (i % 9 == 4) for i in range(90))
    given = box, None, None, "ngram_overlap", [1], "char", 1, 1
    page, code = last(shows.show_text(*given, blocks=True))
    (folder / "vendiscore.json").write_bytes(everything(page))
    found = printed(code)
    assert f"VS = {found['VS']:.6f} ± {found['VS_se']:.6f}" in page


def test_many_rows_in_groups_are_read_from_one_file(printed, folder):
    X = np.random.default_rng(0).normal(size=(60, 5))
    np.savetxt(folder / "samples.csv", X, delimiter=",", fmt="%.17g")
    case = handlers.vectors([rows.tolist() for rows in np.split(X, [7, 30])], "laplacian")
    found = printed(case["code"])
    assert found["VS"] == pytest.approx(case["VS"], rel=1e-12)
    assert found["VS_se"] == pytest.approx(case["VS_se"], rel=1e-9)


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
def test_many_rows_are_read_from_the_file_of_the_visitor(printed, folder, kind):
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(40, 5))
    path = folder / f"mine.{kind}"
    table = pandas.DataFrame(X, columns=list("abcde"))
    if kind == "npy":
        np.save(path, X)
    elif kind == "csv":
        table.to_csv(path, index=False, header=False)
    else:
        table.to_parquet(path)
    page, code = last(shows.show_vectors("", str(path), "laplacian", 0, 1, 1))
    assert f"VS = {printed(code)['VS']:.6f}" in page


def rows(X, separator: str = ",", decimal: str = ".") -> list[str]:
    return [separator.join(str(x).replace(".", decimal) for x in row) for row in X]


@pytest.mark.parametrize("kernel", ["laplacian", "K"])
@pytest.mark.parametrize(
    "write",
    [
        lambda lines: "sep=;\n" + "\n".join(rows(lines, ";", ",")),
        lambda lines: "\n".join([",".join(map(str, range(len(lines)))), *rows(lines)]),
        lambda lines: "\n".join(
            ["," + ",".join(map(str, range(len(lines))))]
            + [f"{i},{row}" for i, row in enumerate(rows(lines))]
        ),
        lambda lines: "\n".join(["a\t" * len(lines), *(f"{r}\tx" for r in rows(lines, "\t"))]),
    ],
    ids=["excel", "pandas' names", "pandas' index", "labels last"],
)
@pytest.mark.parametrize("bad", ["", "nan"])
def test_a_table_of_any_make_is_read_by_its_line_without_what_was_left_out(
    printed, folder, kernel, write, bad
):
    X = np.random.default_rng(0).normal(size=(30, 30)).round(4)
    K = np.exp(-np.abs(X[:, :1] - X[:, :1].T)).round(9) if kernel == "K" else X
    table = K.astype(object)
    if bad:
        table[7] = bad
    path = folder / "mine.csv"
    path.write_text(write(table.tolist()), encoding="utf-8")
    page, code = last(shows.show_vectors("", str(path), kernel, 0, 1, 1, bool(bad)))
    assert "pd.read_csv('mine.csv'" in code
    assert f"effectively different of {29 if bad else 30}" in page
    assert f"VS = {printed(code)['VS']:.6f}" in page


@pytest.mark.parametrize("kernel", ["rbf", "K"])
@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_rows_left_out_of_an_array_are_left_out_by_its_line(printed, folder, kind, kernel):
    pandas = pytest.importorskip("pandas")
    path = folder / f"mine.{kind}"
    X = np.random.default_rng(0).normal(size=(40, 1))
    X = np.exp(-np.abs(X - X.T))
    X[[3, 9], 5] = np.nan
    if kind == "npy":
        np.save(path, X)
    else:
        frame = pandas.DataFrame(X, columns=[f"x{i}" for i in range(40)])
        frame.assign(name="someone").to_parquet(path)
    page, code = last(shows.show_vectors("", str(path), kernel, 0, 1, 1, True))
    assert "Left out 2 of 40 (rows 4, 10): row 4 has nan" in page
    assert f"VS = {printed(code)['VS']:.6f}" in page


@pytest.mark.usefixtures("folder")
def test_texts_left_out_are_not_in_the_line(printed):
    page, code = last(shows.show_molecules("CCO\nXX\nCCC", None, None, "morgan", 1, 1, True))
    assert "samples = ['CCO', 'CCC']" in code
    assert f"VS = {printed(code)['VS']:.6f}" in page


def test_images_are_read_from_their_folder(printed, folder):
    (folder / "images").mkdir()
    for i, image in enumerate(IMAGES):
        image.save(folder / "images" / f"{i:02}.png")
    case = handlers.images([base64.b64encode(png(image)).decode() for image in IMAGES])
    assert printed(case["code"])["VS"] == pytest.approx(case["VS"], rel=1e-12)


def test_images_in_groups_are_read_from_a_folder_of_folders(printed, folder):
    groups = [IMAGES[:5], IMAGES[5:]]
    for name, images in zip("ab", groups, strict=True):
        (folder / "images" / name).mkdir(parents=True)
        for i, image in enumerate(images):
            image.save(folder / "images" / name / f"{i:02}.png")
    case = handlers.images(
        [[base64.b64encode(png(image)).decode() for image in images] for images in groups]
    )
    found = printed(case["code"])
    assert found["VS"] == pytest.approx(case["VS"], rel=1e-12)
    assert found["VS_se"] == pytest.approx(case["VS_se"], rel=1e-9)


@pytest.mark.parametrize("name", examples.COMPARISONS)
def test_a_comparison_reads_the_download(printed, folder, name):
    kind, *boxes = examples.COMPARISONS[name]
    kernel = {"texts": "ngram_overlap", "molecules": "morgan", "vectors": "rbf"}[kind]
    page, code = last(shows.show_comparison(kind, kernel, *boxes, None, None, None, 1, 299))
    (folder / "vendiscore.json").write_bytes(everything(page))
    for result in printed(code):
        assert f"<td>{result['VS']:.2f}</td>" in page


def test_a_comparison_of_images_reads_their_folders(printed, folder):
    zips = []
    for name, images in {"A": IMAGES, "B": IMAGES[:7]}.items():
        (folder / name).mkdir()
        zips.append(str(folder / f"{name}.zip"))
        with zipfile.ZipFile(zips[-1], "w") as archive:
            for i, image in enumerate(images):
                image.save(folder / name / f"{i:02}.png")
                archive.write(folder / name / f"{i:02}.png", f"{i:02}.png")
    page, code = last(shows.show_comparison("images", "pixels", "", "", "", *zips, None, 1, 299))
    for result in printed(code):
        assert f"<td>{result['VS']:.2f}</td>" in page
