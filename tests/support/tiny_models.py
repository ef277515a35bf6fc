"""A language model of ten words, and its tokenizer, for tests that train and generate."""

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = ["a", "the", "cat", "dog", "sat", "ran", "on", "under", "mat", "sun"]
PAD, EOS, UNKNOWN = range(3)


def word_tokenizer() -> transformers.PreTrainedTokenizerFast:
    """One token a word."""
    names = ["<pad>", "<eos>", "<unk>", *WORDS]
    words = Tokenizer(models.WordLevel({name: i for i, name in enumerate(names)}, names[UNKNOWN]))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token=names[PAD],
        eos_token=names[EOS],
        unk_token=names[UNKNOWN],
    )


def llama() -> transformers.LlamaForCausalLM:
    """One layer, of weights that are always the same."""
    config = transformers.LlamaConfig(
        vocab_size=len(WORDS) + 3,
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
