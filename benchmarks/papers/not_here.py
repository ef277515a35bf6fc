"""Other results of the papers, and the data that their computation would need.

The scripts of this folder download nothing, so results that need samples of trained models, large
data sets or simulations are only listed.
"""

from pathlib import Path

from findings import Finding, Group, cannot, run

FRIEDMAN = "arXiv 2210.02410"
PASARKAR = "arXiv 2310.12952"
LIMBECK = "arXiv 2311.16054"

GROUP = Group(
    name="not_here",
    title="What is not run again",
    source="Without a counterpart: parts of arXiv 2210.02410, 2310.12952 and 2311.16054",
    method="Nothing is downloaded for this page. What starts from samples of trained models, from "
    "large data sets or from a simulation is named here with what it needs.",
)


def findings(data: Path) -> list[Finding]:
    """List the results that are not computed again, with the data that they require."""
    return [
        cannot(
            "image models on CIFAR-10, ImageNet and LSUN",
            FRIEDMAN,
            "needs their samples and the weights of Inception v3",
        ),
        cannot(
            "which categories of CIFAR-100, Fashion-MNIST, CelebA, MultiNLI and Amazon reviews are "
            "the most diverse",
            FRIEDMAN,
            "needs the data sets, and the weights of Inception v3 and SimCSE",
        ),
        cannot(
            "Vendi Sampling of alanine dipeptide",
            PASARKAR,
            "needs simulations of molecular dynamics",
        ),
        cannot(
            "generated graphs",
            LIMBECK,
            "needs the data sets of graphs and the samples of trained models",
        ),
    ]


if __name__ == "__main__":
    run(GROUP, findings)
