"""GRPO of TRL with a reward for being right, times being unlike the other completions.

    pip install -e '.[trl]'     # in a clone of vendiscore
    python examples/harnesses/train_grpo.py Qwen/Qwen3-0.6B

Without the second (`weight=0`), the completions for a prompt tend to become one and the same. `VS`
in the log is the effective number of different ones among the eight for each prompt.
"""

import sys
from collections.abc import Callable

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from vendiscore.integrations.trl import VendiReward

PROMPTS = ["Name an animal that flies.", "Name something red.", "Name a river."]


def short(completions: list[str], **columns: object) -> list[float]:
    """Return a stand-in for whether an answer is right: one sentence of at most twelve words."""
    return [float(len(text.split()) <= 12) for text in completions]


def trainer(
    model: object,
    processing_class: object = None,
    quality: Callable[..., list[float]] = short,
    weight: float = 0.5,
    prompts: list[str] = PROMPTS,
    **options: object,
) -> GRPOTrainer:
    """Return a trainer of a model, or of its name on the Hub, with other options of GRPO."""
    usual = {
        "output_dir": "grpo",
        "num_generations": 8,
        # A multiple of num_generations: all completions for a prompt are on one process.
        "per_device_train_batch_size": 8,
        "max_completion_length": 48,
        "report_to": "none",
    }
    return GRPOTrainer(
        model=model,
        reward_funcs=[VendiReward(quality=quality, weight=weight)],
        args=GRPOConfig(**usual | options),
        train_dataset=Dataset.from_dict({"prompt": prompts}),
        processing_class=processing_class,
    )


if __name__ == "__main__":
    trainer(sys.argv[1]).train()
