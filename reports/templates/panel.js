// What a cell rests on: its parts, reasons, evidence and the command that repeats it.
const copyButton = (text) =>
  element("button", { type: "button", class: "copy", onclick: async (event) => {
    await navigator.clipboard.writeText(text);
    event.target.textContent = "copied";
  } }, "copy");

const commandLine = (text) =>
  element("p", { class: "command" }, element("code", {}, text), " ", copyButton(text));

const quoted = (text) => (/^[\w.:/=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const repeatCommand = (part, target) => {
  const run = data.runs[target];
  return `pytest ${quoted(`suites/${part.name}`)} --target ${quoted(data.targets[target])}`
    + (run && run[1] !== null ? ` --seed ${run[1]}` : "");
};

// An evidence file is a head and parts between lines such as "-- wire --".
const evidenceSections = (text) => {
  const pieces = text.split(/^-- (.+) --$/m);
  const sections = [];
  for (let at = 1; at < pieces.length; at += 2) {
    sections.push(element("details", { open: pieces[at] === "wire" },
      element("summary", {}, pieces[at]), element("pre", { tabindex: 0 }, pieces[at + 1].trim())));
  }
  // The panel says the head's words already; they stay within reach, closed.
  const head = element("pre", { tabindex: 0 }, pieces[0].trim());
  sections.push(sections.length
    ? element("details", {}, element("summary", {}, "case, target, verdicts"), head) : head);
  return sections;
};

const evidenceView = (number, open) => {
  const [path, packed] = data.evidence[number];
  if (!path) {
    return element("p", { class: "soft" }, "Its evidence no longer lay beside the results.");
  }
  const link = element("a", { href: path }, "as a file");
  if (!packed) return element("p", {}, "Evidence: ", link);
  const inside = element("div", { class: "inside" });
  const details = element("details", { class: "evidence", ontoggle: async () => {
    if (!details.open || inside.childElementCount) return;
    inside.replaceChildren(...evidenceSections(await evidenceText(number)), element("p", {}, link));
  } }, element("summary", {}, "Evidence: exchange, log"), inside);
  details.open = open;
  return details;
};

const partView = (part, target, first) =>
  element("li", {},
    element("div", {}, badge(part.verdict), " ", part.versions ? element("b", {}, part.versions) : null,
      part.unstable
        ? element("span", { class: "unstable" }, ` unstable: ${part.attempts} attempts differ`)
        : part.attempts > 1 ? element("span", { class: "soft" }, ` ${part.attempts} attempts`) : null),
    element("code", { class: "case" }, part.name),
    part.notes.filter((note) => note.text).map((note) =>
      element("p", { class: "reason" }, part.unstable ? [badge(note.verdict), " "] : null, note.text)),
    faultsView(part, target, first),
    lanesView(part, target, first),
    commandLine(repeatCommand(part, target)),
    part.notes.filter((note) => note.evidence >= 0).map((note) => evidenceView(note.evidence, first)));

const cellView = (row, target, only) => {
  const cell = row.cells[target];
  const parts = cell.parts();
  const loudest = parts.find((part) => !quiet.has(verdicts[part.verdict].name));
  const rest = parts.filter((part) => quiet.has(verdicts[part.verdict].name));
  const loud = parts.filter((part) => !quiet.has(verdicts[part.verdict].name));
  const list = (shown) => element("ul", { class: "parts" },
    shown.map((part) => partView(part, target, only && part === loudest)));
  return element("section", {},
    element("h3", {}, data.targets[target], " ", badge(cell.verdict)),
    cell.verdict === NOT_RUN ? element("p", { class: "soft" }, verdicts[NOT_RUN].meaning) : null,
    loud.length ? list(loud) : null,
    rest.length && only && !loud.length ? list(rest) : null,
    rest.length && !(only && !loud.length)
      ? element("details", {},
        element("summary", {}, `${rest.length} more with nothing to look at`), list(rest))
      : null);
};

const changedWords = ({ id, was, now }) =>
  `${id}: ${was < 0 ? "no verdict" : verdicts[was].words} → ${now < 0 ? "no verdict" : verdicts[now].words}`;

const defectView = (defect) =>
  element("li", {},
    element("div", {}, badge(defect.killed ? PASSED : FAILED, defect.killed ? "noticed" : "not noticed as it should be"),
      " ", element("b", {}, defect.target)),
    element("p", {}, defect.meaning),
    element("code", { class: "case" }, defect.name),
    defect.problem ? element("p", { class: "reason" }, defect.problem) : null,
    defect.reason ? element("p", { class: "reason" }, defect.reason) : null,
    defect.changed.length
      ? element("p", { class: "soft" }, `verdicts that changed: ${defect.changed.map(changedWords).join(", ")}`)
      : null);

const requirementHead = (row) => [
  element("h2", {}, row.id, " ", element("span", { class: `level ${row.level}` }, row.level)),
  element("p", {}, row.statement),
];

const defectsSection = (row) => {
  const found = defectsOf.get(row.id) || [];
  if (!found.length) return null;
  return element("details", { open: state.view === "defects" },
    element("summary", {}, `${plural(found.length, "defect")}: is this test able to fail?`),
    element("ul", { class: "parts" }, found.map(defectView)));
};

const observedOf = (id) => (data.observed[id]
  ? element("p", { class: "hint" }, `Apache Kafka, as observed: ${data.observed[id]}`) : null);

const requirementPanel = (id, column) => {
  const row = requirementNamed.get(id);
  if (!row) return null;
  const of = column ? column.targets : data.targets.map((_, number) => number);
  const ran = of.filter((number) => row.cells[number].verdict !== NOT_RUN);
  const targets = column && column.set && ran.length ? ran : of;
  return [requirementHead(row), observedOf(id), state.view === "defects" ? defectsSection(row) : null,
    targets.map((number) => cellView(row, number, column && !column.set)),
    state.view === "defects" ? null : defectsSection(row)];
};

const apiPanel = (key, column) => {
  const api = apis.find((one) => String(one.key) === key);
  if (!api) return null;
  const targets = column ? column.targets : data.targets.map((_, number) => number);
  const said = (verdict) => (verdict < 0 ? element("span", { class: "soft" }, "not asked") : badge(verdict));
  return [element("h2", {}, api.name, " ", element("span", { class: "soft" }, `API key ${api.key}`)),
    targets.map((target) => element("section", {}, element("h3", {}, data.targets[target]),
      element("table", { class: "small" },
        element("thead", {}, element("tr", {}, ["Version", "Offered", "Decodable", "Behaves", "Not passed"]
          .map((title) => element("th", { scope: "col" }, title)))),
        element("tbody", {}, api.versions.filter(({ cells }) => cells[target]).map(({ version, cells }) =>
          element("tr", {}, element("th", { scope: "row" }, `v${version}`),
            element("td", {}, cells[target].offer),
            element("td", {}, said(cells[target].decodable)),
            element("td", {}, said(cells[target].behaves)),
            element("td", {}, loudLinks(cells[target], target))))))))];
};

const loudLinks = (cell, target) => {
  const loud = cell.requirements.filter(({ verdict }) => !quiet.has(verdicts[verdict].name));
  return loud.slice(0, 12).map(({ row }) => [element("a", {
    href: `#${new URLSearchParams({ at: `${row.id}@${data.targets[target]}`, q: row.id })}`,
  }, row.id), " "]).concat(loud.length > 12 ? [`and ${loud.length - 12} more`] : []);
};

const wirePanel = (key) => {
  const found = wire.filter((seen) => `${seen.key}.${seen.version}` === key);
  if (!found.length) return null;
  return [element("h2", {}, `${found[0].name} v${found[0].version}`),
    found.map((seen) => element("section", {},
      element("h3", {}, `${data.targets[seen.target]}: ${plural(seen.messages, seen.direction ? "answer" : "request")}`),
      seen.errors.length
        ? element("p", {}, "Error codes: ", seen.errors.map(({ code, words, count }) =>
          [element("span", { class: code === 0 ? "code" : "code loud" }, `${code} ${words}`), ` × ${count} `]))
        : null,
      fieldTable(seen)))];
};

const fieldTable = (seen) => {
  const fields = new Map();
  for (const { field, state: what, count } of seen.fields) {
    if (!fields.has(field)) fields.set(field, data.states.map(() => 0));
    fields.get(field)[what] += count;
  }
  if (!fields.size) return element("p", { class: "soft" }, "No field was recorded.");
  return element("details", {}, element("summary", {}, plural(fields.size, "field")),
    element("table", { class: "small" },
      element("thead", {}, element("tr", {}, ["Field", ...data.states.map((s) => STATE_TITLES[s])]
        .map((title) => element("th", { scope: "col" }, title)))),
      element("tbody", {}, [...fields].map(([field, counts]) =>
        element("tr", {}, element("th", { scope: "row" }, field || "(message)"),
          counts.map((count) => element("td", { class: "number" }, count || "–")))))));
};

// `state.at` is KEY@COLUMN; the column may be empty.
const opened = () => {
  const cut = state.at.indexOf("@");
  if (cut < 0) return null;
  return { key: state.at.slice(0, cut), column: columnNamed(state.at.slice(cut + 1)) };
};

const PANELS = {
  requirements: requirementPanel, defects: requirementPanel, apis: apiPanel, wire: wirePanel,
};

const panelContent = () => {
  const at = opened();
  const made = PANELS[state.view];
  return at && made ? made(at.key, at.column) : null;
};

