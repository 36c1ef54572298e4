// The page's state stands in the address (#view=apis&q=...), so that what one sees can be linked to.
// A plain #PROD-011 opens that requirement. What is as at first is left out.
const FIRST = Object.freeze({
  view: "requirements", q: "", verdict: "", target: "", level: "", area: "",
  differ: "0", fold: "1", group: "1", shut: "", unfolded: "", open: "", at: "",
});
const state = { ...FIRST };

const readAddress = () => {
  const hash = location.hash.slice(1);
  Object.assign(state, FIRST);
  if (hash && !hash.includes("=")) {
    let id = hash;
    try { id = decodeURIComponent(hash); } catch { /* not ours: as it is */ }
    if (requirementNamed.has(id)) Object.assign(state, { fold: "0", at: `${id}@${shutColumns[0].name}` });
    return;
  }
  for (const [name, value] of new URLSearchParams(hash)) {
    if (name in FIRST) state[name] = value;
  }
};

const writeAddress = (asNewPage) => {
  const said = Object.entries(state).filter(([name, value]) => value !== FIRST[name]);
  const address = `#${new URLSearchParams(said)}`;
  if (address === location.hash || (address === "#" && !location.hash)) return;
  history[asNewPage ? "pushState" : "replaceState"](null, "", address);
};

const listed = (name) => new Set(state[name].split(",").filter(Boolean));
const toggleListed = (name, value) => {
  const values = listed(name);
  if (!values.delete(value)) values.add(value);
  state[name] = [...values].join(",");
};

