// A history as lanes: what each client did to each partition, beside what was done to the brokers.
const historiesOf = (part, target) => histories.filter((one) => one.target === target
  && (one.name === part.name || one.name.startsWith(`${part.name}[`)))
  .sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));

const LANE_TOP = 30;
const LANE_HIGH = 26;
const FAULT = "fault";
const laneName = (span) => (span.partition < 0 ? span.process : `${span.process}, partition ${span.partition}`);
// Of one send: is the record surely there?
const OUTCOME_WORDS = { ok: "acknowledged", fail: "surely not written", info: "nobody knows", invoke: "never answered" };

const spanWords = (span) => [
  `${span.began.toFixed(0)} ms`,
  span.ended > span.began ? `to ${span.ended.toFixed(0)} ms:` : ":",
  span.action, span.value, OUTCOME_WORDS[span.outcome] || span.outcome,
  span.offset < 0 ? "" : `at offset ${span.offset}`, span.detail,
].filter(Boolean).join(" ");

const spanMark = (span, x, y, last) => {
  const from = x(span.began);
  const to = Math.max(from + 1.5, x(span.ended < 0 ? last : span.ended));
  return drawn("rect", { x: from, y: y - 7, width: to - from, height: 14, class: `span ${span.outcome}` },
    drawn("title", {}, spanWords(span)));
};

// Of many at almost one moment the first has its number.
const NUMBER_WIDE = 18;
const faultMarks = (blows, x, low) => {
  let free = 0;
  return blows.map((span, number) => {
    const at = x(span.began);
    const hasRoom = at >= free;
    if (hasRoom) free = at + NUMBER_WIDE;
    return [
      drawn("path", { d: `M${at} ${LANE_TOP - 14}V${low}`, class: "blow" },
        drawn("title", {}, `${span.began.toFixed(0)} ms: ${span.detail}`)),
      hasRoom ? drawn("text", { x: at + 2, y: LANE_TOP - 18 }, String(number + 1)) : [],
    ];
  });
};

const lanesDrawing = (one) => {
  const done = one.spans.filter((span) => span.action !== FAULT);
  const blows = one.spans.filter((span) => span.action === FAULT);
  const lanes = [...new Set(done.map(laneName))].sort();
  const last = Math.max(1, ...one.spans.map((span) => Math.max(span.began, span.ended)));
  const x = (at) => LEFT + (at / last) * (WIDE - LEFT - 20);
  const y = (lane) => LANE_TOP + LANE_HIGH * (lane + .5);
  const low = LANE_TOP + LANE_HIGH * lanes.length;
  return drawn("svg", { viewBox: `0 0 ${WIDE} ${low + 22}`, class: "timeline", role: "img",
    "aria-label": `${plural(one.sent, "record")} sent and ${plural(blows.length, "fault")} in ${last.toFixed(0)} ms; the table has what stands out` },
  drawn("text", { x: 0, y: LANE_TOP - 18 }, blows.length ? "faults" : ""),
  lanes.map((lane, number) => [
    drawn("text", { x: 0, y: y(number) + 5 }, lane.length > 21 ? `${lane.slice(0, 20)}…` : lane),
    drawn("path", { d: `M${LEFT} ${y(number)}H${WIDE - 8}`, class: "lane" })]),
  done.map((span) => spanMark(span, x, y(lanes.indexOf(laneName(span))), last)),
  faultMarks(blows, x, low),
  drawn("text", { x: LEFT, y: low + 16 }, "0 ms"),
  drawn("text", { x: WIDE - 8, y: low + 16, "text-anchor": "end" }, `${last.toLocaleString("en", { maximumFractionDigits: 0 })} ms`));
};

// Faults, and what was not simply acknowledged.
const TOLD_SPANS = 200;
const lanesTable = (one) => {
  const told = one.spans.filter((span) => span.action === FAULT || span.outcome !== "ok");
  let faults = 0;
  const lines = told.slice(0, TOLD_SPANS).map((span) => element("tr", {},
    element("td", { class: "number" }, span.began.toFixed(0)),
    element("td", {}, span.action === FAULT ? element("b", {}, `fault ${faults += 1}`) : laneName(span)),
    element("td", {}, span.action === FAULT ? span.detail
      : `${span.action} ${span.value}: ${OUTCOME_WORDS[span.outcome] || span.outcome}`,
    span.action !== FAULT && span.detail ? element("small", {}, span.detail) : null)));
  return [element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `History of ${one.name}` },
    element("table", { class: "small" },
      element("thead", {}, element("tr", {}, ["ms", "Who", "What"]
        .map((title) => element("th", { scope: "col" }, title)))),
      element("tbody", {}, lines))),
  told.length > TOLD_SPANS
    ? element("p", { class: "soft" }, `The first ${TOLD_SPANS} of ${plural(told.length, "line")}.`) : null];
};

const historyWords = (one) => `${plural(one.sent, "record")} sent: `
  + `${one.acknowledged.toLocaleString("en")} acknowledged, ${one.failed.toLocaleString("en")} surely not written, `
  + `${one.unknown.toLocaleString("en")} unknown`
  + (one.inLog < 0 ? "" : `; ${one.inLog.toLocaleString("en")} in the log at the end`);

const historyView = (one) => [
  element("p", {}, `${historyWords(one)}.`),
  lanesDrawing(one),
  one.every > 1 ? element("p", { class: "soft" }, `Of very many, one in ${one.every} is drawn; of faults all.`) : null,
  lanesTable(one),
];

const lanesView = (part, target, open) => {
  const found = historiesOf(part, target);
  if (!found.length) return null;
  const sent = found.reduce((sum, one) => sum + one.sent, 0);
  return opening(`History: ${plural(sent, "record")} sent`, open, () =>
    (found.length === 1 ? historyView(found[0]) : found.map((one) =>
      opening(`${timelineTitle(one, part)}: ${historyWords(one)}`, false, () => historyView(one)))));
};

