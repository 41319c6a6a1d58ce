"""Every setting, its default and its meaning. The one place that reads the environment."""

import os
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.domain.errors import BadRequest

if TYPE_CHECKING:
    from storage.files import OriginalFiles

__all__ = [
    "Settings",
    "believes_forwarded_addresses",
    "database_url",
    "migration_database_url",
    "original_files",
    "session_database_url",
    "settings_from_environment",
    "utc_now",
]


@dataclass(frozen=True, slots=True)
class Settings:
    """How this process runs. Each field is an environment variable FIVEFOLD_<NAME> (DATABASE_URL as it is).

    data_folder: everything the product keeps on disk.
    database_url: empty starts the embedded PostgreSQL in the data folder. migration_database_url: the same database by
    the login that owns the tables, used at start and for backups; empty: that of database_url. session_database_url:
    the same database past a pooler in transaction mode, which database_url then names, for what needs a session of its
    own: the worker's locks, and reading uploaded tables. database_password, migration_database_password: for URLs
    without one (never shown).
    originals_url: where originals are stored, a URL of an object store such as s3://bucket/originals;
    empty: the data folder. originals_key: access key and secret for it, as KEY:SECRET (never shown); empty: those that
    the environment or the machine has.
    vector_index: "pgvector" or "chroma".
    chroma_url: a Chroma server; empty with "chroma": Chroma in the data folder. chroma_token: sent to it.
    tenant: whose library.
    administrators: logins that are always administrators, separated by commas.
    first_role: what everybody gets in every project at the first sign-in; empty: nothing.
    group_roles: roles of the sign-in service's groups, as group=role or group=role@project, separated by commas.
    embedding_model: a name, a folder, or "default" (all-MiniLM-L6-v2 from its package).
    reranker_fast, reranker_balanced, reranker_accurate: another cross-encoder than core/knowledge/rerankers.toml
    names, by name or folder; empty: that one.
    worker: run jobs; the app does so in a process of its own, which may have worker_megabytes of memory.
    search_processes: processes that search in the app's place; 0: the app searches itself, on one core.
    file_seconds: of each step of reading a file; file_megabytes: of the process that takes it apart.
    web_private: let feeds and pasted addresses lead into private networks and to this machine.
    watch_folders: folders of this machine below which folders may be watched, as PATH lists them; empty: none.
    backup_folder: where scheduled backups go; empty: none. backup_hours, backup_keep: how often, and how many stay.
    backup_recipients: public age keys to encrypt them for, separated by commas; empty: not encrypted.
    trash_days: how long deleted documents can be restored; 0: until somebody deletes them for good.
    api_rate: requests per client of the REST API and of the MCP server, such as 1200/minute.
    answer_url: a language model's OpenAI-compatible address, that may tell an answer in running text; empty: none.
    answer_model, answer_key, answer_seconds: its name, its key (never shown), how long it may take.
    smtp_url: the mail server that sends notifications (never shown); empty: none. mail_from: the sender.
    mail_minutes: the shortest time between two e-mails to one person.
    webhook_url: where notifications are posted as JSON (never shown); empty: nowhere. webhook_secret: signs them.
    mcp_token: the token for which `cli mcp` speaks (never shown); empty: the owner of this machine.
    sign_in: "none", "oidc" or "proxy". session_hours: how long a sign-in lasts.
    allow_anyone: without sign-in, serve everyone who can reach the app, not only this machine.
    public_url: where people open the app, as https://fivefold.example.com; empty: only on this machine.
    hosts: further host names under which the app may be opened, separated by commas.
    cookie_secret: signs the sign-in cookies; empty: one is generated and stored in the data folder.
    oidc_issuer, oidc_client_id, oidc_client_secret, oidc_client_secret_file: the OpenID Connect provider.
    oidc_scopes, oidc_login_claim, oidc_groups_claim: what is asked of it, and which claims say who somebody is.
    proxy_addresses: addresses and networks of the proxy that signs people in, separated by commas.
    proxy_login_header, proxy_name_header, proxy_email_header, proxy_groups_header: its headers.
    proxy_sign_out_url: where the proxy signs people out; empty: no such link.
    """

    data_folder: Path
    database_url: str = field(default="", repr=False)
    migration_database_url: str = field(default="", repr=False)
    session_database_url: str = field(default="", repr=False)
    database_password: str = field(default="", repr=False)
    migration_database_password: str = field(default="", repr=False)
    originals_url: str = ""
    originals_key: str = field(default="", repr=False)
    vector_index: str = "pgvector"
    chroma_url: str = ""
    chroma_token: str = field(default="", repr=False)
    tenant: str = "default"
    administrators: str = ""
    first_role: str = ""
    group_roles: str = ""
    embedding_model: str = "default"
    reranker_fast: str = ""
    reranker_balanced: str = ""
    reranker_accurate: str = ""
    worker: bool = True
    search_processes: int = 0
    file_seconds: int = 300
    file_megabytes: int = 4096
    worker_megabytes: int = 6144
    web_private: bool = False
    watch_folders: str = ""
    backup_folder: str = ""
    backup_hours: int = 24
    backup_keep: int = 14
    backup_recipients: str = ""
    trash_days: int = 30
    api_rate: str = "1200/minute"
    answer_url: str = ""
    answer_model: str = ""
    answer_key: str = field(default="", repr=False)
    answer_seconds: int = 30
    smtp_url: str = field(default="", repr=False)
    mail_from: str = ""
    mail_minutes: int = 15
    webhook_url: str = field(default="", repr=False)
    webhook_secret: str = field(default="", repr=False)
    mcp_token: str = field(default="", repr=False)
    sign_in: str = "none"
    session_hours: int = 12
    allow_anyone: bool = False
    public_url: str = ""
    hosts: str = ""
    cookie_secret: str = field(default="", repr=False)
    oidc_issuer: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: str = field(default="", repr=False)
    oidc_client_secret_file: str = ""
    oidc_scopes: str = "openid email profile"
    oidc_login_claim: str = "email"
    oidc_groups_claim: str = "groups"
    proxy_addresses: str = ""
    proxy_login_header: str = "x-forwarded-user"
    proxy_name_header: str = "x-forwarded-preferred-username"
    proxy_email_header: str = "x-forwarded-email"
    proxy_groups_header: str = "x-forwarded-groups"
    proxy_sign_out_url: str = ""


_READ_LATER = frozenset({"FIVEFOLD_OIDC_CLIENT_SECRET"})
"""Their file is a setting itself: it is read again at each sign-in."""
_MAY_BE_ZERO = frozenset({"FIVEFOLD_SEARCH_PROCESSES", "FIVEFOLD_TRASH_DAYS"})
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def settings_from_environment() -> Settings:
    """Settings from FIVEFOLD_<NAME> and DATABASE_URL, with defaults for unset ones. Raises BadRequest."""
    values: dict[str, Any] = {"data_folder": _data_folder()}
    for setting in fields(Settings):
        variable = "DATABASE_URL" if setting.name == "database_url" else f"FIVEFOLD_{setting.name.upper()}"
        text = os.environ.get(variable, "").strip() or _from_file(variable)
        if text:
            kind = Path if setting.default is MISSING else type(setting.default)
            values[setting.name] = _parsed(variable, text, kind)
    return Settings(**values)


def _from_file(variable: str) -> str:
    """What the file says that <variable>_FILE names, as secrets are given to containers; "" without one."""
    named = os.environ.get(f"{variable}_FILE", "").strip()
    if not named or variable in _READ_LATER:
        return ""
    try:
        return Path(named).expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        hint = f"Correct {variable}_FILE, or make the file readable."
        raise BadRequest(f"{variable}_FILE names a file that cannot be read: {error}.", hint) from error


def database_url(settings: Settings) -> str:
    """DATABASE_URL with its password. Raises BadRequest for another kind of URL."""
    return _with_password(settings.database_url, settings.database_password)


def session_database_url(settings: Settings) -> str:
    """The URL past the pooler, with the password of DATABASE_URL; "" where there is no pooler."""
    return _with_password(settings.session_database_url, settings.database_password)


def original_files(settings: Settings) -> "OriginalFiles":
    """The originals, in the data folder or an object store. Raises BadRequest for a URL that cannot be used."""
    from storage.files import OriginalFiles

    return OriginalFiles(settings.originals_url or str(settings.data_folder / "originals"), settings.originals_key)


def migration_database_url(settings: Settings) -> str:
    """The URL of the login that owns the tables, with its password; "" when it is that of DATABASE_URL."""
    return _with_password(settings.migration_database_url, settings.migration_database_password)


def _with_password(url: str, password: str) -> str:
    if not url or not password:
        return url
    from storage.postgres.database import psycopg_url

    parts = psycopg_url(url)
    return url if parts.password else parts.set(password=password).render_as_string(hide_password=False)


def _data_folder() -> Path:
    """`.data` in a checkout; in the person's own folder for an installed package, whose files an update replaces."""
    root = Path(__file__).parents[1]
    return Path.home() / ".fivefold" if root.name == "_tree" else root / ".data"


def _parsed(variable: str, text: str, kind: type) -> Any:
    if kind is bool:
        if text.lower() not in _WORDS:
            raise BadRequest(
                f"{variable} must be true or false, not '{text}'.", f"Set {variable}=true or {variable}=false."
            )
        return _WORDS[text.lower()]
    if kind is int:
        least = 0 if variable in _MAY_BE_ZERO else 1
        if not text.isascii() or not text.isdigit() or int(text) < least:
            above = "" if least == 0 else " above 0"
            raise BadRequest(f"{variable} must be a whole number{above}, not '{text}'.", f"Correct {variable}.")
        return int(text)
    return Path(text).expanduser() if kind is Path else text


def believes_forwarded_addresses() -> bool:
    """Whether the web server replaces the address of a client by one that a request names (X-Forwarded-For).

    uvicorn does so for requests from this machine unless FORWARDED_ALLOW_IPS is set, and empty.
    """
    return os.environ.get("FORWARDED_ALLOW_IPS") != ""


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)
