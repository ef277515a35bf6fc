"""The result that the page opens on: a comparison of three made-up models.

python benchmarks/first_paint.py

Writes vendiscore_page/static/example.json: what the server answers to the example of examples.py
where its texts are compared by shared words, which needs no model.
"""

from __future__ import annotations

import json

from vendiscore.progress import finish
from vendiscore_page.answers import several_sets
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.inputs.examples import THREE_MODELS
from vendiscore_page.inputs.submission import Asked, Given
from vendiscore_page.inputs.uploads import read
from vendiscore_page.serving.static_files import STATIC

PATH = STATIC / "example.json"


def main() -> None:
    samples = read(Given(), Asked(kind="texts", example=THREE_MODELS))
    answer = finish(several_sets.compare({"Answers": samples}, Settings("ngram_overlap")))
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    PATH.write_text(f"{text}\n", encoding="utf-8")
    print(f"{PATH.name}: {len(text.encode()):,} bytes. {answer['sentence']}")


if __name__ == "__main__":
    main()
