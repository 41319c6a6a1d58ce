"""Comments on documents, passages and cells of coverage boards, with mentions of colleagues."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from core.collaboration.notifications import Notification, NotificationKind, Notifier
from core.collaboration.target import Target, checked_target
from core.collaboration.team import Team, Teammate, mentioned, people_for, sees
from core.domain.errors import AccessDenied, BadRequest, NotFound, Outdated
from core.domain.people import Principal, Role
from core.ports.catalogue import Catalogue

__all__ = ["MOST_LETTERS", "Comment", "CommentService", "CommentStore", "no_comment", "outdated_comment"]

MOST_LETTERS = 4000
"""Characters of a comment at most. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment. author: a login; author_name: as it was shown then. mentions: logins. id: 0 until stored. version:
    for optimistic locking. A deleted comment can be restored."""

    on: Target
    text: str
    author: str
    author_name: str
    at: datetime
    mentions: tuple[str, ...] = ()
    id: int = 0
    edited_at: datetime | None = None
    deleted_at: datetime | None = None
    version: int = 1


# Errors that every store raises
def no_comment(comment_id: int) -> NotFound:
    """The comment is not stored, or belongs to what the person may not see."""
    return NotFound(f"Comment {comment_id} is not (or no longer) here.", "Load the page again.")


def outdated_comment() -> Outdated:
    """Someone has changed this comment since it was read."""
    return Outdated("This comment has been changed meanwhile.", "Load the page again.")


class CommentStore(Protocol):
    """Stores the comments of one tenant. Every method raises StoreFailed when the store does not respond."""

    def comments(self, key: str) -> Sequence[Comment]:
        """The comments on everything with this `Target.key`, oldest first; deleted ones are absent."""
        ...

    def comment(self, comment_id: int) -> Comment:
        """One comment, also a deleted one. Raises NotFound."""
        ...

    def add_comment(self, comment: Comment) -> Comment:
        """Store a new comment (id 0). Raises NotFound when its document is not there."""
        ...

    def change_comment(self, comment: Comment) -> Comment:
        """Store a changed comment with the version it was read with; returns it with its new version. Raises Outdated,
        NotFound."""
        ...


class CommentService:
    """Writes comments, and tells those who are mentioned. Every method raises StoreFailed when the store does not
    answer, and NotFound for what the person may not see."""

    def __init__(
        self, store: CommentStore, catalogue: Catalogue, team: Team, notifier: Notifier, now: Callable[[], datetime]
    ) -> None:
        self._store, self._catalogue, self._team = store, catalogue, team
        self._notifier, self._now = notifier, now

    def on(self, target: Target, by: Principal) -> Sequence[Comment]:
        """The comments on something, oldest first; those on a document include those on its passages."""
        own = self._seen(target, by)
        return [each for each in self._store.comments(own.key) if own.covers(each.on)]

    def mentionable(self, target: Target, by: Principal) -> Sequence[Teammate]:
        """The other people who may see something, by name."""
        own = self._seen(target, by)
        team = () if by.local else self._team.teammates()
        return [each for each in team if each.login != by.login and each.sees(own)]

    def write(self, target: Target, text: str, by: Principal, mentions: Sequence[str] = ()) -> Comment:
        """Write a comment. mentions: logins, besides those written as @login in the text.

        Raises BadRequest for an empty or too long text, and for a mention of somebody who may not see the target.
        """
        own, words = self._seen(target, by), _checked_text(text)
        people = self._people(words, mentions, own)
        logins = tuple(each.login for each in people)
        stored = self._store.add_comment(Comment(own, words, by.login, by.name, self._now(), logins))
        self._tell(stored, logins)
        return stored

    def edit(self, comment_id: int, text: str, by: Principal, mentions: Sequence[str] = ()) -> Comment:
        """Change the text of one's own comment, also where people were told of it; those newly mentioned are told, and
        what those no longer mentioned were told is withdrawn. Raises AccessDenied for somebody else's, NotFound for a
        deleted one, BadRequest as `write` does, Outdated."""
        known, words = self._own(comment_id, by), _checked_text(text)
        if known.deleted_at is not None:
            raise no_comment(comment_id)
        people = self._people(words, mentions, checked_target(known.on, self._catalogue))
        logins = tuple(each.login for each in people)
        changed = replace(known, text=words, mentions=logins, edited_at=self._now())
        stored = self._store.change_comment(changed)
        self._withdraw(stored, [login for login in known.mentions if login not in logins])
        self._notifier.reword(_key(stored), words)
        self._tell(stored, [login for login in logins if login not in known.mentions])
        return stored

    def delete(self, comment_id: int, by: Principal) -> Comment:
        """Delete one's own comment, or, as an administrator, any, and withdraw what the mentioned were told. `restore`
        undoes it. Raises AccessDenied, Outdated."""
        known = self._own(comment_id, by, or_role=Role.ADMINISTRATOR)
        stored = self._store.change_comment(replace(known, deleted_at=self._now()))
        self._withdraw(stored, stored.mentions)
        return stored

    def restore(self, comment_id: int, by: Principal) -> Comment:
        """Restore a deleted comment; the mentioned are told again, unless they may no longer see what it is about.
        Raises AccessDenied, Outdated."""
        known = self._own(comment_id, by, or_role=Role.ADMINISTRATOR)
        stored = self._store.change_comment(replace(known, deleted_at=None))
        on = checked_target(stored.on, self._catalogue)
        seeing = {each.login for each in self._team.teammates() if each.sees(on)}
        if known.deleted_at is not None:
            self._tell(stored, [login for login in stored.mentions if login in seeing])
        return stored

    def _seen(self, target: Target, by: Principal) -> Target:
        """The target as it is now. Raises NotFound where the person may not see it."""
        own = checked_target(target, self._catalogue)
        if not sees(by, own):
            raise NotFound(f"'{target.name}' is not (or no longer) here.", "Open something else.")
        return own

    def _own(self, comment_id: int, by: Principal, or_role: Role | None = None) -> Comment:
        found = self._store.comment(comment_id)
        on = checked_target(found.on, self._catalogue)
        if not sees(by, on):
            raise no_comment(comment_id)
        role = by.role_in(on.project)
        if found.author != by.login and (or_role is None or role is None or not role.covers(or_role)):
            raise AccessDenied(f"This comment is {found.author_name}'s.", "Write a comment of your own.")
        return found

    def _people(self, text: str, mentions: Sequence[str], on: Target) -> Sequence[Teammate]:
        team = {each.login: each for each in self._team.teammates()}
        return people_for([*mentions, *mentioned(text, list(team))], on, team)

    def _withdraw(self, comment: Comment, logins: Sequence[str]) -> None:
        for login in logins:
            self._notifier.withdraw(login, _key(comment))

    def _tell(self, comment: Comment, logins: Sequence[str]) -> None:
        self._notifier.tell(
            [
                Notification(
                    to=login,
                    kind=NotificationKind.MENTION,
                    key=_key(comment),
                    title=f"{comment.author_name} mentioned you",
                    text=comment.text,
                    at=comment.at,
                    on=comment.on,
                )
                for login in logins
                if login != comment.author
            ]
        )


def _key(comment: Comment) -> str:
    return f"comment:{comment.id}"


def _checked_text(text: str) -> str:
    tidy = text.strip()
    if not tidy:
        raise BadRequest("The comment has no text.", "Write something.")
    if len(tidy) > MOST_LETTERS:
        raise BadRequest(
            f"A comment has at most {MOST_LETTERS:,} characters, this one has {len(tidy):,}.", "Shorten it."
        )
    return tidy
