"""How well fitted truth weights do on sources left out, as text: overall, per truth, per source and per certainty."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.printed import aligned
from core.tables.decisions import weighings
from core.tuning.fitting import Judged
from core.tuning.metrics import calibration_bins, calibration_error, mean

__all__ = ["figures_text"]


@dataclass(frozen=True, slots=True)
class _Said:
    """truth, probability: the likeliest. right: it is the judged one, and sure enough to be said."""

    one: Judged
    truth: str
    probability: float

    @property
    def said(self) -> bool:
        return self.probability >= weighings()["truth"].threshold

    @property
    def right(self) -> bool:
        return self.said and self.truth == self.one.truth


def figures_text(names: str, judged: Sequence[Judged], told: Sequence[Mapping[str, float]]) -> str:
    """Tables of what was said of documents whose source was left out. names: "names shown" or "names hidden".

    Not capped as the classifier caps law and policy labels without the rule-giver's own voice.
    """
    said = [_Said(one, *max(row.items(), key=lambda item: item[1])) for one, row in zip(judged, told, strict=True)]
    decided = [(each.probability, each.right) for each in said if each.said]
    overall = [
        ("documents", len(said)),
        ("truth accuracy", mean([each.right for each in said])),
        ("abstained", mean([not each.said for each in said])),
        ("calibration error", calibration_error(decided)),
    ]
    parts = [
        aligned((names, "value"), overall),
        _grouped("truth", said, lambda each: each.one.truth),
        _grouped("source", said, lambda each: each.one.source),
        aligned(("documents", "said", "right"), calibration_bins(decided)),
        *(
            f"wrong: {each.one.name} is {each.one.truth}, not {each.truth} ({each.probability:.2f})"
            for each in said
            if not each.right
        ),
    ]
    return "\n\n".join(parts[:4]) + "\n\n" + "\n".join(parts[4:])


def _grouped(header: str, said: Sequence[_Said], key: Callable[[_Said], str]) -> str:
    groups: dict[str, list[_Said]] = {}
    for each in said:
        groups.setdefault(key(each), []).append(each)
    rows = [(name, len(group), mean([each.right for each in group])) for name, group in sorted(groups.items())]
    return aligned((header, "documents", "right"), rows)
