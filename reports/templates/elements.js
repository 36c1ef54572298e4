// Elements from plain values: text is always text, never markup.
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
  return made;
};

const byId = (id) => document.getElementById(id);

// v0–v3, v5 of 0, 1, 2, 3 and 5.
const versionRanges = (versions) => {
  const ranges = [];
  for (const version of [...new Set(versions)].sort((a, b) => a - b)) {
    const last = ranges[ranges.length - 1];
    if (last && last[1] === version - 1) last[1] = version;
    else ranges.push([version, version]);
  }
  return ranges.map(([low, high]) => (low === high ? `v${low}` : `v${low}–v${high}`)).join(", ");
};

// The other way round.
const versionsIn = (ranges) => ranges.split(", ").flatMap((range) => {
  const [low, high = low] = range.split("–").map((version) => Number(version.slice(1)));
  return Array.from({ length: high - low + 1 }, (_, at) => low + at);
});

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

