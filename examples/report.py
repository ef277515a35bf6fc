"""One HTML file about a set of texts: its number, what is alike, what repeats, and pictures."""

import sys
from pathlib import Path

from vendiscore import report

CAPTIONS = Path(__file__).resolve().parent / "captions" / "middling.txt"


def main(path: str = "report.html") -> None:
    captions = CAPTIONS.read_text(encoding="utf-8").splitlines()
    found = report(captions, k="ngram_overlap", title="Captions of a middling model")
    found.write_html(path)

    low, high = found.numbers["VS_low"], found.numbers["VS_high"]
    print(f"{found.numbers['VS']:.1f} of {len(captions)} captions are effectively different")
    print(f"(95 % interval {low:.1f} to {high:.1f}); why, is in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
