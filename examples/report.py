"""Write an HTML report on a set of texts: score, near-duplicates, contributions and figures."""

import sys
from pathlib import Path

from vendiscore import report

CAPTIONS = Path(__file__).resolve().parent / "captions" / "middling.txt"


def main(path: str = "report.html") -> None:
    captions = CAPTIONS.read_text(encoding="utf-8").splitlines()
    result = report(captions, k="ngram_overlap", title="Captions of a middling model")
    result.write_html(path)

    low, high = result.numbers["VS_low"], result.numbers["VS_high"]
    print(f"Effective number of captions: {result.numbers['VS']:.1f} of {len(captions)}")
    print(f"(95 % interval {low:.1f} to {high:.1f}). The report is in {path}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
