"""The services outside of this machine that the settings name: a language model, a mail server, a webhook."""

from typing import TYPE_CHECKING

from adapters.inference.language_model import LanguageModelClient
from bootstrap.environment import Settings, utc_now
from core.domain.errors import BadRequest

if TYPE_CHECKING:
    from adapters.mail import SmtpMailer
    from adapters.webhook import HttpWebhook

__all__ = ["language_model", "mailer", "webhook"]


def language_model(settings: Settings) -> LanguageModelClient | None:
    """The language model for answers, None when none is configured. Raises BadRequest when its settings are invalid."""
    if not settings.answer_url:
        return None
    if not settings.answer_model:
        raise BadRequest(
            "FIVEFOLD_ANSWER_URL names a language model's address, and FIVEFOLD_ANSWER_MODEL is empty.",
            "Set FIVEFOLD_ANSWER_MODEL, or neither.",
        )
    return LanguageModelClient(settings.answer_url, settings.answer_model, settings.answer_key, settings.answer_seconds)


def mailer(settings: Settings) -> "SmtpMailer | None":
    """What sends e-mail, None when no mail server is configured. Raises BadRequest when its settings are invalid."""
    if not settings.smtp_url:
        return None
    from adapters.mail import SmtpMailer, smtp_server

    return SmtpMailer(smtp_server(settings.smtp_url), settings.mail_from, utc_now)


def webhook(settings: Settings) -> "HttpWebhook | None":
    """What posts notifications, None when no address is configured. Raises BadRequest for an invalid secret."""
    if not settings.webhook_url:
        return None
    from adapters.http_fetch import HttpFetcher
    from adapters.webhook import HttpWebhook

    web = HttpFetcher(private=settings.web_private)
    return HttpWebhook(settings.webhook_url, settings.webhook_secret, web, utc_now)
