"""Find what repeats in a set of texts, and write a file without the repeats.

python examples/fix_repeats.py                            # captions of this folder
python examples/fix_repeats.py texts.txt distinct.txt     # one text per line
"""

import sys
from pathlib import Path

from vendiscore import compute, explain, phrases

CAPTIONS = Path(__file__).resolve().parent / "captions" / "repetitive.txt"


def main(path: str | Path = CAPTIONS, output: str | Path = "distinct.txt") -> None:
    texts = list(filter(str.strip, Path(path).read_text(encoding="utf-8").splitlines()))
    score = compute(texts)["VS"]
    print(f"{len(texts)} texts count as {score:.2f} different ones, {score / len(texts):.0%}.")

    print("\nPhrases that make the texts alike:")
    for row in phrases(texts).rows[:3]:
        print(f"  {row}")

    result = explain(texts, threshold=0.7)  # similarities of n-grams are lower than of embeddings
    print("\nTexts that repeat others:")
    for kept, repeats in result.groups:
        print(f"  {texts[kept]!r} is repeated by {len(repeats)}")
    distinct = [texts[i] for i in result.kept]
    Path(output).write_text("\n".join(distinct) + "\n", encoding="utf-8")
    score = result.score_without_duplicates
    share = score / len(distinct)
    print(f"\n{len(distinct)} texts remain, in {output}. They count as {score:.2f}, {share:.0%}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
