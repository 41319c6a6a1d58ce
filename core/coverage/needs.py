"""Proposes which truths a topic needs, from the words of its name and from its origin, with the reason."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.domain.coverage import Topic, TopicOrigin
from core.domain.documents import Truth
from core.knowledge.topic_needs import need_rules
from core.text.tokenize import stem, words

__all__ = ["ProposedNeeds", "proposed_needs", "with_proposed_needs"]


@dataclass(frozen=True, slots=True)
class ProposedNeeds:
    """The proposed truths in their fixed order, and why, as text."""

    needs: tuple[Truth, ...]
    reason: str


def proposed_needs(topic: Topic) -> ProposedNeeds:
    """The needs of every rule with a cue in the name; a requirement also needs intent. All five when no rule applies.

    >>> found = proposed_needs(Topic("Approval of expense reports"))
    >>> [truth.value for truth in found.needs], found.reason
    (['compliance', 'intent', 'reference'], '“approval”: own rule or control; “report”: what the project delivers')
    """
    stems = {stem(word) for word in words(topic.name)}
    found: set[Truth] = set()
    reasons = []
    for rule in need_rules():
        cue = next((each for each in rule.cues if {stem(word) for word in words(each)} <= stems), None)
        if cue is not None:
            found |= set(rule.needs)
            reasons.append(f"“{cue}”: {rule.name}")
    if not found:
        return ProposedNeeds(tuple(Truth), "no known word: all five")
    if topic.origin is TopicOrigin.REQUIREMENT:
        found.add(Truth.INTENT)
        reasons.append("a requirement: intent")
    return ProposedNeeds(tuple(truth for truth in Truth if truth in found), "; ".join(reasons))


def with_proposed_needs(topics: Iterable[Topic]) -> tuple[Topic, ...]:
    """The topics with the needs proposed for each."""
    return tuple(replace(topic, needs=proposed_needs(topic).needs) for topic in topics)
