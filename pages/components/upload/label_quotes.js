// Why each label has its value: the reason in a sentence, and the quotes with their share. A click shows a quote in the text.
const drawQuote = (quote) => {
  const line = element(quote.number ? "button" : "div", "quote");
  if (quote.number) {
    line.dataset.number = quote.number;
    line.title = "Show it in the text";
  }
  line.append(element("span", "number", quote.number || ""));
  const body = element("span", "body");
  const words = element("span", "words", `“${quote.words}”`);
  words.dir = "auto";
  body.append(words, element("span", "rule", quote.rule));
  line.append(body);
  const share = element("span", "share");
  if (quote.share !== null) {
    const bar = element("span", "bar");
    bar.append(element("span", "part"));
    bar.firstChild.style.width = `${Math.round(100 * quote.share)}%`;
    share.append(`${Math.round(100 * quote.share)}%`, bar);
  }
  line.append(share);
  return line;
};

export default function ({ data, parentElement }) {
  let list = parentElement.querySelector(".reasons");
  if (!list) {
    list = element("div", "reasons");
    parentElement.append(list);
  }
  list.replaceChildren();
  for (const group of data.groups) {
    const head = element("h3", "title", group.title);
    head.append(element("span", "certainty", group.certainty));
    list.append(head, ...group.why.map((words) => element("p", "why", words)), ...group.quotes.map(drawQuote));
  }
  const onClick = (event) => {
    const quote = event.target.closest("button.quote");
    if (quote) document.dispatchEvent(new CustomEvent("fivefold-quote", { detail: quote.dataset.number }));
  };
  list.stop?.(); // drawn again without having been cleaned up
  list.addEventListener("click", onClick);
  list.stop = () => list.removeEventListener("click", onClick);
  return list.stop;
}
