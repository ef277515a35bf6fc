"""Train a model with transformers' Trainer and log the diversity of its generations.

    pip install -e . accelerate torch transformers     # in a clone of vendiscore
    python examples/harnesses/watch_training.py

A model with a vocabulary of ten words learns a single sentence. This takes ten seconds on a CPU and
downloads nothing. A warning is emitted when the model generates only this sentence.
"""

import tempfile

try:
    import accelerate  # noqa: F401  (required by transformers.Trainer)
    import transformers
    from diversity_callback import DiversityCallback
    from tiny_model import EOS, llama, word_tokenizer
except ImportError as error:
    if __name__ != "__main__":
        raise
    raise SystemExit(f"{error}; run: pip install -e . accelerate torch transformers") from None

PROMPTS = ["a cat", "the dog"]


def trainer(**options: object) -> transformers.Trainer:
    """Return a trainer that trains the model on a single sentence."""
    tokenizer = word_tokenizer()
    ids = [*tokenizer("a cat sat on the mat")["input_ids"], EOS]
    rows = [{"input_ids": ids, "labels": ids}] * 4
    defaults = {
        "max_steps": 50,
        "learning_rate": 3e-2,
        "eval_strategy": "steps",
        "eval_steps": 10,
        "eval_on_start": True,  # later evaluations are compared with this one
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "use_cpu": True,
    }
    return transformers.Trainer(
        llama(),
        transformers.TrainingArguments(**defaults | options),
        train_dataset=rows,
        eval_dataset=rows[:1],
        processing_class=tokenizer,
    )


def main() -> transformers.Trainer:
    """Train, and print the effective number of different sentences among six generated ones."""
    with tempfile.TemporaryDirectory() as folder:
        run = trainer(output_dir=folder)
        run.add_callback(DiversityCallback(PROMPTS, n=6, max_new_tokens=5, log=run.log))
        run.train()
    for entry in run.state.log_history:
        if "eval_VS" in entry:
            print(f"step {entry['step']}: {entry['eval_VS']:.2f} of 6 sentences")
    return run


if __name__ == "__main__":
    main()
