// Five cells, one per truth: whether it answers, and its best sentence. A click opens its evidence.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".strip") ?? parentElement.appendChild(element("div", "strip"));
  root.replaceChildren();
  for (const cell of data.cells) {
    const button = element("button", `cell ${cell.state.replace(" ", "-")}`);
    button.type = "button";
    button.disabled = !cell.opens;
    button.title = cell.help;
    button.style.setProperty("--truth", `var(--st-${cell.colour}-color)`);
    button.style.setProperty("--truth-text", `var(--st-${cell.colour}-text-color)`);
    const head = element("span", "head");
    const truth = element("span", "truth", cell.title);
    truth.title = cell.means;
    head.append(truth, element("span", "state", cell.words));
    button.append(head, element("span", "sentence", cell.sentence));
    button.onclick = () => {
      button.blur(); // Enter now opens the chosen result; it does not press the cell again
      setTriggerValue("opened", cell.truth);
    };
    root.append(button);
  }
}
