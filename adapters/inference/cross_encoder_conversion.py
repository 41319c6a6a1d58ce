"""Converts a cross-encoder to OpenVINO: `python -m adapters.inference.cross_encoder_conversion MODEL_FOLDER OUT
PRECISION`.

Runs in a separate process, so that the serving process never imports torch. The graph maps the tokens of question and
passage to one raw logit. The result is kept only when it agrees with the original: `described.json` holds the largest
difference between their logits over the probe pairs, and the precision used.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["MOST_DIFFERENCE", "convert"]

MOST_DIFFERENCE = 0.1
"""In logits. A sigmoid is nowhere steeper than 1/4, so the factor moves by 0.025 at most."""
MOST_TOKENS = 512  # positions of BERT models, which most cross-encoders are
_SENTENCE = "Employers must keep form I-9 for three years after the date of hire, or one year after employment ends. "
PROBES = (
    ("overtime", "overtime"),
    ("How long must form I-9 be kept?", _SENTENCE),
    ("How long must form I-9 be kept?", _SENTENCE * 4),
    ("What is the latest business mileage rate?", _SENTENCE * 30),
    (
        "Wer muss Überstunden genehmigen?",
        "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich – 中文 текст",
    ),
    (
        "base salary of the police department",
        "Department: Police; Base Salary: 78,123.00; Overtime Pay: 141,998.22 " * 3,
    ),
    (_SENTENCE * 12, _SENTENCE * 12),
    ("", ""),
)
"""Short, long, cut off on either side, other alphabets, table rows and nothing: what is asked and read."""


def convert(model_folder: Path, out_folder: Path, precision: str) -> dict[str, Any]:
    """Write model.xml, model.bin, tokenizer.json and described.json to an existing folder; gives the description.

    precision: OpenVINO's inference precision to try first, "f32" or "bf16"; where it strays, f32 is tried too.
    Raises ValueError for a model that gives more than one number per pair.
    """
    from adapters.inference.cross_encoder import stock_cross_encoder

    model = stock_cross_encoder(model_folder).eval().requires_grad_(False)
    example = dict(model.preprocess([["a question", "a short text"], ["another", _SENTENCE]]))
    inputs = {name: example[name] for name in ("input_ids", "attention_mask", "token_type_ids") if name in example}
    _save_graph(model, inputs, out_folder)
    tokenizer = model.tokenizer.backend_tokenizer
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(out_folder / "tokenizer.json"))
    description: dict[str, Any] = {
        "inputs": list(inputs),
        "max_tokens": min(int(model.max_seq_length or MOST_TOKENS), MOST_TOKENS),
        "pad_id": int(model.tokenizer.pad_token_id or 0),
    }
    for each in dict.fromkeys((precision, "f32")):
        description |= {"precision": each, "difference": _difference(model, description, out_folder, each)}
        if description["difference"] <= MOST_DIFFERENCE:
            break
    (out_folder / "described.json").write_text(json.dumps(description, indent=1), "utf-8")
    return description


def _save_graph(model: Any, inputs: Mapping[str, Any], out_folder: Path) -> None:
    """Trace the model on these inputs, and save it as a function from plain tensors to logits, shape (n,)."""
    import openvino
    import torch

    class TokensToLogit(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        """The whole model as one function of plain tensors, which is what can be traced."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
            features: Any = self.model(dict(zip(inputs, tensors, strict=True)))
            return features["scores"].reshape(-1)  # type: ignore[no-any-return,unused-ignore]

    with torch.no_grad():
        traced = openvino.convert_model(TokensToLogit(), example_input=tuple(inputs.values()))
    for port, name in zip(traced.inputs, inputs, strict=True):
        port.get_tensor().set_names({name})
    openvino.save_model(traced, out_folder / "model.xml", compress_to_fp16=False)


def _difference(model: Any, description: dict[str, Any], folder: Path, precision: str) -> float:
    """The largest difference between the original's and the converted model's logits over the probes."""
    from adapters.inference.cross_encoder import OpenVinoCrossEncoder, StockCrossEncoder

    (folder / "described.json").write_text(json.dumps(description | {"precision": precision}), "utf-8")
    converted, original = OpenVinoCrossEncoder(folder, threads=0), StockCrossEncoder(model, description["max_tokens"])
    return max(
        abs(float(converted.score(question, [text])[0] - original.score(question, [text])[0]))
        for question, text in PROBES
    )


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
