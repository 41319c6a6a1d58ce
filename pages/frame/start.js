// Runs before Streamlit starts. Names the server's address: a deep link would otherwise look for the server below the page.
window.__streamlit = { BACKEND_BASE_URL: new URL(".", document.currentScript.src).href };

// The theme chosen under Settings (theme.js), for the page that Streamlit 1.67 is about to draw: it keeps one for each.
{
  const chosen = localStorage.getItem("fivefold_theme");
  if (chosen) localStorage.setItem(`stActiveTheme-${location.pathname}-v2`, chosen);
}
