// What the browser itself does best: the address, uploads, numbers beside sliders, the Gantt chart.
(() => {
  "use strict";

  const SOON = 1500; // ms: moves that follow each other so closely are one step back
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const scheme = () => (dark.matches ? "dark" : "light");
  const keep = () => window.dash_clientside.no_update;
  let changed = -Infinity, begun = false, tab = "";

  function complain(sentence) {
    window.dash_clientside.set_props("notices", { children: sentence });
  }

  // -- the address: it holds the state, so that back, reload and links work

  addEventListener("popstate", () => {
    window.dash_clientside.set_props("search", { data: location.search });
  });

  function remember(query) {
    if (typeof query !== "string" || query === location.search) return keep();
    const now = performance.now(), one = !begun || now - changed < SOON;
    history[one ? "replaceState" : "pushState"]({}, "", location.pathname + query);
    changed = now;
    begun = true;
    document.getElementById("gantt")?.replaceChildren(); // it shows what no longer is
    return keep();
  }

  // What moves with every slider is written here, not by Dash: each of its outputs costs milliseconds.

  function write(place, words) {
    if (place?.firstChild) place.firstChild.nodeValue = words; // the node stays, for React knows it
  }

  function moved(query) {
    const names = new URLSearchParams(query ?? "").getAll("column");
    document.querySelectorAll(".column-name > span").forEach((place, i) => names[i] && write(place, names[i]));
    remember(query);
    askWhatToKeep(document.getElementById("keep-more"));
    return keep();
  }

  function askWhatToKeep(details) { // files and calls are made once they can be seen
    if (details?.open) window.dash_clientside.set_props("keep-asked", { data: location.search });
  }
  addEventListener("toggle", (event) => {
    if (event.target.id === "keep-more") askWhatToKeep(event.target);
  }, true);

  function readouts(values, ids) {
    ids.forEach((id, i) => {
      const slider = document.getElementById(JSON.stringify(id, Object.keys(id).sort()));
      write(slider?.closest("label")?.querySelector(".readout"), String(Number(values[i])));
    });
    return keep();
  }

  // -- long work: a bar, and a button to stop it

  const ask = (what, method) => fetch(new URL(`${what}?tab=${tab}`, location.href), { method });
  setInterval(async () => {
    if (document.getElementById("busy")?.className !== "busy") return;
    const answer = await ask("progress", "GET").catch(() => null);
    const bar = document.getElementById("bar");
    if (answer?.ok && bar) bar.value = (await answer.json()).share;
  }, 400);
  addEventListener("click", (event) => {
    if (event.target.id === "stop") ask("stop", "POST");
  });

  // -- an upload: bytes, sent as they are

  const FILTERS = ["since", "until", "partition", "account", "user", "narrowest", "widest"];

  function go(what, names) { // to what has just arrived
    const address = new URLSearchParams(location.search);
    if (what === "log") FILTERS.forEach((filter) => address.delete(filter));
    for (const name of names) {
      address.set(what === "log" ? "log" : name.startsWith("queue-") ? "queue" : "place", name);
    }
    window.dash_clientside.set_props("search", { data: `?${address}` });
  }

  async function send(file, what, limit) { // the name under which it is kept; none where it is refused
    if (file.size > limit) {
      complain(`The file has ${(file.size / 2 ** 20).toFixed(1)} MB, but an upload may have ${(limit / 2 ** 20).toFixed(0)} MB. ` +
        "Start the page with the file on the command line, or with a larger --upload-limit.");
      return null;
    }
    const target = new URL("upload", location.href);
    target.search = new URLSearchParams({ name: file.name, what }).toString();
    let answer;
    try {
      answer = await (await fetch(target, { method: "POST", body: file })).json();
    } catch {
      complain("The upload did not arrive. Check that the server still runs, then repeat it.");
      return null;
    }
    if (answer.error) complain(answer.error);
    return answer.name ?? null;
  }

  async function sendAll(files, what, limit) {
    const names = [];
    for (const file of files) {
      const name = await send(file, what, limit);
      if (name) names.push(name);
    }
    if (names.length) go(what, names);
  }

  function upload() {
    const place = document.getElementById("upload");
    if (!place || place.firstChild) return keep();
    const label = document.createElement("label"), input = document.createElement("input");
    const { what, limit } = place.dataset;
    input.type = "file";
    input.multiple = what !== "log";
    input.addEventListener("change", () => {
      sendAll([...input.files], what, Number(limit));
      input.value = "";
    });
    label.className = "field";
    const name = document.createElement("span");
    name.className = "field-name";
    name.textContent = place.dataset.label;
    label.append(name, input);
    place.append(label);
    return keep();
  }

  // -- choices: selects of the browser's own, which keys, phones and screen readers know

  function fill(place) {
    const select = document.createElement("select"), id = JSON.parse(place.dataset.id);
    select.append(...JSON.parse(place.dataset.options).map((word) => new Option(word, word)));
    select.addEventListener("change", () => window.dash_clientside.set_props(id, { data: select.value }));
    place.replaceChildren(select);
    place.offered = place.dataset.options + place.dataset.id;
  }

  new MutationObserver(() => {
    for (const place of document.querySelectorAll("div.select")) {
      const other = place.offered !== place.dataset.options + place.dataset.id;
      if (other) fill(place);
      if (other || place.shown !== place.dataset.value) place.firstChild.value = place.shown = place.dataset.value;
    }
  }).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-options", "data-value", "data-id"] });

  // -- figures

  function view() {
    const plot = document.querySelector("#over-time .js-plotly-plot"), axis = plot?._fullLayout?.xaxis3;
    const times = plot?._fullData?.[0]?.x;
    if (!axis || !times?.length) return keep();
    const [low, high] = axis.range.map((value) => axis.r2c(value));
    const first = axis.d2c(times[0]), last = axis.d2c(times[times.length - 1]);
    return [(low - first) / (last - first), (high - first) / (last - first)];
  }

  function gantt(data) {
    const root = document.getElementById("gantt");
    if (data && root) window.QueuesmithGantt(root, data);
    return keep();
  }

  function picture(data) {
    const root = document.getElementById("plan-gantt");
    if (data && root) window.QueuesmithGantt(root, data.gantt);
    else root?.replaceChildren();
    return keep();
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    queuesmith: {
      address: (name) => {
        tab = name;
        return location.search;
      },
      scheme,
      remember,
      moved,
      upload,
      view,
      gantt,
      picture,
      readouts,
    },
  });
  dark.addEventListener("change", () => {
    window.dash_clientside.set_props("scheme", { data: scheme() });
    window.dash_clientside.set_props("search", { data: location.search });
  });
})();
