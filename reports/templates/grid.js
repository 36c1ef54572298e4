// A grid of any length of which only the visible lines are in the document.
// A line is {key, kind, height, span, expanded, cell(column) -> content, label(column)}; one cell
// is in the order of Tab, arrow keys go from cell to cell, Enter opens.
const OVERSCAN_PX = 240;

class Grid {
  constructor(root, onOpen) {
    this.root = root;
    this.onOpen = onOpen;
    this.head = element("div", { role: "rowgroup", class: "grid-head" });
    this.body = element("div", { role: "rowgroup", class: "grid-body" });
    root.append(this.head, this.body);
    this.drawn = new Map();
    this.lines = [];
    this.tops = [0];
    this.active = { line: 0, column: 0 };
    this.marked = null;
    root.addEventListener("scroll", () => this.drawSoon(), { passive: true });
    root.addEventListener("keydown", (event) => this.pressed(event));
    root.addEventListener("click", (event) => this.clicked(event));
    new ResizeObserver(() => this.drawSoon()).observe(root);
  }

  // Shows other lines; the active cell stays on its line (by key) where that is still there.
  show({ label, columns, lines, widths, marked, compact }) {
    const had = this.root.contains(document.activeElement);
    const key = this.lines[this.active.line] && this.lines[this.active.line].key;
    this.lines = lines;
    this.columns = columns;
    this.marked = marked || null;
    this.tops = [0];
    for (const line of lines) this.tops.push(this.tops[this.tops.length - 1] + line.height);
    const at = lines.findIndex((line) => line.key === key);
    this.active.line = Math.max(at, 0);
    this.active.column = Math.min(this.active.column, columns.length - 1);
    this.root.setAttribute("aria-label", label);
    this.root.classList.toggle("compact", Boolean(compact));
    this.root.setAttribute("aria-rowcount", lines.length + 1);
    this.root.setAttribute("aria-colcount", columns.length);
    // Head and body are grids of their own: the same least width keeps their columns in line.
    this.root.style.setProperty("--columns", widths.map(([least, share]) =>
      `minmax(${least}rem, ${share}fr)`).join(" "));
    this.root.style.setProperty("--least", `${widths.reduce((sum, [least]) => sum + least, 0)}rem`);
    this.head.replaceChildren(element("div", { role: "row", "aria-rowindex": 1, class: "line" },
      columns.map((column, number) =>
        element("div", { role: "columnheader", "aria-colindex": number + 1 }, column))));
    this.body.style.height = `${this.tops[lines.length]}px`;
    this.body.replaceChildren();
    this.drawn.clear();
    this.draw();
    if (had) this.focus();
  }

  drawSoon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  // The first line that ends below this height.
  lineAt(top) {
    let low = 0;
    let high = this.lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle + 1] > top) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  draw() {
    const first = this.lineAt(this.root.scrollTop - OVERSCAN_PX);
    const last = this.lineAt(this.root.scrollTop + this.root.clientHeight + OVERSCAN_PX);
    const wanted = new Set([this.active.line]); // the focus may not fall out of the document
    for (let line = first; line <= last; line += 1) wanted.add(line);
    for (const [line, drawn] of this.drawn) {
      if (wanted.has(line)) continue;
      drawn.remove();
      this.drawn.delete(line);
    }
    const missing = [...wanted].filter((line) => !this.drawn.has(line) && line < this.lines.length);
    for (const line of missing.sort((a, b) => a - b)) this.insert(line, this.drawLine(line));
  }

  // In the order of the lines, so that a screen reader meets them in that order.
  insert(line, drawn) {
    let next = null;
    for (const [other, there] of this.drawn) {
      if (other > line && (next === null || other < next[0])) next = [other, there];
    }
    this.body.insertBefore(drawn, next && next[1]);
    this.drawn.set(line, drawn);
  }

  drawLine(number) {
    const line = this.lines[number];
    const columns = line.span ? [0] : this.columns.map((_, column) => column);
    return element("div", {
      role: "row", "aria-rowindex": number + 2, "data-line": number, class: `line ${line.kind}`,
      style: `top:${this.tops[number]}px;height:${line.height}px`,
    }, columns.map((column) => this.drawCell(number, column)));
  }

  drawCell(number, column) {
    const line = this.lines[number];
    const active = number === this.active.line && (line.span || column === this.active.column);
    return element("div", {
      role: column === 0 ? "rowheader" : "gridcell",
      "aria-colindex": column + 1,
      "aria-colspan": line.span ? this.columns.length : null,
      "aria-expanded": line.expanded === undefined ? null : String(line.expanded),
      "aria-label": line.label ? line.label(column) : null,
      "data-column": column,
      class: this.marked !== null && this.marked === `${line.key}@${column}` ? "marked" : null,
      tabindex: active ? 0 : -1,
    }, line.cell(column));
  }

  cellElement({ line, column }) {
    const drawn = this.drawn.get(line);
    if (!drawn) return null;
    return drawn.children[this.lines[line].span ? 0 : column];
  }

  activate(line, column) {
    const before = this.cellElement(this.active);
    if (before) before.tabIndex = -1;
    this.active = { line, column };
    this.reveal(line);
    this.draw();
    const now = this.cellElement(this.active);
    if (now) now.tabIndex = 0;
    return now;
  }

  reveal(line) {
    const room = this.root.clientHeight - this.head.offsetHeight;
    const top = this.tops[line];
    const bottom = this.tops[line + 1];
    if (top < this.root.scrollTop) this.root.scrollTop = top;
    else if (bottom > this.root.scrollTop + room) this.root.scrollTop = bottom - room;
  }

  focus() {
    if (!this.lines.length) return;
    const cell = this.activate(this.active.line, this.active.column);
    if (!cell) return;
    cell.focus({ preventScroll: true });
    if (this.active.column > 0) cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    else this.root.scrollLeft = 0;
  }

  clicked(event) {
    const cell = event.target.closest("[data-column]");
    if (!cell || event.target.closest("a")) return;
    const line = Number(cell.parentElement.dataset.line);
    this.activate(line, Number(cell.dataset.column));
    this.focus();
    this.onOpen(this.lines[line], this.active.column);
  }

  pressed(event) {
    if (!this.lines.length || event.altKey || event.metaKey) return;
    if ((event.key === "Enter" || event.key === " ") && event.target.matches("[data-column]")) {
      event.preventDefault();
      this.onOpen(this.lines[this.active.line], this.active.column);
      return;
    }
    const to = this.moved(event);
    if (!to) return;
    event.preventDefault();
    const line = Math.min(Math.max(to[0], 0), this.lines.length - 1);
    const column = Math.min(Math.max(to[1], 0), this.columns.length - 1);
    this.activate(line, column);
    this.focus();
  }

  moved(event) {
    const { line, column } = this.active;
    const page = Math.max(Math.floor(this.root.clientHeight / this.lines[line].height) - 2, 1);
    const last = this.lines.length - 1;
    const end = this.columns.length - 1;
    const moves = {
      ArrowDown: [line + 1, column], ArrowUp: [line - 1, column],
      ArrowRight: [line, column + 1], ArrowLeft: [line, column - 1],
      PageDown: [line + page, column], PageUp: [line - page, column],
      Home: event.ctrlKey ? [0, 0] : [line, 0],
      End: event.ctrlKey ? [last, end] : [line, end],
    };
    return moves[event.key];
  }
}

