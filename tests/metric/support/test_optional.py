"""Errors about missing packages contain the command that installs them."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import vendiscore
from vendiscore import MissingPackageError
from vendiscore.support.optional import BASE_PACKAGES, is_network, require, versions


def test_require_imports_installed_packages():
    assert require("numpy.linalg", "text", "a test") is np.linalg


@pytest.mark.parametrize(
    ("package", "extra", "command"),
    [
        ("no_such_package.part", "text", "pip install no_such_package"),
        ("PIL.Image", "images", "pip install pillow"),
        ("sklearn.cluster", "compat", "pip install scikit-learn"),
    ],
)
def test_require_raises_with_the_install_command(package, extra, command, monkeypatch):
    root = package.partition(".")[0]
    monkeypatch.setitem(sys.modules, root, None)  # makes the import fail
    with pytest.raises(MissingPackageError) as caught:
        require(package, extra, "k='x'")
    error = caught.value
    assert (error.package, error.extra, error.purpose) == (root, extra, "k='x'")
    assert error.command == command
    assert str(error) == f"k='x' needs the package '{root}', which is not installed: {command}"
    assert error.name == root
    assert isinstance(error, ImportError)


def test_require_passes_on_import_errors_of_dependencies(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import no_such_dependency")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency") as caught:
        require("broken_package", "text", "a test")
    assert not isinstance(caught.value, MissingPackageError)


def test_missing_base_packages_are_listed_together():
    code = (
        "import importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n: None if n in ('scipy', 'tqdm') else find(n)\n"
        "import vendiscore.support.optional\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (
        "requires packages that are not installed; run `pip install scipy tqdm`" in process.stderr
    )


def test_versions_includes_base_packages_and_vendiscore():
    result = versions()
    assert result["numpy"] == np.__version__
    assert result["vendiscore"] == vendiscore.__version__
    assert {"numpy", "scipy"} <= {*BASE_PACKAGES} & {*result}


def test_missing_package_error_can_be_pickled():
    error = MissingPackageError("rdkit", "molecules", "k='morgan'", "pip install rdkit")
    restored = pickle.loads(pickle.dumps(error))
    assert (str(restored), vars(restored)) == (str(error), vars(error))


def test_is_network_recognizes_modules_by_name():
    class Module:
        pass

    class Network(Module):
        pass

    assert not is_network(Network())
    Module.__module__ = "torch.nn.modules.module"
    assert is_network(Network())
    Module.__name__ = "Parameter"
    assert not is_network(Network())
