"""Kernel "pixels": accepted image types, options and scores."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from image_samples import cosine_matrix, encode_png, image_similarity_matrix, make_images
from PIL import Image

from vendiscore import MissingPackageError, SampleError, as_similarity, compute, list_kernels
from vendiscore.encoders.pil_images import as_image
from vendiscore.spectral.vendi_scores import compute_spectrum

ROOT = Path(__file__).resolve().parents[3]

# Scores of MNIST test digits 0-9, from the README of github.com/vertaix/Vendi-Score.
DIGITS = [7.68, 5.31, 12.18, 9.97, 11.10, 13.51, 9.06, 9.58, 9.69, 8.56]


def test_mnist_digits_match_published_scores(mnist):
    scores = [compute(mnist["images"][mnist["labels"] == c], k="pixels")["VS"] for c in range(10)]
    assert [f"{score:.2f}" for score in scores] == [f"{digit:.2f}" for digit in DIGITS]


def test_pil_images_match_arrays(mnist):
    images = mnist["images"][mnist["labels"] == 1][:200]
    score = compute([Image.fromarray(image) for image in images], k="pixels")["VS"]
    assert score == compute(images, k="pixels")["VS"]


def test_pixels_use_cosine_of_resized_images():
    images = make_images()
    resized = [np.asarray(Image.fromarray(image).resize((32, 32))) for image in images]
    np.testing.assert_allclose(image_similarity_matrix(images), cosine_matrix(resized), atol=1e-12)
    np.testing.assert_allclose(
        image_similarity_matrix(images, size=None), cosine_matrix(images), atol=1e-12
    )
    small = [np.asarray(Image.fromarray(image).resize((5, 5))) for image in images]
    np.testing.assert_allclose(
        image_similarity_matrix(images, size=5), cosine_matrix(small), atol=1e-12
    )


def test_always_black_columns_are_dropped_from_covariance():
    framed = [np.pad(image, ((1, 2), (3, 4))) for image in make_images(6, channels=1)]
    S = as_similarity(framed, k="pixels", size=None)
    assert S.dim == S.settings["dims"] == 27 * 47
    C = S.compact().covariance()
    assert C.shape == (24 * 40, 24 * 40)
    np.testing.assert_allclose(S.dense(), cosine_matrix(framed), atol=1e-12)
    eigenvalues, covariance_eigenvalues = np.linalg.eigvalsh(S.dense()), np.linalg.eigvalsh(C)
    spectrum = compute_spectrum(S, vectors=True)
    np.testing.assert_allclose(spectrum.values[:6], eigenvalues[::-1] / 6, atol=1e-12)
    np.testing.assert_allclose(covariance_eigenvalues[-6:], eigenvalues, atol=1e-12)


def test_pixel_options_change_score():
    images = make_images()
    scores = [
        compute(images, k="pixels", **options)["VS"]
        for options in ({}, {"size": 3}, {"size": None}, {"mode": "L"})
    ]
    assert np.diff(np.sort(scores)).min() > 1e-6
    assert compute(images, k="pixels", mode="RGB")["VS"] == scores[0]


@pytest.mark.parametrize("channels", [1, 3])
def test_matrix_features_and_products_agree(channels):
    images = make_images(6, channels=channels)
    S = as_similarity([*images, images[2]], k="pixels")
    K = S.dense()
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(np.diagonal(K), 1, atol=1e-12)
    np.testing.assert_array_equal(K[2], K[6])
    assert S.groups()[6] == S.groups()[2]
    np.testing.assert_allclose(S.features() @ S.features().T, K, atol=1e-8)
    np.testing.assert_allclose(S.matmul(np.eye(7)), K, atol=1e-8)
    order = [3, 0, 6, 1, 5, 2, 4]
    images_with_duplicate = [*images, images[2]]
    np.testing.assert_allclose(
        image_similarity_matrix([images_with_duplicate[i] for i in order]),
        K[np.ix_(order, order)],
        atol=1e-12,
    )


def test_single_and_repeated_images_score_1():
    assert compute(make_images(1), k="pixels")["VS"] == pytest.approx(1)
    assert compute(np.stack(make_images(1) * 3), k="pixels")["VS"] == pytest.approx(1)


def test_all_image_containers_match_arrays(tmp_path):
    torch = pytest.importorskip("torch")
    images = make_images()
    K = image_similarity_matrix(images, size=None)
    files = [tmp_path / f"画像 {i}.png" for i in range(len(images))]
    for file, image in zip(files, images, strict=True):
        file.write_bytes(encode_png(image))
    contents = [encode_png(image) for image in images]
    containers = {
        "PIL": [Image.fromarray(image) for image in images],
        "lazy PIL": [Image.open(io.BytesIO(content)) for content in contents],
        "one array": np.stack(images),
        "floats": [image / 255 for image in images],
        "float32": np.stack(images).astype(np.float32) / 255,
        "integers": [image.astype(np.int64) for image in images],
        "lists": [image.tolist() for image in images],
        "tensors": [torch.tensor(image).permute(2, 0, 1) for image in images],
        "tensor": torch.tensor(np.stack(images)).permute(0, 3, 1, 2) / 255,
        "channels first": [np.moveaxis(image, 2, 0) for image in images],
        "opaque": [np.dstack([image, np.full(image.shape[:2], 255, np.uint8)]) for image in images],
        "paths": files,
        "names": [str(file) for file in files],
        "bytes": contents,
        "datasets, bytes": [{"bytes": content, "path": None} for content in contents],
        "datasets, path": [{"bytes": None, "path": str(file)} for file in files],
        "mixed": [images[0], files[1], contents[2], Image.fromarray(images[3])],
    }
    for name, samples in containers.items():
        np.testing.assert_allclose(
            image_similarity_matrix(samples, size=None), K, atol=1e-12, err_msg=name
        )


def test_booleans_are_black_and_white_and_single_channel_is_grey():
    patterns = np.random.default_rng(0).random((3, 8, 8)) < 0.5
    K = cosine_matrix(patterns)
    np.testing.assert_allclose(image_similarity_matrix(patterns, size=None), K)
    np.testing.assert_allclose(
        image_similarity_matrix(patterns[:, :, :, None].astype(float), size=None), K
    )
    np.testing.assert_allclose(
        image_similarity_matrix([Image.fromarray(pattern) for pattern in patterns], size=None), K
    )
    assert Image.fromarray(patterns[0]).mode == "1"


def test_image_column_of_dataset_is_scored_by_metric(mnist, tmp_path):
    import datasets
    import evaluate

    digits = mnist["images"][mnist["labels"] == 1][:60]
    column = datasets.Dataset.from_dict({"image": [Image.fromarray(image) for image in digits]})
    dataset = column.cast_column("image", datasets.Image())
    metric = evaluate.load(str(ROOT / "vendiscore.py"))
    expected = metric.compute(samples=dataset["image"], k="pixels")["VS"]
    assert expected == compute(digits, k="pixels")["VS"]
    encoded = dataset.cast_column("image", datasets.Image(decode=False))
    assert metric.compute(samples=encoded["image"], k="pixels")["VS"] == expected
    assert (
        metric.compute(samples=dataset.with_format("numpy")["image"], k="pixels")["VS"] == expected
    )


@pytest.mark.parametrize("mode", ["P", "CMYK", "YCbCr", "HSV", "RGBX"])
def test_images_of_other_8_bit_modes_become_rgb(mode):
    image = Image.fromarray(make_images(1)[0]).convert(mode)
    converted = as_image(image, 0)
    assert converted.mode == "RGB"
    np.testing.assert_array_equal(np.asarray(converted), np.asarray(image.convert("RGB")))


@pytest.mark.parametrize(("mode", "expected"), [("1", "L"), ("LA", "L"), ("RGBA", "RGB")])
def test_grey_modes_stay_grey_and_opaque_alpha_is_dropped(mode, expected):
    image = Image.fromarray(make_images(1)[0]).convert("L" if mode != "RGBA" else "RGB")
    converted = as_image(image.convert(mode), 0)
    assert converted.mode == expected
    if mode != "1":
        np.testing.assert_array_equal(np.asarray(converted), np.asarray(image))


def make_transparent_image(mode):
    image = Image.fromarray(make_images(1)[0]).convert("RGBA")
    image.putpixel((3, 3), (1, 2, 3, 200))
    if mode == "P":
        image = image.convert("RGB").quantize(16)
        image.info["transparency"] = image.getpixel((0, 0))
        return image
    return image.convert(mode)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparent_pixels_are_rejected(mode):
    with pytest.raises(SampleError, match="sample 1 has transparent pixels, whose colour depends"):
        image_similarity_matrix([Image.new("RGB", (9, 9), "red"), make_transparent_image(mode)])


@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("open_image", [bytes, lambda data: Image.open(io.BytesIO(data))])
def test_transparent_colour_in_file_is_rejected_unless_converted(mode, open_image):
    image = Image.fromarray(make_images(1)[0]).convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", transparency=image.getpixel((0, 0)))
    with pytest.raises(SampleError, match="sample 1 has transparent pixels, whose colour depends"):
        image_similarity_matrix([image, open_image(buffer.getvalue())])
    converted = Image.open(buffer).convert("L" if mode == "RGB" else "RGB").convert(mode)
    assert "transparency" in converted.info
    assert as_image(converted, 0).tobytes() == converted.tobytes()
    image.save(buffer := io.BytesIO(), "PNG", transparency=(0, 0, 0) if mode == "RGB" else 0)
    assert as_image(open_image(buffer.getvalue()), 0).tobytes() == image.tobytes()


@pytest.mark.parametrize("mode", ["I", "F"])
def test_images_with_more_than_16_bits_are_rejected(mode):
    with pytest.raises(
        SampleError, match=f"sample 0 is an image of mode {mode}, which has no unique"
    ):
        image_similarity_matrix([Image.new(mode, (9, 9), 1)])


def test_16_bit_images_are_scaled_to_8_bits():
    values = np.random.default_rng(0).integers(0, 65536, (3, 4, 4)).astype(np.uint16)
    images = [Image.fromarray(image) for image in values]
    expected = cosine_matrix((values / 257).round().reshape(3, -1))
    np.testing.assert_allclose(image_similarity_matrix(images, size=None), expected, atol=1e-12)
    files = []
    for image in images:
        image.save(buffer := io.BytesIO(), "PNG")
        files.append(buffer.getvalue())
    np.testing.assert_array_equal(
        image_similarity_matrix(files, size=None), image_similarity_matrix(images, size=None)
    )


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparent_pixels_show_background(mode):
    image = make_transparent_image(mode)
    result = as_image(image, 0, "white")
    pixels, alpha = (np.asarray(image.convert("RGBA"), float)[:, :, a] for a in ([0, 1, 2], [3]))
    expected = (pixels * alpha + 255 * (255 - alpha)) / 255
    assert np.abs(np.asarray(result) - expected).max() <= 1  # rounding
    images = [Image.new("RGB", image.size, "red"), image]
    white, black = (
        image_similarity_matrix(images, background=colour, size=None)
        for colour in ("white", "black")
    )
    assert white[0, 1] != black[0, 1]
    with pytest.raises(ValueError, match=r"`background` must be a colour, .* got 'vlue'"):
        image_similarity_matrix(images, background="vlue")


def test_exif_orientation_is_applied(tmp_path):
    upright = Image.fromarray(make_images(1)[0])
    exif = Image.Exif()
    exif[0x0112] = 6  # rotate by 270° for display
    path = tmp_path / "photo.png"
    upright.transpose(Image.Transpose.ROTATE_90).save(path, exif=exif)
    content = path.read_bytes()
    with Image.open(path) as rotated:
        images = [path, content, {"bytes": content}, rotated, rotated.convert("RGB"), upright]
        for image in images:
            np.testing.assert_array_equal(np.asarray(as_image(image, 0)), np.asarray(upright))
        assert compute(images, k="pixels")["VS"] == pytest.approx(1)
        assert rotated.size == upright.size[::-1]  # the image itself is not changed


@pytest.mark.parametrize("size", [32, None])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]])
def test_greyscale_is_converted_if_other_images_have_colour(size, order):
    all_images = [*make_images(2, channels=1), *make_images(2)]
    images = [all_images[i] for i in order]
    S = as_similarity(images, k="pixels", size=size)
    assert [*S.notes] == [
        "Greyscale images were converted to RGB, because other images have colour."
    ]
    rgb_images = [Image.fromarray(image).convert("RGB") for image in images]
    np.testing.assert_array_equal(S.dense(), image_similarity_matrix(rgb_images, size=size))
    grey_images = [image.convert("L") for image in rgb_images]
    assert not as_similarity(grey_images, k="pixels", size=size).notes
    np.testing.assert_allclose(
        image_similarity_matrix(images, mode="L", size=size),
        image_similarity_matrix(grey_images, size=size),
    )


def test_size_none_requires_equally_large_images():
    images = [*make_images(2), *make_images(1, height=25)]
    with pytest.raises(
        SampleError, match=r"sample 2 has 40 × 25 pixels, .* first image has 40 × 24"
    ):
        image_similarity_matrix(images, size=None)
    assert image_similarity_matrix(images).shape == (3, 3)


def test_unreadable_files_are_named_by_index_and_path(tmp_path):
    valid_file, broken_file = tmp_path / "good.png", tmp_path / "bad.png"
    valid_file.write_bytes(encode_png(make_images(1)[0]))
    broken_file.write_bytes(b"not a picture")
    names = [str(valid_file), str(valid_file), str(broken_file)]
    with pytest.raises(SampleError, match=r"sample 2 cannot be read as an image: .*bad\.png"):
        image_similarity_matrix(names)
    broken_file.write_bytes(valid_file.read_bytes()[:-200])
    with pytest.raises(SampleError, match=r"sample 2 .*cannot be read as an image: "):
        image_similarity_matrix(names)
    with pytest.raises(SampleError, match=r"sample 0 cannot be read .*missing\.png"):
        image_similarity_matrix([tmp_path / "missing.png"])
    with pytest.raises(SampleError, match=r"sample 1 cannot be read as an image: cannot "):
        image_similarity_matrix([valid_file.read_bytes(), b"abc"])
    with pytest.raises(SampleError, match="sample 0 cannot be read as an image: "):
        image_similarity_matrix([Image.open(io.BytesIO(valid_file.read_bytes()[:-200]))])


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (None, "must be a PIL image, an array, a path, bytes or a value .* got NoneType: None"),
        (3.5, "must be a PIL image, .* got float: 3.5"),
        (
            {"id": 1, "image": 1},
            r"must have a key `bytes` or `path`, .* with the keys .* column, ds\['image'\]",
        ),
        ({"bytes": None, "path": None}, "must have a key `bytes` or `path`"),
        (np.zeros(784), r"must be an array of shape \(H, W\) or .* got shape \(784,\)"),
        (np.zeros((0, 4)), r"got shape \(0, 4\)"),
        (np.zeros((2, 3, 4, 5)), r"got shape \(2, 3, 4, 5\)"),
        (
            np.zeros((9, 9, 2)),
            r"must have 1, 3 or 4 channels, first or last, got shape \(9, 9, 2\)",
        ),
        (
            np.full((4, 4), 2.5),
            "must contain floats from 0 to 1, got values from 2.5 to 2.5 in float",
        ),
        (np.full((4, 4), -0.5), "must contain floats from 0 to 1"),
        (np.full((4, 4), np.nan), "must contain floats from 0 to 1, got values from nan to nan"),
        (
            np.full((4, 4), 256),
            "must contain integers from 0 to 255, got values from 256 to 256 in i",
        ),
        (
            np.full((4, 4), 60000, np.uint16),
            "integers from 0 to 255, got .* in uint16; rescale all",
        ),
        (np.full((4, 4), 200.0), "got values from 200 to 200 in float64; .* x / 255"),
        (np.linspace(-1, 1, 16).reshape(4, 4), r"rescale all .* or \(x \+ 1\) / 2"),
        (
            Image.fromarray(np.full((4, 4), 0.5, np.float32)),
            r"mode F, .* pass np.asarray\(image\) / maximum, with the same maximum for all images",
        ),
        (np.full((4, 4), "x"), "must be an array of numbers, got dtype <U1"),
        ([[1, 2], [3]], "cannot be read as an array: "),
        (np.zeros((4, 4), np.uint8), "is completely black, so its cosine is undefined"),
    ],
)
def test_invalid_images_are_named_by_index(sample, message):
    with pytest.raises(SampleError, match=f"sample 1 .*{message}") as caught:
        image_similarity_matrix(
            [make_images(1, channels=1)[0], sample], size=None if sample is None else 4
        )
    assert caught.value.index == 1


def test_tensor_with_ambiguous_channels_is_rejected():
    torch = pytest.importorskip("torch")
    with pytest.raises(SampleError, match=r"shape \(3, 5, 4\), which can be read as \(C, H, W\)"):
        image_similarity_matrix([torch.ones(3, 5, 4)])
    assert as_image(np.ones((3, 5, 4)), 0).size == (5, 3)  # arrays have channels last


def test_documented_rescaling_of_other_ranges_is_exact():
    values_16_bit = np.random.default_rng(0).integers(0, 65536, (3, 4, 4)).astype(np.uint16)
    expected = cosine_matrix((values_16_bit / 257).round().reshape(3, -1))
    np.testing.assert_allclose(
        image_similarity_matrix(list(values_16_bit / 65535), size=None), expected, atol=1e-12
    )
    values_to_16 = np.random.default_rng(0).integers(0, 17, (3, 4, 4)).astype(float)
    result = image_similarity_matrix(list(values_to_16 / 16), size=None)
    np.testing.assert_allclose(
        result, cosine_matrix((values_to_16 * 255 / 16).round().reshape(3, -1))
    )


def test_skip_drops_broken_files(tmp_path):
    for i, picture in enumerate(make_images(3)):
        (tmp_path / f"{i}.png").write_bytes(encode_png(picture))
    (tmp_path / "1.png").write_bytes(b"broken")
    files = sorted(tmp_path.glob("*.png"))
    with pytest.warns(UserWarning, match=r"dropped 1 of 3 samples .*1\.png.* remove the file$"):
        similarity = as_similarity(files, k="pixels", on_error="skip")
    np.testing.assert_array_equal(similarity.dense(), image_similarity_matrix([files[0], files[2]]))


@pytest.mark.parametrize("size", [0, -1, 2.5, True, (32, 32)])
def test_size_is_validated(size):
    with pytest.raises((TypeError, ValueError), match=r"`size` must be an integer .*got .*or None"):
        image_similarity_matrix(make_images(), size=size)


def test_mode_is_validated():
    with pytest.raises(ValueError, match="`mode` must be 'L', 'RGB' or None, got 'grey'"):
        image_similarity_matrix(make_images(), mode="grey")


def test_missing_pillow_error_gives_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    for kernel in ("pixels", "image_embeddings"):
        with pytest.raises(MissingPackageError, match=r"'PIL'.*pip install pillow"):
            image_similarity_matrix([np.ones((4, 4))], k=kernel)


def test_image_kernels_are_listed():
    kernels = {kernel.name: kernel for kernel in list_kernels() if kernel.samples == "images"}
    assert set(kernels) >= {"pixels", "image_embeddings"}
    assert all(kernel.needs == "images" and kernel.psd for kernel in kernels.values())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_tensors_of_any_float_precision_are_accepted(dtype):
    torch = pytest.importorskip("torch")
    images = make_images(3)
    floats = torch.tensor(np.array(images)).movedim(-1, 1) / 255
    for samples in (floats.to(getattr(torch, dtype)), list(floats.to(getattr(torch, dtype)))):
        np.testing.assert_array_equal(
            image_similarity_matrix(samples, size=None), image_similarity_matrix(images, size=None)
        )


def test_masked_pixels_and_meta_tensors_are_rejected():
    torch = pytest.importorskip("torch")
    masked = np.ma.masked_array(np.ones((4, 4), np.uint8), mask=np.eye(4))
    for image, message in (
        (masked, "has masked pixels"),
        (torch.ones(4, 4, device="meta"), "cannot be read as an array"),
    ):
        with pytest.raises(SampleError, match=f"sample 1 {message}"):
            image_similarity_matrix([np.ones((4, 4), np.uint8), image])


@pytest.mark.parametrize("size", [np.int64(4), np.uint8(4), np.array(4)])
def test_size_accepts_any_integer_type(size):
    np.testing.assert_array_equal(
        image_similarity_matrix(make_images(), size=size),
        image_similarity_matrix(make_images(), size=4),
    )


def test_size_that_exceeds_memory_is_rejected():
    with pytest.raises(MemoryError, match=r"the pixels of 4 images .*; pass a smaller `size`"):
        image_similarity_matrix(make_images(), size=10**7)
