const typing = (at) => at instanceof HTMLElement && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName));

// A key that is held down grades once, not everything that follows.
const onRepeat = (event) => {
  if (event.repeat && !typing(event.target)) event.stopImmediatePropagation();
};

// Once something is chosen or a name is given, what was used gives the keyboard back: the keys that grade do nothing in
// a field, and arrows would move inside a switch.
export default function () {
  const at = document.activeElement;
  if (at instanceof HTMLElement && at.tagName !== "TEXTAREA") at.blur();
  window.addEventListener("keydown", onRepeat, true);
  return () => window.removeEventListener("keydown", onRepeat, true);
}
