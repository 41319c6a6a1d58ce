// What this browser keeps for a person: the typed name, for a year, read when the next session begins; and whose theme is
// in use. Somebody else who signs in here gets their own theme.
export default function ({ data: { name, person } }) {
  document.cookie = `fivefold_name=${encodeURIComponent(name)}; Path=/; Max-Age=${name ? 31536000 : 0}; SameSite=Strict`;
  if (localStorage.getItem("fivefold_person") === person) return;
  localStorage.setItem("fivefold_person", person);
  const own = localStorage.getItem(`fivefold_theme.${person}`) ?? '"System"';
  if (own === (localStorage.getItem("fivefold_theme") ?? '"System"')) return;
  localStorage.setItem("fivefold_theme", own);
  location.reload();
}
