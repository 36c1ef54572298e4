// Requirement x release; reports/archaeology/page_data.py writes what is read here.
const data = JSON.parse(byId("data").textContent);
const columns = data.columns.map(([name, mode, targets, complete]) =>
  ({ name, mode, targets, complete: complete === 1 }));
const states = data.states.map(([name, sign, words]) => ({ name, sign, words }));
const agreements = data.agreements.map(([name, words, meaning]) => ({ name, words, meaning }));

const rows = data.rows.map(([id, area, level, statement, dates, note, agreement, inState, agreed,
  promised, changes, contradictions, ranges, reasons, bugs]) => ({
  id, area, level, statement, dates, note, agreement: agreements[agreement],
  cells: [...inState].map((state, at) => ({
    state: states[Number(state)], agreement: agreements[Number(agreed[at])],
    dated: at > 0 && promised[at] !== promised[at - 1],
  })),
  changes: changes.map(([before, after, was, now, said]) => ({
    before, after, was: states[was], now: states[now], agreement: agreements[said],
  })),
  contradictions, ranges: ranges.map(([state, where]) => ({ state: states[state], where })),
  reasons: reasons.map(([verdict, where, texts]) =>
    ({ verdict, where, texts: texts.map((text) => data.texts[text]) })),
  bugs,
}));
const rowNamed = new Map(rows.map((row) => [row.id, row]));
const textOf = (row) => {
  row.text ??= [row.id, row.statement, row.dates, row.note, ...row.reasons.flatMap((r) => r.texts)]
    .join("\n").toLowerCase();
  return row.text;
};

// What one looks at stands in the address; a plain #PROD-011 opens that requirement.
const FIRST = Object.freeze({ q: "", agreement: "", level: "", area: "", at: "", changed: "", open: "" });
const state = { ...FIRST };
const readAddress = () => {
  const hash = location.hash.slice(1);
  Object.assign(state, FIRST);
  if (rowNamed.has(hash)) state.open = hash;
  else for (const [name, value] of new URLSearchParams(hash)) if (name in FIRST) state[name] = value;
};
const writeAddress = (asNewPage) => {
  const said = Object.entries(state).filter(([name, value]) => value !== FIRST[name]);
  history[asNewPage ? "pushState" : "replaceState"](null, "", `#${new URLSearchParams(said)}`);
};

const badge = (agreement) => element("span", { class: `badge ${agreement.name}` }, agreement.words);

const fits = () => {
  const wanted = new Set(state.agreement.split(",").filter(Boolean));
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  return (row) =>
    (!wanted.size || wanted.has(row.agreement.name))
    && (!state.level || row.level === state.level)
    && (!state.area || row.area === state.area)
    && (!state.changed || row.changes.length > 0)
    && (!state.at || row.changes.some((change) => columns[change.after].name === state.at))
    && words.every((word) => textOf(row).includes(word));
};

const cellWords = (row, at) => {
  const { state: said, agreement, dated } = row.cells[at];
  return `${columns[at].name}: ${said.words}, ${agreement.words}${dated ? ", promised otherwise than before" : ""}`;
};

const lineOf = (row) => ({
  key: row.id, kind: "history", height: 32, row,
  label: (column) => (column > 0 ? cellWords(row, column - 1)
    : `${row.id}, ${row.level}, ${row.dates}, ${row.agreement.words}: ${row.statement}`),
  cell: (column) => {
    if (column === 0) {
      return [element("b", { class: "id" }, row.id),
        element("span", { class: `level ${row.level}` }, row.level),
        element("span", { class: "dates" }, row.dates)];
    }
    const { state: said, agreement, dated } = row.cells[column - 1];
    return element("span", {
      class: `release ${said.name} ${agreement.name}${dated ? " dated" : ""}`,
      title: cellWords(row, column - 1),
    }, said.sign);
  },
});

const panel = byId("panel");
const close = () => {
  state.open = "";
  writeAddress(true);
  draw();
  grid.focus();
};

const changeView = (change) => element("li", {},
  element("b", {}, `${columns[change.before].name} → ${columns[change.after].name}`),
  ` ${change.was.words} → ${change.now.words} `, badge(change.agreement));

const reasonView = ({ verdict, where, texts }) => element("li", {},
  element("b", {}, where), ` ${verdict}`, texts.map((text) => element("p", { class: "reason" }, text)));

const bugView = ([where, reason, link]) => element("li", {}, element("b", {}, where), ` ${reason} `,
  /^https?:/.test(link) ? element("a", { href: link }, link) : null);

const part = (title, items) => (items.length
  ? element("section", {}, element("h3", {}, title), element("ul", { class: "parts" }, items)) : null);

const drawPanel = () => {
  const row = rowNamed.get(state.open);
  panel.hidden = !row;
  panel.replaceChildren(...(!row ? [] : [
    element("button", { type: "button", class: "close", "aria-label": "Close details", onclick: close }, "✕"),
    element("h2", {}, row.id, " ", element("span", { class: `level ${row.level}` }, row.level)),
    element("p", {}, row.statement),
    element("p", {}, `By the catalogue: ${row.dates}${row.note ? ` (${row.note})` : ""} `,
      badge(row.agreement)),
    element("dl", { class: "ranges" }, row.ranges.map(({ state: said, where }) =>
      [element("dt", {}, said.words), element("dd", {}, where)])),
    part("Contradicts the catalogue", row.contradictions.map(([what, where]) =>
      element("li", {}, `It ${what}: `, element("b", {}, where)))),
    part("Points of change", row.changes.map(changeView)),
    part("Known bugs", row.bugs.map(bugView)),
    part("Why", row.reasons.map(reasonView)),
  ].filter(Boolean)));
  panel.scrollTop = 0;
};

const grid = new Grid(byId("grid"), (line) => {
  state.open = line.key;
  writeAddress(true);
  draw();
  panel.focus();
});

const fields = ["q", "level", "area", "at", "changed"].map((name) => [name, byId(name)]);
const draw = () => {
  for (const [name, field] of fields) {
    if (field.type === "checkbox") field.checked = state[name] === "1";
    else if (field.value !== state[name]) field.value = state[name];
  }
  const wanted = new Set(state.agreement.split(","));
  for (const box of byId("agreements").querySelectorAll("input")) box.checked = wanted.has(box.value);
  drawPanel();
  const shown = rows.filter(fits());
  byId("shown").textContent = `${shown.length.toLocaleString("en")} of ${plural(rows.length, "requirement")}`;
  byId("none").hidden = shown.length > 0;
  byId("grid").hidden = shown.length === 0;
  grid.show({
    label: "Requirements by release", lines: shown.map(lineOf),
    columns: ["Requirement", ...columns.map(({ name, complete }) => (complete ? name : `${name} !`))],
    widths: [[17, 0.001], ...columns.map(() => [1.75, 1])],
  });
};

const changed = () => {
  for (const [name, field] of fields) {
    state[name] = field.type === "checkbox" ? (field.checked ? "1" : "") : field.value;
  }
  state.agreement = [...byId("agreements").querySelectorAll("input:checked")].map((box) => box.value).join(",");
  byId("grid").scrollTop = 0;
  writeAddress(false);
  draw();
};

const options = (id, names) => byId(id).append(...names.map((name) => element("option", { value: name }, name)));

const start = () => {
  byId("agreements").append(...agreements.map(({ name, words, meaning }) =>
    element("label", { class: `badge ${name}`, title: meaning },
      element("input", { type: "checkbox", value: name }), " ", words)));
  options("level", [...new Set(rows.map((row) => row.level))]);
  options("area", [...new Set(rows.map((row) => row.area))]);
  options("at", columns.filter((_, at) => rows.some((row) => row.changes.some((c) => c.after === at)))
    .map(({ name }) => name));
  const form = byId("filter");
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    Object.assign(state, FIRST);
    writeAddress(false);
    draw();
  });
  byId("skip").addEventListener("click", (event) => { event.preventDefault(); grid.focus(); });
  const follow = () => {
    readAddress();
    draw();
    const line = grid.lines.findIndex((one) => one.key === state.open);
    if (line >= 0) grid.activate(line, 0);
  };
  window.addEventListener("hashchange", follow);
  window.addEventListener("popstate", follow);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden) close();
    if (event.key !== "/" || event.target.matches("input, textarea, select")) return;
    event.preventDefault();
    byId("q").focus();
  });
  byId("plain").hidden = true;
  byId("main").hidden = false;
  follow();
};

start();
