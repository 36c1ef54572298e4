"use strict";
// The filter of the matrix. Its state lives in the address (#q=...&verdict=...&differ=1), so that
// a filtered view can be linked to; a plain #PROD-011 stays an ordinary link to that row.
(() => {
  const form = document.getElementById("filter");
  const find = document.getElementById("find");
  const differ = document.getElementById("differ");
  const boxes = [...form.querySelectorAll("input[name=verdict]")];
  const bodies = [...document.querySelectorAll("table.matrix tbody")];
  const rows = [...document.querySelectorAll("tr.row")].map((element) => ({
    element,
    text: element.querySelector("th").textContent.toLowerCase(),
    verdicts: [...element.querySelectorAll("td")].map((cell) => cell.dataset.verdict),
  }));

  const state = () => ({
    words: find.value.toLowerCase().split(/\s+/).filter(Boolean),
    verdicts: boxes.filter((box) => box.checked).map((box) => box.value),
    differ: differ !== null && differ.checked,
  });

  const fits = (row, wanted) =>
    wanted.words.every((word) => row.text.includes(word)) &&
    (wanted.verdicts.length === 0 || row.verdicts.some((v) => wanted.verdicts.includes(v))) &&
    (!wanted.differ || new Set(row.verdicts).size > 1);

  const show = () => {
    const wanted = state();
    let shown = 0;
    for (const row of rows) {
      row.element.hidden = !fits(row, wanted);
      shown += row.element.hidden ? 0 : 1;
    }
    for (const body of bodies) body.hidden = !body.querySelector("tr.row:not([hidden])");
    document.getElementById("none").hidden = shown > 0;
    document.getElementById("shown").textContent = `${shown} of ${rows.length} requirements`;
  };

  const write = () => {
    const wanted = new URLSearchParams();
    if (find.value.trim()) wanted.set("q", find.value.trim());
    const verdicts = state().verdicts.join(",");
    if (verdicts) wanted.set("verdict", verdicts);
    if (state().differ) wanted.set("differ", "1");
    history.replaceState(null, "", `#${wanted}`);
  };

  const read = () => {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) {
      reveal(decodeURIComponent(hash));
      return;
    }
    const wanted = new URLSearchParams(hash);
    const verdicts = (wanted.get("verdict") || "").split(",");
    find.value = wanted.get("q") || "";
    for (const box of boxes) box.checked = verdicts.includes(box.value);
    if (differ) differ.checked = wanted.get("differ") === "1";
    show();
  };

  // A link to a row or an area that the filter hides: the filter gives way.
  const reveal = (id) => {
    const target = document.getElementById(id);
    if (target && target.closest("[hidden]")) form.reset();
    show();
    if (target) target.scrollIntoView();
    if (target && target.matches("tr.row")) toggle(target, true);
  };

  const toggle = (within, open) => {
    for (const cell of within.querySelectorAll("tr.row:not([hidden]) details, :scope > td > details"))
      cell.open = open;
  };

  const changed = () => {
    write();
    show();
  };
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(changed));
  document.getElementById("open").addEventListener("click", () => toggle(document, true));
  document.getElementById("close").addEventListener("click", () => toggle(document, false));
  window.addEventListener("hashchange", read);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, textarea, select")) return;
    event.preventDefault();
    find.focus();
  });
  form.hidden = false;
  read();
})();
