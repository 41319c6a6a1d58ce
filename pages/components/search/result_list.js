// The list of results: one is chosen. Clicks choose; j and k (or the arrows) move, Enter opens the result in full width,
// c cites it, n adds a note, x ticks it, ? lists these keys. Keys pressed in a field stay typing.
const PRESSED = { Enter: ".st-key-pane_open a", c: ".st-key-pane_cite button", n: ".st-key-pane_note button", "?": ".st-key-search_keys button" };

const marked = (name, parts) => {
  const line = element("div", name);
  for (const [text, hit] of parts) line.append(hit ? element("mark", "", text) : text);
  return line;
};

// The document, its page or rows, and the heading: where they do not fit, the heading is cut first and the number never.
const placeOf = (row) => {
  const place = element("span", "place");
  const name = element("span", "name", row.name && `${row.name}${row.number || row.heading ? "," : ""}`);
  name.dir = "auto";
  place.append(name);
  if (row.number) place.append(element("span", "pages", ` ${row.number}`));
  if (row.heading) place.append(element("span", "heading", `${row.number ? " · " : " "}${row.heading}`));
  place.title = place.textContent;
  return place;
};

const drawRow = (row, number) => {
  const option = element("div", "row");
  option.id = `result-${row.id}`;
  option.setAttribute("role", "option");
  option.dataset.id = row.id;
  option.style.setProperty("--truth", `var(--st-${row.colour}-color)`);
  option.style.setProperty("--truth-text", `var(--st-${row.colour}-text-color)`);
  const rank = element("div", "rank", String(number));
  option.append(rank);
  const body = element("div", "body");
  const sentence = marked("sentence", row.sentence);
  sentence.dir = "auto";
  sentence.title = row.sentence.map(([text]) => text).join("");
  const tick = element("span", "tick", row.ticked ? "☑" : "☐");
  tick.title = row.ticked ? "Remove from the shortlist (x)" : "Add to the shortlist (x)";
  const foot = element("div", "foot");
  foot.append(element("span", "truth", row.truth));
  foot.append(placeOf(row));
  for (const note of row.notes) foot.append(element("span", "note", note));
  if (row.ticks) rank.append(tick);
  if (row.ticked) option.classList.add("ticked");
  body.append(sentence, foot);
  const score = element("div", "score");
  const bar = element("div", "bar");
  const part = element("div", "part");
  part.style.width = `${Math.round(100 * row.share)}%`;
  bar.append(part);
  score.append(element("div", "number", row.score), bar);
  option.append(body, score);
  return option;
};

export default function ({ data, parentElement, setTriggerValue }) {
  let list = parentElement.querySelector(".list");
  if (!list) {
    list = element("div", "list");
    list.setAttribute("role", "listbox");
    list.tabIndex = 0;
    parentElement.append(list);
  }
  list.setAttribute("aria-label", data.label);
  list.replaceChildren();
  for (const row of data.rows) {
    if (row.group) {
      const head = element("div", "group", row.group);
      head.setAttribute("role", "presentation");
      list.append(head);
    }
    list.append(drawRow({ ...row, ticks: data.ticks, ticked: data.ticked.includes(row.id) }, row.rank));
  }
  const rows = [...list.querySelectorAll(".row")];
  let chosen = Math.max(0, rows.findIndex((row) => row.dataset.id === String(data.chosen)));
  const show = (scroll) => {
    rows.forEach((row, index) => row.setAttribute("aria-selected", String(index === chosen && data.chosen !== null)));
    if (!rows[chosen]) return;
    list.setAttribute("aria-activedescendant", rows[chosen].id);
    if (scroll) rows[chosen].scrollIntoView({ block: "nearest" });
  };
  const choose = (index, wait) => {
    if (!rows[index]) return;
    chosen = index;
    data.chosen = rows[index].dataset.id;
    show(true);
    sendMove(list, data.chosen, (id) => setTriggerValue("chosen", Number(id)), wait);
  };
  const onClick = (event) => {
    const row = event.target.closest(".row");
    if (row && event.target.closest(".tick")) setTriggerValue("ticked", Number(row.dataset.id));
    else if (row) choose(rows.indexOf(row), 0);
  };
  const onKey = (event) => {
    const at = event.composedPath()[0];
    if (isTyping(event) || hasModifier(event)) return;
    const step = rowStep(event, at === list);
    if (step !== undefined) {
      event.preventDefault();
      choose(clamped(chosen + step, rows.length), SETTLE);
      return;
    }
    if (event.key === "x" && data.ticks && rows[chosen]) {
      event.preventDefault();
      setTriggerValue("ticked", Number(rows[chosen].dataset.id));
      return;
    }
    const free = at === document.body || at === list;
    if (PRESSED[event.key] && (event.key !== "Enter" || free)) {
      event.preventDefault();
      whenDrawn(`.st-key-chosen_${data.chosen}`, () => document.querySelector(PRESSED[event.key])?.click());
    }
  };
  show(false);
  moveAgain(list, rows, choose);
  const stop = listenToKeys(list, onKey, () => {
    clearTimeout(list.waiting);
    list.removeEventListener("click", onClick);
  });
  list.addEventListener("click", onClick);
  return stop;
}
