// Draws the plots of a page from the data in it, again when the page gets another width.
// SPDX-License-Identifier: BSD-3-Clause
"use strict";

(() => {
  const { tools } = plotKinds;
  const SVG = "http://www.w3.org/2000/svg";

  // The sign of a series: a piece of its line with its symbol.
  const signs = new Map();
  const sign = (style) => {
    if (!signs.has(style)) {
      signs.set(style, makeSign(style));
    }
    return signs.get(style).cloneNode(true);
  };

  const makeSign = (style) => {
    const plot = Chart.plot({
      width: 26, height: 12, margin: 0, axis: null, x: { domain: [0, 1] }, y: { domain: [0, 1] },
      marks: [
        Chart.link([0], { x1: [0], x2: [1], y1: [0.5], y2: [0.5], stroke: tools.colourOf(style), strokeWidth: 2,
          strokeDasharray: tools.dashOf(style) }),
        Chart.dot([0], { x: [0.5], y: [0.5], fill: tools.colourOf(style), symbol: tools.symbolOf(style), r: 4 }),
      ],
    });
    plot.setAttribute("aria-hidden", "true");
    return plot;
  };

  const legend = (series) => {
    const list = document.createElement("ul");
    list.className = "legend";
    for (const { label, style } of series) {
      const item = document.createElement("li");
      item.append(sign(style), label);
      list.append(item);
    }
    return list;
  };

  const widthOf = (place) => Math.max(place.clientWidth, 240);

  const draw = (place, data, width) => {
    try {
      const parts = data.series && data.series.length > 1 ? [legend(data.series)] : [];
      place.replaceChildren(...parts, plotKinds[data.kind](data, width));
    } catch (error) {
      console.error(`${place.id}:`, error);
      place.textContent = "This plot could not be drawn; its numbers are in the table below.";
    }
    place.dataset.width = String(width);
  };

  const start = performance.now();
  const { plots } = JSON.parse(document.getElementById("data").textContent);
  const byId = new Map(plots.map((data) => [data.id, data]));
  const places = [...byId.keys()].map((id) => document.getElementById(id));
  // All widths before the first change of the page: each look after a change would lay it out again.
  const widths = places.map(widthOf);
  places.forEach((place, i) => draw(place, byId.get(place.id), widths[i]));
  // For tests: how long it took, and how many there are.
  document.documentElement.dataset.renderMs = (performance.now() - start).toFixed(0);
  document.documentElement.dataset.plots = String(document.getElementsByTagNameNS(SVG, "svg").length);

  // On paper the columns of web/report.css have these widths, in pixels of CSS, on A4 and a little more on Letter.
  const paperWidth = (place) => (place.closest(".pairs") ? 320 : 680);
  window.addEventListener("beforeprint", () => {
    places.forEach((place) => draw(place, byId.get(place.id), paperWidth(place)));
  });
  window.addEventListener("afterprint", () => {
    const now = places.map(widthOf);
    places.forEach((place, i) => draw(place, byId.get(place.id), now[i]));
  });

  const observer = new ResizeObserver((entries) => {
    requestAnimationFrame(() => {
      entries.filter(({ target }) => target.clientWidth > 0)
        .map(({ target }) => [target, widthOf(target)])
        .filter(([place, width]) => Math.abs(width - Number(place.dataset.width)) > 1)
        .forEach(([place, width]) => draw(place, byId.get(place.id), width));
    });
  });
  places.forEach((place) => observer.observe(place));
})();
