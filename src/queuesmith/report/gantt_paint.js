// Puts the Gantt chart on its canvases. Many rectangles in view: every pixel shows the mean colour
// of the jobs it covers. Few: every job is drawn by itself.
const QueuesmithPaint = (() => {
  "use strict";

  const MARGIN = { left: 62, right: 10, top: 8, bottom: 34 };
  const SINGLE_JOBS_BELOW = 4000; // rectangles in view
  const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
    86400, 172800, 604800, 1209600, 2592000, 5184000, 7776000, 15552000, 31536000, 63072000, 157680000];

  function rgb(hex) {
    const number = parseInt(hex.slice(1), 16);
    return [number >> 16, (number >> 8) & 255, number & 255];
  }

  function niceStep(least) {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    return Math.max([1, 2, 5, 10].find((factor) => factor * power >= least) * power, 1);
  }

  function sized(canvas) {
    const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    return pen;
  }

  function inner(canvas) {
    const width = Math.max(canvas.clientWidth - MARGIN.left - MARGIN.right, 10);
    const height = Math.max(canvas.clientHeight - MARGIN.top - MARGIN.bottom, 10);
    return { width, height };
  }

  function inView(policy, view) {
    const { start, end, latest, lanes } = policy, { t0, t1, c0, c1 } = view;
    const from = QueuesmithData.bound(latest, t0), to = QueuesmithData.bound(start, t1);
    const found = new Int32Array(Math.max(to - from, 0));
    let count = 0;
    for (let i = from; i < to; i++) {
      if (end[i] > t0 && lanes.low[i] < c1 && lanes.low[i] + lanes.height[i] > c0) found[count++] = i;
    }
    return found.subarray(0, count);
  }

  // A scene: { policy, view, epoch, colours, palette, marked, ink(name), font }.
  // Returns how many rectangles are in view and whether each was drawn by itself.
  function chart(canvas, scene) {
    const pen = sized(canvas), { width, height } = inner(canvas);
    const visible = inView(scene.policy, scene.view), single = visible.length <= SINGLE_JOBS_BELOW;
    pen.save();
    pen.translate(MARGIN.left, MARGIN.top);
    pen.fillStyle = scene.ink("--plot");
    pen.fillRect(0, 0, width, height);
    pen.beginPath();
    pen.rect(0, 0, width, height);
    pen.clip();
    (single ? jobs : mixture)(pen, scene, visible, width, height);
    if (scene.policy.height > scene.policy.cores) limit(pen, scene, width, height);
    pen.restore();
    axes(pen, scene, width, height);
    return { count: visible.length, single };
  }

  function jobs(pen, scene, visible, width, height) {
    const { t0, t1, c0, c1 } = scene.view, { start, end, lanes } = scene.policy;
    const perSecond = width / (t1 - t0), perCore = height / (c1 - c0);
    const ground = scene.ink("--plot"), ink = scene.ink("--ink");
    for (const i of visible) {
      const left = Math.max((start[i] - t0) * perSecond, -2), right = Math.min((end[i] - t0) * perSecond, width + 2);
      const top = height - (lanes.low[i] + lanes.height[i] - c0) * perCore, tall = lanes.height[i] * perCore;
      const wide = Math.max(right - left, 0.7), marked = lanes.job[i] === scene.marked;
      pen.fillStyle = scene.palette[scene.colours[i]];
      pen.fillRect(left, top, wide, tall);
      pen.strokeStyle = marked ? ink : ground;
      pen.lineWidth = marked ? 2 : 1;
      if (marked) pen.strokeRect(left + 1, top + 1, wide - 2, tall - 2);
      else if (wide > 3 && tall > 3) pen.strokeRect(left, top, wide, tall);
    }
  }

  const raster = document.createElement("canvas");

  function mixture(pen, scene, visible, width, height) {
    const wide = Math.ceil(width), tall = Math.ceil(height), sums = mixed(scene, visible, wide, tall);
    const image = new ImageData(wide, tall), pixels = image.data, [red, green, blue] = rgb(scene.ink("--plot"));
    for (let p = 0; p < sums.length; p += 4) {
      const empty = Math.max(1 - sums[p + 3], 0);
      pixels[p] = sums[p] + empty * red;
      pixels[p + 1] = sums[p + 1] + empty * green;
      pixels[p + 2] = sums[p + 2] + empty * blue;
      pixels[p + 3] = 255;
    }
    raster.width = wide;
    raster.height = tall;
    raster.getContext("2d").putImageData(image, 0, 0);
    pen.drawImage(raster, 0, 0, width, height);
  }

  // Red, green, blue and covered share of every pixel. Rectangles never overlap, so the pixels
  // touched are at most those of the chart plus the rectangles' edges.
  function mixed(scene, visible, wide, tall) {
    const { t0, t1, c0, c1 } = scene.view, { start, end, lanes } = scene.policy;
    const perSecond = wide / (t1 - t0), perCore = tall / (c1 - c0);
    const palette = Float32Array.from(scene.palette.flatMap(rgb)), sums = new Float32Array(4 * wide * tall);
    for (let k = 0; k < visible.length; k++) {
      const i = visible[k], colour = 3 * scene.colours[i];
      const red = palette[colour], green = palette[colour + 1], blue = palette[colour + 2];
      const x0 = Math.max((start[i] - t0) * perSecond, 0), x1 = Math.min((end[i] - t0) * perSecond, wide);
      const y0 = Math.max(tall - (lanes.low[i] + lanes.height[i] - c0) * perCore, 0);
      const y1 = Math.min(tall - (lanes.low[i] - c0) * perCore, tall);
      const left = Math.floor(x0);
      for (let y = Math.floor(y0); y < y1; y++) {
        const high = Math.min(y + 1, y1) - Math.max(y, y0);
        for (let x = left, p = 4 * (y * wide + left); x < x1; x++, p += 4) {
          const share = high * (Math.min(x + 1, x1) - Math.max(x, x0));
          sums[p] += share * red;
          sums[p + 1] += share * green;
          sums[p + 2] += share * blue;
          sums[p + 3] += share;
        }
      }
    }
    return sums;
  }

  function limit(pen, scene, width, height) { // a history may use more cores than the machine has
    const { c0, c1 } = scene.view, y = height - (scene.policy.cores - c0) / (c1 - c0) * height;
    pen.strokeStyle = scene.ink("--ink");
    pen.setLineDash([6, 4]);
    stroke(pen, 0, y, width, y);
    pen.setLineDash([]);
  }

  function axes(pen, scene, width, height) {
    const { t0, t1, c0, c1 } = scene.view, bottom = MARGIN.top + height;
    const wanted = Math.max(Math.floor(width / 120), 2);
    const step = STEPS.find((each) => (t1 - t0) / each <= wanted) ?? STEPS[STEPS.length - 1];
    const shift = scene.epoch === null ? 0 : scene.epoch % step;
    pen.fillStyle = scene.ink("--muted");
    pen.strokeStyle = scene.ink("--line");
    pen.lineWidth = 1;
    pen.font = `12px ${scene.font}`;
    pen.textAlign = "center";
    for (let t = Math.ceil((t0 + shift) / step) * step - shift; t <= t1; t += step) {
      const x = MARGIN.left + (t - t0) / (t1 - t0) * width;
      stroke(pen, x, bottom, x, bottom + 5);
      const text = QueuesmithData.instant(t, scene.epoch, step);
      if (x < MARGIN.left + width - 30) pen.fillText(text, Math.max(x, MARGIN.left + 20), bottom + 19);
    }
    pen.textAlign = "right";
    for (const [core, text] of scene.places ? placeLabels(scene, height) : coreLabels(scene, height)) {
      const y = bottom - (core - c0) / (c1 - c0) * height;
      stroke(pen, MARGIN.left - 5, y, MARGIN.left, y);
      pen.fillText(text, MARGIN.left - 8, y + 4, MARGIN.left - 12);
    }
    pen.strokeRect(MARGIN.left, MARGIN.top, width, height);
  }

  function coreLabels(scene, height) {
    const { c0, c1 } = scene.view, step = niceStep((c1 - c0) / Math.max(height / 50, 2)), labels = [];
    for (let c = Math.ceil(c0 / step) * step; c <= c1; c += step) labels.push([c, c.toLocaleString("en")]);
    return labels;
  }

  function placeLabels(scene, height) { // in the middle of each place, as many as there is room for
    const { c0, c1 } = scene.view, { names, border } = scene.places, labels = [];
    const least = (c1 - c0) / Math.max(height / 16, 1);
    let below = -Infinity;
    names.forEach((name, i) => {
      const middle = (border[i] + border[i + 1]) / 2;
      if (middle < c0 || middle > c1 || middle - below < least) return;
      labels.push([middle, name]);
      below = middle;
    });
    return labels;
  }

  function stroke(pen, x0, y0, x1, y1) {
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
  }

  // Busy cores by group over the whole time, with a frame round what the chart shows.
  function overview(canvas, scene, groups, [first, last]) {
    const pen = sized(canvas), width = inner(canvas).width, tall = canvas.clientHeight - 2;
    const bins = scene.policy.overview.length / groups.length, base = new Float64Array(bins);
    pen.translate(MARGIN.left, 0);
    pen.fillStyle = scene.ink("--plot");
    pen.fillRect(0, 0, width, tall);
    groups.forEach((group, slot) => {
      pen.fillStyle = group.colour;
      pen.beginPath();
      for (let bin = 0; bin < bins; bin++) {
        const high = scene.policy.overview[bin * groups.length + slot] / 1000 * tall;
        pen.rect(bin * width / bins, tall - base[bin] - high, width / bins + 0.4, high);
        base[bin] += high;
      }
      pen.fill();
    });
    const at = (time) => (time - first) / (last - first) * width;
    const left = at(scene.view.t0), right = Math.max(at(scene.view.t1), left + 2);
    pen.fillStyle = scene.ink("--veil");
    pen.fillRect(0, 0, left, tall);
    pen.fillRect(right, 0, width - right, tall);
    pen.strokeStyle = scene.ink("--ink");
    pen.lineWidth = 1.5;
    pen.strokeRect(left, 0.75, right - left, tall - 1);
  }

  return { MARGIN, chart, inner, overview };
})();
