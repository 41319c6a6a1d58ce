// The cells to review: one is chosen, several can be selected. n and p (or j and k, or the arrows in the list) move, x
// selects, a g w f decide, u undoes, c goes to the comment, ? lists these keys. Keys pressed in a field stay typing.
const PRESSED = { a: ".st-key-decide_a button", g: ".st-key-decide_g button", w: ".st-key-decide_w button", f: ".st-key-decide_f button" };
const AT_ONCE = { u: ".st-key-decide_u button", "?": ".st-key-review_keys button" };
const COMMENT = ".st-key-review_pane .stTextInput input[aria-label='Comment or reason']";
const MOVES = { ...ROW_KEYS, n: 1, p: -1 };

const drawRow = (row, ticked, ticks) => {
  const option = element("div", "row");
  option.id = `cell-${row.id.replace(":", "-")}`;
  option.setAttribute("role", "option");
  option.dataset.id = row.id;
  option.style.setProperty("--stripe", `var(--st-${row.stripe}-color)`);
  option.style.setProperty("--truth-text", `var(--st-${row.colour}-text-color)`);
  const tick = element("span", "tick", ticked ? "☑" : "☐");
  tick.title = ticked ? "Remove from the selection (x)" : "Select, to decide several together (x)";
  if (ticked) option.classList.add("ticked");
  const body = element("div", "body");
  const topic = element("div", "topic", row.topic);
  topic.title = row.topic;
  const foot = element("div", "foot");
  foot.append(element("span", "truth", row.kind), element("span", "state", row.state));
  if (row.severity) foot.append(element("span", "state", row.severity));
  if (row.decided) foot.append(element("span", "decided", row.decided));
  if (row.note) foot.append(element("span", "note", row.note));
  body.append(topic, foot);
  if (ticks) option.append(tick);
  else option.classList.add("plain");
  option.append(body);
  const said = [row.topic, row.kind, row.state.slice(2), row.severity, row.decided, row.note, ticked ? "selected" : ""];
  option.setAttribute("aria-label", said.filter(Boolean).join(", "));
  return option;
};

export default function ({ data, parentElement, setStateValue }) {
  let frame = parentElement.querySelector(".frame");
  if (!frame) {
    frame = element("div", "frame");
    const head = element("div", "head");
    head.append(element("span", "place"), element("button", "all"));
    const list = element("div", "list");
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-multiselectable", "true");
    list.tabIndex = 0;
    frame.append(head, list, element("div", "more"));
    // Listened to once and for all: a click while the page is being drawn again counts too.
    list.addEventListener("click", (event) => frame.on.click(event));
    head.querySelector(".all").addEventListener("click", () => frame.on.all());
    parentElement.append(frame);
  }
  const list = frame.querySelector(".list");
  const all = frame.querySelector(".all");
  // What was drawn before the server knew of the last keys must not undo them: then what this list knows counts.
  const sent = (frame.sent ??= {});
  const send = (name, value) => setStateValue(name, (sent[name] = { value, at: Math.max(Date.now(), (sent[name]?.at ?? 0) + 1) }));
  const newer = (name) => sent[name] && sent[name].at > data.seen[name];
  const ticked = new Set(newer("ticked") ? sent.ticked.value : data.ticked);
  if (newer("chosen")) data.chosen = sent.chosen.value;
  list.setAttribute("aria-label", data.label);
  frame.querySelector(".place").textContent = data.head;
  frame.querySelector(".more").textContent = data.more ? `… and ${data.more.toLocaleString("en-US")} more` : "";
  const ticks = data.ticks !== false; // in a meeting, one cell is decided after the other
  all.hidden = !ticks;
  all.textContent = ticked.size ? "Clear selection" : `Select all ${data.rows.length}`;
  // Rows that are the same stay: a click is not lost when the page is drawn again between pressing and releasing.
  const drawn = JSON.stringify([data.rows, [...ticked].sort(), ticks]);
  if (frame.drawn !== drawn) {
    const above = list.scrollTop;
    list.replaceChildren(...data.rows.map((row) => drawRow(row, ticked.has(row.id), ticks)));
    list.scrollTop = above;
    frame.drawn = drawn;
  }
  const rows = [...list.children];
  let chosen = Math.max(0, data.rows.findIndex((row) => row.id === data.chosen));
  let lastTick = chosen;
  let decided = false; // a key decides once; the next one waits until the list is drawn again
  const show = () => {
    rows.forEach((row, index) => row.setAttribute("aria-selected", String(index === chosen)));
    const row = rows[chosen];
    if (!row) return;
    list.setAttribute("aria-activedescendant", row.id);
    if (row.offsetTop < list.scrollTop) list.scrollTop = row.offsetTop;
    else if (row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = row.offsetTop + row.offsetHeight - list.clientHeight;
  };
  const choose = (index, wait) => {
    if (!rows[index]) return;
    chosen = index;
    data.chosen = rows[index].dataset.id;
    show();
    sendMove(frame, data.chosen, (id) => send("chosen", id), wait);
  };
  const tick = (index, range) => {
    const [from, to] = range ? [Math.min(lastTick, index), Math.max(lastTick, index)] : [index, index];
    const on = range || !ticked.has(rows[index].dataset.id);
    for (const row of rows.slice(from, to + 1)) on ? ticked.add(row.dataset.id) : ticked.delete(row.dataset.id);
    lastTick = index;
    send("ticked", [...ticked]);
  };
  const pane = () => `.st-key-review_${ticked.size ? `together_${ticked.size}` : data.chosen.replace(":", "_")}`;
  const onClick = (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    if (event.target.closest(".tick") || (ticks && event.shiftKey)) tick(rows.indexOf(row), event.shiftKey);
    else choose(rows.indexOf(row), 0);
  };
  const onAll = () => {
    if (ticked.size) ticked.clear();
    else for (const row of data.rows) ticked.add(row.id);
    send("ticked", [...ticked]);
  };
  const onKey = (event) => {
    const at = event.composedPath()[0];
    const typing = isTyping(event);
    if (event.key === "Escape" && typing && at.closest(".st-key-review_pane")) at.blur();
    if (!frame.isConnected || typing || hasModifier(event)) return;
    const step = rowStep(event, at === list, MOVES);
    if (step !== undefined) {
      event.preventDefault();
      choose(clamped(chosen + step, rows.length), SETTLE);
    } else if (event.repeat) {
      return;
    } else if (event.key === "x" && ticks && rows[chosen]) {
      event.preventDefault();
      tick(chosen, false);
    } else if (event.key === "c") {
      event.preventDefault();
      whenDrawn(pane(), () => document.querySelector(COMMENT)?.focus());
    } else if (AT_ONCE[event.key]) {
      event.preventDefault();
      document.querySelector(AT_ONCE[event.key])?.click();
    } else if (PRESSED[event.key] && !decided) {
      event.preventDefault();
      decided = true;
      whenDrawn(pane(), () => document.querySelector(PRESSED[event.key])?.click());
    }
  };
  show();
  moveAgain(frame, rows, choose);
  frame.on = { click: onClick, all: onAll };
  // Cleaned up before it is drawn again: until then keys still act, so that none is lost.
  let leaving;
  const stop = listenToKeys(frame, onKey, () => clearTimeout(leaving));
  return () => {
    leaving = setTimeout(stop, PATIENCE);
  };
}
