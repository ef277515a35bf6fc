"""JavaScript modules are bundled in the order of their imports."""

import pytest

from vendiscore_page.serving.script_bundle import bundle_modules

MODULES = {
    "b.js": 'import { one, two as deux } from "./a/a.js";\nexport const sum = one + deux;\n',
    "a/a.js": "export const one = 1;\nconst two = 2;\nexport { two };\n",
}


def test_bundle_rejects_unsupported_imports_and_exports():
    with pytest.raises(ValueError, match=r"a/a\.js has an import or export .*: export { two };"):
        bundle_modules(MODULES)
    for line in ('import "./a.js";\n', 'const a = await import("./a.js");\n'):
        with pytest.raises(ValueError, match=r"main\.js has an import"):
            bundle_modules({"main.js": line})


def test_bundle_rejects_import_cycles():
    modules = {"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\n'}
    with pytest.raises(ValueError, match="cycle"):
        bundle_modules(modules)
