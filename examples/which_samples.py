"""Which captions add to a set, which repeat others, and what is left without those."""

from pathlib import Path

from vendiscore import explain

CAPTIONS = Path(__file__).resolve().parent / "captions" / "middling.txt"


def main() -> None:
    captions = CAPTIONS.read_text(encoding="utf-8").splitlines()
    found = explain(captions, k="ngram_overlap", threshold=0.6)
    print(found)

    print("\nadds the most:")
    best, worst = found.adds.argmax(), found.adds.argmin()
    print(f"  {found.adds[best]:+.3f}  {captions[best]}")
    print("adds the least:")
    print(f"  {found.adds[worst]:+.3f}  {captions[worst]}")

    print("\nnear-duplicates (keep the first of each):")
    for keep, others in found.groups:
        print(f"  {captions[keep]}")
        for other in others:
            print(f"    {found.nearest_similarity[other]:.2f}  {captions[other]}")

    above, below = found.boundary(1)
    print("\nthe last pair above the threshold and the first below it:")
    for pair in [*above, *below]:
        print(f"  {pair.similarity:.2f}  {captions[pair.i]} | {captions[pair.j]}")


if __name__ == "__main__":
    main()
