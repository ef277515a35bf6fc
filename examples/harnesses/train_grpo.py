"""Train with TRL's GRPO and a reward for quality times diversity.

    pip install -e '.[train]'     # in a clone of vendiscore
    python examples/harnesses/train_grpo.py Qwen/Qwen3-0.6B

The argument is the name of a model on the Hugging Face Hub, or the folder of a model. Training uses
bfloat16 on a GPU that supports it, and single precision on a CPU.

Without the reward for diversity (`weight=0`), the completions of a prompt tend to become identical.
`VS` in the log is the effective number of different completions among the eight of each prompt.
"""

import sys
from collections.abc import Callable

try:
    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from vendiscore.integrations.trl import VendiReward
except ImportError as error:
    if __name__ != "__main__":
        raise
    raise SystemExit(f"{error}; run: pip install -e '.[train]'") from None

PROMPTS = ["Name an animal that flies.", "Name something red.", "Name a river."]


def short(completions: list[str], **columns: object) -> list[float]:
    """Return 1 for at most twelve words, else 0. Replace this with your own quality."""
    return [float(len(text.split()) <= 12) for text in completions]


def trainer(
    model: object,
    processing_class: object = None,
    quality: Callable[..., list[float]] = short,
    weight: float = 0.5,
    prompts: list[str] = PROMPTS,
    **options: object,
) -> GRPOTrainer:
    """Return a trainer for a model or its name on the Hub; `options` are those of GRPOConfig."""
    on_gpu = torch.cuda.is_available()
    defaults = {
        "output_dir": "grpo",
        "bf16": on_gpu and torch.cuda.is_bf16_supported(),
        "use_cpu": not on_gpu,
        "num_generations": 8,
        # A multiple of num_generations, so all completions of a prompt are in the same process.
        "per_device_train_batch_size": 8,
        "max_completion_length": 48,
        "report_to": "none",
    }
    return GRPOTrainer(
        model=model,
        reward_funcs=[VendiReward(quality=quality, weight=weight)],
        args=GRPOConfig(**defaults | options),
        train_dataset=Dataset.from_dict({"prompt": prompts}),
        processing_class=processing_class,
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python examples/harnesses/train_grpo.py MODEL_OR_FOLDER")
    trainer(sys.argv[1]).train()
