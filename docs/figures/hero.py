"""Three sets of eight captions: one repeated, one scene with a word changed, eight scenes."""

from matplotlib import pyplot as plt

from vendiscore import score

sets = {
    "One caption, eight times": ["a dog runs on the beach"] * 8,
    "One scene, a word changed": [
        "a dog runs on the beach",
        "a brown dog runs on the beach",
        "a dog runs on the beach",
        "a dog runs on the beach today",
        "two dogs run on the beach",
        "a dog runs on the wet beach",
        "a dog runs on the beach",
        "a big dog runs on the beach",
    ],
    "Eight scenes": [
        "a dog runs on the beach",
        "bread cools by an open window",
        "two nurses share an umbrella",
        "snow covers parked cars",
        "the choir waits backstage",
        "children paint a wooden fence",
        "fog hides half of London",
        "goats graze beneath solar panels",
    ],
}
figure, axes = plt.subplots(1, 3, figsize=(7.6, 2.6), layout="constrained")
for ax, (name, captions) in zip(axes, sets.items(), strict=True):
    ax.set_title(f"{name}\nVendi Score {score(captions, 'ngram_overlap'):.1f} of 8", size=10)
    for i, caption in enumerate(captions):
        repeated = caption in captions[:i]
        ax.text(0.04, 0.9 - 0.115 * i, caption, size=8, va="center", alpha=0.4 if repeated else 1)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("0.8")
