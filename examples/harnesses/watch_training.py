"""Train a model with transformers' Trainer and detect that its generations become less diverse.

    pip install -e '.[train]'     # in a clone of vendiscore
    python examples/harnesses/watch_training.py

A model with a vocabulary of ten words learns a single sentence. This takes ten seconds on a CPU and
downloads nothing. When the model generates only this sentence, a warning is emitted and the
training stops.
"""

import tempfile

try:
    import transformers
    from tiny_model import EOS, WORDS, llama, word_tokenizer

    from vendiscore.integrations.transformers import DiversityCallback
except ImportError as error:
    if __name__ != "__main__":
        raise
    raise SystemExit(f"{error}; run: pip install -e '.[train]'") from None

PROMPTS = [f"{first} {second}" for first in WORDS for second in WORDS]


def trainer(**options: object) -> transformers.Trainer:
    """Return a trainer that trains the model on a single sentence."""
    tokenizer = word_tokenizer()
    ids = [*tokenizer("a cat sat on the mat")["input_ids"], EOS]
    rows = [{"input_ids": ids, "labels": ids}] * 4
    defaults = {
        "max_steps": 100,
        "learning_rate": 1e-2,
        "eval_strategy": "steps",
        "eval_steps": 10,
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
    """Train until an alarm, and print the effective number of different generated sentences."""
    with tempfile.TemporaryDirectory() as folder:
        run = trainer(output_dir=folder)
        options = {"n": 6, "max_new_tokens": 5, "ns": 1}
        run.add_callback(DiversityCallback(PROMPTS, stop_on_alarm=True, log=run.log, **options))
        run.train()
    for entry in run.state.log_history:
        if "eval_VS" in entry:
            print(
                f"step {entry['step']}: {entry['eval_VS']:.2f} of 6 sentences, "
                f"evidence {entry['eval_evidence']:.3g}"
            )
    return run


if __name__ == "__main__":
    main()
