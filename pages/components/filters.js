// Check lists of the filters, and the date histogram. A click wants a value, ⊘ excludes it; each sends one change.
const SHOWN = 5; // values of a field in sight before "more"
const FIND = 12; // values from which a field to find one is worth its line
const PAUSE = 300; // milliseconds without a letter before values are asked for that are not here

const button = (name, text, id, press) => {
  const made = element("button", name, text);
  made.type = "button";
  made.dataset.id = id;
  made.onclick = press;
  return made;
};

const drawValue = (group, value, send) => {
  const row = element("div", `value ${value.state} ${value.count ? "" : "none"}`);
  row.style.setProperty("--bar", `var(--st-${value.colour}-color)`);
  row.style.setProperty("--share", value.share);
  const change = (state) => send({ field: group.field, value: value.value, state: value.state === state ? "" : state });
  const label = element("label", "pick");
  const box = element("input", "box");
  box.type = "checkbox";
  box.checked = value.state === "in";
  box.dataset.id = `in ${group.field} ${value.value}`;
  box.setAttribute("aria-label", `${group.label}: ${value.title}, ${value.count} passages`);
  box.onchange = () => change("in");
  const title = element("bdi", "title", value.title);
  title.title = value.title;
  label.append(box, title, element("span", "count", value.count.toLocaleString("en")));
  const out = button("out", "⊘", `out ${group.field} ${value.value}`, () => change("out"));
  out.setAttribute("aria-label", `${value.state === "out" ? "Stop excluding" : "Exclude"} ${value.title}`);
  out.setAttribute("aria-pressed", String(value.state === "out"));
  out.title = out.getAttribute("aria-label");
  row.append(label, out);
  return row;
};

const drawGroup = (group, kept, send) => {
  const part = element("div", "group");
  part.setAttribute("role", "group");
  part.setAttribute("aria-label", group.label);
  const head = element("div", "head");
  const name = element("span", "name", group.label);
  if (group.help) {
    name.title = group.help;
    name.classList.add("explained");
  }
  head.append(name);
  if (group.mode) {
    const other = group.mode === "all" ? "any" : "all";
    const join = button("join", `${group.mode} of them`, `mode ${group.field}`, () => send({ field: group.field, mode: other }));
    join.title = `Change to ${other} of them`;
    head.append(join);
  }
  const rows = element("div", "rows");
  const more = button("more", "", `more ${group.field}`, () => {
    kept[group.field] = { ...kept[group.field], open: !kept[group.field]?.open };
    list();
  });
  const list = () => {
    const { open, text } = kept[group.field] ?? {};
    const wanted = (text ?? "").trim().toLowerCase();
    const fits = group.values.filter((value) => value.title.toLowerCase().includes(wanted));
    const shown = fits.filter((value, index) => open || wanted || index < SHOWN || value.state);
    rows.replaceChildren(...shown.map((value) => drawValue(group, value, send)));
    if (!fits.length) rows.append(element("div", "nothing", "No value has these letters."));
    if (group.withheld && (open || wanted)) rows.append(element("div", "nothing", `${group.withheld.toLocaleString("en")} more: type to find one.`));
    more.hidden = Boolean(wanted) || fits.length <= SHOWN || (shown.length === fits.length && !open);
    more.textContent = open ? "Show fewer" : `${(fits.length - shown.length).toLocaleString("en")} more`;
    more.setAttribute("aria-expanded", String(Boolean(open)));
  };
  part.append(head);
  if (group.values.length >= FIND || group.partial) {
    const find = element("input", "find");
    find.type = "search";
    find.placeholder = "Find…";
    find.dataset.id = `find ${group.field}`;
    find.setAttribute("aria-label", `Find in ${group.label}`);
    find.value = kept[group.field]?.text ?? "";
    find.oninput = () => {
      kept[group.field] = { ...kept[group.field], text: find.value };
      list();
      if (!group.partial) return;
      clearTimeout(kept[group.field].waiting);
      kept[group.field].waiting = setTimeout(() => send({ field: group.field, find: find.value }), PAUSE);
    };
    part.append(find);
  }
  part.append(rows, more);
  list();
  return part;
};

// Click a bar for its time, drag (or Shift) over several for a range, click the only chosen one again for any time.
const drawBars = (bars, send) => {
  const part = element("div", "group");
  part.setAttribute("role", "group");
  part.setAttribute("aria-label", "Date");
  const head = element("div", "head");
  head.append(element("span", "name", "Date"));
  const chart = element("div", "bars");
  const most = Math.max(1, ...bars.map((bar) => bar.count));
  const chosen = bars.map((bar, index) => (bar.on ? index : -1)).filter((index) => index >= 0);
  let from = null;
  const choose = (a, b) => {
    const [first, last] = [Math.min(a, b), Math.max(a, b)];
    const same = chosen.length && chosen[0] === first && chosen.at(-1) === last;
    send(same ? { from: "", to: "" } : { from: bars[first].from, to: bars[last].to });
  };
  const paint = (a, b) => made.forEach((bar, index) => bar.classList.toggle("dragged", a !== null && index >= Math.min(a, b) && index <= Math.max(a, b)));
  const made = bars.map((bar, index) => {
    const one = button(`bar ${bar.on ? "on" : ""} ${chosen.length && !bar.on ? "off" : ""}`, undefined, `bar ${bar.label}`);
    const fill = element("span", "fill");
    fill.style.height = bar.count ? `${Math.max(6, (100 * bar.count) / most)}%` : "0";
    one.append(fill);
    one.title = `${bar.label}: ${bar.count.toLocaleString("en")}`;
    one.setAttribute("aria-label", `${bar.label}, ${bar.count} passages`);
    one.setAttribute("aria-pressed", String(bar.on));
    one.onpointerdown = () => (from = index);
    one.onpointerenter = (event) => from !== null && event.buttons && paint(from, index);
    one.onpointerup = (event) => {
      if (from !== null) choose(event.shiftKey && chosen.length ? chosen[0] : from, index);
      from = null;
    };
    one.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) made[index + step]?.focus();
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose(event.shiftKey && chosen.length ? chosen[0] : index, index);
      }
    };
    return one;
  });
  chart.onpointerleave = () => {
    from = null;
    paint(null, null);
  };
  chart.append(...made);
  const ends = element("div", "ends");
  ends.append(element("span", "", bars[0].label), element("span", "", bars.length > 1 ? bars.at(-1).label : ""));
  part.append(head, chart, ends);
  return part;
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".filters") ?? parentElement.appendChild(element("div", "filters"));
  root.kept ??= {};
  const held = root.getRootNode().activeElement?.dataset?.id;
  const send = (change) => setTriggerValue("changed", change);
  root.replaceChildren(...data.groups.map((group) => drawGroup(group, root.kept, send)));
  if (data.bars.length) root.append(drawBars(data.bars, send));
  if (held) [...root.querySelectorAll("[data-id]")].find((each) => each.dataset.id === held)?.focus({ preventScroll: true });
}
