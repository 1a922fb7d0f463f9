// Bundles the chart library into one script, and the licences of all that is in it into one text.
// SPDX-License-Identifier: BSD-3-Clause
//
// Usage: node bundle.mjs OUT.js OUT.txt     beside an installed node_modules
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ALLOWED = ["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"];
const here = dirname(fileURLToPath(import.meta.url));

const packagesIn = (metafile) => {
  const names = new Set();
  for (const output of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const match = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
      if (match !== null && bytesInOutput > 0) {
        names.add(match[1]);
      }
    }
  }
  return [...names].sort();
};

const licenceOf = (name) => {
  const folder = join(here, "node_modules", name);
  const { license, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = existsSync(folder) && readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!ALLOWED.includes(license)) {
    throw new Error(`${name}: licence '${license}' is none of ${ALLOWED.join(", ")}`);
  }
  if (!file) {
    throw new Error(`${name}: no text of its licence`);
  }
  return { heading: `${name} ${version}`, text: readFileSync(join(folder, file), "utf8").trim() };
};

// Packages with the same text share it.
const licenceText = (names) => {
  const byText = new Map();
  for (const { heading, text } of names.map(licenceOf)) {
    byText.set(text, [...(byText.get(text) ?? []), heading]);
  }
  return [...byText].map(([text, headings]) => `${headings.join(", ")}\n\n${text}\n`).join("\n====\n\n");
};

const [, , scriptPath, licencePath] = process.argv;
const { metafile, outputFiles } = await build({
  absWorkingDir: here,
  bundle: true,
  charset: "ascii",
  entryPoints: [join(here, "chart.js")],
  format: "iife",
  globalName: "Chart",
  legalComments: "none",
  metafile: true,
  minify: true,
  outfile: scriptPath,
  target: "es2020",
  write: false,
});
writeFileSync(licencePath, licenceText(packagesIn(metafile)));
writeFileSync(scriptPath, outputFiles[0].contents);
