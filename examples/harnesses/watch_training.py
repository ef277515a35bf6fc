"""A run of transformers' Trainer that says how diverse what the model generates is.

    pip install -e . accelerate torch transformers     # in a clone of vendiscore
    python examples/harnesses/watch_training.py

A model of ten words learns one sentence, on the CPU in ten seconds, with nothing to download; there
is a warning when it says nothing else any more.
"""

import tempfile

import transformers
from diversity_callback import DiversityCallback
from tiny_model import EOS, llama, word_tokenizer

PROMPTS = ["a cat", "the dog"]


def trainer(**options: object) -> transformers.Trainer:
    """Return a trainer of the model on one sentence."""
    tokenizer = word_tokenizer()
    ids = [*tokenizer("a cat sat on the mat")["input_ids"], EOS]
    rows = [{"input_ids": ids, "labels": ids}] * 4
    usual = {
        "max_steps": 50,
        "learning_rate": 3e-2,
        "eval_strategy": "steps",
        "eval_steps": 10,
        "eval_on_start": True,  # what a collapse is measured by: the model as it was
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "use_cpu": True,
    }
    return transformers.Trainer(
        llama(),
        transformers.TrainingArguments(**usual | options),
        train_dataset=rows,
        eval_dataset=rows[:1],
        processing_class=tokenizer,
    )


def main() -> transformers.Trainer:
    """Train, and print the number of effectively different sentences among six."""
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
