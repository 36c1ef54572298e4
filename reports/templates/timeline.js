// What was done on the way to the broker in a case: a drawing, and all of it as a table.
const SVG = "http://www.w3.org/2000/svg";
const drawn = (tag, attributes, ...children) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children.flat(9));
  return made;
};

// A folded part stands for all its cases at their parameters.
const timelinesOf = (part, target) => timelines.filter((one) => one.target === target
  && (one.name === part.name || one.name.startsWith(`${part.name}[`)))
  .sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));

const LEFT = 165;
const WIDE = 600;
const LANE = 30;
const laneOf = (event) => event.link || (event.detail.match(/^node: \d+$/) || ["rules"])[0].replace(":", "");

const mark = (event, x, y) => {
  const said = drawn("title", {}, [`${event.at} ms: ${event.what}`, event.rule].filter(Boolean).join(" "));
  return event.what === "fired"
    ? drawn("circle", { cx: x, cy: y, r: 5, class: "fired" }, said)
    : drawn("path", { d: `M${x} ${y - 7}V${y + 7}`, class: "other" }, said);
};

const timelineDrawing = (one) => {
  const lanes = [...new Set(one.events.map(laneOf))];
  const last = Math.max(1, ...one.events.map((event) => event.at));
  const x = (at) => LEFT + 8 + (at / last) * (WIDE - LEFT - 24);
  const y = (lane) => LANE * (lane + .5);
  const low = LANE * lanes.length;
  const fired = one.events.filter((event) => event.what === "fired").length;
  return drawn("svg", { viewBox: `0 0 ${WIDE} ${low + 22}`, class: "timeline", role: "img",
    "aria-label": `${plural(one.events.length, "event")} in ${last} ms, ${fired} of them a fault; the table has each` },
  lanes.map((lane, number) => [
    drawn("text", { x: 0, y: y(number) + 5 }, lane.length > 20 ? `${lane.slice(0, 19)}…` : lane),
    drawn("path", { d: `M${LEFT} ${y(number)}H${WIDE - 8}`, class: "lane" })]),
  one.events.map((event) => mark(event, x(event.at), y(lanes.indexOf(laneOf(event))))),
  drawn("text", { x: LEFT, y: low + 16 }, "0 ms"),
  drawn("text", { x: WIDE - 8, y: low + 16, "text-anchor": "end" }, `${last.toLocaleString("en")} ms`));
};

const FRAMES = { upstream: "request", downstream: "response" };
const whereWords = (event) => [
  event.link,
  event.connection < 0 ? "" : `connection ${event.connection}`,
  event.frame >= 0 ? `${FRAMES[event.direction]} ${event.frame}` : event.direction,
].filter(Boolean).join(", ");

const timelineTable = (one) =>
  element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Faults in ${one.name}` },
    element("table", { class: "small" },
      element("thead", {}, element("tr", {}, ["ms", "What", "Where", "Rule"]
        .map((title) => element("th", { scope: "col" }, title)))),
      element("tbody", {}, one.events.map((event) =>
        element("tr", {}, element("td", { class: "number" }, event.at.toFixed(1)),
          element("td", {}, event.what === "fired" ? element("b", {}, event.what) : event.what),
          element("td", {}, whereWords(event)),
          element("td", {}, event.rule, event.detail ? element("small", {}, event.detail) : null))))));

const timelineView = (one) => [
  timelineDrawing(one),
  timelineTable(one),
  one.count > one.events.length
    ? element("p", { class: "soft" }, `The first ${one.events.length} of ${plural(one.count, "event")}.`) : null,
];

// Drawn when it is opened: there may be one for each version of many cases.
const opening = (title, open, content) => {
  const inside = element("div", { class: "inside" });
  const details = element("details", { class: "faults", ontoggle: () => {
    if (details.open && !inside.childElementCount) inside.append(...content().flat(9).filter(Boolean));
  } }, element("summary", {}, title), inside);
  details.open = open;
  return details;
};

const timelineTitle = (one, part) => {
  const rest = one.name.slice(part.name.length) || "this case";
  return one.attempt > 1 ? `${rest}, attempt ${one.attempt}` : rest;
};

const faultsView = (part, target, open) => {
  const found = timelinesOf(part, target);
  if (!found.length) return null;
  const events = found.reduce((sum, one) => sum + one.count, 0);
  return opening(`Faults on the way: ${plural(events, "event")}`, open, () =>
    (found.length === 1 ? timelineView(found[0]) : found.map((one) =>
      opening(`${timelineTitle(one, part)}: ${plural(one.count, "event")}`, false, () => timelineView(one)))));
};

