// The reader of a document. A page of a PDF is drawn by pdf.js with letters that can be selected; a text is drawn as
// headings, paragraphs and tables. Keys: n and p go to the next and previous mark, the arrows turn pages, + and − zoom,
// / goes to the find field. Keys pressed in a field stay typing.
const ZOOM_STEP = 1.2, LEAST_ZOOM = 0.4, MOST_ZOOM = 4; // one step is seen; beyond these a page is a blot or a letter
const FIT = 28; // pixels left beside a page that is fitted to the width

const kindClass = (kind) => (kind === "note" ? "note-mark" : kind);

const control = (label, text, act) => {
  const made = element("button", "", text);
  made.type = "button";
  made.title = label;
  made.setAttribute("aria-label", label.replace(/ \(.*\)$/, ""));
  made.addEventListener("click", act);
  return made;
};

let library;
const pdfjs = () => {
  library ??= import(new URL("pdfjs/pdf.min.mjs", document.baseURI).href).then((loaded) => {
    loaded.GlobalWorkerOptions.workerSrc = new URL("pdfjs/pdf.worker.min.mjs", document.baseURI).href;
    return loaded;
  });
  return library;
};

const folder = (name) => new URL(`pdfjs/${name}/`, document.baseURI).href;

const build = (parent) => {
  const root = element("div", "reader");
  const tools = element("div", "tools"), legend = element("div", "legend"), note = element("div", "note");
  const main = element("div", "main"), outline = element("nav", "outline"), scroll = element("div", "scroll");
  note.setAttribute("role", "status");
  tools.setAttribute("role", "toolbar");
  tools.setAttribute("aria-label", "Reading tools");
  outline.setAttribute("aria-label", "Outline");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "document");
  main.append(outline, scroll);
  root.append(tools, legend, note, main);
  parent.append(root);
  const room = { root, tools, legend, note, outline, scroll, zoom: 0, drawing: 0, outlineShown: window.innerWidth > 900 };
  addTools(room);
  return room;
};

const addTools = (room) => {
  const go = (wish) => room.go(wish);
  room.contents = control("Outline", "☰", () => { room.outlineShown = !room.outlineShown; show(room); });
  room.previous = control("Previous page (←)", "‹", () => turn(room, room.page - 1));
  room.next = control("Next page (→)", "›", () => turn(room, room.page + 1));
  room.number = element("input", "number");
  room.number.inputMode = "numeric";
  room.number.addEventListener("change", () => { const page = parseInt(room.number.value, 10); if (page) turn(room, page); else show(room); });
  room.total = element("span", "total");
  room.out = control("Zoom out (−)", "−", () => zoomBy(room, 1 / ZOOM_STEP));
  room.fit = control("Fit to width (0)", "Fit", () => { room.zoom = 0; draw(room); });
  room.in = control("Zoom in (+)", "+", () => zoomBy(room, ZOOM_STEP));
  room.view = control("Show the text", "Text", () => go({ view: room.data.kind === "pdf" ? "text" : "pages" }));
  room.find = element("input", "find");
  room.find.type = "search";
  room.find.placeholder = "Find in document (/)";
  room.find.setAttribute("aria-label", "Find in document");
  room.find.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") { event.preventDefault(); room.scroll.focus(); } // a browser would empty the field
    if (event.key !== "Enter") return;
    if (room.find.value.trim() === room.data.find && room.data.steps) step(room, event.shiftKey ? -1 : 1);
    else go({ find: room.find.value });
  });
  room.find.addEventListener("search", () => { if (!room.find.value && room.data.find) go({ find: "" }); });
  room.tally = element("span", "tally");
  room.tally.setAttribute("role", "status");
  room.back = control("Previous mark (p)", "↑", () => step(room, -1));
  room.forth = control("Next mark (n)", "↓", () => step(room, 1));
  room.tools.append(room.contents, room.previous, room.number, room.total, room.next, room.out, room.fit, room.in, room.view,
    element("span", "gap"), room.find, room.tally, room.back, room.forth);
};

// Turning a page or going to a mark replaces the address, so that Back leaves the document. The server then writes the
// same address, which adds no step to the history. A wish names where to go, not how far: told twice, it moves once.
const replaceAddress = (changes) => {
  const query = new URLSearchParams(window.location.search), written = new URLSearchParams();
  for (const name of ["id", "page", "mark", "find", "at", "view", "q"]) {
    const value = changes[name] ?? query.get(name);
    if (value) written.set(name, value);
  }
  window.history.replaceState({}, "", `${window.location.pathname}?${written}`);
};

const turn = (room, wanted) => {
  const page = Math.max(1, Math.min(wanted, room.data.pages));
  if (page === room.page) { show(room); return; }
  room.page = page;
  replaceAddress({ page });
  room.go({ page });
};

const step = (room, by) => {
  const { steps } = room.data;
  if (!steps) return;
  room.at = room.at ? ((room.at - 1 + by + steps) % steps) + 1 : 1;
  replaceAddress({ at: room.at, page: "" });
  room.go({ at: room.at });
};

const zoomBy = (room, factor) => {
  room.zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, (room.zoom || room.scale || 1) * factor));
  draw(room);
};

const show = (room) => {
  const { data } = room, pdf = data.kind === "pdf";
  room.previous.disabled = data.page <= 1;
  room.next.disabled = data.page >= data.pages;
  room.number.value = data.page;
  room.number.setAttribute("aria-label", data.unit);
  room.total.textContent = `of ${data.pages.toLocaleString("en")}${data.label ? ` · ${data.label}` : ""}`;
  for (const tool of [room.out, room.fit, room.in]) tool.hidden = !pdf;
  room.view.hidden = !data.both;
  room.view.textContent = pdf ? "Text" : "Pages";
  room.view.title = pdf ? "Show the text" : "Show the pages";
  room.view.setAttribute("aria-label", room.view.title);
  if (document.activeElement?.shadowRoot?.activeElement !== room.find) room.find.value = data.find;
  room.tally.textContent = data.tally;
  room.back.disabled = room.forth.disabled = !data.steps;
  room.contents.hidden = !data.outline.length;
  room.contents.setAttribute("aria-pressed", room.outlineShown);
  room.outline.hidden = !data.outline.length || !room.outlineShown;
  room.outline.replaceChildren(...data.outline.map(([title, level, page, start]) => {
    const entry = element("button", "", title);
    entry.type = "button";
    entry.style.setProperty("--level", level);
    entry.addEventListener("click", () => room.go({ page, start }));
    return entry;
  }));
  room.legend.replaceChildren(...data.legend.map(([kind, words, number]) => {
    const entry = element("span", kindClass(kind));
    entry.append(element("span", "swatch"), `${words} (${number.toLocaleString("en")})`);
    return entry;
  }));
  room.note.textContent = data.note;
  room.scroll.setAttribute("aria-label", `${data.name}, ${data.unit.toLowerCase()} ${data.page}`);
};

const runs = (parent, pieces) => {
  for (const [text, kind, label, current] of pieces) {
    if (!kind) { parent.append(text); continue; }
    const mark = element("mark", `${kindClass(kind)}${current ? " current" : ""}`, text);
    mark.title = label;
    parent.append(mark);
  }
  return parent;
};

const table = (rows) => {
  const box = element("div", "grid"), made = element("table"), body = element("tbody");
  if (rows[0].columns.length) {
    const head = element("thead"), line = element("tr");
    for (const name of rows[0].columns) line.append(Object.assign(element("th", "", name), { scope: "col" }));
    head.append(line);
    made.append(head);
  }
  for (const row of rows) {
    const line = element("tr", `${row.marked ? "marked" : ""}${row.current ? " current" : ""}`);
    for (const cell of row.cells) line.append(runs(Object.assign(element("td"), { dir: "auto" }), cell));
    body.append(line);
  }
  made.append(body);
  box.append(made);
  return box;
};

const drawText = (room) => {
  const { blocks, lines } = room.data;
  const wide = blocks.some((block) => block.columns?.length);
  const text = element("div", `text${lines ? " lines" : ""}${wide ? " wide" : ""}`);
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at];
    if (block.cells) {
      const rows = [block];
      const same = (other) => other?.cells && other.columns.join("\n") === block.columns.join("\n");
      while (same(blocks[at + 1])) rows.push(blocks[(at += 1)]);
      text.append(table(rows));
    } else {
      const tag = block.kind === "heading" ? "h2" : "p";
      text.append(runs(Object.assign(element(tag, block.kind), { dir: "auto" }), block.runs));
    }
  }
  if (!blocks.length) text.append(element("p", "", "This page has no text."));
  room.scroll.replaceChildren(text);
};

const open = async (room) => {
  if (room.opened?.url === room.data.url) return room.opened.file;
  room.opened?.file.then((file) => file.destroy(), () => {});
  const { getDocument } = await pdfjs();
  const url = new URL(room.data.url.replace(/^\//, ""), document.baseURI).href;
  const file = getDocument({ url, disableAutoFetch: true, disableStream: true, cMapUrl: folder("cmaps"), cMapPacked: true,
    standardFontDataUrl: folder("standard_fonts"), wasmUrl: folder("wasm"), useSystemFonts: false, isEvalSupported: false }).promise;
  room.opened = { url: room.data.url, file };
  return file;
};

const drawPage = async (room, count) => {
  const { TextLayer } = await pdfjs(), file = await open(room);
  const { data } = room, page = await file.getPage(data.page);
  if (count !== room.drawing) return;
  const whole = page.getViewport({ scale: 1 });
  room.scale = room.zoom || Math.min(2, Math.max(LEAST_ZOOM, (room.scroll.clientWidth - FIT) / whole.width));
  const viewport = page.getViewport({ scale: room.scale });
  const sheet = element("div", "sheet"), canvas = element("canvas"), letters = element("div", "textLayer");
  sheet.style.width = `${viewport.width}px`;
  sheet.style.height = `${viewport.height}px`;
  sheet.style.setProperty("--total-scale-factor", room.scale);
  const dots = Math.min(2, window.devicePixelRatio || 1);
  canvas.width = Math.round(viewport.width * dots);
  canvas.height = Math.round(viewport.height * dots);
  sheet.append(canvas, letters);
  for (const { kind, label, current, box: [left, top, right, bottom] } of data.boxes) {
    const made = element("div", `box ${kindClass(kind)}${current ? " current" : ""}`);
    made.title = label;
    Object.assign(made.style, { left: `${left * room.scale - 1}px`, top: `${top * room.scale - 1}px`,
      width: `${(right - left) * room.scale + 2}px`, height: `${(bottom - top) * room.scale + 2}px` });
    sheet.append(made);
  }
  await page.render({ canvas, viewport, transform: [dots, 0, 0, dots, 0, 0] }).promise;
  if (count !== room.drawing) return;
  room.scroll.replaceChildren(sheet);
  reveal(room);
  await new TextLayer({ textContentSource: page.streamTextContent(), container: letters, viewport }).render();
};

const reveal = (room) => {
  const target = room.scroll.querySelector(".current") ?? room.scroll.querySelector(".cited");
  if (!target) { room.scroll.scrollTop = 0; return; }
  const seat = room.scroll.getBoundingClientRect(), mark = target.getBoundingClientRect();
  room.scroll.scrollTop += mark.top - seat.top - seat.height / 3;
};

const draw = async (room) => {
  const count = (room.drawing += 1), pdf = room.data.kind === "pdf";
  room.scroll.classList.toggle("pages", pdf);
  if (!pdf) { drawText(room); reveal(room); return; }
  if (!room.scroll.querySelector(".sheet")) { // later pages are awaited with the one before in sight
    room.scroll.replaceChildren(Object.assign(element("p", "loading", `Loading page ${room.data.page} …`), { role: "status" }));
  }
  try {
    await drawPage(room, count);
  } catch (problem) {
    if (count !== room.drawing) return;
    room.note.textContent = `This page cannot be drawn (${problem.message}). “Text” shows its stored text.`;
    room.scroll.replaceChildren();
  }
};

const pressed = (room, event) => {
  if (hasModifier(event) || isTyping(event) || !room.root.isConnected) return;
  const { data } = room;
  const acts = {
    n: () => step(room, 1), p: () => step(room, -1),
    ArrowRight: () => turn(room, room.page + 1), ArrowLeft: () => turn(room, room.page - 1),
    "/": () => room.find.select(), "+": () => zoomBy(room, ZOOM_STEP), "-": () => zoomBy(room, 1 / ZOOM_STEP),
    0: () => { room.zoom = 0; draw(room); },
  };
  if (!acts[event.key] || (data.kind !== "pdf" && "+-0".includes(event.key))) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  acts[event.key]();
};

export default function ({ data, parentElement, setTriggerValue }) {
  const room = (parentElement.room ??= build(parentElement));
  room.stop?.();
  room.go = (wish) => setTriggerValue("go", wish);
  const before = room.drawn, now = JSON.stringify(data);
  Object.assign(room, { data, page: data.page, at: data.at }); // page and at run ahead of the data until it follows
  if (before !== now) {
    room.drawn = now;
    show(room);
    draw(room);
  }
  const listen = (event) => pressed(room, event);
  document.addEventListener("keydown", listen, true);
  room.stop = () => document.removeEventListener("keydown", listen, true);
  return room.stop;
}
