// The board as a table: a row per topic, a column per truth with the state in words. Heads sort, cells open.
const button = (name, text, onClick) => {
  const made = element("button", name, text);
  made.type = "button";
  made.addEventListener("click", onClick);
  return made;
};

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  let frame = parentElement.querySelector(".frame");
  if (!frame) {
    frame = element("div", "frame");
    frame.tabIndex = 0;
    frame.setAttribute("role", "region");
    parentElement.append(frame);
  }
  frame.setAttribute("aria-label", data.label);
  const focused = frame.getRootNode().activeElement?.dataset.id;
  const table = element("table");
  table.append(element("caption", "", data.label));
  let [column, down] = data.sorted;
  const value = (row) => (column === 0 ? row.topic.toLowerCase() : column > 0 ? row.cells[column - 1].order : row.place);
  const body = element("tbody");
  const drawRows = () => {
    const sorted = [...data.rows].sort((one, other) => (value(one) > value(other) ? 1 : value(one) < value(other) ? -1 : one.place - other.place));
    if (down) sorted.reverse();
    body.replaceChildren(
      ...sorted.map((row) => {
        const line = element("tr");
        const head = element("th", "topic", row.topic);
        head.scope = "row";
        line.append(head);
        for (const cell of row.cells) {
          const box = element("td");
          const open = button(`cell${cell.lit ? "" : " pale"}`, cell.words, () => setTriggerValue("opened", cell.id));
          open.dataset.id = cell.id;
          open.style.setProperty("--ink", `var(--st-${cell.colour}-text-color)`);
          open.style.setProperty("--fill", `var(--st-${cell.colour}-background-color)`);
          open.setAttribute("aria-label", `${row.topic}, ${cell.kind}: ${cell.spoken}`);
          box.append(open);
          line.append(box);
        }
        return line;
      }),
    );
  };
  const heads = element("tr");
  const drawHeads = () => {
    heads.replaceChildren(
      ...data.columns.map((name, index) => {
        const head = element("th", index === 0 ? "topic" : "");
        head.scope = "col";
        head.setAttribute("aria-sort", column !== index ? "none" : down ? "descending" : "ascending");
        const arrow = column !== index ? "" : down ? " ↓" : " ↑";
        const sort = button("sort", `${name}${arrow}`, () => {
          [column, down] = column === index ? [column, !down] : [index, false];
          setStateValue("sorted", [column, down]);
          drawHeads();
          drawRows();
          heads.children[index].querySelector("button").focus();
        });
        sort.title = [data.means[index], `Click to sort by ${name}.`].filter(Boolean).join(" ");
        head.append(sort);
        if (data.shares[index]) head.append(element("div", "share", data.shares[index]));
        return head;
      }),
    );
  };
  const top = element("thead");
  top.append(heads);
  drawHeads();
  drawRows();
  table.append(top, body);
  frame.replaceChildren(table);
  if (focused) frame.querySelector(`[data-id="${focused}"]`)?.focus();
}
