// Three choices of a theme. The browser keeps the choice (see frame/start.js) and draws the page with it at once.
const CHOICES = [
  ["System", "As the system"],
  ["Light", "Light"],
  ["Dark", "Dark"],
];

const choose = (theme) => {
  const chosen = JSON.stringify(theme);
  localStorage.setItem("fivefold_theme", chosen);
  localStorage.setItem(`fivefold_theme.${localStorage.getItem("fivefold_person") ?? ""}`, chosen);
  location.reload();
};

export default function ({ data, parentElement }) {
  const group = element("fieldset", "themes");
  group.append(element("legend", "", data.label));
  const kept = JSON.parse(localStorage.getItem("fivefold_theme") ?? '"System"');
  for (const [theme, words] of CHOICES) {
    const label = element("label", "");
    const pick = element("input", "");
    pick.type = "radio";
    pick.name = "theme";
    pick.checked = theme === kept;
    pick.onchange = () => choose(theme);
    label.append(pick, words);
    group.append(label);
  }
  parentElement.querySelector(".themes")?.remove();
  parentElement.append(group);
}
