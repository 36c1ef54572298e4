// Requirement x target, and the filter that all views share.
const HEIGHT = { requirement: 46, group: 32, area: 60, api: 46, wire: 46 };
// Least width in rem, share of what is left over.
const NAME_WIDTH = [21, 4];

const wantedVerdicts = () => listed("verdict");
const wantedWords = () => state.q.toLowerCase().split(/\s+/).filter(Boolean);
const wantedColumns = () => {
  const chosen = columnNamed(state.target);
  return chosen ? [chosen] : shutColumns;
};
const wantedTargets = () => wantedColumns().flatMap(({ targets }) => targets);

// Whether a row fits the filter as it is now.
const rowFilter = () => {
  const wanted = wantedVerdicts();
  const words = wantedWords();
  const columns = wantedColumns();
  const tests = [
    [state.area, (row) => row.area === state.area],
    [state.level, (row) => row.level === state.level],
    [state.differ === "1", (row) => row.differs],
    [wanted.size, (row) => columns.some((column) => wanted.has(verdicts[cellIn(row, column).verdict].name))],
    [words.length, (row) => words.every((word) => textOf(row).includes(word))],
  ].filter(([asked]) => asked).map(([, test]) => test);
  return (row) => tests.every((test) => test(row));
};

// Versions at which the cell has its loud verdict: what one wants to know first.
const versionsAtFault = (cell) => {
  const parts = cell.parts().filter((part) => part.verdict === cell.verdict && part.versions);
  return versionRanges(parts.flatMap((part) => versionsIn(part.versions)));
};

const square = (verdict) =>
  element("span", { class: `square ${verdicts[verdict].name}`, "aria-hidden": "true" }, verdicts[verdict].sign);

const cellContent = (cell) => {
  const loud = !quiet.has(verdicts[cell.verdict].name);
  const hint = loud ? versionsAtFault(cell) : "";
  return [
    badge(cell.verdict),
    cell.unstable ? element("span", { class: "unstable" }, "unstable") : null,
    hint ? element("small", {}, hint) : null,
  ];
};

const squareWords = (column, cell) =>
  `${column.name}: ${verdicts[cell.verdict].words}${cell.unstable ? ", unstable" : ""}`;

const requirementLine = (row, columns = shownColumns(), compact = isCompact(columns)) => ({
  key: row.id, kind: "requirement", height: HEIGHT.requirement, row,
  cell: (column) => {
    if (column > 0) {
      const cell = cellIn(row, columns[column - 1]);
      return compact ? square(cell.verdict) : cellContent(cell);
    }
    return [
      element("b", { class: "id" }, row.id),
      element("span", { class: `level ${row.level}` }, row.level),
      element("span", { class: "statement", title: row.statement }, row.statement),
    ];
  },
  label: (column) => (column > 0 && compact
    ? squareWords(columns[column - 1], cellIn(row, columns[column - 1])) : null),
});

const areaLine = (area, rows) => {
  const loud = rows.filter((row) => row.cells.some((cell) => !quiet.has(verdicts[cell.verdict].name)));
  const expanded = !listed("shut").has(area);
  return {
    key: `area:${area}`, kind: "area", height: HEIGHT.group, span: true, area, expanded,
    cell: () => [
      element("span", { class: "arrow", "aria-hidden": "true" }, expanded ? "▾" : "▸"),
      element("b", {}, area), " ",
      element("span", { class: "soft" }, plural(rows.length, "requirement")),
      loud.length
        ? element("span", { class: "loud" }, `${loud.length} not passed`)
        : element("span", { class: "soft" }, "nothing to look at"),
    ],
  };
};

const foldLine = (area, rows) => {
  const expanded = listed("unfolded").has(area || "*");
  return {
    key: `fold:${area}`, kind: "fold", height: HEIGHT.group, span: true, fold: area || "*", expanded,
    cell: () => [
      element("span", { class: "arrow", "aria-hidden": "true" }, expanded ? "▾" : "▸"),
      element("span", { class: "passes", "aria-hidden": "true" }, "✓"),
      `${plural(rows.length, "requirement")} ${rows.length === 1 ? "passes" : "pass"} everywhere`,
    ],
  };
};

const linesOf = (rows, area) => {
  const folding = state.fold === "1" && !state.q.trim() && !wantedVerdicts().has("passed");
  const folded = folding ? rows.filter((row) => row.passesEverywhere) : [];
  const shown = folding ? rows.filter((row) => !row.passesEverywhere) : rows;
  const columns = shownColumns();
  const lines = shown.map((row) => requirementLine(row, columns));
  if (folded.length) {
    lines.push(foldLine(area, folded));
    if (listed("unfolded").has(area || "*")) {
      lines.push(...folded.map((row) => requirementLine(row, columns)));
    }
  }
  return lines;
};

const requirementsView = {
  name: "requirements", title: "Requirements", filters: true,
  show() {
    const rows = requirements.filter(rowFilter());
    const columns = shownColumns();
    let lines = [];
    if (state.group === "1") {
      for (const area of areas) {
        const inArea = rows.filter((row) => row.area === area);
        if (!inArea.length) continue;
        lines.push(areaLine(area, inArea));
        if (!listed("shut").has(area)) lines = lines.concat(linesOf(inArea, area));
      }
    } else lines = linesOf(rows, "");
    return {
      label: "Requirements by target",
      columns: ["Requirement", ...columns.map(headOf)],
      widths: widthsOf(columns, NAME_WIDTH, [9.8, 1]),
      compact: isCompact(columns),
      lines,
      shown: `${rows.length.toLocaleString("en")} of ${plural(requirements.length, "requirement")}`,
    };
  },
  open(line, column) {
    if (line.area) toggleListed("shut", line.area);
    else if (line.fold) toggleListed("unfolded", line.fold);
    else state.at = `${line.row.id}@${column > 0 ? shownColumns()[column - 1].name : ""}`;
  },
};

