"""Modules of JavaScript as one script, which a browser gets in one answer."""

import re
from collections.abc import Mapping
from graphlib import TopologicalSorter
from posixpath import dirname, join, normpath

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_UNBUNDLED = re.compile(r"^(?:import|export)\b.*|\bimport\(.*", re.MULTILINE)


def bundle_modules(modules: Mapping[str, str]) -> str:
    """Write modules, by their paths, as functions that return what the module exports.

    A browser asks a server of HTTP/1.1 for six files at a time, so that fifty modules would take
    nine round trips.
    """
    imports = {
        name: {_resolve_path(name, path) for _, path in _IMPORT.findall(text)}
        for name, text in modules.items()
    }
    order = TopologicalSorter(imports).static_order()
    numbers = {name: f"${number}" for number, name in enumerate(order)}

    def wrap_module(name: str) -> str:
        def take(match: re.Match[str]) -> str:
            names = match[1].replace(" as ", ": ")
            return f"const {names} = {numbers[_resolve_path(name, match[2])]};\n"

        text = _IMPORT.sub(take, modules[name])
        exports = ", ".join(_EXPORT.findall(text))
        text = _EXPORT.sub("", text)
        if unbundled := _UNBUNDLED.search(text):
            raise ValueError(
                f"{name} has an import or export that cannot be bundled: {unbundled[0]}"
            )
        return f"const {numbers[name]} = (() => {{\n{text}return {{ {exports} }};\n}})();\n"

    return "".join(map(wrap_module, numbers))


def _resolve_path(module: str, path: str) -> str:
    return normpath(join(dirname(module), path))
