"""Kernel "text_embeddings" with RoBERTa, T5, GPT-2 and CLIP networks."""

import numpy as np
import pytest
from tiny_text_models import (
    BERT_SIZES,
    TEXTS,
    cosine_matrix,
    make_tiny_tokenizer,
    save_model,
    text_similarity,
    torch,
    transformers,
)

from vendiscore import SampleError
from vendiscore.kernels.text_embeddings import text_embeddings

# Some shared texts are too long for the small model, or contain only unknown words.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Kernel 'text_embeddings' (represents|cannot represent)"
)


def test_roberta_positions_start_after_padding_index(tmp_path):
    torch.manual_seed(0)
    config = transformers.RobertaConfig(**BERT_SIZES, max_position_embeddings=10, pad_token_id=0)
    folder = save_model(transformers.RobertaModel(config), make_tiny_tokenizer(), tmp_path)
    S = text_similarity(["cat " * 40, "dog"], model_path=folder, pooling="cls")
    assert (S.settings["max_length"], list(S.partial)) == (9, [0])
    with pytest.raises(ValueError, match="`max_length` must be at most 9 for this model, got 10"):
        text_similarity(["cat"], model_path=folder, max_length=10, pooling="cls")


def test_encoder_decoder_uses_encoder(tmp_path):
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=BERT_SIZES["vocab_size"], d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2
    )
    model = transformers.T5Model(config)
    folder = save_model(model, make_tiny_tokenizer(), tmp_path)
    K = text_similarity(TEXTS, model_path=folder, pooling="mean", batch_size=3).dense()
    encoder = transformers.AutoModel.from_pretrained(folder).get_encoder().eval()
    rows = []
    for text in TEXTS:
        ids = torch.tensor([make_tiny_tokenizer()(text)["input_ids"]])
        rows.append(encoder(ids).last_hidden_state[0].mean(0).detach().double().numpy())
    np.testing.assert_allclose(K, cosine_matrix(np.array(rows)), atol=2e-6)


def test_decoder_without_padding_token_embeds_texts_with_tokens(tmp_path):
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=BERT_SIZES["vocab_size"], n_embd=16, n_layer=2, n_head=2, n_positions=20
    )
    tokenizer = make_tiny_tokenizer(eos_token="[SEP]", unk_token="[UNK]")
    folder = save_model(transformers.GPT2Model(config), tokenizer, tmp_path)
    K = text_similarity(["the cat sat on it", "dog"], model_path=folder, pooling="mean").dense()
    model = transformers.AutoModel.from_pretrained(folder).eval()
    rows = [
        model(torch.tensor([tokenizer(text)["input_ids"]])).last_hidden_state[0].mean(0)
        for text in ("the cat sat on it", "dog")
    ]
    np.testing.assert_allclose(
        K, cosine_matrix(torch.stack(rows).detach().double().numpy()), atol=2e-6
    )
    with pytest.raises(SampleError, match="sample 3 has no tokens: ''; remove empty texts"):
        text_similarity(["the cat", "the cat", "dog", ""], model_path=folder, pooling="mean")
    with pytest.raises(ValueError, match="requires a model with a pooled output, but this model"):
        text_similarity(["the cat"], model_path=folder, pooling="pooler")


def test_clip_returns_text_features(tmp_path):
    torch.manual_seed(0)
    sizes = {k: v for k, v in BERT_SIZES.items() if k != "initializer_range"}
    text = {**sizes, "max_position_embeddings": 12, "eos_token_id": 3, "pad_token_id": 0}
    vision = {**sizes, "image_size": 8, "patch_size": 4}
    del vision["vocab_size"]
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=6)
    folder = save_model(transformers.CLIPModel(config), make_tiny_tokenizer(), tmp_path)
    options = {"pooling": "pooler", "max_length": 12, "batch_size": 2}
    S = text_similarity(TEXTS[:3], model_path=folder, **options)
    assert S.dim == 6
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    rows = []
    for text in TEXTS[:3]:
        ids = torch.tensor([make_tiny_tokenizer()(text)["input_ids"]])
        rows.append(model.get_text_features(ids).pooler_output[0].detach().double().numpy())
    np.testing.assert_allclose(S.dense(), cosine_matrix(np.array(rows)), atol=2e-6)


def test_texts_without_tokens_are_rejected_before_model_runs(tmp_path):
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=BERT_SIZES["vocab_size"], n_embd=16, n_layer=2, n_head=2, n_positions=20
    )
    model = transformers.GPT2Model(config)
    model.register_forward_pre_hook(lambda *_: 1 / 0)
    tokenizer = make_tiny_tokenizer(eos_token="[SEP]", unk_token="[UNK]")
    tokenizer.pad_token = tokenizer.eos_token
    with pytest.raises(SampleError) as caught:
        text_embeddings(
            ["the cat", "", "dog", "  "], model=model, tokenizer=tokenizer, pooling="mean"
        )
    assert list(caught.value.problems) == [1, 3]
