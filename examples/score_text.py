"""Score three files of captions with the metric for Hugging Face `evaluate`."""

from pathlib import Path

try:
    import evaluate
except ImportError:
    raise SystemExit("this example requires evaluate; run: pip install -e '.[evaluate]'") from None

HERE = Path(__file__).resolve().parent


def main() -> None:
    vendiscore = evaluate.load(str(HERE.parent / "vendiscore.py"))
    for name in ("varied", "middling", "repetitive"):
        captions = (HERE / "captions" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        result = vendiscore.compute(samples=captions, k="ngram_overlap", details=True)
        print(f"{name:>10}: Vendi Score {result['VS']:5.2f} of {len(captions)} captions")
        print(result["details"]["strip"])
    print("A score of 5 means: as diverse as 5 captions that have nothing in common.")


if __name__ == "__main__":
    main()
