// A page of results that was turned from below them begins above them; the head of the window lies over what scrolls.
export default function ({ parentElement, data }) {
  if (!data) return;
  parentElement.style.scrollMarginTop = "4.5rem";
  parentElement.scrollIntoView();
}
