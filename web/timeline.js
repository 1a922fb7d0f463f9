// Draws a timeline: rectangles of steps where there is room for them, else cells; zoom, pan, what is under the pointer.
// SPDX-License-Identifier: BSD-3-Clause
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("timeline-data").textContent);
  const canvas = document.getElementById("timeline");
  const context = canvas.getContext("2d");
  const tip = document.getElementById("timeline-tip");
  const tools = document.getElementById("timeline-tools");
  const shown = document.getElementById("timeline-shown");
  const frontsBox = document.getElementById("timeline-fronts");
  const channelBox = document.getElementById("timeline-channel");
  const STATES = ["delay", "compute", "noise", "comm", "wait"];
  const NAMES = { delay: "delay", compute: "work", noise: "noise", comm: "messages", wait: "idle" };
  const LEVELS = 63;
  const LEAST_DELAY = 0.35; // a delay is what one looks for: never fainter
  const LEAST_RANK_PX = 3; // below, rectangles of steps cannot be told apart
  const MOST_STEPS = 30000; // drawn as rectangles at once
  const LEAST_SHARE_OF_RANKS = 50; // waves on less than one of so many ranks: the page opens with them alone

  // As in the paper, white work, blue delay, red idle time: the variables of src/kit/figure/palette.c.
  const read = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const numbersOf = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const readColours = (isDark) => ({
    isDark, ...Object.fromEntries(STATES.map((state) => [state, numbersOf(read(state))])),
    ground: read("card"), ink: read("ink"), faint: read("faint"),
    front: isDark ? "#ffffff" : "#000000", halo: isDark ? "#000000" : "#ffffff",
  });
  const darkQuery = window.matchMedia("(prefers-color-scheme: dark)");
  let isPrinting = false;
  let colours = readColours(darkQuery.matches);
  const css = ([r, g, b]) => `rgb(${r}, ${g}, ${b})`;

  const { decodeSteps, makeRaster, levelOf } = timelineCells;
  const rasters = data.rasters.map(makeRaster);
  const exact = (data.exact ? data.exact.ranks : []).map(([rank, firstStep, count, begin, text]) =>
    ({ rank, firstStep, count, text, begin, ends: null }));
  const exactByRank = new Map(exact.map((row) => [row.rank, row]));
  const unit = data.exact ? data.exact.unit : 1;
  const endsOf = (row) => (row.ends ??= decodeSteps(row.text, row.count, row.begin));

  const channelsOf = (level) => (channelBox.value === "max" ? level.max : { ...level.mean, delay: level.max.delay });

  // One pixel a cell, painted once for each look; row 0 is the lowest.
  const imageOf = (level) => {
    const key = `${channelBox.value}${colours.isDark}`;
    if (!level.images[key]) {
      const image = document.createElement("canvas");
      image.width = level.columns;
      image.height = level.rows;
      const pixels = new ImageData(level.columns, level.rows);
      const channels = channelsOf(level);
      const layers = ["comm", "noise", "wait", "delay"].filter((state) => channels[state])
        .map((state) => [channels[state], colours[state], state === "delay" ? LEAST_DELAY : 0]);
      const [r0, g0, b0] = colours.compute;
      for (let row = 0; row < level.rows; row++) {
        for (let column = 0, from = row * level.columns, to = 4 * (level.rows - 1 - row) * level.columns;
          column < level.columns; column++, from++, to += 4) {
          let r = r0, g = g0, b = b0;
          for (const [cells, [red, green, blue], least] of layers) {
            if (cells[from] > 0) {
              const share = Math.max(cells[from] / LEVELS, least);
              r += (red - r) * share;
              g += (green - g) * share;
              b += (blue - b) * share;
            }
          }
          pixels.data.set([r, g, b, 255], to);
        }
      }
      image.getContext("2d").putImageData(pixels, 0, 0);
      level.images[key] = image;
    }
    return level.images[key];
  };

  // ---- the view: time in ps, ranks from the lower edge of the lowest to the upper edge of the highest ----

  const all = { t0: 0, t1: data.end, r0: 0, r1: data.ranks };
  let view = { ...all };
  const margin = { left: 34 + 7 * String(data.ranks).length, right: 12, top: 8, bottom: 40 };
  let width = 0, height = 0;
  const plotWidth = () => width - margin.left - margin.right;
  const plotHeight = () => height - margin.top - margin.bottom;
  const xOf = (t) => margin.left + (t - view.t0) / (view.t1 - view.t0) * plotWidth();
  const yOf = (r) => margin.top + (view.r1 - r) / (view.r1 - view.r0) * plotHeight();
  const timeAt = (x) => view.t0 + (x - margin.left) / plotWidth() * (view.t1 - view.t0);
  const rankAt = (y) => view.r1 - (y - margin.top) / plotHeight() * (view.r1 - view.r0);
  const isAll = () => view.t0 <= 0 && view.t1 >= all.t1 && view.r0 <= 0 && view.r1 >= all.r1;

  const clampRange = (low, high, most, least) => {
    const span = Math.min(Math.max(high - low, least), most);
    const begin = Math.min(Math.max((low + high - span) / 2, 0), most - span);
    return [begin, begin + span];
  };
  const setView = (t0, t1, r0, r1) => {
    [t0, t1] = clampRange(t0, t1, all.t1, Math.max(20 * unit, all.t1 / 1e7));
    [r0, r1] = clampRange(r0, r1, all.r1, Math.min(4, all.r1));
    view = { t0, t1, r0, r1 };
    tip.hidden = true;
    requestDraw();
  };
  const zoom = (factor, x = margin.left + plotWidth() / 2, y = margin.top + plotHeight() / 2, what = "both") => {
    const t = timeAt(x), r = rankAt(y);
    const ft = what === "ranks" ? 1 : factor, fr = what === "time" ? 1 : factor;
    setView(t - (t - view.t0) * ft, t + (view.t1 - t) * ft, r - (r - view.r0) * fr, r + (view.r1 - r) * fr);
  };
  const move = (dt, dr) => {
    const t = Math.min(Math.max(dt, -view.t0), all.t1 - view.t1);
    const r = Math.min(Math.max(dr, -view.r0), all.r1 - view.r1);
    setView(view.t0 + t, view.t1 + t, view.r0 + r, view.r1 + r);
  };
  // What holds all fronts, and a little more; null: there are none.
  const boxOfWaves = () => {
    const fronts = data.waves.flatMap((wave) => wave.fronts);
    const least = (f) => fronts.reduce((low, front) => Math.min(low, f(front)), Infinity);
    const t0 = least((f) => f[2]), t1 = -least((f) => -f[3]), r0 = least((f) => f[0]), r1 = 1 - least((f) => -f[0]);
    return fronts.length === 0 ? null : { t0: t0 - (t1 - t0) * 0.08, t1: t1 + (t1 - t0) * 0.05,
      r0: r0 - (r1 - r0) * 0.05, r1: r1 + (r1 - r0) * 0.05 };
  };
  const wavesBox = boxOfWaves();
  const showWaves = () => setView(wavesBox.t0, wavesBox.t1, wavesBox.r0, wavesBox.r1);

  // ---- numbers ----

  const UNITS = [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"], [1, "ps"]];
  const unitOf = (ps) => UNITS.find(([size]) => ps >= size) || UNITS[0];
  const timeText = (ps) => {
    const [size, name] = unitOf(Math.abs(ps));
    return `${Number((ps / size).toPrecision(5))} ${name}`;
  };
  const niceStep = (span, most) => {
    const power = 10 ** Math.floor(Math.log10(span / most));
    return power * ([1, 2, 5].find((factor) => factor * power * most >= span * (1 - 1e-9)) || 10);
  };
  const ticks = (low, high, step) => {
    const list = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12); i++) {
      list.push(i * step);
    }
    return list;
  };

  // ---- drawing ----

  const drawRasters = () => {
    for (const raster of rasters) {
      const halvings = (cell, pixel, count) =>
        Math.max(0, Math.min(Math.round(Math.log2(pixel / cell)), Math.floor(Math.log2(count))));
      const level = levelOf(raster,
        halvings(raster.finest.bin, (view.t1 - view.t0) / plotWidth(), raster.finest.columns),
        halvings(raster.finest.rankStep, (view.r1 - view.r0) / plotHeight(), raster.finest.rows));
      const x0 = xOf(raster.from), x1 = xOf(raster.from + level.columns * level.bin);
      const y0 = yOf(raster.rank + level.rows * level.rankStep), y1 = yOf(raster.rank);
      // Only the part that is seen: browsers are slow with large scales.
      const c0 = Math.max(0, Math.floor((margin.left - x0) / (x1 - x0) * level.columns));
      const c1 = Math.min(level.columns, Math.ceil((width - margin.right - x0) / (x1 - x0) * level.columns));
      const q0 = Math.max(0, Math.floor((margin.top - y0) / (y1 - y0) * level.rows));
      const q1 = Math.min(level.rows, Math.ceil((height - margin.bottom - y0) / (y1 - y0) * level.rows));
      if (c1 > c0 && q1 > q0) {
        const sx = (x1 - x0) / level.columns, sy = (y1 - y0) / level.rows;
        context.imageSmoothingEnabled = sx < 1 || sy < 1;
        context.drawImage(imageOf(level), c0, q0, c1 - c0, q1 - q0, x0 + c0 * sx, y0 + q0 * sy, (c1 - c0) * sx,
          (q1 - q0) * sy);
      }
    }
  };

  // Index of the step that holds the time, -1: none does.
  const stepAt = (row, t) => {
    const ends = endsOf(row);
    let low = 0, high = row.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[5 * middle + 5] * unit <= t) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const visibleRows = () => exact.filter(({ rank }) => rank + 1 > view.r0 && rank < view.r1);

  const exactPart = () => {
    if ((view.r1 - view.r0) * LEAST_RANK_PX > plotHeight()) {
      return null;
    }
    const rows = visibleRows().map((row) => [row, stepAt(row, view.t0), Math.min(stepAt(row, view.t1) + 1, row.count)]);
    const steps = rows.reduce((sum, [, from, to]) => sum + to - from, 0);
    return rows.length > 0 && steps <= MOST_STEPS ? rows : null;
  };

  const drawSteps = (rows) => {
    const rankPx = plotHeight() / (view.r1 - view.r0), gap = rankPx >= 8 ? Math.min(rankPx * 0.15, 4) : 0;
    for (const [row, from, to] of rows) {
      const ends = endsOf(row), y = yOf(row.rank + 1) + gap / 2, h = rankPx - gap;
      const first = xOf(ends[5 * from] * unit), last = xOf(ends[5 * to] * unit);
      if (gap > 0) {
        context.fillStyle = colours.ground;
        context.fillRect(margin.left, y - gap / 2, plotWidth(), rankPx);
      }
      context.fillStyle = css(colours.compute);
      context.fillRect(first, y, last - first, h + (gap > 0 ? 0 : 0.5));
      for (const state of [3, 2, 4, 0]) { // the rarer ones last, as in cells
        context.fillStyle = css(colours[STATES[state]]);
        context.beginPath();
        for (let step = from; step < to; step++) {
          const i = 5 * step + state;
          if (ends[i + 1] > ends[i]) {
            const x = xOf(ends[i] * unit);
            context.rect(x, y, Math.max(xOf(ends[i + 1] * unit) - x, state === 0 ? 1 : 0.1), h + (gap > 0 ? 0 : 0.5));
          }
        }
        context.fill();
      }
    }
  };

  // A line through one of the times of all fronts; broken where the wave goes around the end of the ranks.
  const frontLine = (fronts, index) => {
    context.beginPath();
    let before = null;
    for (const front of fronts) {
      if (front[index] !== null) {
        const isNew = before === null || Math.abs(front[0] - before) > data.ranks / 2;
        context[isNew ? "moveTo" : "lineTo"](xOf(front[index]), yOf(front[0] + 0.5));
        before = front[0];
      }
    }
  };

  const drawPoints = (fronts, index, radius) => {
    context.beginPath();
    for (const front of fronts) {
      context.moveTo(xOf(front[index]) + radius, yOf(front[0] + 0.5));
      context.arc(xOf(front[index]), yOf(front[0] + 0.5), radius, 0, 2 * Math.PI);
    }
    context.fillStyle = index === 2 ? colours.front : colours.halo;
    context.fill();
    context.stroke();
  };

  // Thin ranks have thin waves: a line with points would hide them.
  const drawFronts = () => {
    const rankPx = plotHeight() / (view.r1 - view.r0), hasPoints = rankPx >= 4;
    for (const { fronts } of data.waves) {
      for (const [fit, point, dash] of [[4, 2, hasPoints ? [] : [8, 8]], [5, 3, [6, 4]]]) {
        frontLine(fronts, fit);
        context.setLineDash([]);
        context.strokeStyle = colours.halo;
        context.lineWidth = 3.5;
        if (hasPoints) {
          context.stroke();
        }
        context.setLineDash(dash);
        context.strokeStyle = colours.front;
        context.lineWidth = hasPoints ? 1.5 : 1;
        if (hasPoints || fit === 4) {
          context.stroke();
        }
        context.setLineDash([]);
        if (hasPoints) {
          drawPoints(fronts, point, Math.min(rankPx / 5, 3));
        }
      }
    }
  };

  const drawAxes = () => {
    const [size, name] = unitOf(view.t1), bottom = height - margin.bottom;
    const timeStep = niceStep(view.t1 - view.t0, Math.max(plotWidth() / 75, 2));
    const rankStep = Math.max(niceStep(view.r1 - view.r0, Math.max(plotHeight() / 45, 2)), 1);
    const decimals = Math.min(Math.max(0, -Math.floor(Math.log10(timeStep / size) + 1e-9)), 9);
    context.font = "12px system-ui, sans-serif";
    context.strokeStyle = colours.faint;
    context.fillStyle = colours.ink;
    context.lineWidth = 1;
    context.strokeRect(margin.left - 0.5, margin.top - 0.5, plotWidth() + 1, plotHeight() + 1);
    context.beginPath();
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const t of ticks(view.t0, view.t1, timeStep)) {
      const text = (t / size).toFixed(decimals), half = context.measureText(text).width / 2;
      context.moveTo(xOf(t), bottom);
      context.lineTo(xOf(t), bottom + 5);
      context.fillText(text, Math.min(Math.max(xOf(t), half), width - half), bottom + 7);
    }
    context.fillText(`time [${name}]`, margin.left + plotWidth() / 2, bottom + 23);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const r of ticks(view.r0 - 0.5, view.r1 - 0.5, rankStep)) {
      context.moveTo(margin.left, yOf(r + 0.5));
      context.lineTo(margin.left - 5, yOf(r + 0.5));
      context.fillText(String(Math.round(r)), margin.left - 7, yOf(r + 0.5));
    }
    context.stroke();
    context.save();
    context.translate(10, margin.top + plotHeight() / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText("rank", 0, 0);
    context.restore();
  };

  const describe = (isExact) => {
    const first = Math.floor(view.r0), last = Math.min(Math.ceil(view.r1), data.ranks) - 1;
    shown.textContent = `Shown: ranks ${first} to ${last} of ${data.ranks}, ${timeText(view.t0)} to `
      + `${timeText(view.t1)}, ${isExact ? "every step" : "cells"}.`;
    Object.assign(canvas.dataset, { exact: String(isExact), view: [view.t0, view.t1, view.r0, view.r1].join(" ") });
    canvas.classList.toggle("zoomed", !isAll());
  };

  const draw = () => {
    const scale = isPrinting ? 2 : window.devicePixelRatio || 1;
    const start = performance.now();
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    colours = readColours(darkQuery.matches && !isPrinting);
    document.querySelectorAll(".swatch").forEach((swatch) => {
      swatch.style.background = css(colours[swatch.classList[1]]);
    });
    context.scale(scale, scale);
    context.save();
    context.beginPath();
    context.rect(margin.left, margin.top, plotWidth(), plotHeight());
    context.clip();
    context.fillStyle = colours.ground;
    context.fillRect(margin.left, margin.top, plotWidth(), plotHeight());
    const rows = exactPart();
    if (!rows || rows.length < Math.ceil(view.r1) - Math.floor(view.r0) || exact.length < data.ranks) {
      drawRasters();
    }
    if (rows) {
      drawSteps(rows);
    }
    if (frontsBox.checked) {
      drawFronts();
    }
    context.restore();
    drawAxes();
    describe(rows !== null);
    canvas.dataset.drawMs = (performance.now() - start).toFixed(0);
  };
  let isAsked = false;
  const requestDraw = () => {
    if (!isAsked) {
      isAsked = true;
      requestAnimationFrame(() => { isAsked = false; draw(); });
    }
  };

  // ---- what is under the pointer ----

  const stepText = (row, t) => {
    const step = stepAt(row, t), ends = endsOf(row);
    if (step >= row.count || t < ends[0] * unit) {
      return null;
    }
    const begin = ends[5 * step] * unit, end = ends[5 * step + 5] * unit;
    const parts = STATES.map((state, i) => [NAMES[state], (ends[5 * step + i + 1] - ends[5 * step + i]) * unit])
      .filter(([, length]) => length > 0).map(([name, length]) => `${name} ${timeText(length)}`);
    return `step ${row.firstStep + step}: ${timeText(begin)} to ${timeText(end)}\n${parts.join("\n")}`;
  };
  const cellText = (t, r) => {
    const raster = rasters.findLast((x) => t >= x.from && t < x.end && r >= x.rank
      && r < x.rank + x.finest.rows * x.finest.rankStep);
    if (!raster) {
      return "";
    }
    const level = raster.finest, row = Math.floor((r - raster.rank) / level.rankStep);
    const cell = row * level.columns + Math.floor((t - raster.from) / level.bin);
    const first = raster.rank + row * level.rankStep;
    const ranks = level.rankStep > 1 ? `ranks ${first} to ${Math.min(first + level.rankStep, data.ranks) - 1}: ` : "";
    const channels = channelsOf(level);
    const parts = STATES.filter((state) => channels[state] && channels[state][cell] > 0)
      .map((state) => `${NAMES[state]} ${(100 * channels[state][cell] / LEVELS).toFixed(0)} %`);
    return `${ranks}${parts.join(", ") || "work"}`;
  };
  const showTip = (x, y) => {
    const t = timeAt(x), r = rankAt(y);
    if (x < margin.left || x > width - margin.right || y < margin.top || y > height - margin.bottom) {
      tip.hidden = true;
      return;
    }
    const rank = Math.min(Math.max(Math.floor(r), 0), data.ranks - 1), row = exactByRank.get(rank);
    tip.textContent = `rank ${rank}, ${timeText(t)}\n${(row && stepText(row, t)) || cellText(t, r)}`;
    tip.hidden = false;
    const left = x + 14 + tip.offsetWidth > width ? x - 14 - tip.offsetWidth : x + 14;
    tip.style.left = `${Math.max(left, 0)}px`;
    tip.style.top = `${Math.min(y + 14, height - tip.offsetHeight)}px`;
  };

  // ---- mouse, touch, keyboard, buttons ----

  const placeOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const pointers = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, placeOf(event));
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = placeOf(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      showTip(x, y);
      return;
    }
    const other = [...pointers].find(([id]) => id !== event.pointerId);
    if (other) {
      const [ox, oy] = other[1];
      const far = Math.hypot(x - ox, y - oy), was = Math.hypot(before[0] - ox, before[1] - oy);
      zoom(was / Math.max(far, 10), (x + ox) / 2, (y + oy) / 2);
    } else {
      move(timeAt(before[0]) - timeAt(x), rankAt(before[1]) - rankAt(y));
    }
    pointers.set(event.pointerId, [x, y]);
  });
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
    canvas.addEventListener(name, (event) => {
      pointers.delete(event.pointerId);
      tip.hidden = tip.hidden || name === "pointerleave";
    });
  }
  canvas.addEventListener("wheel", (event) => {
    const delta = event.deltaY || event.deltaX;
    if (delta > 0 && isAll()) {
      return; // nothing left to zoom out of: the page scrolls
    }
    event.preventDefault();
    const steps = delta / (event.deltaMode === 0 ? 100 : 3);
    zoom(1.25 ** Math.min(Math.max(steps, -4), 4), ...placeOf(event),
      event.shiftKey ? "time" : event.altKey ? "ranks" : "both");
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => zoom(0.5, ...placeOf(event)));

  const showAll = () => setView(all.t0, all.t1, all.r0, all.r1);
  const keys = {
    "+": () => zoom(0.8), "=": () => zoom(0.8), "-": () => zoom(1.25), 0: showAll,
    ArrowLeft: () => move(-(view.t1 - view.t0) / 8, 0), ArrowRight: () => move((view.t1 - view.t0) / 8, 0),
    ArrowUp: () => move(0, (view.r1 - view.r0) / 8), ArrowDown: () => move(0, -(view.r1 - view.r0) / 8),
  };
  canvas.addEventListener("keydown", (event) => {
    if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  const actions = { in: () => zoom(0.6), out: () => zoom(1 / 0.6), all: showAll, wave: showWaves };
  tools.addEventListener("click", (event) => actions[event.target.dataset.do]?.());
  frontsBox.addEventListener("change", requestDraw);
  channelBox.addEventListener("change", requestDraw);
  darkQuery.addEventListener("change", requestDraw);
  const print = (isBegin) => {
    isPrinting = isBegin;
    document.documentElement.classList.toggle("paper", isBegin);
    draw();
  };
  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));
  new ResizeObserver(requestDraw).observe(canvas);

  if (!wavesBox) {
    tools.querySelector("[data-do=wave]").hidden = true;
    frontsBox.closest("label").hidden = true;
  }
  channelBox.value = data.isMax ? "max" : "mean";
  channelBox.closest("label").hidden = rasters.every(({ finest }) => finest.rankStep === 1);
  tools.hidden = false;
  if (wavesBox && (wavesBox.r1 - wavesBox.r0) * LEAST_SHARE_OF_RANKS < data.ranks) {
    showWaves(); // they would be thinner than a line
  }
  draw();
})();
