// The kinds of plots: from a plot's data (src/report/html_*.c write it) to an SVG element, by the chart library.
// SPDX-License-Identifier: BSD-3-Clause
"use strict";

const plotKinds = (() => {
  const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye", "hexagon"];
  const colourOf = (style) => `var(--series-${style % SYMBOLS.length})`;
  const symbolOf = (style) => SYMBOLS[style % SYMBOLS.length];
  // A second round of the colours is dashed.
  const dashOf = (style) => (style < SYMBOLS.length ? null : "6,3");

  // ---- numbers for people ----

  const digits = (value, count) => String(Number(value.toPrecision(count)));
  const grouped = (value) => Math.round(value).toLocaleString("en-US");

  const TIME_UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"], [1e-3, "ps"]];
  const timeText = (ns, count = 3) => {
    if (!(ns > 0)) {
      return "0";
    }
    const [unit, name] = TIME_UNITS.find(([size]) => ns >= 0.9999 * size) ?? TIME_UNITS[TIME_UNITS.length - 1];
    return `${digits(ns / unit, count)} ${name}`;
  };
  const factorText = (value) =>
    value >= 999.5 ? grouped(value) : value < 1.1 ? value.toFixed(3) : digits(value, 4);
  const countText = (value) => (value >= 1e3 ? grouped(value) : digits(value, 3));

  // ---- axes ----

  const within = (list, [low, high]) => list.filter((x) => x >= low * 0.9999 && x <= high * 1.0001);

  const linearTicks = ([low, high], wanted) => {
    const raw = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((s) => s * power >= raw * 0.9999) * power;
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); i++) {
      ticks.push(Number((i * step).toPrecision(12)));
    }
    return ticks;
  };

  // At most `wanted` round values: decades, or 1-2-5, or evenly spaced where the axis is short.
  const logTicks = (domain, wanted) => {
    const [first, last] = domain.map(Math.log10);
    const decades = [];
    for (let d = Math.floor(first); d <= Math.ceil(last); d++) {
      decades.push(d);
    }
    const fine = within(decades.flatMap((d) => [1, 2, 5].map((m) => m * 10 ** d)), domain);
    if (fine.length <= wanted && fine.length >= 3) {
      return fine;
    }
    if (fine.length < 3) {
      return linearTicks(domain, wanted);
    }
    let coarse = within(decades.map((d) => 10 ** d), domain);
    if (coarse.length < 2) {
      return fine.filter((_, i) => i % 2 === 0);
    }
    const stride = Math.ceil(coarse.length / wanted);
    return coarse.filter((x) => Math.round(Math.log10(x)) % stride === 0);
  };

  // Powers of two, as many as their texts leave room for.
  const rankTicks = ([low, high], width) => {
    const powers = [];
    for (let p = Math.ceil(Math.log2(low) - 1e-9); 2 ** p <= high * 1.0001; p++) {
      powers.push(p);
    }
    const room = Math.max(2, Math.floor(width / 62));
    const stride = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16].find((s) => powers.length / s <= room) ?? 20;
    const chosen = powers.filter((p) => p % stride === 0);
    return (chosen.length > 0 ? chosen : powers.slice(0, 1)).map((p) => 2 ** p);
  };

  const rankAxis = (ranks, width, margin) => {
    let [low, high] = [Math.min(...ranks), Math.max(...ranks)];
    if (low === high) {
      [low, high] = [Math.max(low / 2, 0.5), high * 2];
    }
    const room = (high / low) ** margin;
    const domain = [low / room, high * room];
    return { type: "log", base: 2, domain, ticks: rankTicks([low, high], width), text: grouped, label: "Ranks" };
  };

  const logDomain = (values) => {
    const positive = values.filter((v) => v > 0);
    if (positive.length === 0) {
      return [1, 10];
    }
    const [low, high] = [Math.min(...positive), Math.max(...positive)];
    const room = Math.max((high / low) ** 0.04, 1.02);
    return [low / room, high * room];
  };

  // Round numbers get a grid line; grid lines never hide data.
  const grid = (x, y) => [
    Chart.ruleX(x.ticks, { stroke: "var(--rule)", strokeOpacity: 0.7 }),
    Chart.ruleY(y.ticks, { stroke: "var(--rule)", strokeOpacity: 0.7 }),
  ];

  // Ticks get their text as such: of a `tickFormat` on a logarithmic scale the library drops some.
  const axes = (x, y) => [
    ...(x.axis === null ? [] : [Chart.axisX(x.ticks, {
      text: x.text, label: x.label, labelAnchor: "center", labelArrow: "none", tickSize: 4,
    })]),
    ...(y.axis === null ? [] : [Chart.axisY(y.ticks, { text: y.text, label: y.label, labelArrow: "none", tickSize: 4 })]),
  ];

  const frame = (width, height, x, y, marks) =>
    Chart.plot({
      width,
      height,
      marginLeft: 58,
      marginRight: 24,
      marginTop: 24,
      marginBottom: 40,
      style: { fontSize: "12px", color: "var(--ink)", background: "none" },
      x: { type: x.type, base: x.base, domain: x.domain, axis: null },
      y: { type: y.type, domain: y.domain, axis: null },
      marks: [...grid(x, y), ...axes(x, y), ...marks],
    });

  const hint = (rows, title) =>
    Chart.tip(rows, Chart.pointer({ x: "x", y: "y", title, fontSize: 12, textPadding: 7, maxRadius: 60 }));

  // ---- where noise takes over ----

  // A triangle on the line of the threshold, with its interval as a bar.
  const inflectionMarks = ([at, low, high], y, colour) => [
    Chart.link([0], {
      x1: [low], x2: [high], y1: [y], y2: [y], stroke: colour, strokeWidth: 5, strokeOpacity: 0.45,
      strokeLinecap: "butt",
    }),
    Chart.dot([0], {
      x: [at], y: [y], symbol: "triangle", rotate: 180, r: 6, fill: colour, stroke: "var(--ground)", dy: -7,
    }),
  ];

  const pickRanks = ({ points }) => points.map((p) => p[0]);

  // ---- slowdown over ranks: one curve a series, its confidence interval as a band ----

  const curve = ({ label, style, points, inflection }, threshold) => {
    const rows = points.filter(([, y]) => y > 0)
      .map(([x, y, low, high]) => ({ label, x, y, low: low ?? y, high: high ?? y }));
    const colour = colourOf(style);
    return {
      rows,
      marks: [
        Chart.areaY(rows, { x: "x", y1: "low", y2: "high", fill: colour, fillOpacity: 0.25 }),
        Chart.line(rows, { x: "x", y: "y", stroke: colour, strokeWidth: 2, strokeDasharray: dashOf(style) }),
        Chart.dot(rows, { x: "x", y: "y", fill: colour, symbol: symbolOf(style), r: 3 }),
        ...(inflection ? inflectionMarks(inflection, 1 + threshold, colour) : []),
      ],
    };
  };

  // The name of the threshold, at the side where no mark is within 110 pixels; left out if both have one.
  const thresholdName = (series, { domain: [low, high] }, threshold, width) => {
    const places = series.filter(({ inflection }) => inflection)
      .map(({ inflection }) => Math.log(inflection[0] / low) / Math.log(high / low) * (width - 82));
    const isLeft = places.every((place) => place > 110);
    if (!isLeft && places.some((place) => place > width - 82 - 110)) {
      return [];
    }
    return [Chart.text(["noise dominates"], {
      x: [isLeft ? low : high], y: [1 + threshold], textAnchor: isLeft ? "start" : "end", dx: isLeft ? 6 : 0, dy: -7,
      fill: "var(--mark)",
    })];
  };

  const curves = ({ series, threshold }, width) => {
    const height = Math.round(Math.min(Math.max(width * 0.5, 280), 420));
    const parts = series.map((s) => curve(s, threshold));
    const rows = parts.flatMap((p) => p.rows);
    // Above the line of the threshold there is room for its name.
    const domain = logDomain([1, (1 + threshold) * 1.15, ...rows.flatMap(({ low, high, y }) => [low, high, y])]);
    const x = rankAxis(series.flatMap(pickRanks), width - 80, 0.02);
    const y = {
      type: "log", domain, ticks: logTicks(domain, 7), text: (v) => `${digits(v, 4)}×`,
      label: "Time, times that without noise (median)",
    };
    return frame(width, height, x, y, [
      Chart.ruleY([1], { stroke: "var(--ink)", strokeWidth: 1.25 }),
      Chart.ruleY([1 + threshold], { stroke: "var(--mark)", strokeDasharray: "5,4" }),
      ...thresholdName(series, x, threshold, width),
      ...parts.flatMap((p) => p.marks),
      hint(rows, (r) =>
        `${r.label}\n${grouped(r.x)} ranks: ${factorText(r.y)}×\n95 % CI ${factorText(r.low)}× to ${factorText(r.high)}×`),
    ]);
  };

  // ---- distribution of times over ranks: boxes, whiskers, extremes, and the time without noise ----

  const BOX = ["x", "noiseless", "min", "p5", "q1", "y", "q3", "p95", "max"];

  const boxText = (b) =>
    [`${grouped(b.x)} ranks: median ${timeText(b.y)}`, `middle half ${timeText(b.q1)} to ${timeText(b.q3)}`,
      `5 % to 95 %: ${timeText(b.p5)} to ${timeText(b.p95)}`, `all: ${timeText(b.min)} to ${timeText(b.max)}`,
      `without noise ${timeText(b.noiseless)}`].join("\n");

  // Half a box's width as a factor of the ranks, from the nearest two neighbours.
  const boxReach = (rows, x, width) => {
    let nearest = x.domain[1] / x.domain[0];
    rows.forEach((row, i) => {
      nearest = i > 0 ? Math.min(nearest, row.x / rows[i - 1].x) : nearest;
    });
    const pixels = Math.log(nearest) / Math.log(x.domain[1] / x.domain[0]) * width;
    return nearest ** (Math.min(0.32, 14 / Math.max(pixels, 1)));
  };

  const boxes = ({ points, style, limits, inflection }, width) => {
    const height = Math.round(Math.min(Math.max(width * 0.62, 260), 380));
    const rows = points.filter(([, , , , , median]) => median > 0)
      .map((p) => Object.fromEntries(BOX.map((name, i) => [name, p[i]])));
    const domain = logDomain(limits);
    const x = rankAxis(pickRanks({ points }), width - 80, 0.05);
    const y = { type: "log", domain, ticks: logTicks(domain, 7), text: (v) => timeText(v), label: "Time" };
    const reach = boxReach(rows, x, width - 82);
    const colour = colourOf(style);
    const span = { x1: (b) => b.x / reach, x2: (b) => b.x * reach };
    return frame(width, height, x, y, [
      ...(inflection
        ? [Chart.rect([0], { x1: [inflection[1]], x2: [inflection[2]], fill: "var(--mark)", fillOpacity: 0.15 }),
          Chart.ruleX([inflection[0]], { stroke: "var(--mark)", strokeDasharray: "5,4" })]
        : []),
      Chart.line(rows, { x: "x", y: "noiseless", stroke: "var(--ink)", strokeWidth: 1.5, strokeDasharray: "2,3" }),
      Chart.link(rows, { x1: "x", x2: "x", y1: "p5", y2: "p95", stroke: colour }),
      Chart.rect(rows, { ...span, y1: "q1", y2: "q3", fill: "var(--ground)" }),
      Chart.rect(rows, { ...span, y1: "q1", y2: "q3", fill: colour, fillOpacity: 0.35, stroke: colour }),
      Chart.link(rows, { ...span, y1: "y", y2: "y", stroke: colour, strokeWidth: 2.5, strokeLinecap: "butt" }),
      Chart.dot(rows, { x: "x", y: "min", r: 1.4, fill: colour }),
      Chart.dot(rows, { x: "x", y: "max", r: 1.4, fill: colour }),
      hint(rows, boxText),
    ]);
  };

  // ---- detours over time ----

  // One path a series: thousands of elements would be slow. Each point is a line of no length with round ends.
  const pointCloud = (rows, colour) => (_index, { x, y }, _values, _dimensions, { document }) => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", rows.map((r) => `M${x(r.x).toFixed(1)},${y(r.y).toFixed(1)}h0`).join(""));
    path.setAttribute("stroke", colour);
    path.setAttribute("stroke-width", "3");
    path.setAttribute("stroke-linecap", "round");
    path.setAttribute("stroke-opacity", "0.75");
    path.setAttribute("fill", "none");
    return path;
  };

  const scatter = ({ series, length }, width) => {
    const HINTS = 500;
    const height = Math.round(Math.min(Math.max(width * 0.5, 280), 460));
    const rowsOf = ({ label, points }) => points.map(([x, y]) => ({ label, x, y }));
    const all = series.flatMap(rowsOf);
    const domain = logDomain(all.map((r) => r.y));
    const x = { domain: [0, length], ticks: linearTicks([0, length], Math.max(3, width / 110)), label: "Time [s]" };
    const y = { type: "log", domain, ticks: logTicks(domain, 7), text: (v) => timeText(v), label: "Length" };
    const longest = [...all].sort((a, b) => b.y - a.y).slice(0, HINTS);
    // Rare long detours lie on top of the many short ones: the largest source is drawn first.
    return frame(width, height, x, y, [
      ...series.map((s) => pointCloud(rowsOf(s), colourOf(s.style))),
      hint(longest, (r) => `${r.label}\n${timeText(r.y)} after ${digits(r.x, 6)} s`),
    ]);
  };

  // Names of marked bars, as far as there is room for the texts.
  const barNames = (rows, [low, high], width) => {
    const ROOM = 90;
    let last = -ROOM;
    const named = rows.filter((r) => {
      const place = Math.log(r.x / low) / Math.log(high / low) * (width - 82);
      const isFree = r.name !== "" && place - last >= ROOM;
      last = isFree ? place : last;
      return isFree;
    });
    return Chart.text(named, { x: "x", y: "count", text: "name", fill: "var(--mark)", dy: -9 });
  };

  // Of lengths in ns, or of shares of time; a fourth number of a bin: how many of its count are marked, and a fifth: a name
  // for them. The range is that of the axis where several share it.
  const histogram = ({ bins, range, is_share: isShare, label = "Length", count_label: countLabel = "Count" }, width) => {
    const valueText = isShare ? (v) => `${digits(100 * v, 3)} %` : timeText;
    const height = Math.round(Math.min(Math.max(width * 0.38, 240), 340));
    const LEAST = 0.7; // so that a bar of one still has a height
    const rows = bins.map(([low, high, count, marked = 0, name = ""]) => ({ low, high, count, marked, name, x: Math.sqrt(low * high), y: count }));
    const most = Math.max(...rows.map((r) => r.count), 1);
    const xDomain = range ?? [bins[0][0], bins[bins.length - 1][1]];
    const yDomain = [LEAST, most * 1.3];
    const x = { type: "log", domain: xDomain, ticks: logTicks(xDomain, Math.max(3, width / 90)),
      text: (v) => valueText(v), label };
    const y = { type: "log", domain: yDomain, ticks: logTicks(yDomain, 6), text: countText, label: countLabel };
    return frame(width, height, x, y, [
      Chart.rect(rows.filter((r) => r.count > 0), {
        x1: "low", x2: "high", y1: LEAST, y2: "count", fill: "var(--series-0)", fillOpacity: 0.6, inset: 0.5,
      }),
      Chart.rect(rows.filter((r) => r.marked > 0), {
        x1: "low", x2: "high", y1: LEAST, y2: "marked", fill: "var(--mark)", inset: 0.5,
      }),
      barNames(rows, xDomain, width),
      hint(rows.filter((r) => r.count > 0), (r) =>
        `${valueText(r.low)} to ${valueText(r.high)}: ${countText(r.count)}${r.marked > 0 ? `, ${countText(r.marked)} marked` : ""}`),
    ]);
  };

  // ---- power over frequency ----

  const frequencyText = (hz) => (hz < 1000 ? `${digits(hz, 4)} Hz` : `${digits(hz / 1000, 4)} kHz`);

  // The strongest lines, each with its frequency, as far as there is room for the texts.
  const lineMarks = (lines, { domain: [low, high] }, width) => {
    const ROOM = 80;
    const placed = [];
    const labelled = lines.filter(([hz]) => {
      const place = Math.log(hz / low) / Math.log(high / low) * (width - 82);
      const isFree = placed.every((other) => Math.abs(other - place) > ROOM);
      placed.push(...(isFree ? [place] : []));
      return isFree;
    });
    const at = { x: (l) => l[0], y: (l) => l[1] };
    return [
      Chart.dot(lines, { ...at, symbol: "triangle", rotate: 180, r: 5, fill: "var(--mark)", stroke: "var(--ground)", dy: -7 }),
      Chart.text(labelled, { ...at, text: (l) => l[2], fill: "var(--mark)", dy: -19 }),
    ];
  };

  const spectrum = ({ points, lines, frequencies, powers }, width) => {
    const height = Math.round(Math.min(Math.max(width * 0.45, 280), 420));
    const [low, high] = powers;
    const rows = points.map(([x, y, floor]) => ({ x, y: Math.max(y, low), floor: Math.max(floor, low) }));
    const yDomain = [low, high * (high / low) ** 0.1]; // room for the marks
    const x = { type: "log", domain: frequencies, ticks: logTicks(frequencies, Math.max(3, width / 110)),
      text: frequencyText, label: "Frequency" };
    const y = { type: "log", domain: yDomain, ticks: logTicks(powers, 7), text: (v) => v.toExponential(0),
      label: "Power of the share of time lost [1/Hz]" };
    return frame(width, height, x, y, [
      Chart.line(rows, { x: "x", y: "y", stroke: "var(--series-0)", strokeWidth: 1.2 }),
      Chart.line(rows, { x: "x", y: "floor", stroke: "var(--series-6)", strokeWidth: 2 }),
      ...lineMarks(lines, x, width),
      hint(rows, (r) => `${frequencyText(r.x)}: ${digits(r.y / r.floor, 3)} times the floor`),
    ]);
  };

  // ---- one simulation ----

  const timeAxis = (low, high, width) => {
    const domain = [low, high > low ? high : low + 1];
    return { domain, ticks: linearTicks(domain, Math.max(2, width / 130)), text: (v) => timeText(v, 5),
      label: "Time" };
  };

  // Shares of the trials or ranks that have ended, over time: steps where each of them is known.
  const ecdf = ({ points, noiseless, interval, log, label, steps }, width) => {
    const height = Math.round(Math.min(Math.max(width * 0.42, 250), 380));
    let low = Math.min(...points.map(([time]) => time), noiseless ?? Infinity);
    let high = Math.max(...points.map(([time]) => time));
    if (!(high > low)) {
      [low, high] = [low * 0.9, high * 1.1 || 1];
    }
    const room = (high - low) * 0.03;
    const domain = log ? logDomain([low, high]) : [Math.max(low - room, 0), high + room];
    const x = log
      ? { type: "log", domain, ticks: logTicks(domain, Math.max(3, width / 110)), text: (v) => timeText(v), label: "Time" }
      : timeAxis(...domain, width);
    const y = { domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], text: (v) => `${digits(100 * v, 3)} %`, label };
    const rows = points.map(([time, share]) => ({ x: time, y: share }));
    return frame(width, height, x, y, [
      ...(interval
        ? [Chart.rect([0], { x1: [interval[0]], x2: [interval[1]], y1: [0], y2: [1], fill: "var(--mark)", fillOpacity: 0.2 })]
        : []),
      ...(noiseless > 0
        ? [Chart.ruleX([noiseless], { stroke: "var(--ink)", strokeWidth: 1.5, strokeDasharray: "2,3" }),
          Chart.text(["without noise"], { x: [noiseless], y: [0], textAnchor: "start", dx: 5, dy: -9 })]
        : []),
      Chart.line(rows, { x: "x", y: "y", stroke: "var(--series-0)", strokeWidth: 2, curve: steps ? "step-after" : "linear" }),
      hint(rows, (r) => `${digits(100 * r.y, 4)} % by ${timeText(r.x, 4)}`),
    ]);
  };

  const split = ({ series, bars }, width) => {
    const rows = bars.flatMap(({ label, values }, bar) => {
      let from = 0;
      return values.map((value, part) => {
        from += value;
        return { label, bar, part, value, x1: from - value, x2: from, x: from - value / 2, y: bar };
      });
    }).filter((r) => r.value > 0);
    const x = timeAxis(0, Math.max(...rows.map((r) => r.x2), 1), width);
    const y = { domain: [bars.length - 0.5, -0.5], ticks: [], axis: null };
    return frame(width, 60 + 70 * bars.length, x, y, [
      Chart.rect(rows, {
        x1: "x1", x2: "x2", y1: (r) => r.bar - 0.25, y2: (r) => r.bar + 0.35,
        fill: (r) => colourOf(r.part), stroke: "var(--ground)",
      }),
      Chart.text(bars, { x: [...bars.keys()].map(() => 0), y: [...bars.keys()].map((b) => b - 0.36), text: "label",
        textAnchor: "start" }),
      hint(rows, (r) => `${r.label}\n${series[r.part].label}: ${timeText(r.value)}`),
    ]);
  };

  return { curves, boxes, scatter, histogram, spectrum, ecdf, split, tools: { colourOf, dashOf, symbolOf } };
})();
