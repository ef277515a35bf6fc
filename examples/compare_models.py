"""Compare the diversity of models over prompts: which is more diverse, and for which prompts?

python examples/compare_models.py                # people and two models, 38 prompts
python examples/compare_models.py answers.csv    # columns of answers, prompts and models
"""

import sys
from pathlib import Path

from vendiscore import compare, compute, read

DATA = Path(__file__).resolve().parents[1] / "docs" / "tutorials" / "data" / "answers.csv"


def main(path: str | Path = DATA) -> None:
    answers = read(path)
    print(answers.sentence)
    if not answers.sets or not answers.prompts:
        raise SystemExit("The file needs a column of models and a column of prompts.")
    # Many answers are a single word, so sequences of characters are compared, not of words.
    comparison = compare(answers.samples, by=answers.sets, prompts=answers.prompts, analyzer="char")
    print(comparison)

    # The prompts to which the first set gives the most different answers, next to the others.
    scores_by_set = {}
    for name, subset in answers.by_set().items():
        result = compute(subset.samples, groups=subset.prompts, analyzer="char", details=True)
        scores_by_set[name] = {row["group"]: row["VS"] for row in result["details"]["groups"]}
    first, *others = scores_by_set.values()
    shared = [prompt for prompt in first if all(prompt in other for other in others)]
    largest_gap = sorted(shared, key=lambda prompt: max(o[prompt] for o in others) - first[prompt])
    print("\nPrompts with the largest differences:")
    for prompt in largest_gap[:3]:
        scores = ", ".join(f"{name} {by[prompt]:.1f}" for name, by in scores_by_set.items())
        print(f"  {prompt[:60]}: {scores}")


if __name__ == "__main__":
    main(*sys.argv[1:])
