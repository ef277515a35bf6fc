"""An encoder that collapses, and the same one with −log VS added to its loss.

    python examples/train_diverse.py                        # ten seconds on one core
    python examples/train_diverse.py --plot embeddings.png  # and a picture of the last two

A small network learns, without labels, to embed two distorted views of a digit alike. The best way
to do that is to embed all digits alike: every embedding is one vector and the Vendi Score is 1.
`VendiLoss` makes that expensive. What it costs is agreement: the two views of a digit are no longer
quite the same. Digits count as told apart if at least half of their held-out images are nearest to
the mean of their own kind, in embeddings that are rounded to two decimals: what is left of a
collapsed encoder is in digits far behind those.
"""

import argparse
from typing import Any

import torch
from sklearn.datasets import load_digits
from torch.nn.functional import normalize, one_hot, pad

from vendiscore import score_X
from vendiscore.integrations.loss import VendiLoss

WEIGHTS, SEEDS = (0.0, 0.3, 1.0), (0, 1, 2)
STEPS, BATCH, DIMENSIONS, TRAINED = 200, 128, 16, 1200


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    images, labels = load_digits(return_X_y=True)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    return torch.tensor(images / 16, dtype=torch.float32)[order], torch.tensor(labels)[order]


def view(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """The images, each moved by up to one pixel either way, with noise."""
    n = len(images)
    framed = pad(images.reshape(n, 8, 8), (1, 1, 1, 1))
    row, column = torch.randint(3, (2, n, 1), generator=generator) + torch.arange(8)
    moved = framed[torch.arange(n)[:, None, None], row[:, :, None], column[:, None]]
    return moved.reshape(n, 64) + 0.1 * torch.randn(n, 64, generator=generator)


def trained(images: torch.Tensor, weight: float, seed: int) -> torch.nn.Module:
    """An encoder that was trained with −weight · log VS in its loss."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    encoder = torch.nn.Sequential(
        torch.nn.Linear(64, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, DIMENSIONS),
    )
    diversity = VendiLoss("cosine", weight=weight)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
    for _ in range(STEPS):
        batch = images[torch.randint(len(images), (BATCH,), generator=generator)]
        a, b = (normalize(encoder(view(batch, generator))) for _ in range(2))
        loss = (a - b).square().sum(dim=1).mean() + diversity(a)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return encoder


@torch.no_grad()
def judged(encoder: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> dict[str, Any]:
    """What held-out images say of an encoder."""
    Z = normalize(encoder(images))
    again = normalize(encoder(view(images[TRAINED:], torch.Generator().manual_seed(0))))
    rounded = Z.mul(100).round()
    known, new = rounded[:TRAINED], rounded[TRAINED:]
    kinds = one_hot(labels).float()
    means = (kinds[:TRAINED].T @ known) / kinds[:TRAINED].sum(dim=0)[:, None]
    right = torch.cdist(new, means).argmin(dim=1) == labels[TRAINED:]
    nearest = labels[torch.cdist(new, known).argmin(dim=1)]
    recalls = (kinds[TRAINED:] * right[:, None]).sum(dim=0) / kinds[TRAINED:].sum(dim=0)
    return {
        "VS": float(score_X(Z[TRAINED:])),
        "told apart": int((recalls >= 0.5).sum()),
        "accuracy": float((nearest == labels[TRAINED:]).float().mean()),
        "agreement": float((Z[TRAINED:] * again).sum(dim=1).mean()),
        "embeddings": Z[TRAINED:],
    }


def draw(sets: dict[str, torch.Tensor], labels: torch.Tensor, path: str) -> None:
    """The first two principal components of each set of embeddings, a colour for each digit."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(sets), figsize=(9, 4.5))
    for ax, (name, Z) in zip(axes, sets.items(), strict=True):
        plane = Z @ torch.linalg.svd(Z - Z.mean(dim=0))[2][:2].T
        ax.scatter(*plane.T.tolist(), c=labels, cmap="tab10", s=8)
        ax.set(title=name, aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="draw embeddings without and with the term")
    path = parser.parse_args().plot
    torch.set_num_threads(1)  # the same sums on every machine
    images, labels = digits()
    print(f"{len(images) - TRAINED} held-out digits, embedded in {DIMENSIONS} dimensions")
    print("weight  seed     VS  told apart  accuracy  agreement of views")
    last = {}
    for weight in WEIGHTS:
        for seed in SEEDS:
            found = judged(trained(images[:TRAINED], weight, seed), images, labels)
            print(
                f"{weight:6g}  {seed:4}  {found['VS']:5.2f}  {found['told apart']:4} of 10"
                f"  {found['accuracy']:8.0%}  {found['agreement']:9.2f}"
            )
        last[f"weight {weight:g}: VS {found['VS']:.1f}"] = found["embeddings"]
    if path:
        names = list(last)
        draw({name: last[name] for name in (names[0], names[-1])}, labels[TRAINED:], path)


if __name__ == "__main__":
    main()
