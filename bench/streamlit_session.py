"""A browser tab without a browser: speaks Streamlit's own protocol over a WebSocket, and reads what a page shows."""

from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Self
from urllib.parse import urlencode

__all__ = ["PageView", "StreamlitSession"]

_SUBPROTOCOL = "streamlit"  # the first entry chooses the protocol; the others are for sign-in and reconnecting
_LONGEST_SECONDS = 180.0  # a script that takes longer counts as hanging
_REDRAW_SECONDS = 30.0  # Streamlit says nothing when a part of a page that should draw itself again is gone


@dataclass(slots=True)
class PageView:
    """What one run of a page's script sent.

    problems: exceptions and error messages a person would see. fields: ids of text fields by label. choices: ids and
    options of groups of buttons with one choice, by label. `StreamlitSession.open` takes these ids. fragment: the part
    of the page that asks to be drawn again by itself, "" for none.
    """

    elements: int = 0
    problems: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    fragment: str = ""


class StreamlitSession:
    """One session of one person. address: of the app, http://host:port. A context manager.

    `pages` maps the address of each page to its id; "" is Home.
    """

    def __init__(self, address: str) -> None:
        from websockets.sync.client import connect
        from websockets.typing import Subprotocol

        self._opening = connect(
            f"{address.replace('http', 'ws', 1)}/_stcore/stream",
            subprotocols=[Subprotocol(_SUBPROTOCOL)],
            max_size=None,
            open_timeout=_LONGEST_SECONDS,
            ping_interval=None,  # as browsers do: the server asks whether we live, not we it
        )
        self.pages: dict[str, str] = {}
        self._last: tuple[str, str, dict[str, Any]] = ("", "", {})

    def __enter__(self) -> Self:
        self._socket = self._opening.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._opening.__exit__(*exception)

    def open(
        self, page: str = "", parameters: dict[str, str] | None = None, widgets: dict[str, Any] | None = None
    ) -> PageView:
        """Run a page's script as a browser asks for it; returns what it drew.

        page: its address, such as "search". widgets: values by widget id: a text, or the chosen options as a list.
        Raises TimeoutError when the script does not end, KeyError for an unknown page, and what the socket raises.
        """
        self._last = (page, urlencode(parameters or {}), widgets or {})
        return self._run("")

    def redraw(self, fragment: str) -> PageView | None:
        """Run the part of the open page that draws itself again from time to time; None when it is gone meanwhile, or
        so late that this session is of no more use."""
        try:
            return self._run(fragment, _REDRAW_SECONDS)
        except TimeoutError:
            return None

    def _run(self, fragment: str, seconds: float = _LONGEST_SECONDS) -> PageView:
        from streamlit.proto.BackMsg_pb2 import BackMsg

        page, query, widgets = self._last
        message = BackMsg()
        request = message.rerun_script
        request.query_string, request.fragment_id, request.is_auto_rerun = query, fragment, bool(fragment)
        if self.pages:
            request.page_script_hash = self.pages[page]
        else:
            request.page_name = page
        for name, value in widgets.items():
            state = request.widget_states.widgets.add(id=name)
            if isinstance(value, str):
                state.string_value = value
            else:
                state.string_array_value.data.extend(value)
        self._socket.send(message.SerializeToString())
        view, deadline = PageView(), monotonic() + seconds
        while not self._read(view, deadline):
            pass
        return view

    def _read(self, view: PageView, deadline: float) -> bool:
        """Take in the next message; whether the script has ended."""
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        message = ForwardMsg()
        received = self._socket.recv(max(deadline - monotonic(), 0.0))
        message.ParseFromString(received if isinstance(received, bytes) else received.encode())
        kind = message.WhichOneof("type")
        if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            _take_in(message.delta.new_element, view)
        elif kind == "auto_rerun":
            view.fragment = message.auto_rerun.fragment_id
        elif kind == "navigation":
            self.pages = {
                "" if each.is_default else each.url_pathname: each.page_script_hash
                for each in message.navigation.app_pages
            }
        elif kind == "page_not_found":
            view.problems.append("the page was not found")
        elif kind == "session_event" and message.session_event.HasField("script_compilation_exception"):
            view.problems.append(message.session_event.script_compilation_exception.message)
        return kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN


def _take_in(element: Any, view: PageView) -> None:
    """Note what an element shows or offers."""
    from streamlit.proto.Alert_pb2 import Alert
    from streamlit.proto.ButtonGroup_pb2 import ButtonGroup

    view.elements += 1
    kind = element.WhichOneof("type")
    if kind == "exception":
        view.problems.append(f"{element.exception.type}: {element.exception.message}")
    elif kind == "alert" and element.alert.format == Alert.ERROR:
        view.problems.append(element.alert.body)
    elif kind == "text_input":
        view.fields[element.text_input.label] = element.text_input.id
    elif kind == "button_group" and element.button_group.click_mode == ButtonGroup.SINGLE_SELECT:
        options = [each.content for each in element.button_group.options]
        view.choices[element.button_group.label] = (element.button_group.id, options)
