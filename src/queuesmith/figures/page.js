// Draws the figures of a page, keeps their ink readable on light and on dark ground, lets tables sort and filter.
(() => {
  "use strict";

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const plots = [...document.querySelectorAll(".plot")];

  function ink() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    return { text: colour("--ink"), line: colour("--line"), ground: colour("--card") };
  }

  function themed(layout) {
    const { text, line, ground } = ink();
    const changes = { "font.color": text, "hoverlabel.bgcolor": ground, "hoverlabel.font.color": text, "hoverlabel.bordercolor": line };
    for (const axis of Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key))) {
      for (const part of ["gridcolor", "linecolor", "zerolinecolor", "tickcolor"]) changes[`${axis}.${part}`] = line;
    }
    return changes;
  }

  // The legend of a figure as buttons above it: they wrap on any screen, and each shows or hides its curves.
  function legend(plot, figure) {
    const names = [...new Set(figure.data.map((trace) => trace.name).filter(Boolean))];
    const bar = document.createElement("div");
    bar.className = "legend";
    for (const name of names) {
      const own = figure.data.flatMap((trace, i) => (trace.name === name ? [i] : []));
      const look = figure.data[own[0]], button = document.createElement("button"), key = document.createElement("i");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      key.style.borderTop = look.line ? `3px ${look.line.dash === "solid" ? "solid" : "dashed"} ${look.line.color}` : `0.8em solid ${look.marker.color}`;
      button.append(key, new DOMParser().parseFromString(name, "text/html").documentElement.textContent);
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        Plotly.restyle(plot, { visible: shown }, own);
      });
      bar.append(button);
    }
    plot.before(bar);
    figure.layout.showlegend = false;
    figure.layout.margin = { ...figure.layout.margin, t: 12 };
  }

  // The library travels deflated, and is unpacked only where there is something to draw.
  async function loadLibrary() {
    if (!plots.length) return;
    const packed = document.getElementById("plotly-packed").textContent;
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }

  async function draw(plot) {
    const figure = JSON.parse(document.getElementById(plot.dataset.source).textContent);
    if (figure.layout.meta?.legend === "page") legend(plot, figure);
    const options = { responsive: true, displayModeBar: false };
    await Plotly.newPlot(plot, figure.data, figure.layout, options);
    await Plotly.relayout(plot, themed(figure.layout));
  }

  // A click on a head sorts a table by that column, a second one the other way round; long ones can be filtered.
  const LONG = 8;
  function value(row, column) {
    const cell = row.cells[column];
    const told = [...cell.childNodes].filter((part) => part.nodeName !== "SMALL").map((part) => part.textContent).join("");
    const plain = told.replace(/[★,%]/g, "").trim(), parsed = parseFloat(plain);
    return Number.isNaN(parsed) ? plain.toLowerCase() : parsed;
  }

  function sort(table, column, button) {
    const rising = button.getAttribute("aria-sort") !== "ascending";
    table.querySelectorAll("th[aria-sort]").forEach((head) => head.removeAttribute("aria-sort"));
    button.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row) => [value(row, column), row]);
    const compare = (a, b) => (typeof a === typeof b ? (a > b) - (a < b) : typeof a === "string" ? 1 : -1);
    rows.sort(([a], [b]) => (rising ? compare(a, b) : compare(b, a)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  function filtered(table) {
    const field = document.createElement("input");
    field.type = "search";
    field.placeholder = "filter";
    field.setAttribute("aria-label", "Show only rows with these words");
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of table.tBodies[0].rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    });
    (table.closest(".scroll") ?? table).before(field);
  }

  for (const table of document.querySelectorAll("table")) {
    if (!table.tHead || table.tBodies[0].rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.classList.add("sorts");
      head.tabIndex = 0;
      head.addEventListener("click", () => sort(table, column, head));
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(table, column, head); });
    });
    if (table.tBodies[0].rows.length >= LONG) filtered(table);
  }

  const drawn = loadLibrary().then(() => Promise.all(plots.map(draw)));
  dark.addEventListener("change", () => plots.forEach((plot) => Plotly.relayout(plot, themed(plot.layout))));
  drawn.then(() => { document.documentElement.dataset.drawn = plots.length; });
})();
