"""A tiny language model with a vocabulary of ten words, and its tokenizer."""

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = ["a", "the", "cat", "dog", "sat", "ran", "on", "under", "mat", "sun"]
NAMES = ["<pad>", "<eos>", "<unk>", *WORDS]
PAD, EOS, UNKNOWN = range(3)


def word_tokenizer() -> transformers.PreTrainedTokenizerFast:
    """Return a tokenizer with one token per word."""
    words = Tokenizer(models.WordLevel({name: i for i, name in enumerate(NAMES)}, NAMES[UNKNOWN]))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token=NAMES[PAD],
        eos_token=NAMES[EOS],
        unk_token=NAMES[UNKNOWN],
    )


def llama() -> transformers.LlamaForCausalLM:
    """Return a model with one layer and fixed random weights."""
    config = transformers.LlamaConfig(
        vocab_size=len(NAMES),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=64,
        pad_token_id=PAD,
        eos_token_id=EOS,
        bos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return transformers.LlamaForCausalLM(config)
