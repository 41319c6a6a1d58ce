"""What reaches the person at this browser by e-mail."""

import streamlit as st

from core.collaboration.notifications import NotificationKind
from pages.components import notices, session

__all__ = ["draw_notifications"]

_TITLES = {
    NotificationKind.MENTION: "Somebody mentions me in a comment",
    NotificationKind.ASSIGNMENT: "A task is given to me, is due, or one I gave is done",
    NotificationKind.SAVED_SEARCH: "A saved search that I follow has new results",
}


def draw_notifications() -> None:
    """The person's own choices. Home always shows everything."""
    with notices.show_errors():
        library, person = session.workbench(), session.principal()
        st.markdown("**Notifications**")
        st.caption(
            "Home lists what concerns you: comments that mention you, your tasks, and new results of saved searches"
            " whose bell you pressed (Search, *Saved views*)."
        )
        if person.local:
            st.caption("Without sign-in, no e-mail is sent. A feed reader can follow a saved search.")
        elif not library.delivery.mails:
            st.caption("E-mail is not set up. An administrator can do so: `FIVEFOLD_SMTP_URL`.")
        else:
            _mail(library.notifications.preferences(person).mailed)


def _mail(chosen: frozenset[NotificationKind]) -> None:
    st.markdown("Send me an e-mail when")
    for kind, title in _TITLES.items():
        st.checkbox(title, value=kind in chosen, key=f"notifications.{kind.value}", on_change=_choose)
    st.caption("What comes within a few minutes is sent in one e-mail. What you have read on Home is not sent.")


def _choose() -> None:
    kinds = frozenset(kind for kind in _TITLES if st.session_state[f"notifications.{kind.value}"])
    with notices.show_errors():
        session.workbench().notifications.choose(kinds, session.principal())
        st.toast("Saved.", icon=":material/check:")
