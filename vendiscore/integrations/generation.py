"""What a causal or encoder-decoder model of transformers makes of some prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..optional import require


def generations(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[str],
    n: int,
    max_new_tokens: int,
    seed: int = 0,
) -> list[list[str]]:
    """n continuations of each prompt, drawn by `model.generate` as its configuration says.

    The same for the same seed; the state of random numbers and the mode of the model are left as
    they were. One prompt at a time, so that none is padded.
    """
    torch = require("torch", "trainer", "generating")
    device, training = model.device, model.training
    pad = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    texts = []
    model.eval()
    with torch.no_grad(), torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        for prompt in prompts:
            inputs = tokenizer(prompt, return_tensors="pt").to(device)
            ids = model.generate(
                inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                do_sample=True,
                num_return_sequences=n,
                max_new_tokens=max_new_tokens,
                pad_token_id=pad,
            )
            start = 0 if model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
            texts.append(tokenizer.batch_decode(ids[:, start:], skip_special_tokens=True))
    model.train(training)
    return texts
