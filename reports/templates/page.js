// The page: tabs, filter, grid and panel, all drawn from the state.
const views = [requirementsView, areasView, apisView, defectsView, mutantsView, wireView, aboutView];
const viewNamed = (name) => views.find((view) => view.name === name) || views[0];
const form = byId("filter");
const panel = byId("panel");
const fields = ["q", "target", "level", "area", "differ", "fold", "group"].map((name) =>
  [name, byId(name === "q" ? "find" : name)]);

const grid = new Grid(byId("grid"), (line, column) => {
  const before = { ...state };
  viewNamed(state.view).open(line, column);
  const opening = state.at !== before.at || state.view !== before.view;
  writeAddress(opening);
  draw();
  if (opening && state.at) panel.focus();
});

const tabs = views.map((view) =>
  element("button", { type: "button", role: "tab", id: `tab-${view.name}`, "aria-controls": "view",
    onclick: () => changeView(view.name) }, view.title));

const changeView = (name) => {
  Object.assign(state, { view: name, at: "" });
  writeAddress(true);
  draw();
};

const drawTabs = () => {
  for (const [number, tab] of tabs.entries()) {
    const chosen = views[number].name === state.view;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
  }
  byId("view").setAttribute("aria-labelledby", `tab-${state.view}`);
};

const drawForm = () => {
  for (const [name, field] of fields) {
    if (field.type === "checkbox") field.checked = state[name] === "1";
    else if (field.value !== state[name]) field.value = state[name];
  }
  const wanted = wantedVerdicts();
  for (const box of byId("verdicts").querySelectorAll("input")) box.checked = wanted.has(box.value);
  form.hidden = !viewNamed(state.view).filters;
  for (const tick of form.querySelectorAll("[data-of]")) tick.hidden = !tick.dataset.of.split(" ").includes(state.view);
};

const drawPanel = () => {
  const content = panelContent();
  panel.hidden = !content;
  if (!content) {
    panel.replaceChildren();
    return;
  }
  panel.replaceChildren(
    element("button", { type: "button", class: "close", "aria-label": "Close details", onclick: closePanel }, "✕"),
    ...content.flat(9).filter(Boolean));
  panel.scrollTop = 0;
};

const closePanel = () => {
  state.at = "";
  writeAddress(true);
  draw();
  grid.focus();
};

// The place of the opened cell in its line; 0, the line's head, where its column is not shown.
const placeOf = (at) => {
  const columns = state.view === apisView.name ? ofTarget : shownColumns();
  return columns.indexOf(at.column) + 1;
};

const markedCell = () => {
  const at = opened();
  return at && `${at.key}@${placeOf(at)}`;
};

const draw = () => {
  const view = viewNamed(state.view);
  state.view = view.name;
  drawTabs();
  drawForm();
  drawPanel();
  const about = view === aboutView;
  byId("about").hidden = !about;
  byId("grid").hidden = about;
  const missing = view.missing ? view.missing() : "";
  byId("note").textContent = [view.note, missing].filter(Boolean).join(" ");
  byId("note").hidden = !byId("note").textContent;
  if (about) {
    byId("none").hidden = true;
    return;
  }
  const shown = view.show();
  byId("grid").hidden = shown.lines.length === 0;
  byId("none").hidden = shown.lines.length > 0 || missing !== "";
  byId("shown").textContent = shown.shown;
  grid.show({ ...shown, marked: markedCell() });
};

// Brings the cell that the address names into sight and makes it the active one.
const findOpened = () => {
  const at = opened();
  const line = at ? grid.lines.findIndex((one) => one.key === at.key) : -1;
  if (line >= 0) grid.activate(line, Math.min(placeOf(at), grid.columns.length - 1));
};

const changed = () => {
  for (const [name, field] of fields) {
    state[name] = field.type === "checkbox" ? (field.checked ? "1" : "0") : field.value;
  }
  state.verdict = [...byId("verdicts").querySelectorAll("input:checked")].map((box) => box.value).join(",");
  byId("grid").scrollTop = 0;
  writeAddress(false);
  draw();
};

const reset = () => {
  Object.assign(state, FIRST, { view: state.view });
  writeAddress(false);
  draw();
};

const tabKeys = (event) => {
  const now = tabs.indexOf(event.target);
  const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (now < 0 || to === undefined) return;
  event.preventDefault();
  const next = (to + tabs.length) % tabs.length;
  changeView(views[next].name);
  tabs[next].focus();
};

const start = () => {
  byId("tabs").append(...tabs);
  byId("tabs").addEventListener("keydown", tabKeys);
  byId("verdicts").append(...verdicts.map((verdict) =>
    element("label", { class: `badge ${verdict.name}`, title: verdict.meaning },
      element("input", { type: "checkbox", value: verdict.name }), " ",
      element("span", { "aria-hidden": "true" }, verdict.sign), " ", verdict.words)));
  for (const [id, names] of [["target", [...sets, ...ofTarget].map(({ name }) => name)], ["level", data.levels], ["area", areas]]) {
    byId(id).append(...names.map((name) => element("option", { value: name }, name)));
  }
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => { event.preventDefault(); reset(); });
  byId("skip").addEventListener("click", (event) => { event.preventDefault(); grid.focus(); });
  const follow = () => { readAddress(); draw(); findOpened(); };
  window.addEventListener("hashchange", follow);
  window.addEventListener("popstate", follow);
  narrow.addEventListener("change", draw);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden) closePanel();
    if (event.key !== "/" || event.target.matches("input, textarea, select")) return;
    event.preventDefault();
    byId("find").focus();
  });
  byId("plain").hidden = true;
  byId("main").hidden = false;
  follow();
};

start();
