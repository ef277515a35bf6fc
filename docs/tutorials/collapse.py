"""
Collapse during training, and how the loss prevents it
======================================================

A network that learns to make two views of one thing alike can make *everything* alike: all
embeddings become one vector, and the loss reaches its minimum. This is called collapse. You will
see

* that the loss does not show it, and the Vendi Score of embeddings does, from the first steps on,
* how :py:class:`vendiscore.integrations.loss.VendiLoss`, −log VS added to the loss, prevents it,
* its benefit and its cost.

It needs PyTorch (the extra ``torch``).
"""

# %%
# An encoder without protection
# -----------------------------
# Digits of 8 × 8 pixels, without labels. A view is a digit moved by up to a pixel either way, with
# noise. The encoder shall map two views of a digit to the same embedding of length 1.
import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_digits
from torch.nn.functional import normalize, one_hot, pad

from vendiscore import score_X
from vendiscore.integrations.loss import VendiLoss

plt.style.use("tableau-colorblind10")
plt.rcParams.update({"font.size": 12, "figure.constrained_layout.use": True})
torch.set_num_threads(1)  # the same sums on every machine

STEPS, BATCH, DIMENSIONS, TRAINED, EVERY = 120, 64, 16, 1200, 2

pixels, digits = load_digits(return_X_y=True)
order = torch.randperm(len(digits), generator=torch.Generator().manual_seed(0))
images = torch.tensor(pixels / 16, dtype=torch.float32)[order]
labels = torch.tensor(digits)[order]
mean = images[:TRAINED].mean(dim=0)


def view(images, generator):
    """Move each image by up to one pixel either way, and add noise."""
    n = len(images)
    framed = pad(images.reshape(n, 8, 8), (1, 1, 1, 1))
    row, column = torch.randint(3, (2, n, 1), generator=generator) + torch.arange(8)
    moved = framed[torch.arange(n)[:, None, None], row[:, :, None], column[:, None]]
    return moved.reshape(n, 64) + 0.1 * torch.randn(n, 64, generator=generator)


def network(seed):
    """Return an untrained encoder."""
    torch.manual_seed(seed)
    first, second = torch.nn.Linear(64, 256), torch.nn.Linear(256, DIMENSIONS)
    for layer in (first, second):
        torch.nn.init.zeros_(layer.bias)
    return torch.nn.Sequential(first, torch.nn.ReLU(), second)


def embedded(encoder, images):
    return normalize(encoder(images - mean))


def vendi_score(encoder):
    """Return the Vendi Score of the digits that the encoder is not trained on."""
    with torch.no_grad():
        return float(score_X(embedded(encoder, images[TRAINED:])))


# %%
# Training
# --------
# This library adds one term to the usual loss: ``+ diversity(a)``. It is −weight · log VS of the
# embeddings in the batch: 0 for a collapsed batch, and lower for a batch with more spread. With a
# weight of 0 it has no effect.
#
# Every other step records two numbers: the distance between two views, which is the task, and the
# Vendi Score of the embeddings of held-out digits.


def trained(weight, seed=0):
    """Train an encoder, and record its training: (step, distance of views, Vendi Score)."""
    encoder, generator = network(seed), torch.Generator().manual_seed(seed)
    diversity = VendiLoss("cosine", weight=weight)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    written = []
    for step in range(STEPS + 1):
        batch = images[torch.randint(TRAINED, (BATCH,), generator=generator)]
        a, b = (embedded(encoder, view(batch, generator)) for _ in range(2))
        apart = (a - b).square().sum(dim=1).mean()
        if step % EVERY == 0:
            written.append((step, apart.item(), vendi_score(encoder)))
        if step == STEPS:
            break  # what was written down last is of the encoder that is returned
        loss = apart + diversity(a)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return encoder, written


names = {0.0: "without the term", 0.5: "weight 0.5", 1.0: "weight 1"}
runs = {weight: trained(weight) for weight in names}

styles = {0.0: ("C1", "-"), 0.5: ("C0", "-"), 1.0: ("C5", "--")}
figure, axes = plt.subplots(1, 2, figsize=(7, 4.8))
for weight, (_, written) in runs.items():
    steps, apart, scores = zip(*written, strict=True)
    colour, line = styles[weight]
    axes[0].plot(steps, apart, line, lw=3, color=colour, label=names[weight])
    axes[1].plot(steps, scores, line, lw=3, color=colour)
axes[0].set(title="The task looks solved", ylabel="distance of two views")
axes[1].set(title="Are there digits left?", ylabel="effectively different")
axes[1].axhline(1, color="0.6", ls=":")
for ax in axes:
    ax.set(xlabel="training step", ylim=(0, None))
axes[0].set_ylim(0, 1.6)  # room for the legend
axes[0].legend(frameon=False, loc="upper right")
plt.show()

# %%
# On the left, the run without the term seems to be the best: its views agree entirely. On the
# right, its score falls towards 1, where all digits have one embedding. A score of embeddings that
# falls to 1 together with the loss is the alarm. It needs no labels and no second model, only the
# embeddings of a batch.
for weight, (_, written) in runs.items():
    first, last = written[0][2], written[-1][2]
    low = next((step for step, _, score in written if score < 2), None)
    said = "never below 2" if low is None else f"below 2 from step {low}"
    print(f"{names[weight]:17} VS {first:.1f} untrained, {last:.1f} trained, {said}")

# %%
# The embeddings in two dimensions
# --------------------------------
# The two directions in which the held-out embeddings differ most, before training and after it.
# Each digit is drawn as itself.
shown = {"untrained": network(0)} | {names[weight]: runs[weight][0] for weight in (0.0, 1.0)}

figure, axes = plt.subplots(1, 3, figsize=(10, 4.2), sharex=True, sharey=True)
for ax, (name, encoder) in zip(axes, shown.items(), strict=True):
    with torch.no_grad():
        Z = embedded(encoder, images[TRAINED:])
        Z -= Z.mean(dim=0)
        plane = Z @ torch.linalg.svd(Z, full_matrices=False)[2][:2].T
    for digit in range(10):
        x, y = plane[labels[TRAINED:] == digit].T.tolist()
        ax.scatter(x, y, marker=f"${digit}$", s=45, lw=0.3, color=plt.cm.tab10(digit))
    ax.set(title=f"{name}\nVS {vendi_score(encoder):.1f}", xlim=(-1, 1), ylim=(-1, 1))
    ax.set(aspect="equal", xticks=[], yticks=[], xlabel="first direction")
axes[0].set_ylabel("second direction")
plt.show()

# %%
# Benefit and cost
# ----------------
# Labels, which training never saw, test the embeddings. A digit counts as separated if at least
# half of its held-out images are nearest to the mean of their own kind; the accuracy is the share
# of nearest neighbours with the right label. Embeddings are rounded to one decimal for both. Even a
# nearly collapsed encoder leaves traces of each digit in the last decimals, but they are useless.


@torch.no_grad()
def judged(encoder):
    """Return the number of distinguished digits, the accuracy, and the cosine of two views."""
    Z = embedded(encoder, images)
    again = embedded(encoder, view(images[TRAINED:], torch.Generator().manual_seed(0)))
    rounded = Z.mul(10).round()
    known, new = rounded[:TRAINED], rounded[TRAINED:]
    kinds = one_hot(labels).float()
    means = (kinds[:TRAINED].T @ known) / kinds[:TRAINED].sum(dim=0)[:, None]
    right = torch.cdist(new, means).argmin(dim=1) == labels[TRAINED:]
    recalls = (kinds[TRAINED:] * right[:, None]).sum(dim=0) / kinds[TRAINED:].sum(dim=0)
    nearest = labels[torch.cdist(new, known).argmin(dim=1)]
    return (
        int((recalls >= 0.5).sum()),
        float((nearest == labels[TRAINED:]).float().mean()),
        float((Z[TRAINED:] * again).sum(dim=1).mean()),
    )


encoders = {"untrained": network(0)} | {names[weight]: runs[weight][0] for weight in runs}
for name, encoder in encoders.items():
    apart, accuracy, agreement = judged(encoder)
    print(f"{name:17} {apart:2} of 10 told apart, accuracy {accuracy:.0%}", end=", ")
    print(f"cosine of two views {agreement:.2f}")

# %%
# The untrained encoder separates digits, but also separates two views of one digit. Without the
# term it learns to join the views, and forgets the digits. With the term it does both. The cost is
# some agreement: an encoder that separates digits also separates views a little, and more with a
# larger weight. The right weight depends on the use of the embeddings; the curve shows that 0 is
# wrong.
#
# Take away
# ---------
# * Watch a Vendi Score together with the loss, at one number of samples and under one kernel: a
#   batch of n scores at most n, and cosines of embeddings of d dimensions at most d.
# * Add the term from the start. If all embeddings are equal, no direction is better than another:
#   the gradient of log VS is 0 there, and small nearby.
# * With ``k="rbf"`` pass a `sigma`. Otherwise the bandwidth follows the batch, and a shrinking
#   batch goes unnoticed.
# * A low score need not be a collapse, and a high score does not prove good embeddings: noise
#   scores high. Compare with the score of the data, or of an earlier step.
#
# Next: callbacks that watch a language model while it is trained in :doc:`../tasks/training`;
# metrics of other libraries in :doc:`../tasks/harnesses`; the orders q in :doc:`../concepts/order`.
