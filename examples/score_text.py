"""Score three files of captions with the metric, loaded as `evaluate` loads any metric."""

from pathlib import Path

import evaluate

HERE = Path(__file__).resolve().parent


def main() -> None:
    vendiscore = evaluate.load(str(HERE.parent / "vendiscore.py"))
    for name in ("varied", "middling", "repetitive"):
        captions = (HERE / "captions" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        found = vendiscore.compute(samples=captions, k="ngram_overlap", details=True)
        print(f"{name:>10}: Vendi Score {found['VS']:5.2f} of {len(captions)} captions")
        print(found["details"]["strip"])
    print("How to read it: as varied as that many captions with nothing in common.")


if __name__ == "__main__":
    main()
