// Areas, API versions, defects and coverage of the wire: each a grid of its own.
const counted = (counts) => counts.reduce((sum, count) => sum + count, 0);

const bar = (counts) =>
  element("span", { class: "bar", "aria-hidden": "true" },
    counts.map((count, verdict) =>
      count ? element("i", { class: verdicts[verdict].name, style: `flex-grow:${count}` }) : null));

const countsOf = (area, column) => {
  if (column.set) return joinedCounts(area, column);
  const levels = new Map();
  for (const [name, of, level, counts] of data.areas) {
    if (name === area && of === column.targets[0]) levels.set(level, counts);
  }
  return levels;
};

const joinedCounts = (area, column) => {
  const levels = new Map();
  for (const row of requirements.filter((one) => one.area === area)) {
    const { verdict } = cellIn(row, column);
    if (verdict === NOT_RUN) continue;
    if (!levels.has(row.level)) levels.set(row.level, verdicts.slice(0, NOT_RUN).map(() => 0));
    levels.get(row.level)[verdict] += 1;
  }
  return levels;
};

// Requirements of all levels by verdict, worst first.
const allLevels = (levels) => verdicts.slice(0, NOT_RUN).map((_, verdict) =>
  counted([...levels.values()].map((counts) => counts[verdict])));

const countWords = (levels) => {
  const all = allLevels(levels);
  const words = all.map((count, verdict) => (count ? `${count} ${verdicts[verdict].words}` : ""));
  return words.filter(Boolean).join(", ") || verdicts[NOT_RUN].words;
};

const areaCell = (area, column, compact) => {
  const levels = countsOf(area, column);
  if (!levels.size) return badge(NOT_RUN);
  const all = allLevels(levels);
  const must = levels.get("MUST") || all.map(() => 0);
  const asked = counted(must.slice(0, PASSED + 1)); // behind passed stand those not asked
  const loud = all.map((count, verdict) => [count, verdicts[verdict]])
    .filter(([count, verdict]) => count && verdict.name !== "passed");
  if (compact) return bar(all);
  return [
    bar(all),
    element("small", { class: "counts" },
      element("b", {}, asked ? `${must[PASSED]}/${asked} MUST` : "no MUST asked"),
      loud.map(([count, verdict]) =>
        [" ", element("span", { class: `count ${verdict.name}` }, `${count} ${verdict.words}`)])),
  ];
};

const areasView = {
  name: "areas", title: "Areas", filters: false,
  note: "Requirements by verdict; in front the MUSTs that passed, of those that could be asked. Enter shows the area's requirements.",
  show: (columns = shownColumns(), compact = isCompact(columns)) => ({
    label: "Areas by target",
    columns: ["Area", ...columns.map(headOf)],
    widths: widthsOf(columns, [9, 1], [14, 2]),
    compact,
    lines: areas.map((area) => ({
      key: area, kind: "totals", height: HEIGHT.area, area,
      cell: (column) =>
        column > 0
          ? areaCell(area, columns[column - 1], compact)
          : [element("b", { class: "id" }, area),
            element("span", { class: "statement" },
              plural(requirements.filter((row) => row.area === area).length, "requirement"))],
      label: (column) => (column > 0 && compact
        ? `${columns[column - 1].name}: ${countWords(countsOf(area, columns[column - 1]))}` : null),
    })),
    shown: plural(areas.length, "area"),
  }),
  open(line, column) {
    const target = column > 0 ? shownColumns()[column - 1].name : "";
    Object.assign(state, FIRST, { area: line.area, target, open: state.open });
  },
};

const worstOf = (cell) => Math.min(...[cell.decodable, cell.behaves].filter((v) => v >= 0), NOT_RUN);

const versionBox = ({ version, cells }, target) => {
  const cell = cells[target];
  if (!cell || (cell.offer === offers[0] && worstOf(cell) >= PASSED)) {
    return element("i", { class: "version absent", title: `v${version}: ${offers[0]}` }, version);
  }
  const verdict = verdicts[worstOf(cell)];
  const decodable = cell.decodable < 0 ? "" : verdicts[cell.decodable].name;
  return element("i", {
    class: `version ${verdict.name} ${decodable === "passed" ? "decodable" : ""}`,
    title: apiWords(version, cell),
  }, version);
};

const wordsOf = (verdict) => (verdict < 0 ? "not asked" : verdicts[verdict].words);
const apiWords = (version, cell) =>
  `v${version}: ${cell.offer}; answers decodable: `
  + `${wordsOf(cell.decodable)}; behaves: ${wordsOf(cell.behaves)}`;

// A broker that advertises nothing was asked instead what it serves.
const offerWords = (of) => {
  const [declared, observed] = offers.slice(1).map((offer) => of((cell) => cell.offer === offer));
  return observed === "none" ? `declared ${declared}` : `observed ${observed}`;
};

const apiLabel = (api, target) => {
  const of = (test) => versionRanges(api.versions.filter(({ cells }) => cells[target]
    && test(cells[target])).map(({ version }) => version)) || "none";
  return `${api.name} on ${data.targets[target]}: ${offerWords(of)}; `
    + `answers decodable ${of((cell) => cell.decodable === PASSED)}; `
    + `behaves ${of((cell) => cell.behaves === PASSED)}; `
    + `not passed ${of((cell) => !quiet.has(verdicts[worstOf(cell)].name))}`;
};

const apiFits = (api) => {
  const wanted = wantedVerdicts();
  return wantedWords().every((word) => `${api.name} ${api.key}`.toLowerCase().includes(word))
    && (!wanted.size || api.versions.some(({ cells }) => wantedTargets().some((target) =>
      cells[target] && wanted.has(verdicts[worstOf(cells[target])].name))));
};

const apisView = {
  name: "apis", title: "API versions", filters: true,
  note: "A box a version: filled as its checks came out, underlined when every answer could be decoded, grey when declared (or, before ApiVersions, observed) and not asked, faint when neither.",
  show() {
    const shown = apis.filter(apiFits);
    return {
      label: "API versions by target",
      columns: ["API", ...data.targets],
      widths: [[16, 1], ...data.targets.map(() => [19, 2])],
      lines: shown.map((api) => ({
        key: String(api.key), kind: "api", height: HEIGHT.api, api,
        cell: (column) =>
          column > 0
            ? element("span", { class: "versions" },
              api.versions.map((version) => versionBox(version, column - 1)))
            : element("span", { class: "head" }, element("b", { class: "id" }, api.name), " ",
              element("span", { class: "soft" }, api.key)),
        label: (column) => (column > 0 ? apiLabel(api, column - 1) : null),
      })),
      shown: `${shown.length} of ${plural(apis.length, "API")}`,
    };
  },
  open(line, column) {
    state.at = `${line.key}@${column > 0 ? data.targets[column - 1] : ""}`;
  },
};

const defectCell = (row, target) => {
  const found = (defectsOf.get(row.id) || []).filter((defect) => defect.target === target);
  if (!found.length) return element("span", { class: "soft" }, "–");
  const killed = found.filter((defect) => defect.killed).length;
  const changed = new Set(found.flatMap((defect) => defect.changed.map(({ id }) => id)));
  changed.delete(row.id);
  return [
    badge(killed === found.length ? PASSED : FAILED,
      `${killed} of ${found.length} noticed`),
    changed.size ? element("small", {}, `also ${[...changed].join(", ")}`) : null,
  ];
};

const defectsView = {
  name: "defects", title: "Defects", filters: true,
  note: "Named mistakes of a broker, each put in front of a broker that has none: is it noticed by its requirement alone? This is how a test is shown to be able to fail.",
  missing: () => defects.length ? "" : "No defect table lies beside these results: kafka-conformance lab defects --out DIR/defects makes one.",
  show() {
    const fitting = requirements.filter(rowFilter());
    const shown = fitting.filter((row) => defectsOf.has(row.id));
    const without = fitting.filter((row) => !defectsOf.has(row.id));
    return {
      label: "Defects by requirement",
      columns: ["Requirement", "Defects", ...defectTargets],
      widths: [NAME_WIDTH, [16, 2], ...defectTargets.map(() => [10, 1])],
      lines: defects.length ? [...shown, ...without].map((row) => ({
        ...requirementLine(row),
        cell: (column) => {
          if (column === 0) return requirementLine(row).cell(0);
          if (column > 1) return defectCell(row, defectTargets[column - 2]);
          const names = new Set((defectsOf.get(row.id) || []).map(({ name }) => name));
          if (!names.size) return element("span", { class: "soft" }, "no defect");
          return element("span", { class: "statement" },
            [...names].map((name) => name.replaceAll("_", " ")).join("; "));
        },
        label: () => null,
      })) : [],
      shown: `${shown.length} of ${plural(shown.length + without.length, "requirement")} with a defect`,
    };
  },
  open(line) {
    state.at = `${line.row.id}@`;
  },
};

const wireRows = () => {
  const wanted = new Set(wantedTargets());
  const rows = new Map();
  for (const seen of wire) {
    if (!wanted.has(seen.target)) continue;
    const key = `${seen.key}.${seen.version}`;
    if (!rows.has(key)) rows.set(key, { key, name: seen.name, version: seen.version, seen: [] });
    rows.get(key).seen.push(seen);
  }
  return [...rows.values()];
};

const messagesSeen = (row) =>
  [0, 1].map((way) => counted(row.seen.filter(({ direction }) => direction === way)
    .map(({ messages }) => messages)).toLocaleString("en")).join(" / ");

const errorsSeen = (row) => {
  const codes = new Map();
  for (const { errors } of row.seen) for (const { code, words } of errors) codes.set(code, words);
  return [...codes].sort(([a], [b]) => a - b).map(([code, words]) =>
    element("span", { class: code === 0 ? "code" : "code loud", title: words }, code));
};

const stateSeen = (row, wanted) => {
  const fields = [0, 1].map((way) => new Set(row.seen.filter(({ direction }) => direction === way)
    .flatMap((seen) => seen.fields.filter(({ state: found }) => found === wanted)
      .map(({ field }) => field))).size);
  return fields[0] + fields[1] ? `${fields[0]} / ${fields[1]}` : element("span", { class: "soft" }, "–");
};

const STATE_TITLES = {
  default: "Default", other: "Other value", null: "Null", empty: "Empty", unknown_tag: "Unknown tag",
};

const wireView = {
  name: "wire", title: "Wire coverage", filters: true,
  note: "What was really seen in requests and answers: messages, error codes, and in how many fields stood the default, another value, null, an empty list or text, an unknown tag. Request / answer.",
  missing() {
    if (!data.wireMissing.length) return "";
    return `No coverage of the wire was recorded for ${data.wireMissing.join(", ")}.`;
  },
  show() {
    const all = wireRows();
    const shown = all.filter((row) => wantedWords().every((word) =>
      `${row.name} v${row.version} ${row.seen.flatMap(({ errors }) => errors
        .map(({ words }) => words)).join(" ")}`.toLowerCase().includes(word)));
    return {
      label: "Coverage of the wire by API version",
      columns: ["API version", "Messages", "Error codes", ...data.states.map((s) => STATE_TITLES[s])],
      widths: [[15, 2], [9.5, 1], [14, 3], ...data.states.map(() => [7, 1])],
      lines: shown.map((row) => ({
        key: row.key, kind: "wire", height: HEIGHT.wire, row,
        cell: (column) => {
          if (column === 0) {
            return element("span", { class: "head" }, element("b", { class: "id" }, row.name),
              " ", element("span", { class: "level" }, `v${row.version}`));
          }
          if (column === 1) return messagesSeen(row);
          if (column === 2) return element("span", { class: "codes" }, errorsSeen(row));
          return stateSeen(row, column - 3);
        },
      })),
      shown: `${shown.length} of ${plural(all.length, "API version")}`,
    };
  },
  open(line) {
    state.at = `${line.key}@`;
  },
};

const aboutView = { name: "about", title: "Runs and legend", filters: false };

