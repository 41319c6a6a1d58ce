"""The lock files hold exactly what fits the ranges, with checksums, and every licence is known and allowed."""

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
BY_ITSELF = re.compile(r"torch|triton|nvidia-.+|cuda-.+")
FORBIDDEN = re.compile(r"\b(A|)GPL|GNU (Affero )?General Public|SSPL|Commons Clause|BUSL|UNKNOWN", re.IGNORECASE)
LESSER = re.compile(r"L(esser )?GPL|Lesser General Public", re.IGNORECASE)


def locked(name: str) -> dict[str, tuple[Requirement, list[str]]]:
    """Package → its pinned requirement and its checksums."""
    found: dict[str, tuple[Requirement, list[str]]] = {}
    for entry in re.split(r"\n(?=\S)", (ROOT / name).read_text("utf-8").strip()):
        first, *hashes = [line.strip().rstrip("\\").strip() for line in entry.splitlines()]
        requirement = Requirement(first)
        found[canonicalize_name(requirement.name)] = (requirement, hashes)
    return found


def requirements_of(name: str) -> list[Requirement]:
    lines = [line.partition("#")[0].strip() for line in (ROOT / name).read_text("utf-8").splitlines()]
    return [Requirement(line) for line in lines if line]


@pytest.mark.parametrize(
    ("ranges", "lock"), [("requirements.txt", "requirements.lock"), ("requirements-dev.txt", "requirements-dev.lock")]
)
def test_the_lock_holds_a_version_in_range_of_all_that_is_asked_for(ranges: str, lock: str) -> None:
    entries = locked(lock)
    for each in requirements_of(ranges):
        if BY_ITSELF.fullmatch(canonicalize_name(each.name)):
            continue
        pinned, _ = entries[canonicalize_name(each.name)]
        (version,) = [specifier.version for specifier in pinned.specifier]
        assert each.specifier.contains(version), f"{lock}: {pinned} is outside {each}; run make lock"


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_locked_package_has_one_version_and_checksums_and_no_address(lock: str) -> None:
    for pinned, hashes in locked(lock).values():
        assert [each.operator for each in pinned.specifier] == ["=="] and pinned.url is None, pinned
        assert hashes and all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes), pinned
    assert "://" not in (ROOT / lock).read_text("utf-8")


def test_no_process_of_the_tests_waits_for_grammars_that_people_do_not_have() -> None:
    assert "rfc3987-syntax" not in locked("requirements-dev.lock"), "jsonschema would import it; see make lock"


def test_tests_run_with_the_versions_that_people_run() -> None:
    tested = locked("requirements-dev.lock")
    for name, (pinned, hashes) in locked("requirements.lock").items():
        assert tested[name] == (pinned, hashes)


def test_what_is_installed_is_what_is_locked() -> None:
    for name, (pinned, _) in locked("requirements-dev.lock").items():
        if pinned.marker is None or pinned.marker.evaluate():
            assert pinned.specifier.contains(metadata.version(name), prereleases=True), name


def test_every_licence_is_listed_and_allowed() -> None:
    rows = re.findall(r"^\| ([^|]+?) +\| ([^|]+?) +\|$", (ROOT / "docs/licences.md").read_text("utf-8"), flags=re.M)
    licences = {canonicalize_name(name): licence for name, licence in rows}
    missing = locked("requirements.lock").keys() - licences.keys()
    assert not {name for name in missing if _is_installed(name)}, "run make licences"
    bad = {name: licence for name, licence in licences.items() if FORBIDDEN.search(LESSER.sub("", licence))}
    assert not bad


def _is_installed(name: str) -> bool:
    pinned, _ = locked("requirements.lock")[name]
    return pinned.marker is None or pinned.marker.evaluate()
