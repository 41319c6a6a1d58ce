"""Sentence-transformers models with random weights, made on the spot in a second."""

import json
from pathlib import Path

__all__ = ["tiny_embedder"]


def tiny_embedder(folder: Path, dimensions: int, *, seed: int = 7) -> Path:
    """A model of one small layer that reads letters; texts that share letters are near each other."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    folder.mkdir(parents=True)
    letters = [chr(code) for code in range(33, 127)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *[f"##{letter}" for letter in letters]]
    tokenizer = Tokenizer(models.WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    values = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 256, **marks}
    (folder / "tokenizer_config.json").write_text(json.dumps(values))
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=dimensions,
        intermediate_size=2 * dimensions,
        max_position_embeddings=256,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    BertModel(config).save_pretrained(folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": dimensions, "pooling_mode_mean_tokens": True})
    )
    kinds = [
        ("0", "", "sentence_transformers.models.Transformer"),
        ("1", "1_Pooling", "sentence_transformers.models.Pooling"),
    ]
    modules = [{"idx": int(name), "name": name, "path": path, "type": kind} for name, path, kind in kinds]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 256, "do_lower_case": False}))
    return folder
