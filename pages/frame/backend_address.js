// Names the server's address before Streamlit starts: a deep link would otherwise look for the server below the page.
window.__streamlit = { BACKEND_BASE_URL: new URL(".", document.currentScript.src).href };
