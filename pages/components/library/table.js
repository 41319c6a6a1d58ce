// A table whose rows can be chosen, ticked, sorted and opened. A click on a row chooses it, on its name opens it; j and k
// (or the arrows) move, Enter opens the chosen row, x ticks it. Keys pressed in a field stay typing.
const PRESSABLE = "a, button, input, [role=button], [role=combobox], [role=dialog], [role=listbox], [role=radio]"; // Enter is theirs

// Open a document of the app without loading the app again: one step of the browser's history, so that Back returns to
// the list as it was. Streamlit follows the address when the browser says that its history moved.
const open = (link) => {
  if (!link) return;
  history.pushState(null, "", link.href);
  dispatchEvent(new PopStateEvent("popstate"));
};

const box = (name, checked, label) => {
  const made = element("input", name);
  made.type = "checkbox";
  made.checked = checked;
  made.setAttribute("aria-label", label);
  return made;
};

const drawHead = (data) => {
  const line = element("tr", "");
  if (data.ticked) {
    const cell = element("th", "tick");
    const all = data.rows.length > 0 && data.rows.every((row) => data.ticked.includes(row.id));
    const every = box("every", all, `Select all ${data.rows.length} on this page`);
    every.indeterminate = !all && data.rows.some((row) => data.ticked.includes(row.id));
    cell.append(every);
    line.append(cell);
  }
  for (const column of data.columns) {
    const cell = element("th", column.style);
    cell.scope = "col";
    if (column.help) cell.title = column.help;
    const sorted = data.order === column.sort && column.sort;
    if (column.sort) {
      cell.setAttribute("aria-sort", sorted ? (data.descending ? "descending" : "ascending") : "none");
      const button = element("button", "sort", column.title);
      button.type = "button";
      button.dataset.sort = column.sort;
      if (sorted) button.append(element("span", "arrow", data.descending ? "↓" : "↑"));
      cell.append(button);
    } else cell.textContent = column.title;
    line.append(cell);
  }
  const head = element("thead", "");
  head.append(line);
  return head;
};

const drawName = (cell, row) => {
  const link = element(row.address ? "a" : "span", "name");
  if (row.address) link.href = row.address;
  link.title = row.full;
  const name = element("bdi", "");
  for (const part of row.name.split(/(?<=[_\-.\/])/)) name.append(part, document.createElement("wbr"));
  link.append(name);
  cell.append(link);
  if (!row.sentence.length) return;
  const sentence = element("div", "sentence");
  for (const [text, hit] of row.sentence) sentence.append(hit ? element("mark", "", text) : text);
  cell.append(sentence);
};

const drawCell = (cell, value) => {
  if (Array.isArray(value)) {
    cell.title = value.join(", ");
    for (const tag of value) cell.append(element("span", "tag", tag), " ");
    return;
  }
  if (value !== null && typeof value === "object") {
    const sign = element("span", "sign", value.symbol);
    sign.style.setProperty("--sign", `var(--st-${value.colour}-text-color)`);
    sign.setAttribute("aria-hidden", "true");
    cell.append(sign, value.text);
    cell.title = value.help || value.text;
    return;
  }
  cell.textContent = value ?? "";
  if (value) cell.title = value;
};

const drawRow = (row, data) => {
  const line = element("tr", "row");
  line.id = `row-${row.id}`;
  line.dataset.id = row.id;
  if (data.ticked) {
    const cell = element("td", "tick");
    cell.append(box("one", data.ticked.includes(row.id), `Select ${row.full}`));
    line.append(cell);
  }
  for (const column of data.columns) {
    const cell = element("td", column.style);
    if (column.key === "name") drawName(cell, row);
    else drawCell(cell, row.cells[column.key]);
    line.append(cell);
  }
  return line;
};

export default function ({ data, parentElement, setTriggerValue }) {
  let frame = parentElement.querySelector(".frame");
  let table = parentElement.querySelector("table");
  if (!table) {
    frame = element("div", "frame");
    table = element("table", "");
    table.setAttribute("role", "grid");
    table.tabIndex = 0;
    frame.append(table);
    parentElement.append(frame);
  }
  table.setAttribute("aria-label", data.label);
  const body = element("tbody", "");
  for (const row of data.rows) body.append(drawRow(row, data));
  table.replaceChildren(drawHead(data), body);

  const rows = [...body.children];
  let chosen = rows.findIndex((row) => row.dataset.id === String(data.chosen));
  const show = (scroll) => {
    rows.forEach((row, index) => row.setAttribute("aria-selected", String(index === chosen)));
    if (!rows[chosen]) return table.removeAttribute("aria-activedescendant");
    table.setAttribute("aria-activedescendant", rows[chosen].id);
    if (scroll) rows[chosen].scrollIntoView({ block: "nearest" });
  };
  const choose = (index, wait) => {
    if (!rows[index]) return;
    chosen = index;
    show(true);
    sendMove(table, rows[index].dataset.id, (id) => setTriggerValue("chosen", Number(id)), wait);
  };
  const tick = (ids, on) => setTriggerValue("ticked", { ids, on });
  const onClick = (event) => {
    const sort = event.target.closest(".sort");
    const row = event.target.closest(".row");
    const link = event.target.closest("a");
    if (sort) return setTriggerValue("sorted", sort.dataset.sort);
    if (event.target.matches(".every")) return tick(data.rows.map((each) => each.id), event.target.checked);
    if (event.target.matches(".one")) return tick([Number(row.dataset.id)], event.target.checked);
    if (link) {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a tab of its own, by the link itself
      event.preventDefault();
      return open(link);
    }
    if (row && !event.target.closest(".tick")) choose(rows.indexOf(row), 0);
  };
  const onKey = (event) => {
    const at = event.composedPath()[0];
    const ours = at instanceof HTMLElement && table.contains(at);
    if ((isTyping(event) && !ours) || hasModifier(event)) return;
    if (!data.keys && !ours) return;
    const step = rowStep(event, at === table);
    if (step !== undefined && rows.length) {
      event.preventDefault();
      choose(clamped(chosen + step, rows.length), SETTLE);
    } else if (event.key === "x" && rows[chosen] && data.ticked) {
      event.preventDefault();
      const one = rows[chosen].querySelector(".one");
      one.checked = !one.checked;
      tick([Number(rows[chosen].dataset.id)], one.checked);
    } else if (event.key === "Enter" && rows[chosen] && !at.closest?.(PRESSABLE)) {
      event.preventDefault();
      open(rows[chosen].querySelector("a[href]"));
    }
  };
  show(false);
  moveAgain(table, rows, choose);
  const stop = listenToKeys(table, onKey, () => {
    clearTimeout(table.waiting);
    table.removeEventListener("click", onClick);
  });
  table.addEventListener("click", onClick);
  return stop;
}
