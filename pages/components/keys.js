// "/" moves to the question, as in every search tool; typing in a field stays typing. On a page without one it does nothing.
export default function () {
  const onKey = (event) => {
    const at = event.target;
    const typing = at instanceof HTMLElement && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName));
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const question = document.querySelector('.st-key-question input, .st-key-question textarea');
    if (!question) return;
    event.preventDefault();
    question.focus();
    question.select();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
