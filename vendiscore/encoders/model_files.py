"""What the files of a sentence-transformers model say about how its texts become embeddings.

`modules.json` lists the steps behind the network. Those that can be followed here are pooling by
the first token or the mean, what changes no cosine, and the settings of the tokenizer; any other
step is refused, since leaving it out would give other numbers than the model's own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import warn
from ..optional import require
from .networks import Pooling

# Steps that leave every cosine as it is: unit length, and what only training does.
_NEUTRAL = ("Normalize", "Dropout")
# The step of old files whose output is what the network itself projects texts and images to.
_PROJECTED = "CLIPModel"
_POOLINGS: dict[str, Pooling] = {"mean": "mean", "cls": "cls"}
# Files written before version 6 have a flag for each mode; the name behind it is today's.
_FLAGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_KINDS = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")


@dataclass(frozen=True)
class Stated:
    """What a model's files say, or the call instead; None where neither says anything.

    Attributes
    ----------
    pooling : str or None
    pooling_from : str or None
        The file that says so, or "given".
    max_length : int or None
        Tokens that a text is cut to.
    lowercase : bool
        Texts are lower-cased before they become tokens.
    subfolder : str
        Where the network and its tokenizer are.
    """

    pooling: Pooling | None = None
    pooling_from: str | None = None
    max_length: int | None = None
    lowercase: bool = False
    subfolder: str = ""


def stated(
    model_path: str | Path, revision: str | None, extra: str, *, pooling: Pooling | None
) -> Stated:
    """What the files of a Hub id or local folder say; a `pooling` that is given wins."""
    files = _Files(model_path, revision, extra)
    modules = files.read("modules.json", list)
    given = None if pooling is None else "given"
    if modules is None:
        files.warn()
        return Stated(pooling, given)
    if not modules or not all(isinstance(m, dict) and "type" in m for m in modules):
        raise files.broken("modules.json", "no list of steps")
    steps = [(str(m["type"]).rpartition(".")[2], str(m.get("path", ""))) for m in modules]
    first, subfolder = steps[0]
    others = [step for step in steps[1:] if step[0] not in _NEUTRAL]
    if first == _PROJECTED and not others:
        files.warn()
        return Stated(pooling or "pooler", given or "modules.json", subfolder=subfolder)
    if first != "Transformer":
        raise files.refused(f"begins with {first}")
    if [name for name, _ in others] != ["Pooling"]:
        rest = " and ".join(name for name, _ in others if name != "Pooling") or "no Pooling"
        raise files.refused(f"goes on with {rest}")
    settings = _transformer(files, subfolder)
    _check_prompt(files)
    file = f"{others[0][1]}/config.json"
    if pooling is None:
        pooling, given = _pooling(files, file), file
    files.warn()
    length = settings.get("max_seq_length")
    if length is not None and (type(length) is not int or length < 1):
        raise files.broken("settings", f"max_seq_length is {length!r:.40}")
    return Stated(pooling, given, length, bool(settings.get("do_lower_case")), subfolder)


def _transformer(files: _Files, subfolder: str) -> dict[str, Any]:
    """The settings of the first step: of the tokenizer, and of what is read from the network."""
    settings: dict[str, Any] = {}
    for kind in _KINDS:
        file = f"{subfolder}/sentence_{kind}_config.json".lstrip("/")
        if (found := files.read(file, dict)) is not None:
            settings = found
            break
    for name in ("model", "tokenizer", "processor", "config"):
        for key in (f"{name}_args", f"{name}_kwargs"):
            if settings.get(key):
                raise files.refused(f"has settings of its own ({key} in {file})")
    task = settings.get("transformer_task", "feature-extraction")
    text = {"method": "forward", "method_output_name": "last_hidden_state"}
    read = settings.get("modality_config", {}).get("text", text)
    if task != "feature-extraction" or read != text:
        raise files.refused(f"reads other things than hidden states ({file})")
    return settings


def _check_prompt(files: _Files) -> None:
    settings = files.read("config_sentence_transformers.json", dict) or {}
    prompt = (settings.get("prompts") or {}).get(settings.get("default_prompt_name"))
    if prompt:
        raise files.refused(f"puts {prompt!r:.60} before every text")


def _pooling(files: _Files, file: str) -> Pooling:
    settings = files.read(file, dict)
    if settings is None:
        raise files.refused(f"lacks {file}, which says how it pools")
    modes = settings.get("pooling_mode")
    if modes is None:
        modes = [mode for flag, mode in _FLAGS.items() if settings.get(flag)] or ["mean"]
    modes = [modes] if isinstance(modes, str) else list(modes)
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise files.refused(f"pools by {' and '.join(map(repr, modes))} ({file})")
    return _POOLINGS[modes[0]]


class _Files:
    """The small files of a model, from its folder, the Hub or the Hub's cache."""

    def __init__(self, model_path: str | Path, revision: str | None, extra: str) -> None:
        self.model_path, self.revision, self.extra = str(model_path), revision, extra
        self.unknown: list[str] = []

    def read(self, name: str, kind: type) -> Any:
        """The content of a file, or None if there is none, or none that can be had."""
        path = self._path(name)
        if path is None:
            return None
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise self.broken(name, str(error)) from None
        if not isinstance(content, kind):
            raise self.broken(name, f"no {kind.__name__}")
        return content

    def _path(self, name: str) -> Path | None:
        if Path(self.model_path).is_dir():
            file = Path(self.model_path) / name
            return file if file.is_file() else None
        hub = require("huggingface_hub", self.extra, "an embedding kernel")
        errors = require("huggingface_hub.errors", self.extra, "an embedding kernel")
        try:
            return Path(hub.hf_hub_download(self.model_path, name, revision=self.revision))
        except (
            errors.RepositoryNotFoundError,
            errors.RevisionNotFoundError,
            errors.HFValidationError,
        ):
            return None  # transformers says what is wrong with it
        except (errors.LocalEntryNotFoundError, errors.HfHubHTTPError) as error:
            # A file that is not there; or the Hub does not answer, or must not be asked.
            gone = isinstance(error, errors.EntryNotFoundError)
            if isinstance(error, errors.LocalEntryNotFoundError) or not gone:
                self._unknown(hub, name)
        except errors.EntryNotFoundError:
            pass
        return None

    def _unknown(self, hub: Any, name: str) -> None:
        # The cache remembers which files were asked for and are not there. One that has this file,
        # which every repository has and no model needs, holds all files.
        names = (name, ".gitattributes")
        if not any(
            hub.try_to_load_from_cache(self.model_path, file, revision=self.revision)
            for file in names
        ):
            self.unknown.append(name)

    def warn(self) -> None:
        """Tell which files may exist where nobody can be asked."""
        if self.unknown:
            warn(
                f"the Hub cannot be asked now whether {self.model_path!r} has "
                f"{' or '.join(self.unknown)}, which is taken as no; load the model once online, "
                f"or pass a folder with all its files"
            )

    def broken(self, name: str, why: str) -> ValueError:
        return ValueError(
            f"`model_path` {self.model_path!r} has a broken {name} ({why}); get the model again"
        )

    def refused(self, why: str) -> ValueError:
        return ValueError(
            f"`model_path` {self.model_path!r} {why}, which cannot be followed here; pass "
            f"model=SentenceTransformer({self.model_path!r})"
        )
