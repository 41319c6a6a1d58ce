// Keeps the typed name in this browser for a year; it is read when the next session begins.
export default function ({ data: { name } }) {
  document.cookie = `fivefold_name=${encodeURIComponent(name)}; Path=/; Max-Age=${name ? 31536000 : 0}; SameSite=Strict`;
}
