"""Tiny text models with random weights, saved and loaded like real ones."""

import json
import shutil

import numpy as np
import pytest

from vendiscore import as_similarity

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = "the cat sat on a mat and dog ran far away from every big red house while it snowed"
TEXTS = [
    "the cat sat",
    "a dog ran far away from the big red house",
    "",
    "every cat and every dog sat on the mat while it snowed and snowed",
    "dog",
    "naïve 猫 🐈 résumé",
    "the mat sat on the cat",
]


def make_tiny_tokenizer(**special: str):
    """Return a tokenizer with the vocabulary WORDS and, by default, BERT's special tokens."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS.split()]
    tokenizer = Tokenizer(models.WordPiece({w: i for i, w in enumerate(vocab)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if not special:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        special = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
        special |= {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


BERT_SIZES = {
    "vocab_size": 5 + len(WORDS.split()),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "initializer_range": 0.5,
}


def save_model(model, tokenizer, folder):
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_tiny_bert(folder):
    """Save a tiny BERT to a folder; return the folder."""
    torch.manual_seed(0)
    model = transformers.BertModel(
        transformers.BertConfig(**BERT_SIZES, max_position_embeddings=12, pad_token_id=0)
    )
    return save_model(model, make_tiny_tokenizer(), folder)


def embed_one_by_one(folder, texts, pooling, max_length=12):
    """Return the d-dimensional embeddings of n texts, shape (n, d), computed without padding.

    Each text is passed to the model separately.
    """
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = []
    for text in texts:
        ids = tokenizer(text)["input_ids"]
        if len(ids) > max_length:
            ids = [*ids[: max_length - 1], ids[-1]]
        with torch.no_grad():
            output = model(torch.tensor([ids]))
        rows.append(
            {
                "pooler": output.pooler_output[0],
                "cls": output.last_hidden_state[0, 0],
                "mean": output.last_hidden_state[0].mean(0),
            }[pooling]
        )
    return torch.stack(rows).double().numpy()


def cosine_matrix(X):
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return X @ X.T


def text_similarity(texts, **options):
    return as_similarity(texts, k="text_embeddings", **options)


class LetterCounts:
    """An encoder that is not a network: counts of the letters a to e, plus one."""

    def encode(self, texts):
        return np.array([[1.0 + text.count(c) for c in "abcde"] for text in texts])


POOLING_CONFIG = {
    "word_embedding_dimension": 16,
    "pooling_mode_cls_token": False,
    "pooling_mode_mean_tokens": False,
}


def save_sentence_model(network, folder, *steps, **files):
    """Save a copy of a network as a sentence-transformers model; return its folder."""
    shutil.copytree(network, folder, dirs_exist_ok=True)
    names = ["Transformer", *(steps or ["Pooling", "Normalize"])]
    modules = [
        {
            "name": str(i),
            "path": f"{i}_{name}" if i else "",
            "type": f"sentence_transformers.models.{name}",
        }
        for i, name in enumerate(names)
    ]
    content = {
        "modules": modules,
        "pooling": {**POOLING_CONFIG, "pooling_mode_mean_tokens": True},
        "sentence_bert": {"max_seq_length": 8, "do_lower_case": False},
        "config_sentence_transformers": {"prompts": {}, "default_prompt_name": None},
        **files,
    }
    (folder / "1_Pooling").mkdir()
    file_names = {
        "modules": "modules.json",
        "pooling": "1_Pooling/config.json",
        "sentence_bert": "sentence_bert_config.json",
        "config_sentence_transformers": "config_sentence_transformers.json",
    }
    for name, value in content.items():
        (folder / file_names[name]).write_text(
            value if isinstance(value, str) else json.dumps(value)
        )
    return folder
