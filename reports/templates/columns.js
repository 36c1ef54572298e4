// A column is a target, or several set-ups of one broker as one; a header opens these into their
// targets. Filters and folds look at the columns as they are when all are shut.
const sets = data.asOne.map(([name, targets], number) => ({ name, targets, set: String(number) }));
const ofTarget = data.targets.map((name, target) => ({ name, targets: [target] }));

const columnsWith = (openSets) => ofTarget.flatMap((column) => {
  const [target] = column.targets;
  const joined = sets.find((one) => one.targets.includes(target));
  if (!joined) return [column];
  const own = openSets.has(joined.set) ? [column] : [];
  return joined.targets[0] === target ? [joined, ...own] : own;
});

const shutColumns = columnsWith(new Set());
const shownColumns = () => columnsWith(listed("open"));
const columnNamed = (name) => [...sets, ...ofTarget].find((column) => column.name === name);

// Many columns, and a narrow screen, have room for the sign of a verdict alone.
const MOST_WIDE_COLUMNS = 8;
const narrow = matchMedia("(max-width: 45rem)");
const isCompact = (columns) => columns.length > MOST_WIDE_COLUMNS || narrow.matches;
const SQUARE = [1.18, .25];
// Least width in rem, share of what is left over; first that of the names.
const widthsOf = (columns, wideName, wide) => [
  isCompact(columns) ? [narrow.matches ? 9 : 16, 4] : wideName,
  ...columns.map(() => (isCompact(columns) ? SQUARE : wide)),
];

// The verdicts stand worst first, and what was not run behind all others.
const cellIn = (row, { targets }) => {
  const cells = targets.map((target) => row.cells[target]);
  if (cells.length === 1) return cells[0];
  return {
    verdict: Math.min(...cells.map((cell) => cell.verdict)),
    unstable: cells.some((cell) => cell.unstable),
    count: cells.reduce((sum, cell) => sum + cell.count, 0),
    parts: () => cells.flatMap((cell) => cell.parts()),
  };
};

for (const row of requirements) {
  const cells = shutColumns.map((column) => cellIn(row, column));
  row.passesEverywhere = cells.every((cell) => cell.verdict === PASSED && !cell.unstable);
  row.differs = new Set(cells.map((cell) => cell.verdict)).size > 1;
}

const headOf = (column) => {
  if (!column.set) return element("span", { title: column.name }, column.name);
  const id = `set-${column.set}`;
  const expanded = listed("open").has(column.set);
  return element("button", {
    type: "button", class: "set", id, "aria-expanded": String(expanded),
    title: column.targets.map((target) => data.targets[target]).join("; "),
    onclick: () => {
      toggleListed("open", column.set);
      writeAddress(false);
      draw();
      byId(id).focus();
    },
  }, element("span", { "aria-hidden": "true" }, expanded ? "▾ " : "▸ "), column.name);
};
