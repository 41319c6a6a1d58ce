"""What the cities and counties a document names say of where it applies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.documents import EvidenceSource
from core.ingest.classify_reading import Reading
from core.tables.cities import NamedCity, cities_called_as_states, named_cities, states_listed
from core.tables.decisions import place_weights
from core.tables.jurisdictions import jurisdiction_title

__all__ = ["Mention", "several_cities", "speaking_cities", "states_of_rows", "without_cities_called_as_states"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A place named at text[start:end].

    kind: of core.tables.jurisdictions.Place; "city" where somebody speaks as one, "cities" for one of several. leading:
    in the name, the title or the opening. city: the name of the city or county.
    """

    value: str
    kind: str
    text: str
    start: int
    end: int
    source: EvidenceSource
    leading: bool
    city: str = ""

    @property
    def weight(self) -> float:
        return place_weights().of(self.kind, self.value)

    @property
    def words(self) -> str:
        return self.text[self.start : self.end]

    @property
    def rule(self) -> str:
        """Why it counts, for people."""
        if not self.city:
            return f"names {jurisdiction_title(self.value)} ({self.kind})"
        what = "" if self.city.endswith(" County") else "city of "
        return f"names {self.city} ({what}{jurisdiction_title(self.value)})"


def speaking_cities(text: str, source: EvidenceSource, opening: int) -> Iterator[Mention]:
    """The cities and counties somebody speaks as, or for: "City of Austin", "Kitsap County"."""
    for city in named_cities(text):
        if city.kind == "spoken":
            yield _mention(city, "city", text, source, city.start < opening)


def several_cities(reading: Reading) -> tuple[Mention, ...]:
    """The cities of the place that most of all named cities are of, each once; none where few are, or no clear most."""
    weights = place_weights()
    found = named_cities(reading.body)
    firsts: dict[tuple[str, str], NamedCity] = {}
    times: dict[str, int] = {}
    for city in found:
        firsts.setdefault((city.value, city.name), city)
        times[city.value] = times.get(city.value, 0) + 1
    names: dict[str, list[NamedCity]] = {}
    for (value, _), city in firsts.items():
        names.setdefault(value, []).append(city)
    value = max(names, key=lambda each: (each != "", len(names[each])), default="")
    of_one = names.get(value, [])
    listed = sum(city.kind == "listed" for city in of_one)
    least = weights.least_listed if listed == len(of_one) else weights.least_cities
    if not value or len(of_one) < max(least, weights.most_cities * len(firsts)) or 2 * times[value] < len(found):
        return ()
    opening = len(reading.opening)
    return tuple(_mention(city, "cities", reading.body, EvidenceSource.TEXT, city.start < opening) for city in of_one)


def without_cities_called_as_states(reading: Reading, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions without those of New York or Singapore that stand among several cities of other places."""
    called = cities_called_as_states()
    if not any(mention.words in called for mention in mentions):
        return [*mentions]
    cities = {(city.value, city.name) for city in named_cities(reading.body)}
    least = place_weights().least_cities
    return [m for m in mentions if m.words not in called or sum(value != m.value for value, _ in cities) < least]


def states_of_rows(reading: Reading) -> Iterator[Mention]:
    """The cells of a column of states, where most hold the code of the same one."""
    weights, cells = place_weights(), states_listed(reading.body)
    value = max(cells, key=lambda each: len(cells[each]), default="")
    of_one = cells.get(value, ())
    if len(of_one) >= weights.least_cities and len(of_one) >= weights.most_cities * sum(map(len, cells.values())):
        for cell in of_one:
            leading = cell.start() < len(reading.opening)
            yield Mention(value, "code", reading.body, *cell.span(1), EvidenceSource.TEXT, leading)


def _mention(city: NamedCity, kind: str, text: str, source: EvidenceSource, leading: bool) -> Mention:
    return Mention(city.value, kind, text, city.start, city.end, source, leading, city.name)
