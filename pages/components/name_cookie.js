// Keeps the typed name in this browser for a year; it is read when the next session begins.
export default function ({ data }) {
  document.cookie = `fivefold_name=${encodeURIComponent(data)}; Path=/; Max-Age=${data ? 31536000 : 0}; SameSite=Strict`;
}
