// Cells and steps of timelines, read from the text that src/features/wave/timeline_data.c wrote; cells made coarser.
// SPDX-License-Identifier: BSD-3-Clause
"use strict";

const timelineCells = (() => {
  // ---- what timeline_data.c wrote ----

  const valuesOf = (text) => new Map([...text].map((character, i) => [character.charCodeAt(0), i]));
  const DIGITS = valuesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
  const AGAIN = valuesOf("!#$%()*+,./~");
  const BELOW = valuesOf(";=>?@[]^`{|}");

  const decodeCells = (text, size, columns) => {
    const cells = new Uint8Array(size);
    let at = 0, cell = 0;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      const run = AGAIN.has(code) ? AGAIN : BELOW;
      if (DIGITS.has(code)) {
        cells[cell++] = DIGITS.get(code);
        at++;
        continue;
      }
      let length = 0;
      for (; run.has(text.charCodeAt(at)); at++) {
        length = length * run.size + run.get(text.charCodeAt(at));
      }
      for (const back = run === AGAIN ? 1 : columns; length > 0; length--, cell++) {
        cells[cell] = cells[cell - back];
      }
    }
    return cells;
  };

  // Ends of all states of all steps, in units; the first number is where the first step begins.
  const decodeSteps = (text, count, begin) => {
    const ends = new Int32Array(count * 5 + 1);
    const lengths = [0, 0, 0, 0, 0];
    let at = 0, filled = 1;
    ends[0] = begin;
    const put = () => lengths.forEach((length) => { ends[filled] = ends[filled - 1] + length; filled++; });
    while (at < text.length) {
      const digit = DIGITS.get(text.charCodeAt(at++));
      for (let again = digit - 31; again > 0; again--) {
        put();
      }
      if (digit >= 32) {
        continue;
      }
      for (let state = 0; state < 5; state++) {
        if (digit >> state & 1) {
          let length = 0, scale = 1, part;
          do {
            part = DIGITS.get(text.charCodeAt(at++));
            length += (part & 31) * scale;
            scale *= 32;
          } while (part >= 32);
          lengths[state] = length;
        }
      }
      put();
    }
    return ends;
  };

  // ---- cells: halved in either direction, so that a pixel never hides the most disturbed rank ----

  const halve = (cells, rows, columns, isDown, isMax) => {
    const newRows = isDown ? (rows + 1) >> 1 : rows, newColumns = isDown ? columns : (columns + 1) >> 1;
    const half = new Uint8Array(newRows * newColumns);
    for (let r = 0; r < newRows; r++) {
      for (let c = 0; c < newColumns; c++) {
        const i = isDown ? 2 * r * columns + c : r * columns + 2 * c;
        const k = isDown ? (2 * r + 1 < rows ? i + columns : i) : 2 * c + 1 < columns ? i + 1 : i;
        half[r * newColumns + c] = isMax ? Math.max(cells[i], cells[k]) : (cells[i] + cells[k] + 1) >> 1;
      }
    }
    return half;
  };

  const halveLevel = (level, isDown) => {
    const all = (channels, isMax) => Object.fromEntries(Object.entries(channels).map(([state, cells]) =>
      [state, halve(cells, level.rows, level.columns, isDown, isMax)]));
    return { rows: isDown ? (level.rows + 1) >> 1 : level.rows,
      columns: isDown ? level.columns : (level.columns + 1) >> 1,
      rankStep: isDown ? 2 * level.rankStep : level.rankStep, bin: isDown ? level.bin : 2 * level.bin,
      mean: all(level.mean, false), max: all(level.max, true), images: {} };
  };

  const makeRaster = (raster) => {
    const decode = (channels) => Object.fromEntries(Object.entries(channels).map(([state, text]) =>
      [state, decodeCells(text, raster.rows * raster.columns, raster.columns)]));
    const mean = decode(raster.mean);
    const finest = { rows: raster.rows, columns: raster.columns, rankStep: raster.ranksPerRow, bin: raster.bin, mean,
      max: { ...mean, ...decode(raster.max) }, images: {} };
    return { rank: raster.rank, from: raster.from, end: raster.from + raster.columns * raster.bin, finest,
      levels: new Map([["0 0", finest]]) };
  };

  // Halved so many times in time and in ranks.
  const levelOf = (raster, across, down) => {
    const key = `${across} ${down}`;
    if (!raster.levels.has(key)) {
      raster.levels.set(key, down > 0 ? halveLevel(levelOf(raster, across, down - 1), true)
        : halveLevel(levelOf(raster, across - 1, 0), false));
    }
    return raster.levels.get(key);
  };

  return { decodeSteps, makeRaster, levelOf };
})();
