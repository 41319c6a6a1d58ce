// The text of a document in short, its quotes marked. A quote chosen in the list of reasons is brought into sight.
const drawBlock = (runs) => {
  const block = element("p", "block");
  block.dir = "auto";
  for (const [text, number, kind, hint] of runs) {
    if (!number) {
      block.append(text);
      continue;
    }
    const mark = element("mark", kind, text);
    mark.title = hint;
    mark.dataset.number = number;
    block.append(mark);
  }
  return block;
};

export default function ({ data, parentElement }) {
  let box = parentElement.querySelector(".text");
  if (!box) {
    box = element("div", "text");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    parentElement.append(box);
  }
  box.setAttribute("aria-label", `Text of ${data.name}`);
  const drawn = JSON.stringify(data);
  if (box.drawn !== drawn) {
    box.drawn = drawn;
    box.style.setProperty("--truth-back", `var(--st-${data.colour}-background-color)`);
    box.style.setProperty("--truth", `var(--st-${data.colour}-color)`);
    box.style.setProperty("--truth-text", `var(--st-${data.colour}-text-color)`);
    box.classList.toggle("lines", data.lines);
    box.replaceChildren();
    let page = "";
    data.parts.forEach((part, index) => {
      const between = part.title && part.title !== page ? part.title : "";
      if (index || between) box.append(element("div", "gap", between));
      page = part.title;
      const blocks = part.blocks.map(drawBlock);
      if (part.cut) blocks[0]?.prepend("… ");
      box.append(...blocks);
      if (part.more) box.lastChild.append(" …");
    });
    box.scrollTop = 0;
    for (const number of new Set([...box.querySelectorAll("mark")].map((mark) => mark.dataset.number))) {
      const chip = element("sup", "chip", number);
      [...box.querySelectorAll(`mark[data-number="${number}"]`)].at(-1).append(chip);
    }
  }
  const onShow = (event) => {
    const marks = [...box.querySelectorAll(`mark[data-number="${event.detail}"]`)];
    box.querySelectorAll("mark.current").forEach((mark) => mark.classList.remove("current"));
    marks.forEach((mark) => mark.classList.add("current"));
    if (!marks.length) return;
    const above = marks[0].getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTo({ top: box.scrollTop + above - box.clientHeight / 3, behavior: "smooth" });
  };
  box.stop?.(); // drawn again without having been cleaned up
  document.addEventListener("fivefold-quote", onShow);
  box.stop = () => document.removeEventListener("fivefold-quote", onShow);
  return box.stop;
}
