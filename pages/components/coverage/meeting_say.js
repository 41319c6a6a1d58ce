// What a seat puts on record: a comment, an open point or a proposal about one cell. The draft stays with the cell it
// was begun on, also when the presenter moves on or the page is drawn again, until it is sent or discarded.
const drafts = new Map(); // meeting → { cell, topic, kind, words, owner, due, sending }

const labelled = (text, field) => {
  const label = element("label", "field");
  label.append(element("span", "", text), field);
  return label;
};

const build = (parent) => {
  const form = element("form", "say");
  const head = element("div", "head");
  const about = element("span", "about");
  const moved = element("span", "moved");
  moved.setAttribute("role", "status");
  head.append(about, moved);
  const words = element("textarea", "words");
  words.rows = 2;
  words.setAttribute("aria-label", "Your words");
  const foot = element("div", "foot");
  const kind = element("select", "kind");
  kind.setAttribute("aria-label", "Kind");
  const owner = element("input", "owner");
  owner.type = "text";
  owner.maxLength = 80;
  owner.setAttribute("list", "people");
  const people = element("datalist");
  people.id = "people";
  const due = element("input", "due");
  due.type = "date";
  const point = element("span", "point");
  point.append(labelled("Owner", owner), labelled("Due", due), people);
  const send = element("button", "send", "Send");
  send.type = "submit";
  const discard = element("button", "discard", "Discard");
  discard.type = "button";
  foot.append(kind, point, element("span", "space"), discard, send);
  form.append(head, words, foot);
  // Listened to once and for all: what is typed while the page is being drawn again counts too.
  form.addEventListener("input", () => form.on.input());
  form.addEventListener("submit", (event) => form.on.send(event));
  form.addEventListener("keydown", (event) => form.on.key(event));
  discard.addEventListener("click", () => form.on.discard());
  parent.append(form);
  return form;
};

export default function ({ data, parentElement, setStateValue }) {
  const form = parentElement.querySelector(".say") ?? build(parentElement);
  const find = (name) => form.querySelector(`.${name}`);
  const [words, kind, owner, due] = ["words", "kind", "owner", "due"].map(find);
  const blank = () => ({ cell: data.cell, topic: data.topic, kind: data.kinds[0].value, words: "", owner: "", due: "" });
  let draft = drafts.get(data.meeting);
  if (draft?.sending && draft.sending <= data.refused) draft.sending = 0; // an error is shown; the words stay
  if (draft?.sending && draft.sending <= data.stored) draft = undefined;
  if (!draft || (!draft.words && !draft.sending)) draft = { ...blank(), kind: draft?.kind ?? data.kinds[0].value };
  drafts.set(data.meeting, draft);

  if (kind.options.length !== data.kinds.length)
    kind.replaceChildren(...data.kinds.map((each) => new Option(each.words, each.value)));
  find("point").querySelector("datalist").replaceChildren(...data.people.map((name) => new Option(name)));
  words.placeholder = data.placeholder;
  const fields = { words, kind, owner, due };
  for (const [name, field] of Object.entries(fields)) if (field.value !== draft[name]) field.value = draft[name];

  const show = () => {
    find("about").textContent = `About ${draft.topic}`;
    find("moved").textContent = draft.words && draft.cell !== data.cell ? `The cell on screen is now ${data.topic}.` : "";
    find("point").hidden = draft.kind !== "open point";
    find("discard").hidden = !draft.words || Boolean(draft.sending);
    find("send").disabled = !draft.words.trim() || Boolean(draft.sending);
    find("send").textContent = draft.sending ? "Sending …" : "Send";
    for (const field of Object.values(fields)) field.disabled = Boolean(draft.sending);
  };
  const onInput = () => {
    for (const [name, field] of Object.entries(fields)) draft[name] = field.value;
    show();
  };
  const onSend = (event) => {
    event.preventDefault();
    if (!draft.words.trim() || draft.sending) return;
    draft.sending = Math.max(Date.now(), data.stored + 1, data.refused + 1);
    const { cell, kind: what, words: said, owner: by, due: until } = draft;
    setStateValue("said", { at: draft.sending, cell, kind: what, words: said, owner: by, due: until });
    show();
  };
  const onDiscard = () => {
    drafts.delete(data.meeting);
    draft = blank();
    drafts.set(data.meeting, draft);
    for (const [name, field] of Object.entries(fields)) field.value = draft[name];
    show();
    words.focus();
  };
  const onKey = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSend(event);
    if (event.key === "Escape") words.blur();
  };
  show();
  form.on = { input: onInput, send: onSend, key: onKey, discard: onDiscard };
}
