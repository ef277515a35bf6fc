"""Settings of the site: `python -m sphinx -W docs docs/_build` (README, "Documentation")."""

import os
import sys
import tomllib
import warnings
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "extensions"), str(HERE.parent), str(HERE.parent / "benchmarks")]
# Nothing is asked of another machine, no bar is drawn into a page, two tutorials that run side by
# side have a core each, and what pages show does not hang on data at hand.
os.environ |= {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1", "OMP_NUM_THREADS": "1"}
os.environ.pop("VENDISCORE_DATA", None)
# joblib replaces a process that has grown, as one that imported torch has, and says so.
warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)

from hosting import read_addresses  # noqa: E402

import vendiscore  # noqa: E402

project = "vendiscore"
author = "the authors of vendiscore"
copyright = "2026, the authors of vendiscore"
version = release = vendiscore.__version__

# An owner sets both addresses in pyproject.toml. Without them, pages have no link "Edit this page"
# and no menu of versions.
repository_address, documentation_address = read_addresses(
    HERE.parent / "pyproject.toml", os.environ
)

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
    "blocks",
    "docstrings",
    "folded",
    "hosting",
    "mathml",
    "llms",
    "search_words",
]
exclude_patterns = ["_build", "paper", "tutorials"]
templates_path = ["templates"]
smartquotes_action = "D"  # dashes; but quotes stay, "morgan" is a string
default_role = "code"  # what stands between single backticks is a name or a formula

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # docstrings say what a type means
autodoc_member_order = "bysource"
# Harnesses whose modules are documented where they are not installed, too.
autodoc_mock_imports = [name for name in ("inspect_ai", "transformers") if find_spec(name) is None]
napoleon_google_docstring = False
napoleon_use_rtype = False
# Types are sentences: "array (n,)" does not link to an object named n.
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]

search_words = tomllib.loads((HERE / "search_words.toml").read_text(encoding="utf-8"))

plot_include_source = False
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 110)]
plot_working_directory = str(HERE.parent)  # paths are those of the clone
plot_rcparams = {
    "figure.figsize": (7, 3.6),
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
}

sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "parallel": 2,
    "within_subsection_order": "FileNameSortKey",
    "image_srcset": ["2x"],
    "write_computation_times": False,  # that page loads scripts from elsewhere
}

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = f"vendiscore {release}"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
