// What reports/page_data.py wrote, with names instead of positions.
const data = JSON.parse(byId("data").textContent);

const verdicts = data.verdicts.map(([name, words, sign, meaning]) => ({ name, words, sign, meaning }));
const PASSED = verdicts.findIndex((verdict) => verdict.name === "passed");
const FAILED = verdicts.findIndex((verdict) => verdict.name === "failed");
const NOT_RUN = verdicts.length - 1;
const quiet = new Set(["passed", "not_supported", "not_applicable", "not_run"]);

const badge = (verdict, words) =>
  element("span", { class: `badge ${verdicts[verdict].name}` },
    element("span", { "aria-hidden": "true" }, verdicts[verdict].sign), " ",
    words === undefined ? verdicts[verdict].words : words);

const readNote = ([verdict, text, evidence]) => ({ verdict, text, evidence });
const readPart = ([name, versions, verdict, attempts, unstable, notes]) => ({
  name: data.cases[name], versions, verdict, attempts, unstable: unstable === 1,
  notes: notes.map(readNote),
});
const readCell = (cell) =>
  cell === 0
    ? { verdict: NOT_RUN, unstable: false, count: 0, parts: () => [] }
    : { verdict: cell[0], unstable: cell[1] === 1, count: cell[2],
        parts: () => cell[3].map(readPart) };

const requirements = data.rows.map(([id, area, level, statement, cells], number) => ({
  id, area, level, statement, number, cells: cells.map(readCell),
}));
const requirementNamed = new Map(requirements.map((row) => [row.id, row]));
const areas = [...new Set(requirements.map((row) => row.area))];

// All that can be searched in a row; put together when it is first asked for.
const textOf = (row) => {
  if (row.text === undefined) {
    const parts = row.cells.flatMap((cell) => cell.parts());
    const said = parts.flatMap((part) => [part.name, ...part.notes.map((note) => note.text)]);
    row.text = [row.id, row.level, row.statement, ...new Set(said)].join("\n").toLowerCase();
  }
  return row.text;
};

// As OFFERS in page_data.py.
const offers = ["not declared", "declared", "observed"];
const apis = data.apis.map(([key, name, versions]) => ({
  key, name,
  versions: versions.map(([version, ...cells]) => ({
    version,
    cells: cells.map((cell) => cell && {
      offer: offers[cell[0]], decodable: cell[1], behaves: cell[2],
      requirements: cell[3].map(([row, verdict]) => ({ row: requirements[row], verdict })),
    }),
  })),
}));

const wire = data.wire.map(
  ([key, name, version, target, direction, messages, errors, fields]) => ({
    key, name, version, target, direction, messages,
    errors: errors.map(([code, words, count]) => ({ code, words, count })),
    fields: fields.map(([field, state, count]) => ({ field: data.fields[field], state, count })),
  }));

const faultWord = (number) => (number < 0 ? "" : data.faultWords[number]);
const timelines = data.faults.map(([target, name, attempt, count, events]) => ({
  target, name: data.cases[name], attempt, count,
  events: events.map(([at, what, link, direction, rule, detail, connection, frame]) => ({
    at, what: faultWord(what), link: faultWord(link), direction: faultWord(direction),
    rule: faultWord(rule), detail: faultWord(detail), connection, frame,
  })),
}));

const histories = data.histories.map(
  ([target, name, attempt, sent, acknowledged, failed, unknown, inLog, every, spans]) => ({
    target, name: data.cases[name], attempt, sent, acknowledged, failed, unknown, inLog, every,
    spans: spans.map(([process, action, outcome, detail, partition, began, ended, offset, value]) => ({
      process: faultWord(process), action: faultWord(action), outcome: faultWord(outcome),
      detail: faultWord(detail), partition, began, ended, offset, value,
    })),
  }));

const defects = data.defects.map(
  ([requirement, name, target, meaning, killed, reason, problem, changed]) => ({
    requirement, name, target, meaning, killed: killed === 1, reason, problem,
    changed: changed.map(([id, was, now]) => ({ id, was, now })),
  }));
const defectsOf = new Map();
for (const defect of defects) {
  if (!defectsOf.has(defect.requirement)) defectsOf.set(defect.requirement, []);
  defectsOf.get(defect.requirement).push(defect);
}
const defectTargets = [...new Set(defects.map((defect) => defect.target))].sort();

// The text of an evidence file out of the page; null when only the file beside it has it.
const evidenceText = async (number) => {
  const packed = data.evidence[number][1];
  if (!packed) return null;
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(unpacked).text();
};

