// The search of the site's first page: all words must stand in a name or its text.
const MOST_FOUND = 50;
const { kinds, entries } = JSON.parse(document.getElementById("data").textContent);
const texts = entries.map(([kind, name, words]) => `${kinds[kind]} ${name} ${words}`.toLowerCase());
const names = entries.map((entry) => entry[1].toLowerCase());
const find = document.getElementById("find");
const list = document.getElementById("found");
const count = document.getElementById("count");

const place = (number, wanted) =>
  names[number] === wanted ? 0 : names[number].startsWith(wanted) ? 1 : 2;

const matching = (query) => {
  const wanted = query.toLowerCase().trim();
  const words = wanted.split(/\s+/);
  const numbers = [...texts.keys()].filter((at) => words.every((word) => texts[at].includes(word)));
  return numbers.sort((one, other) => place(one, wanted) - place(other, wanted) || one - other);
};

const line = (number) => {
  const [kind, name, words, address] = entries[number];
  return element("li", {}, element("span", { class: "soft" }, kinds[kind]), " ",
    element("a", { href: address }, name), " ", words);
};

const show = () => {
  const query = find.value.trim();
  const found = query ? matching(query) : [];
  list.replaceChildren(...found.slice(0, MOST_FOUND).map(line));
  const cut = found.length > MOST_FOUND ? `, the first ${MOST_FOUND} shown` : "";
  count.textContent = query ? `${found.length} found${cut}` : "";
};

const toAddress = () => {
  const query = find.value.trim();
  history.replaceState(null, "", query ? `#q=${encodeURIComponent(query)}` : location.pathname);
};

const fromAddress = () => {
  const said = location.hash.match(/^#q=(.*)$/);
  if (said) find.value = decodeURIComponent(said[1]);
  show();
};

find.addEventListener("input", () => { show(); toAddress(); });
document.getElementById("search").addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "/" && document.activeElement !== find) find.focus();
  else if (event.key === "Escape") { find.value = ""; show(); toAddress(); find.focus(); }
  else if (event.key === "ArrowDown" && (document.activeElement === find || at >= 0)) links[at + 1]?.focus();
  else if (event.key === "ArrowUp" && at >= 0) (links[at - 1] ?? find).focus();
  else return;
  event.preventDefault();
});
window.addEventListener("hashchange", fromAddress);
document.getElementById("search").hidden = false;
fromAddress();
