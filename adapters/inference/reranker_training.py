"""Learns the included reranker: low-rank changes to the embedding model's weights, and a head with one output.

Each step shows some questions, each with one piece that answers it and some that do not. The loss is the sum of two
cross-entropies: of each pair on its own, and of the right piece among those of its question.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from torch import nn
from torch.nn import functional

from adapters.inference.included_reranker import DOWN, REPLACED, UP
from core.domain.errors import BadRequest
from core.evaluation.tuning.reranker_fitting import RerankerExample

__all__ = ["train_reranker"]

_RANK, _SCALE = 16, 2.0  # of the changes. This and what follows is chosen by hand, not tuned.
_EPOCHS, _QUESTIONS, _WRONG, _RATE, _WARM = 1, 16, 2, 1e-3, 0.06
_RIGHT_WEIGHT = 2.0  # of a right pair against a wrong one
_SORTED = 20  # batches whose questions are sorted by length together, to save padding
_SEED = 0
_TYPES = "embeddings.token_type_embeddings"


class _Changed(nn.Module):  # type: ignore[misc,unused-ignore]
    """A linear layer plus a low-rank one."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        self.down = nn.Parameter(torch.randn(_RANK, layer.in_features) / math.sqrt(layer.in_features))
        self.up = nn.Parameter(torch.zeros(layer.out_features, _RANK))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        changed: torch.Tensor = self.layer(values) + _SCALE * (values @ self.down.T @ self.up.T)
        return changed


class _Reranker(nn.Module):  # type: ignore[misc,unused-ignore]
    """The embedding model with changes, and the head of a BERT classifier."""

    def __init__(self, bert: Any) -> None:
        super().__init__()
        self.bert = bert
        self.dense = self.bert.pooler.dense
        self.bert.pooler = None
        self.out = nn.Linear(self.dense.out_features, 1)
        self.bert.set_attn_implementation("eager")  # a quarter faster to learn with than PyTorch's own on a CPU
        for parameter in self.bert.parameters():
            parameter.requires_grad = False
        for module in self.bert.modules():  # few parameters learn: dropout would only take time
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        self.changes: dict[str, _Changed] = {}
        for name, module in list(self.bert.encoder.named_modules()):
            if isinstance(module, nn.Linear):
                parent, _, attribute = name.rpartition(".")
                changed = _Changed(module)
                setattr(self.bert.encoder.get_submodule(parent), attribute, changed)
                self.changes[f"encoder.{name}"] = changed
        self.types: nn.Parameter = self.bert.get_submodule(_TYPES).weight
        self.types.requires_grad = True

    def forward(self, **tokens: torch.Tensor) -> torch.Tensor:
        first = self.bert(**tokens).last_hidden_state[:, 0]
        pooled = functional.dropout(torch.tanh(self.dense(first)), 0.1, self.training)
        logits: torch.Tensor = self.out(pooled).squeeze(-1)
        return logits

    def _tensors(self) -> dict[str, nn.Parameter]:
        """The changes and the head under the names that `included_reranker.merged` reads."""
        found = {"head.dense": self.dense, "head.out": self.out}
        tensors = {f"{name}.{kind}": value for name, layer in found.items() for kind, value in layer.named_parameters()}
        for name, changed in self.changes.items():
            tensors |= {f"{name}{DOWN}": changed.down, f"{name}{UP}": changed.up}
        return tensors | {f"{REPLACED}{_TYPES}.weight": self.types}

    def learned(self) -> dict[str, NDArray[np.float16]]:
        """The changes and the head, as `included_reranker.merged` takes them."""
        return {
            name: (value.detach().numpy() * (_SCALE if name.endswith(UP) else 1.0)).astype(np.float16)
            for name, value in self._tensors().items()
        }

    def go_on_from(self, learned: Mapping[str, NDArray[np.float16]]) -> None:
        """Take what an earlier run has learned. Raises BadRequest for what another model has learned."""
        tensors = self._tensors()
        if {name: tuple(value.shape) for name, value in tensors.items()} != {
            name: value.shape for name, value in learned.items()
        }:
            raise BadRequest("The file to go on from was learned with another model.", "Learn without it.")
        with torch.no_grad():
            for name, value in tensors.items():
                value.copy_(torch.from_numpy(learned[name].astype(np.float32)) / (_SCALE if name.endswith(UP) else 1.0))


def train_reranker(
    examples: Sequence[RerankerExample],
    folder: Path,
    max_tokens: int,
    on_step: Callable[[int, int], None] = lambda done, steps: None,
    start: Mapping[str, NDArray[np.float16]] | None = None,
) -> dict[str, NDArray[np.float16]]:
    """The learned tensors by name; half an hour on two cores for 26,000 examples.

    folder: of the embedding model. max_tokens: of question and piece. on_step: steps done, all steps. start: the
    tensors of an earlier run to go on from; without it, from the embedding model. Raises BadRequest for those of
    another model."""
    torch.manual_seed(_SEED)
    chance = random.Random(_SEED)
    base: Any = SentenceTransformer(str(folder), device="cpu", local_files_only=True)[0]
    tokenizer, model = base.tokenizer, _Reranker(base.auto_model).train()
    if start is not None:
        model.go_on_from(start)
    parameters = [each for each in model.parameters() if each.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=_RATE, weight_decay=0.01)
    batches = list(_batches(examples, chance))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _share_of_rate(step, len(batches)))
    for done, batch in enumerate(batches, start=1):
        tokens = _tokens(batch, tokenizer, max_tokens)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(**tokens)
        loss = _loss(logits.float(), batch)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call,unused-ignore]
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        schedule.step()
        on_step(done, len(batches))
    learned: dict[str, NDArray[np.float16]] = model.learned()
    return learned


_Shown = tuple[str, list[str], bool]
"""(question, pieces, whether the first one answers it)."""


def _batches(examples: Sequence[RerankerExample], chance: random.Random) -> Sequence[Sequence[_Shown]]:
    """All batches of all epochs; questions of similar length together."""
    found: list[Sequence[_Shown]] = []
    for _ in range(_EPOCHS):
        order = list(examples)
        chance.shuffle(order)
        together = _QUESTIONS * _SORTED
        for start in range(0, len(order), together):
            shown = sorted(
                (_shown(each, chance) for each in order[start : start + together]),
                key=lambda each: max(map(len, each[1])),
            )
            some = [shown[at : at + _QUESTIONS] for at in range(0, len(shown), _QUESTIONS)]
            chance.shuffle(some)
            found += some
    return found


def _share_of_rate(step: int, steps: int) -> float:
    """The learning rate as a share of the highest one: it rises, then falls to nearly nothing, both linearly."""
    return min(1.0, (step + 1) / (_WARM * steps)) * max(0.02, 1 - step / steps)


def _tokens(batch: Sequence[_Shown], tokenizer: Any, max_tokens: int) -> Any:
    """Question and piece of each pair as tensors."""
    pairs = [(question, text) for question, texts, _ in batch for text in texts]
    questions, texts = [question for question, _ in pairs], [text for _, text in pairs]
    options = {"truncation": "only_second", "max_length": max_tokens, "padding": True, "return_tensors": "pt"}
    return tokenizer(questions, texts, **options)


def _shown(example: RerankerExample, chance: random.Random) -> _Shown:
    right = [chance.choice(example.right)] if example.right else []
    wrong = chance.sample(example.wrong, min(_WRONG, len(example.wrong)))
    return example.question, right + wrong, bool(right)


def _loss(logits: torch.Tensor, batch: Sequence[_Shown]) -> torch.Tensor:
    right = torch.tensor([float(answered and at == 0) for _, texts, answered in batch for at in range(len(texts))])
    alone = functional.binary_cross_entropy_with_logits(logits, right, pos_weight=torch.tensor(_RIGHT_WEIGHT))
    among, start = [], 0
    for _, texts, answered in batch:
        if answered:
            one = logits[start : start + len(texts)][None]
            among.append(functional.cross_entropy(one, torch.zeros(1, dtype=torch.long)))
        start += len(texts)
    return alone + torch.stack(among).mean() if among else alone
