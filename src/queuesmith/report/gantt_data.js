// The numbers of the Gantt chart out of the page, and the words for them.
const QueuesmithData = (() => {
  "use strict";

  const WAIT_LIMITS = [60, 600, 3600, 6 * 3600, 86400];

  async function inflated(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  async function unpacked(pack) {
    const planes = await inflated(pack.data);
    const values = new Float64Array(pack.count);
    for (let i = 0; i < pack.count; i++) {
      let value = 0;
      for (let plane = pack.width - 1; plane >= 0; plane--) {
        value = value * 256 + planes[plane * pack.count + i];
      }
      values[i] = value + pack.base;
      if (pack.delta && i) values[i] += values[i - 1];
    }
    return values;
  }

  async function columns(packs) {
    const names = Object.keys(packs);
    const values = await Promise.all(names.map((name) => unpacked(packs[name])));
    return Object.fromEntries(names.map((name, i) => [name, values[i]]));
  }

  // Times travel as whole ticks; here they become seconds.
  async function loadJobs(packs, tick) {
    const jobs = await columns(packs);
    for (const name of ["submit", "runtime"]) scale(jobs[name], tick);
    return jobs;
  }

  function scale(values, factor) {
    if (factor !== 1) for (let i = 0; i < values.length; i++) values[i] *= factor;
  }

  // Rectangles are sorted by start; `latest` is the latest end so far.
  async function loadPolicy(policy, jobs, tick) {
    const [wait, lanes, overview] = await Promise.all([
      unpacked(policy.wait), columns(policy.lanes), unpacked(policy.overview)]);
    const count = lanes.job.length;
    for (const times of [wait, lanes.start ?? [], lanes.length ?? []]) scale(times, tick);
    const start = new Float64Array(count), end = new Float64Array(count);
    const latest = new Float64Array(count);
    const colours = { group: new Uint8Array(count), wait: new Uint8Array(count) };
    for (let i = 0; i < count; i++) {
      const job = lanes.job[i];
      start[i] = lanes.start ? lanes.start[i] : jobs.submit[job] + wait[job];
      end[i] = start[i] + (lanes.length ? lanes.length[i] : jobs.runtime[job]);
      latest[i] = i ? Math.max(latest[i - 1], end[i]) : end[i];
      colours.group[i] = jobs.group[job];
      colours.wait[i] = bound(WAIT_LIMITS, wait[job]);
    }
    const { name, cores, height } = policy;
    return { name, cores, height, wait, lanes, start, end, latest, overview, colours };
  }

  function bound(sorted, value) { // the first position whose value is above `value`
    let low = 0, high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] > value) high = middle; else low = middle + 1;
    }
    return low;
  }

  const two = (number) => String(number).padStart(2, "0");

  function duration(seconds) {
    if (seconds < 60) return `${Number(seconds.toPrecision(4))} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
    const hours = Math.floor(seconds / 3600), minutes = Math.floor((seconds % 3600) / 60);
    return hours < 48 ? `${hours} h ${minutes} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
  }

  // A second as a date where the log has one, else as a day of the log; as fine as `step` needs.
  function instant(second, epoch, step) {
    const s = Math.floor(second);
    if (epoch === null) {
      const day = `day ${Math.floor(s / 86400)}`, rest = s % 86400;
      if (step >= 86400) return day;
      const clock = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}`;
      return `${day} ${clock}` + (step < 60 ? `:${two(rest % 60)}` : "");
    }
    const text = new Date((epoch + s) * 1000).toISOString();
    if (step >= 86400) return text.slice(0, 10);
    return `${text.slice(5, 10)} ${text.slice(11, step < 60 ? 19 : 16)}`;
  }

  return { bound, duration, instant, loadJobs, loadPolicy };
})();
