// "/" moves to the question, as in every search tool; "?" asks for the keys of the page. Typing in a field stays typing.
// A page with keys of its own for them, as Search and Review have for "?", keeps them.
const OWN_KEYS = ".st-key-search_keys, .st-key-review_keys, [role=dialog]";

export default function ({ parentElement, setTriggerValue }) {
  const onKey = (event) => {
    if (isTyping(event) || hasModifier(event) || event.defaultPrevented) return;
    if (event.key === "?" && !document.querySelector(OWN_KEYS)) {
      event.preventDefault();
      setTriggerValue("help", true);
      return;
    }
    if (event.key !== "/") return;
    const question = document.querySelector('.st-key-question input, .st-key-question textarea');
    if (!question) return;
    event.preventDefault();
    question.focus();
    question.select();
  };
  return listenToKeys(parentElement, onKey);
}
