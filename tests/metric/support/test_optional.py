"""A missing package is named with the command that installs it."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import vendiscore
from vendiscore import MissingPackageError
from vendiscore.support.optional import BASE_PACKAGES, is_network, require, versions


def test_an_installed_package_is_imported():
    assert require("numpy.linalg", "text", "a test") is np.linalg


@pytest.mark.parametrize(
    ("package", "extra", "command"),
    [
        ("no_such_package.part", "text", "pip install no_such_package"),
        ("PIL.Image", "images", "pip install pillow"),
        ("sklearn.cluster", "compat", "pip install scikit-learn"),
    ],
)
def test_a_missing_package_is_named_with_its_command(package, extra, command, monkeypatch):
    root = package.partition(".")[0]
    monkeypatch.setitem(sys.modules, root, None)  # so that it cannot be imported
    with pytest.raises(MissingPackageError) as caught:
        require(package, extra, "k='x'")
    error = caught.value
    assert (error.package, error.extra, error.purpose) == (root, extra, "k='x'")
    assert error.command == command
    assert str(error) == f"k='x' needs the package '{root}', which is not installed: {command}"
    assert error.name == root
    assert isinstance(error, ImportError)


def test_an_error_inside_an_installed_package_is_not_a_missing_package(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import no_such_dependency")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency") as caught:
        require("broken_package", "text", "a test")
    assert not isinstance(caught.value, MissingPackageError)


def test_all_missing_packages_of_the_base_are_named_at_once():
    code = (
        "import importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n: None if n in ('scipy', 'tqdm') else find(n)\n"
        "import vendiscore.support.optional\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "requires packages that are not installed; run `pip install scipy tqdm`" in run.stderr


def test_versions_are_those_of_the_packages_and_of_this_one():
    result = versions()
    assert result["numpy"] == np.__version__
    assert result["vendiscore"] == vendiscore.__version__
    assert {"numpy", "scipy"} <= {*BASE_PACKAGES} & {*result}


def test_the_error_can_be_pickled():
    error = MissingPackageError("rdkit", "molecules", "k='morgan'", "pip install rdkit")
    twin = pickle.loads(pickle.dumps(error))
    assert (str(twin), vars(twin)) == (str(error), vars(error))


def test_networks_are_recognized_without_importing_torch():
    class Module:
        pass

    class Network(Module):
        pass

    assert not is_network(Network())
    Module.__module__ = "torch.nn.modules.module"
    assert is_network(Network())
    Module.__name__ = "Parameter"
    assert not is_network(Network())
