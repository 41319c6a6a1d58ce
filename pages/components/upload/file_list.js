// The list of files: a row each. A click or Enter opens a file; j and k (or the arrows) move between names.
// The last button of a row stops a file or tries it again.
const truthOf = (row) => {
  const pill = element("span", row.uncertain ? "truth uncertain" : "truth", row.truth);
  pill.style.setProperty("--truth", `var(--st-${row.colour}-text-color)`);
  pill.style.setProperty("--truth-back", `var(--st-${row.colour}-background-color)`);
  return pill;
};

const drawRow = (row) => {
  const line = element("tr", `row ${row.kind}`);
  line.dataset.id = row.id;
  const name = element("td", "file");
  const open = element("button", "name", row.short);
  open.title = row.name;
  open.dir = "auto";
  name.append(open);
  for (const [kind, words] of row.notes) name.append(element("div", `note ${kind}`, words));
  const state = element("td", "state");
  state.append(element("span", "sign", row.sign), row.state);
  if (row.share !== null) {
    const bar = element("div", "bar");
    bar.append(element("div", "part"));
    bar.firstChild.style.width = `${Math.round(100 * row.share)}%`;
    state.append(bar);
  }
  const truth = element("td", "label");
  if (row.truth) truth.append(truthOf(row));
  const act = element("td", "act");
  if (row.act) {
    const button = element("button", "press", row.act[1]);
    button.dataset.act = row.act[0];
    button.setAttribute("aria-label", `${row.act[1]}: ${row.name}`);
    act.append(button);
  }
  line.append(name, state, truth, element("td", "number", row.pages), element("td", "number", row.passages));
  line.append(element("td", "number size", row.size), act);
  return line;
};

export default function ({ data, parentElement, setTriggerValue }) {
  let table = parentElement.querySelector("table");
  if (!table) {
    table = element("table", "files");
    const head = element("thead", "");
    const titles = element("tr", "");
    for (const [name, words] of [["file", "File"], ["state", "State"], ["label", "Truth"], ["number", "Pages"],
      ["number", "Passages"], ["number size", "Size"], ["act", ""]]) {
      const cell = element(words ? "th" : "td", name, words);
      if (words) cell.scope = "col";
      titles.append(cell);
    }
    head.append(titles);
    table.append(head, element("tbody", ""));
    parentElement.append(table);
  }
  table.setAttribute("aria-label", data.label);
  const body = table.tBodies[0];
  const focused = table.getRootNode().activeElement?.closest?.(".row")?.dataset.id; // kept while files are being read
  const drawn = JSON.stringify(data.rows);
  if (table.drawn !== drawn) {
    table.drawn = drawn;
    body.replaceChildren(...data.rows.map(drawRow));
    if (focused) body.querySelector(`[data-id="${focused}"] .name`)?.focus({ preventScroll: true });
  }
  for (const row of body.rows) row.classList.toggle("open", row.dataset.id === String(data.open));
  const onClick = (event) => {
    const row = event.target.closest(".row");
    const copying = !event.target.closest("button") && document.getSelection().toString();
    if (!row || copying) return;
    const press = event.target.closest(".press");
    setTriggerValue(press ? press.dataset.act : "opened", Number(row.dataset.id));
  };
  const onKey = (event) => {
    if (isTyping(event) || hasModifier(event)) return;
    const step = rowStep(event, event.composedPath().includes(table));
    const names = [...body.querySelectorAll(".name")];
    if (step === undefined || !names.length) return;
    event.preventDefault();
    const from = names.indexOf(table.getRootNode().activeElement);
    names[clamped(from + step, names.length)].focus();
  };
  const stop = listenToKeys(table, onKey, () => table.removeEventListener("click", onClick));
  table.addEventListener("click", onClick);
  return stop;
}
