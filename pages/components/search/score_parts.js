// The parts of a score: a bar, and a line for each part with its colour, its points and its reason.
const line = (part) => {
  const row = element("div", "part");
  const swatch = element("span", "swatch");
  swatch.style.background = part.colour;
  const label = element("span", "label", part.label);
  label.title = part.means;
  row.append(swatch, label, element("span", "points", part.points), element("span", "reason", part.reason));
  return row;
};

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".parts") ?? parentElement.appendChild(element("div", "parts"));
  root.replaceChildren();
  const bar = element("div", "bar");
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", data.words);
  for (const part of data.parts.filter((each) => each.share > 0)) {
    const piece = element("div", "piece");
    piece.style.width = `${100 * part.share}%`;
    piece.style.background = part.colour;
    piece.title = `${part.label} ${part.points}`;
    bar.append(piece);
  }
  if (data.threshold > 0) {
    const mark = element("div", "threshold");
    mark.style.left = `${100 * data.threshold}%`;
    mark.title = `Threshold ${data.threshold.toFixed(2)}`;
    bar.append(mark);
  }
  const lines = element("div", "lines");
  lines.append(...data.parts.map(line));
  const total = element("div", "part total");
  total.append(element("span", "swatch"), element("span", "label", "Score"), element("span", "points", data.total), element("span", "reason", ""));
  lines.append(total);
  root.append(bar, lines);
  if (data.neutral.length) {
    const folded = element("details", "neutral");
    folded.append(element("summary", "", data.folded), ...data.neutral.map(line));
    root.append(folded);
  }
}
