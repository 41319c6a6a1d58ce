// What the scripts of the pages share: elements, and the keys of lists and tables. It is put in front of every script.
const element = (tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
};

// Keys pressed in a field stay typing, and those with Ctrl, Meta or Alt belong to the browser.
const isTyping = (event) => {
  const at = event.composedPath()[0];
  return at instanceof HTMLElement && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName));
};
const hasModifier = (event) => event.ctrlKey || event.metaKey || event.altKey;

// One row down or up: j and k anywhere, the arrows in the list alone.
const ROW_KEYS = { j: 1, k: -1 };
const rowStep = (event, inList, keys = ROW_KEYS) =>
  keys[event.key] ?? (inList ? { ArrowDown: 1, ArrowUp: -1 }[event.key] : undefined);
const clamped = (index, length) => Math.min(length - 1, Math.max(0, index));
const SETTLE = 120; // milliseconds without another row key before the row is drawn

// Send a move to another row once no other key follows. When the page is drawn again before that, the new rows are
// moved on as well: the server does not know of the move yet.
const sendMove = (owner, id, send, wait) => {
  clearTimeout(owner.waiting);
  owner.move = id;
  owner.waiting = setTimeout(() => {
    owner.move = undefined;
    send(id);
  }, wait);
};
const moveAgain = (owner, rows, choose) => {
  clearTimeout(owner.waiting);
  const index = rows.findIndex((row) => row.dataset.id === owner.move);
  owner.move = undefined;
  if (index >= 0) choose(index, SETTLE);
};

// Listen to the keys of the page until what is drawn goes. Drawn again without having been cleaned up, keys act once.
const listenToKeys = (owner, onKey, cleanUp) => {
  owner.stop?.();
  document.addEventListener("keydown", onKey);
  owner.stop = () => {
    cleanUp?.();
    document.removeEventListener("keydown", onKey);
  };
  return owner.stop;
};

// Act once what a key was meant for is drawn: a key right after j acts on the new row, not on the one before.
const PATIENCE = 10000; // milliseconds a key waits for what it was meant for
let waitingAct;
const whenDrawn = (selector, act) => {
  const until = Date.now() + PATIENCE;
  const tryToAct = () => {
    const busy = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "running";
    if (document.querySelector(selector) && !busy) act();
    else if (Date.now() < until) waitingAct = setTimeout(tryToAct, 30);
  };
  clearTimeout(waitingAct);
  tryToAct();
};

