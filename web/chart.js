// What the pages take from the chart library; the bundle holds this and nothing else of it.
// SPDX-License-Identifier: BSD-3-Clause
export {
  areaY,
  axisX,
  axisY,
  dot,
  line,
  link,
  plot,
  pointer,
  rect,
  ruleX,
  ruleY,
  text,
  tip,
} from "@observablehq/plot";
