// Wrong brokers made from the source of the built-in one: how many the suites noticed.
const FATE_WORDS = {
  undecided: "inconclusive", survived: "passed everything", not_reached: "executed by no test",
  equivalent: "equivalent",
};
const mutants = data.mutants.map(([target, at, area, operator, fate, noticed, count]) =>
  ({ target, at, area, operator, fate, noticed, count }));
const mutantTargets = [...new Set(mutants.map(({ target }) => target))].sort();
const sumOf = (found) => counted(found.map(({ count }) => count));

const mutantCell = (found) => {
  if (!found.length) return element("span", { class: "soft" }, "–");
  const judged = found.filter(({ noticed }) => noticed !== null);
  const words = Object.entries(FATE_WORDS)
    .map(([fate, text]) => [sumOf(found.filter((one) => one.fate === fate)), text])
    .filter(([count]) => count).map(([count, text]) => `${count} ${text}`);
  return [
    element("b", {}, `${sumOf(judged.filter(({ noticed }) => noticed))} of ${sumOf(judged)} noticed`),
    words.length ? element("small", {}, words.join(", ")) : null,
  ];
};

const mutantLines = () => [
  ["", "all", () => true],
  ...[...new Set(mutants.map(({ area }) => area))].sort()
    .map((area) => ["area", area, (one) => one.area === area]),
  ...[...new Set(mutants.map(({ operator }) => operator))].sort()
    .map((operator) => ["operator", operator, (one) => one.operator === operator]),
];

const mutantsView = {
  name: "mutants", title: "Mutants", filters: false,
  note: "How sharp the suites are, whatever target is judged: random samples of the built-in broker with one wrong place each, by area of the changed module and by kind of mistake.",
  missing: () => mutants.length ? "" : "No score is published.",
  show: () => ({
    label: "Mutants by area and operator",
    columns: ["Area or operator", ...mutantTargets.map((target) =>
      `${target} (${mutants.find((one) => one.target === target).at})`)],
    widths: [[14, 1], ...mutantTargets.map(() => [14, 2])],
    lines: mutants.length ? mutantLines().map(([kind, name, fits]) => ({
      key: `${kind} ${name}`, kind: "totals", height: HEIGHT.area,
      cell: (column) => column > 0
        ? mutantCell(mutants.filter((one) => one.target === mutantTargets[column - 1] && fits(one)))
        : [element("b", { class: "id" }, name), element("span", { class: "statement" }, kind)],
    })) : [],
    shown: plural(sumOf(mutants), "mutant"),
  }),
  open() {},
};
