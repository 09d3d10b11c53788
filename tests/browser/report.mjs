// Looks at a report in a real browser: its style is in force under its hash, it requests nothing, and it can be read by
// everybody.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { difference, findings, kept, launch, photograph, server as command, work } from "./harness.mjs";

const folder = path.join(work, "report");
const report = path.join(folder, "report.html");
let browser;
before(async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // The rows come from a generator that is written out here, so that every machine draws the same.
  let text = "price,demand\n";
  for (let i = 0, state = 1; i < 6000; ++i) {
    state = (state * 48271) % 2147483647;
    const x = state / 2147483647 * 2 - 1;
    state = (state * 48271) % 2147483647;
    text += `${x.toFixed(6)},${(1 - 0.5 * x + 0.2 * (state / 2147483647 - 0.5)).toFixed(6)}\n`;
  }
  writeFileSync(path.join(folder, "rows.csv"), text);
  writeFileSync(path.join(folder, "stream.toml"), `[stream]
name = "demand"
input = "rows.csv"
[target]
column = "demand"
[[features]]
column = "price"
[descent]
step_size = 0.02
clip_norm = 1.0
average = "tail"
average_from = 500
[privacy]
rho = 0.5
delta = 1e-6
[noise]
nu = 0.01
[intervals]
kind = "batch-means"
[release]
every = 50
`);
  execFileSync(command, ["replay", "stream.toml", "--quiet", "--insecure-seed", "7", "--set", "state.directory=\"state\"",
    "--report", "report.html"], { cwd: folder });
  execFileSync(command, ["plan", "stream.toml", "--set", "plan.records=20000", "--set", "plan.residual=0.4", "--set",
    "plan.distance=1", "--report", "plan.html"], { cwd: folder });
  execFileSync(command, ["fit", "rows.csv", "--target", "demand", "--rho", "0.5", "--insecure-seed", "7", "--report",
    "fit.html"], { cwd: folder });
  execFileSync(command, ["audit", "stream.toml", "--set", "privacy.rho=2", "--runs", "4000", "--report", "audit.html"],
    { cwd: folder });
  // Two tables with an instrument: one that tells the effect, and one that tells nothing of it.
  for (const [name, strength] of [["instruments", 0.6], ["weak", 0.02]]) {
    let rows = "z,x,y\n";
    for (let i = 0, state = 1; i < 4000; ++i) {
      const next = () => { state = (state * 48271) % 2147483647; return state / 2147483647 * 2 - 1; };
      const [z, u, e] = [next(), next(), next()];
      const x = strength * z + u;
      rows += `${z.toFixed(6)},${x.toFixed(6)},${(0.5 * x + 0.5 * u + 0.5 * e).toFixed(6)}\n`;
    }
    writeFileSync(path.join(folder, `${name}.csv`), rows);
    writeFileSync(path.join(folder, `${name}.toml`), `[stream]
name = "${name}"
input = "${name}.csv"
[target]
column = "y"
[[instruments]]
column = "z"
[[endogenous]]
column = "x"
[model]
estimator = "moments"
[moments]
row_norm = 1.5
regressor_bound = 1.7
residual_bound = 2
${strength > 0.1 ? '[intervals]\nkind = "residuals"' : ""}
[privacy]
rho = 1
delta = 1e-6
`);
    execFileSync(command, ["estimate", `${name}.toml`, "--quiet", "--insecure-seed", "7", "--set",
      `state.directory="state-${name}"`, "--report", `${name}.html`], { cwd: folder });
  }
  browser = await launch();
});
after(() => browser?.close());

async function open(context = {}, file = report) {
  const page = await (await browser.newContext({ viewport: { width: 1180, height: 900 }, ...context })).newPage();
  const seen = { requests: [], errors: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("console", (message) => { if (message.type() === "error") seen.errors.push(message.text()); });
  await page.goto(pathToFileURL(file).href);
  return { page, seen };
}

test("is styled under its hash, and asks for nothing", async () => {
  const { page, seen } = await open();
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector(".card")).borderRadius), "8px");
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector(".chart .line")).fill), "none");
  assert.deepEqual(seen.errors, []);
  assert.deepEqual(seen.requests, [pathToFileURL(report).href]);
  await page.context().close();
});

test("can be read on a narrow screen, in the dark, and by a screen reader", async () => {
  for (const name of ["report.html", "plan.html", "fit.html", "audit.html", "instruments.html", "weak.html"]) {
    for (const colorScheme of ["light", "dark"]) {
      const { page } = await open({ colorScheme, viewport: { width: 360, height: 740 }, bypassCSP: true },
        path.join(folder, name));
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, name);
      assert.deepEqual(await findings(page), [], `${name}, ${colorScheme}`);
      await page.context().close();
    }
  }
});

test("says what instruments are worth", async () => {
  const says = async (name) => {
    const { page } = await open({}, path.join(folder, `${name}.html`));
    const text = await page.locator("#instruments").innerText();
    await page.context().close();
    return text;
  };
  const strong = await says("instruments");
  assert.match(strong, /Effective F of x\s+\d/);
  assert.match(strong, /set, 95%\s+[\d.−-]+ to [\d.]+/);
  assert.match(strong, /It holds whatever the instruments are worth/);
  const weak = await says("weak");
  assert.match(weak, /Effective F of x\s+at least/);
  assert.match(weak, /quote the set, not the estimate/);
  assert.match(weak, /It is unbounded/);
  assert.match(weak, /as much as their bounds allow/);
});

const plan = path.join(folder, "plan.html");
const shownCells = (page) => page.$$eval("#errors tbody", (all) => all.filter((each) => !each.hidden)
  .map((each) => `${each.dataset.rho} ${each.dataset.records}`));

test("moves a plan's sliders by the script that its policy allows, and asks for nothing", async () => {
  const { page, seen } = await open({}, plan);
  assert.deepEqual(await shownCells(page), ["2 2"]);
  assert.equal(await page.locator("svg.chart:visible").evaluateAll((all) => all.filter((e) => e.querySelector("desc")).length), 4);
  const error = () => page.$eval("#errors tbody:not([hidden]) td data", (each) => Number(each.value));
  const before = await error();
  await page.focus("#rho");
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(await shownCells(page), ["3 2"]);
  assert.ok(await error() < before, "a larger budget, a smaller error");
  await page.focus("#records");
  await page.keyboard.press("Home");
  assert.deepEqual(await shownCells(page), ["3 0"]);
  assert.ok(await error() > before, "fewer records, a larger error");
  assert.match(await page.getAttribute("#rho", "aria-valuetext"), /^ρ 1\.58.*δ 1e-06$/);
  assert.match(await page.getAttribute("#records", "aria-valuetext"), /^200$/);
  assert.deepEqual(seen.errors, []);
  assert.deepEqual(seen.requests, [pathToFileURL(plan).href]);
  await page.context().close();
});

test("shows a plan without script as it is set", async () => {
  const { page } = await open({ javaScriptEnabled: false }, plan);
  assert.equal(await page.locator("#controls").isVisible(), false);
  assert.equal(await page.locator("#errors tbody:visible").count(), 1);
  await page.context().close();
});

test("draws the README's picture as it was kept", async () => {
  const pictures = path.resolve(kept, "../../../docs/pictures");
  const now = path.join(folder, "settling.svg");
  execFileSync(path.join(pictures, "settle"), [command, now]);
  const looks = [];
  for (const file of [path.join(pictures, "settling.svg"), now]) {
    const page = await (await browser.newContext({ viewport: { width: 800, height: 500 } })).newPage();
    const svg = Buffer.from(await readFile(file)).toString("base64");
    await page.setContent(`<img width="760" src="data:image/svg+xml;base64,${svg}">`);
    looks.push(await photograph(page));
    await page.context().close();
  }
  const apart = await difference(browser, ...looks);
  assert.ok(apart < 0.005, `${(100 * apart).toFixed(2)}% of the pixels differ from docs/pictures/settling.svg`);
});

for (const name of ["report", "plan", "fit", "instruments"]) test(`looks as it was kept: ${name}`, async () => {
  const { page } = await open({}, path.join(folder, name + ".html"));
  await page.evaluate(() => document.querySelector("footer").remove()); // it has the version
  const now = await photograph(page);
  await mkdir(path.join(work, "pictures"), { recursive: true });
  await writeFile(path.join(work, "pictures", name + ".webp"), now);
  const file = path.join(kept, name + ".webp");
  if (process.env.NUSTREAM_KEEP_SCREENSHOTS) await writeFile(file, now);
  const apart = await difference(browser, await readFile(file), now);
  assert.ok(apart < 0.02, `${(100 * apart).toFixed(2)}% of the pixels differ from ${file}; now: ${work}/pictures`);
  await page.context().close();
});
