"""Documentation tables of the cost of large sets."""

import re
from collections.abc import Callable

from cells import format_percent, format_table, load_result


def tabulate_explain_large() -> str:
    """Tabulate time and memory of `explain` for many rows."""
    return format_table(
        ("rows", "spectrum", "time", "× products", "memory"),
        (
            (
                f"{row['n']:,}",
                row["spectrum"],
                f"{row['explain_s']:.3g} s",
                f"{row['times_products']:.2f}",
                f"{row['peak_mb']:,.0f} MB",
            )
            for row in load_result("explain_large")["rows"]
            if "spectrum" in row
        ),
    )


def tabulate_selection() -> str:
    """Compare the time of a selection with all products, and its score with the full greedy
    selection.
    """
    return format_table(
        ("samples", "time", "× products", "VS", "VS of full greedy"),
        (
            (
                re.sub(r"\b(\d{1,2})000\b", r"\1,000", row["name"]),
                f"{row['ours_s']:.2g} s",
                f"{row['times_bare']:.2g}",
                f"{row['VS']:.2f}",
                f"{row['VS_full_greedy']:.2f}",
            )
            for row in load_result("selection_scale")["rows"]
            if "VS_full_greedy" in row
        ),
    )


def describe_huge_selection() -> str:
    """Report how long the selection from 200,000 vectors takes with each objective."""
    rows = [row for row in load_result("selection_scale")["rows"] if row["part"] == "huge"]
    times = (
        f'{row["seconds"]:.0f} s to select {row["size"]:,} with "{row["objective"]}"'
        for row in rows
    )
    vendi = next(row for row in rows if "certified" in row)
    return (
        f"From 200,000 vectors with 384 columns, `select` takes {' and '.join(times)}. The "
        f'selection with "vendi" has at least {format_percent(vendi["certified"], 1)} of the '
        f"highest "
        f"possible score. Computing the upper bound that proves this takes another "
        f"{vendi['seconds_of_bound']:.0f} s."
    )


def tabulate_retrieval() -> str:
    """Tabulate α-nDCG of ten documents by methods with their defaults."""
    rows = {(row["table"], row["name"]): row for row in load_result("retrieval")["rows"]}
    names = [name for kind, name in rows if kind == "topics" and not re.search(r", \S*\d", name)]
    return format_table(
        ("method", "topics", "digits"),
        (
            (
                name,
                *(
                    f"{rows[kind, name]['alpha_ndcg']:.3f} ± {rows[kind, name]['error']:.3f}"
                    for kind in ("topics", "digits")
                ),
            )
            for name in names
        ),
    )


# By the name in the results: the product, where states are updated, and what is transferred.
ENGINES = {
    "pyarrow": ("pyarrow.dataset", "here, a batch at a time", "nothing"),
    "duckdb": ("DuckDB", "here; DuckDB sorts, on disk if need be", "nothing"),
    "polars": ("polars, streaming", "here, from its streaming engine", "nothing"),
    "datasets": ("Hugging Face datasets", "here, streaming", "nothing"),
    "daft": ("Daft", "here, from its streaming engine", "nothing"),
    "dask": ("Dask", "workers; eight states merge at once", "a state a partition"),
    "ray": ("Ray Data", "tasks; eight states merge at once", "a state a block"),
    "spark": ("Spark", "executors; 32 states merge at once", "a state a partition"),
}
_COUNT_WORDS = {1: "one", 2: "two"}


def tabulate_partitions() -> str:
    """Compare engines that update states in partitions."""
    rows = {
        row["name"]: row for row in load_result("partitions")["rows"] if row["part"] == "engine"
    }
    return format_table(
        ("engine", "adds up in", "travels", "processes", "all rows", "within prompts"),
        (
            (
                product,
                location,
                transferred,
                _COUNT_WORDS[rows[name]["processes"]],
                f"{rows[name]['all_s']:.2g} s",
                f"{rows[name]['within_s']:.2g} s",
            )
            for name, (product, location, transferred) in ENGINES.items()
            if name in rows
        ),
    )


def describe_partitions() -> str:
    """Describe the data and the machine of the comparison of engines."""
    result = load_result("partitions")
    environment = result["environment"]
    worst = max(
        max(row["all_error"], row["within_error"])
        for row in result["rows"]
        if row["part"] == "engine"
    )
    agreement = "to the last bit" if worst == 0 else f"within {worst:.0e}"
    return (
        f"The times are for {environment['rows']:,} rows with {environment['d']} columns, 8 rows "
        "per prompt, "
        f"in {environment['files']} Parquet files on {environment['cpus']} cores with vendiscore "
        f"{environment['vendiscore']}. They do not include the start of workers. Scores agree "
        "with those "
        f"of a single process {agreement}."
    )


def describe_greedi() -> str:
    """Report the score of a selection from partitions."""
    rows = [row for row in load_result("partitions")["rows"] if row["part"] == "greedi"]
    times = " and ".join(
        f"{row['seconds']:.0f} s with {row['name'].removeprefix('greedi, ').capitalize()}"
        for row in rows
    )
    worst = min(rows, key=lambda row: row["VS"] / row["select_VS"])
    return (
        f"Selecting 50 of {worst['rows']:,} rows with 64 columns in 8 partitions takes {times}. "
        f"The score of the selected rows is {format_percent(worst['VS'] / worst['select_VS'], 1)} "
        "of the "
        f"score that `select` reaches on one machine in {worst['select_s']:.0f} s. The score of a "
        f"random subset is {format_percent(worst['random_VS'] / worst['select_VS'])} of the score "
        "of `select`."
    )


def tabulate_stream_scale() -> str:
    """Tabulate the measured costs of rows, merges and the score of the merged state."""
    result = load_result("stream_scale")
    environment = result["environment"]
    rows = {row["name"]: row for row in result["rows"]}
    stream, files, merge = rows["stream"], rows["files"], rows["merge"]
    table = format_table(
        ("step, one thread", "cost"),
        (
            (
                f"rows with {environment['d']} columns in memory",
                f"{stream['rows_per_second']:,.0f} per second",
            ),
            (
                "time, divided by that of the bare products in double precision",
                f"{stream['times_bare']:.2f}",
            ),
            ("rows from Arrow files on disk", f"{files['rows_per_second']:,.0f} per second"),
            (
                f"memory of the process for {files['rows']:,} rows ({files['gb']:.1f} GB)",
                f"{files['peak_mb']:,.0f} MB",
            ),
            (f"merge of {merge['merged']} states", f"{1000 * merge['seconds']:.1f} ms"),
            ("a state, for any number of rows", f"{merge['bytes'] / 1e6:.1f} MB"),
            ("score of the merged state", f"{1000 * merge['score_seconds']:.0f} ms"),
        ),
    )
    load = "The machine was idle otherwise."
    if environment["load_before"] > environment["cpus"]:
        load = (
            f"Other programs were running on the machine (load {environment['load_before']:.0f} to "
            f"{environment['load_after']:.0f} on {environment['cpus']} cores), so an idle machine "
            "needs less time."
        )
    return (
        f"{table}\n\nThese are times for {stream['rows']:,} rows on one core with vendiscore "
        f"{environment['vendiscore']}. {load} The bare products, "
        f"X.T @ X of each batch after its conversion from single to double precision, were "
        f"computed between the batches. The score differs from that of `compute` by at most "
        f"{max(stream['error'], files['error']):.0e} (relative)."
    )


def tabulate_cost_of_a_billion_rows() -> str:
    """Extrapolate the measured costs to a billion rows in 10,000 partitions."""
    result = load_result("stream_scale")
    rows = {row["name"]: row for row in result["rows"]}
    stream, merge = rows["stream"], rows["merge"]
    assert result["environment"]["threads"] == "1"
    n, d, n_partitions = 10**9, result["environment"]["d"], 10_000
    seconds_per_row = 1 / stream["rows_per_second"]
    fan_in = merge["merged"]
    table_rows = []
    for workers in (1, 16, 128, 1024):
        merge_seconds = 0.0
        n_states = n_partitions
        while n_states > 1:
            n_states = -(-n_states // fan_in)
            merge_seconds += -(-n_states // workers) * merge["seconds"]
        hours = n * seconds_per_row / workers / 3600
        time = f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.1f} min"
        rate = 4 * d * stream["rows_per_second"] * workers / 1e9
        table_rows.append((f"{workers:,}", time, f"{merge_seconds:.2g} s", f"{rate:.3g} GB/s"))
    table = format_table(("workers", "updates", "merges", "data read by all workers"), table_rows)
    return (
        f"For 10⁹ rows with {d} float32 columns ({4 * n * d / 1e12:.1f} TB) in {n_partitions:,} "
        f"partitions:\n\n{table}\n\nThe {n_partitions:,} states take "
        f"{n_partitions * merge['bytes'] / 1e9:.1f} GB before they are merged, on all workers "
        f"together. The similarity matrix would take {4 * n * n / 1e18:.0f} EB."
    )


LARGE_TABLES: dict[str, Callable[[], str]] = {
    "explained-large": tabulate_explain_large,
    "selected-large": tabulate_selection,
    "selected-huge": describe_huge_selection,
    "retrieved": tabulate_retrieval,
    "partitions": tabulate_partitions,
    "partitions-about": describe_partitions,
    "greedi": describe_greedi,
    "stream-scale": tabulate_stream_scale,
    "stream-plan": tabulate_cost_of_a_billion_rows,
}
