// The Gantt chart of a Queuesmith report: what one looks at, and what the mouse and keys do.
(() => {
  "use strict";

  const { MARGIN, inner } = QueuesmithPaint, { bound, duration, instant, loadJobs, loadPolicy } = QueuesmithData;
  const WAIT_LABELS = ["under 1 min", "under 10 min", "under 1 h", "under 6 h", "under 1 day", "1 day or more"];
  const WAIT_COLOURS = ["#c6dbef", "#85bcdb", "#4292c6", "#8c6bb1", "#d6604d", "#8e1b2c"];
  const SHORTEST = 10; // seconds in view

  function element(tag, attributes = {}, children = []) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "text") made.textContent = value; else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  const button = (text, label) => element("button", { type: "button", title: label, "aria-label": label, text });

  class Gantt {
    constructor(root, data) {
      this.root = root;
      this.data = data;
      this.loaded = new Map();
      this.redraws = 0;
      this.marked = null;
      this.build();
      this.listen();
    }

    async open() {
      this.jobs = await loadJobs(this.data.jobs, this.data.tick);
      await this.choose(0);
    }

    async choose(index) {
      if (!this.loaded.has(index)) {
        this.loaded.set(index, await loadPolicy(this.data.policies[index], this.jobs, this.data.tick));
      }
      const before = this.policy;
      this.policy = this.loaded.get(index);
      if (!before) return this.reset();
      const all = this.view.c1 - this.view.c0 >= before.height; // all cores stay all cores
      return this.move(all ? { ...this.view, c0: 0, c1: this.policy.height } : this.view);
    }

    build() {
      this.policies = element("select", {}, this.data.policies.map(
        (policy, i) => element("option", { value: i, text: policy.name })));
      this.colouring = element("select", {}, [
        element("option", { value: "group", text: "user group" }), element("option", { value: "wait", text: "wait" })]);
      this.closer = button("+", "Zoom in");
      this.further = button("−", "Zoom out");
      this.whole = button("Whole", "Show the whole");
      this.status = element("span", { class: "gantt-status" });
      this.overview = element("canvas", { class: "gantt-overview", role: "img", "aria-label": "Busy cores over the whole time" });
      this.chart = element("canvas", { class: "gantt-chart", tabindex: "0", role: "img", "aria-label": "Jobs over cores and time" });
      this.tooltip = element("div", { class: "gantt-tooltip", hidden: "" });
      this.legend = element("div", { class: "gantt-legend" });
      const bar = element("div", { class: "gantt-bar" }, [
        element("label", { text: "Policy " }, [this.policies]), element("label", { text: "Colour by " }, [this.colouring]),
        this.closer, this.further, this.whole, this.status]);
      this.root.replaceChildren(bar, this.overview, this.chart, this.tooltip, this.legend);
    }

    listen() {
      const chart = this.chart;
      this.policies.addEventListener("change", () => this.choose(Number(this.policies.value)));
      this.colouring.addEventListener("change", () => this.draw());
      this.closer.addEventListener("click", () => this.zoom(0.5, 0.5, 0.5, false));
      this.further.addEventListener("click", () => this.zoom(2, 0.5, 0.5, false));
      this.whole.addEventListener("click", () => this.reset());
      chart.addEventListener("dblclick", () => this.reset());
      chart.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      chart.addEventListener("pointerdown", (event) => this.grab(event));
      chart.addEventListener("pointermove", (event) => this.hover(event));
      chart.addEventListener("pointerleave", () => this.mark(null));
      chart.addEventListener("keydown", (event) => this.key(event));
      this.overview.addEventListener("pointerdown", (event) => this.jump(event));
      new ResizeObserver(() => this.draw()).observe(this.root);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    }

    // -- where one looks

    reset() {
      const [first, last] = this.data.window;
      this.move({ t0: first, t1: last, c0: 0, c1: this.policy.height });
    }

    move(view) {
      const [first, last] = this.data.window, height = this.policy.height;
      const seconds = Math.min(Math.max(view.t1 - view.t0, SHORTEST), last - first);
      const cores = Math.min(Math.max(view.c1 - view.c0, 1), height);
      const t0 = Math.min(Math.max(view.t0, first), last - seconds);
      const c0 = Math.min(Math.max(view.c0, 0), height - cores);
      this.view = { t0, t1: t0 + seconds, c0, c1: c0 + cores };
      this.draw();
    }

    zoom(factor, x, y, vertical) {
      const { t0, t1, c0, c1 } = this.view, time = t0 + (t1 - t0) * x, core = c0 + (c1 - c0) * y;
      if (vertical) this.move({ t0, t1, c0: core - (core - c0) * factor, c1: core + (c1 - core) * factor });
      else this.move({ t0: time - (time - t0) * factor, t1: time + (t1 - time) * factor, c0, c1 });
    }

    wheel(event) {
      const turn = event.deltaY || event.deltaX, [first, last] = this.data.window;
      const { x, y } = this.place(event), vertical = event.shiftKey;
      const outermost = this.view.t1 - this.view.t0 >= last - first;
      if (!vertical && turn > 0 && outermost) return; // nothing to zoom: let the page scroll
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-1, Math.min(1, turn / 240))), x, y, vertical);
    }

    grab(event) {
      const from = { x: event.clientX, y: event.clientY }, view = this.view, { width, height } = inner(this.chart);
      const drag = (move) => {
        const dt = (move.clientX - from.x) / width * (view.t1 - view.t0);
        const dc = (move.clientY - from.y) / height * (view.c1 - view.c0);
        this.move({ t0: view.t0 - dt, t1: view.t1 - dt, c0: view.c0 + dc, c1: view.c1 + dc });
      };
      const drop = () => {
        this.chart.classList.remove("grabbed");
        this.chart.removeEventListener("pointermove", drag);
      };
      this.chart.setPointerCapture(event.pointerId);
      this.chart.classList.add("grabbed");
      this.chart.addEventListener("pointermove", drag);
      this.chart.addEventListener("pointerup", drop, { once: true });
      this.chart.addEventListener("pointercancel", drop, { once: true });
    }

    key(event) {
      const { t0, t1, c0, c1 } = this.view, dt = (t1 - t0) / 5, dc = (c1 - c0) / 5;
      const steps = { ArrowLeft: [-dt, 0], ArrowRight: [dt, 0], ArrowUp: [0, dc], ArrowDown: [0, -dc] };
      if (event.key in steps) {
        const [t, c] = steps[event.key];
        this.move({ t0: t0 + t, t1: t1 + t, c0: c0 + c, c1: c1 + c });
      } else if (event.key === "+") this.zoom(0.5, 0.5, 0.5, event.altKey);
      else if (event.key === "-") this.zoom(2, 0.5, 0.5, event.altKey);
      else if (event.key === "Home") this.reset();
      else return;
      event.preventDefault();
    }

    jump(event) {
      const box = this.overview.getBoundingClientRect(), [first, last] = this.data.span, { t0, t1, c0, c1 } = this.view;
      const at = first + (event.clientX - box.left - MARGIN.left) / inner(this.chart).width * (last - first);
      this.move({ t0: at - (t1 - t0) / 2, t1: at + (t1 - t0) / 2, c0, c1 });
    }

    place(event) { // 0 to 1 from the left and from the bottom
      const box = this.chart.getBoundingClientRect(), { width, height } = inner(this.chart);
      return { x: (event.clientX - box.left - MARGIN.left) / width, y: 1 - (event.clientY - box.top - MARGIN.top) / height };
    }

    // -- what one points at

    under(event) {
      const { x, y } = this.place(event), { t0, t1, c0, c1 } = this.view, { start, end, latest, lanes } = this.policy;
      if (x < 0 || x > 1 || y < 0 || y > 1) return null;
      const time = t0 + x * (t1 - t0), core = c0 + y * (c1 - c0);
      const near = (t1 - t0) / inner(this.chart).width; // a job narrower than a pixel is found beside it
      let found = null, nearest = Infinity;
      const to = bound(start, time + near);
      for (let i = bound(latest, time - near); i < to; i++) {
        if (lanes.low[i] > core || lanes.low[i] + lanes.height[i] <= core) continue;
        const away = Math.max(start[i] - time, time - end[i], 0);
        if (away <= near && away < nearest) { found = i; nearest = away; }
      }
      return found;
    }

    hover(event) {
      if (!this.policy) return;
      const piece = this.chart.classList.contains("grabbed") ? null : this.under(event);
      this.mark(piece);
      if (piece === null) return;
      this.tooltip.replaceChildren(...this.describe(piece));
      const box = this.root.getBoundingClientRect(), tip = this.tooltip.getBoundingClientRect();
      const left = Math.min(event.clientX - box.left + 14, box.width - tip.width - 4);
      this.tooltip.style.left = `${Math.max(left, 0)}px`;
      const below = event.clientY + 16 + tip.height < window.innerHeight;
      this.tooltip.style.top = `${event.clientY - box.top + (below ? 16 : -12 - tip.height)}px`;
    }

    mark(piece) { // all rectangles of the job are outlined
      const job = piece === null ? null : this.policy.lanes.job[piece];
      this.tooltip.hidden = job === null;
      if (job === this.marked) return;
      this.marked = job;
      if (this.root.dataset.mode === "single") this.draw();
    }

    describe(piece) {
      const job = this.policy.lanes.job[piece], jobs = this.jobs, user = String(jobs.user[job]);
      const lines = [
        ["user", this.data.users[user] ?? user], ["group", this.data.groups[jobs.group[job]].label],
        ["cores", jobs.cores[job].toLocaleString("en")], ["waited", duration(this.policy.wait[job])],
        ["ran", duration(this.policy.end[piece] - this.policy.start[piece])],
        ["started", instant(this.policy.start[piece], this.data.epoch, 1)], ...this.where(piece)];
      const rows = lines.flatMap(([name, value]) => [element("dt", { text: name }), element("dd", { text: value })]);
      return [element("strong", { text: `Job ${this.data.names[jobs.id[job]] ?? jobs.id[job]}` }), element("dl", {}, rows)];
    }

    where(piece) {
      if (!this.data.places) return [];
      const { names, border } = this.data.places;
      return [["where", names[bound(border, this.policy.lanes.low[piece]) - 1]]];
    }

    // -- drawing, once a frame at most

    draw() {
      if (this.waiting || !this.view) return;
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.paint();
      });
    }

    paint() {
      const style = getComputedStyle(this.root), by = this.colouring.value, { t0, t1, c0, c1 } = this.view;
      const palette = by === "group" ? this.data.groups.map((group) => group.colour) : WAIT_COLOURS;
      const scene = {
        policy: this.policy, view: this.view, epoch: this.data.epoch, marked: this.marked, palette, places: this.data.places,
        colours: this.policy.colours[by], ink: (name) => style.getPropertyValue(name).trim(), font: style.fontFamily,
      };
      QueuesmithPaint.overview(this.overview, scene, this.data.groups, this.data.span);
      const { count, single } = QueuesmithPaint.chart(this.chart, scene);
      this.status.textContent = `${count.toLocaleString("en")} rectangles in view${single ? "" : ", mixed by pixel"}`;
      this.explain(by, palette);
      this.redraws += 1;
      const facts = { redraws: this.redraws, view: [t0, t1, c0, c1].join(","), mode: single ? "single" : "mixed" };
      Object.assign(this.root.dataset, { ...facts, policy: this.policy.name });
    }

    explain(by, palette) {
      if (this.legend.dataset.of === by) return;
      this.legend.dataset.of = by;
      const labels = by === "group" ? this.data.groups.map((group) => group.label) : WAIT_LABELS;
      this.legend.replaceChildren(...labels.map((label, i) => {
        const swatch = element("i");
        swatch.style.background = palette[i];
        return element("span", {}, [swatch, label]);
      }));
    }
  }

  function show(root, data) {
    if (typeof DecompressionStream === "undefined") {
      root.textContent = "This browser is too old for the Gantt chart: it needs DecompressionStream (Chrome 80, Firefox 113, Safari 16.4).";
    } else new Gantt(root, data).open();
  }

  for (const root of document.querySelectorAll(".gantt")) {
    show(root, JSON.parse(document.getElementById(root.dataset.source).textContent));
  }
  window.QueuesmithGantt = show; // for a page whose data come later
})();
