// Draws the Plotly figures of the page and keeps their ink readable on light and on dark ground.
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

  const drawn = plots.map(async (plot) => {
    const figure = JSON.parse(document.getElementById(plot.dataset.source).textContent);
    if (figure.layout.meta?.legend === "page") legend(plot, figure);
    const options = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
    await Plotly.newPlot(plot, figure.data, figure.layout, options);
    await Plotly.relayout(plot, themed(figure.layout));
  });
  dark.addEventListener("change", () => plots.forEach((plot) => Plotly.relayout(plot, themed(plot.layout))));
  Promise.all(drawn).then(() => { document.documentElement.dataset.drawn = plots.length; });
})();
