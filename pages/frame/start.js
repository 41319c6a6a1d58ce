// Runs before Streamlit starts. Names the server's address: a deep link would otherwise look for the server below the page.
window.__streamlit = { BACKEND_BASE_URL: new URL(".", document.currentScript.src).href };

// The theme chosen under Settings (theme.js), for the page that Streamlit 1.67 is about to draw: it keeps one for each.
{
  const chosen = localStorage.getItem("fivefold_theme");
  if (chosen) localStorage.setItem(`stActiveTheme-${location.pathname}-v2`, chosen);
}

// A field whose label is hidden tells it on hover; Streamlit shows it to screen readers only.
{
  const FIELDS = ["stSelectbox", "stMultiSelect", "stTextInput", "stTextArea", "stNumberInput", "stDateInput", "stFileUploader"]
    .map((name) => `[data-testid=${name}]`).join();
  document.addEventListener("pointerover", (event) => {
    const field = event.target.closest?.(FIELDS);
    const label = field?.querySelector(":scope > [data-testid=stWidgetLabel]");
    if (label) field.title = getComputedStyle(label).display === "none" ? label.textContent : "";
  });
}
