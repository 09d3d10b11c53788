// Looks at the status page in a real browser. It has to show what /api/v1/state returns: live, through a restart, without
// script, in the dark, on a narrow screen, with many coefficients and lanes, and to people who do not see well.
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { Service, difference, eventually, findings, kept, photograph, rows, rowsOf, work } from "./harness.mjs";
import { browser } from "./one_browser.mjs";

/** A service with lanes, a page on it, and what went wrong on that page. */
async function world(lines, { context = {}, operator = false, at = "/", stream = "retail" } = {}) {
  const service = await Service.start([0, 0], stream);
  await service.tell("phase serving", ...lines);
  const within = await browser.newContext({ viewport: { width: 1180, height: 900 }, ...context });
  const page = await within.newPage();
  const seen = { requests: [], bytes: 0, errors: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") seen.errors.push(message.text()); });
  page.on("response", async (response) => {
    if (!response.url().includes("/events")) seen.bytes += (await response.body().catch(() => "")).length;
  });
  await page.goto((operator ? service.operatorUrl : service.url) + at);
  const end = async () => { await within.close(); await service.stop(); };
  return { service, page, seen, end };
}

test("shows the numbers of the state, and goes on with it", async () => {
  const { service, page, seen, end } = await world(["open 0", "go 0 1000"]);
  const first = (await service.state()).lanes[0];
  assert.deepEqual(await rows(page), rowsOf(first));
  await eventually("the page is live", async () => (await page.textContent("#live")) === "live");
  await service.tell("go 0 2500");
  const next = (await service.state()).lanes[0];
  assert.notDeepEqual(rowsOf(next), rowsOf(first));
  await eventually("the page follows", async () =>
    JSON.stringify(await rows(page)) === JSON.stringify(rowsOf(next)));
  assert.match(await page.textContent("#coefficients caption"), /step 2,500/);
  const spent = await page.$$eval("#privacy data", (all) => all.map((each) => Number(each.value)));
  for (const value of [next.rho, next.rho_limit, next.epsilon, next.rho_ledger]) assert.ok(spent.includes(value), value);
  assert.deepEqual(seen.errors, []);
  await end();
});

test("asks nobody but its own listener, and stays small", async () => {
  const names = Array.from({ length: 12 }, (_, j) => `feature_${j}`).join(" ");
  const { service, page, seen, end } = await world([`features ${names}`, "open 0", "go 0 31536000"]);
  await eventually("the page is live", async () => (await page.textContent("#live")) === "live");
  assert.ok(seen.requests.every((url) => url.startsWith(service.url) || url.startsWith("data:")), seen.requests.join(" "));
  const once = seen.requests.filter((url, i, all) => all.indexOf(url) === i);
  let bytes = 0;
  for (const url of once.filter((each) => !each.includes("/events") && each.startsWith("http"))) {
    bytes += (await (await fetch(url)).arrayBuffer()).byteLength;
  }
  assert.ok(bytes < 150_000, `${bytes} bytes`);
  await page.waitForTimeout(2500); // its first event comes within a second, and says nothing new
  assert.equal(seen.requests.filter((url) => url === service.url + "/").length, 1, "it was loaded once");
  console.log(`# a year of history, 12 charts: ${bytes} bytes in all`);
  const history = await (await fetch(service.url + "/api/v1/history/0")).json();
  assert.ok(history.points.length > 200 && history.points.length <= 512, history.points.length);
  assert.deepEqual(seen.errors, []);
  await end();
});

test("survives a restart of the service", async () => {
  const service = await Service.start();
  await service.tell("phase serving", "open 0", "go 0 1000");
  const page = await (await browser.newContext()).newPage();
  await page.goto(service.url);
  await eventually("the page is live", async () => (await page.textContent("#live")) === "live");
  await service.kill();
  await eventually("the page says that the connection is lost", async () =>
    /connection lost/.test(await page.textContent("#live")));
  assert.equal((await rows(page)).length, 3, "the last values stay");
  const again = await Service.start(service.ports);
  await again.tell("phase serving", "open 0", "restored 0 2000", "past 0 1950");
  const state = (await again.state()).lanes[0];
  await eventually("the page shows what came", async () => JSON.stringify(await rows(page)) === JSON.stringify(rowsOf(state)));
  const history = await (await fetch(again.url + "/api/v1/history/0")).json();
  assert.equal(history.points.length, 40, "the past before the restart is there again");
  await page.context().close();
  await again.stop();
});

test("shows a lost broker, a restoring and a failed lane to the operator", async () => {
  const { service, page, end } = await world(["open 0", "open 1", "go 0 500"], { operator: true });
  await service.tell("phase rejoining no broker answers", "state 0 restoring reading its state",
    "state 1 failed the input is another log");
  // The page may look between two of these lines, and shows the rest with its next look.
  for (const each of ["Not private", "no broker answers", "restoring", "reading its state", "failed",
    "the input is another log", "rejoining"]) {
    await eventually(`the operator sees: ${each}`, async () => (await page.textContent("#operator")).includes(each));
  }
  const anybody = await (await browser.newContext()).newPage();
  await anybody.goto(service.url);
  const seen = await anybody.textContent("body");
  assert.match(seen, /Not ready/);
  assert.doesNotMatch(seen, /broker answers|restoring|failed|another log|latency/i);
  await anybody.context().close();
  await service.tell("phase serving", "state 0 running", "state 1 running");
  await eventually("it is ready again", async () => /Ready\./.test(await page.textContent("#summary")));
  await end();
});

test("says that a budget is used up", async () => {
  const { service, page, end } = await world(["open 0 1000", "go 0 950"]);
  assert.doesNotMatch(await page.textContent("#summary"), /used up/);
  await service.tell("go 0 1000");
  await eventually("the page says so", async () => /budget of lane 0 is used up/.test(await page.textContent("#summary")));
  await end();
});

test("is a table without script", async () => {
  const { service, page, end } = await world(["open 0", "go 0 1000"], { context: { javaScriptEnabled: false } });
  const text = await page.textContent("#coefficients");
  for (const name of ["intercept", "price", "weekend"]) assert.ok(text.includes(name));
  assert.equal(await page.locator("svg.chart").count(), 4);
  await service.tell("go 0 2000");
  await page.reload();
  assert.match(await page.textContent("#coefficients caption"), /step 2,000/);
  await end();
});

test("has room on a narrow screen", async () => {
  const many = Array.from({ length: 100 }, (_, j) => `a_rather_long_name_of_a_feature_${j}`).join(" ");
  for (const lines of [["open 0", "go 0 1000"], [`features ${many}`, "open 0", "open 1", "go 0 1000", "go 1 500"]]) {
    for (const operator of [false, true]) {
      const { page, end } = await world(lines, { context: { viewport: { width: 360, height: 740 } }, operator });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
      await end();
    }
  }
});

test("shows 100 coefficients and 64 lanes", async () => {
  const names = Array.from({ length: 100 }, (_, j) => `x${j}`).join(" ");
  const lines = [`features ${names}`];
  for (let lane = 0; lane < 64; ++lane) lines.push(`open ${lane}`, `go ${lane} ${1000 + 50 * lane}`);
  const { service, page, seen, end } = await world(lines);
  assert.equal((await rows(page)).length, 100);
  assert.equal(await page.locator("#lanes tbody tr").count(), 64);
  await page.click("a[href='/lanes/0/from/96']");
  assert.equal(await page.locator(".cards figure").count(), 4);
  await page.click("#lanes a[href='/lanes/63']");
  const lane = (await service.state()).lanes[63];
  assert.deepEqual(await rows(page), rowsOf(lane));
  await service.tell("go 63 9000");
  await eventually("the lane that is shown follows", async () =>
    /step 9,000/.test(await page.textContent("#coefficients caption")));
  assert.deepEqual(seen.errors, []);
  await end();
});

test("runs nothing that a name holds", async () => {
  const evil = "<script>window.hacked=1</script> \"><img/src=x/onerror=hacked=1> '</title><svg/onload=hacked=1>";
  for (const operator of [false, true]) {
    const { page, seen, end } = await world([`features ${evil}`, "open 0", "go 0 1000"], { operator, stream: evil });
    await eventually("the page is live", async () => (await page.textContent("#live")) === "live");
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal((await rows(page))[0][0], "<script>window.hacked=1</script>");
    assert.equal(await page.textContent("h1"), evil);
    assert.match(await page.title(), /^<script>window\.hacked=1/);
    assert.equal(await page.locator("main script, main img, svg[onload], body > script").count(), 0);
    assert.deepEqual(seen.errors, []);
    await end();
  }
});

test("goes on with what was published while no lane is open", async () => {
  const { service, page, seen, end } = await world(["open 0", "open 1", "go 0 1000", "go 1 500"], { at: "/lanes/1" });
  await eventually("the page is live", async () => (await page.textContent("#live")) === "live");
  const before = await rows(page);
  await service.tell("close 0", "close 1");
  await eventually("the page says so", async () => /No lane is open here/.test(await page.textContent("#summary")));
  assert.deepEqual(await rows(page), before);
  assert.deepEqual((await service.state()).lanes, []);
  await eventually("and is not live", async () => (await page.textContent("#live")) === "connected");
  await page.click("#lanes a[href='/lanes/0']");
  assert.match(await page.textContent("#coefficients caption"), /step 1,000/);
  for (const link of await page.$$eval("footer a", (all) => all.map((each) => each.href))) {
    assert.equal((await fetch(link)).status, 200, link);
  }
  await service.tell("open 1");
  await eventually("lane 0 is elsewhere", async () => /open here no more/.test(await page.textContent("#live")));
  assert.match(await page.textContent("#coefficients caption"), /step 1,000/);
  await service.tell("open 0", "restored 0 1500");
  await eventually("the page is live again", async () => (await page.textContent("#live")) === "live");
  assert.match(await page.textContent("#coefficients caption"), /step 1,500/);
  assert.doesNotMatch(await page.textContent("body"), /No lane is open/);
  // While lane 0 was elsewhere, requests for its page were answered with 404.
  assert.deepEqual(seen.errors.filter((each) => !each.includes("404 (Not Found)")), []);
  await end();
});

test("can be used by keyboard and screen reader, in the light and in the dark", async () => {
  for (const operator of [false, true]) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, end } = await world(["open 0 1000", "open 1", "go 0 1000", "go 1 500"],
        { context: { colorScheme, bypassCSP: true }, operator });
      assert.deepEqual(await findings(page), [], `${operator ? "operator" : "public"}, ${colorScheme}`);
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
      await end();
    }
  }
});

test("keeps its place when it goes on", async () => {
  const { service, page, end } = await world(["open 0", "go 0 1000"]);
  await page.click("#conversions summary");
  await page.focus("[aria-label='Table of coefficients']");
  await service.tell("go 0 2000");
  await eventually("the page follows", async () => /step 2,000/.test(await page.textContent("#coefficients caption")));
  assert.equal(await page.getAttribute("#conversions", "open"), "");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Table of coefficients");
  await end();
});

const pictures = [
  ["public-light", {}, ["open 0", "go 0 6000"], "/"],
  ["public-dark", { context: { colorScheme: "dark" } }, ["open 0", "go 0 6000"], "/"],
  ["public-narrow", { context: { viewport: { width: 360, height: 740 } } }, ["open 0", "go 0 6000"], "/"],
  ["operator-lanes", { operator: true },
    ["open 0", "open 1", "open 2", "go 0 6000", "go 1 4000", "state 2 failed the input is another log"], "/"],
  ["public-exhausted", {}, ["open 0 1000", "go 0 1000"], "/"],
];
for (const [name, options, lines, at] of pictures) {
  test(`looks as it was kept: ${name}`, async () => {
    const { page, end } = await world(lines, { ...options, at });
    await eventually("the page is live", async () => (await page.textContent("#live")) === "live");
    await page.waitForTimeout(1500);
    await page.evaluate(() => document.querySelector("footer").remove()); // it has the version
    const file = path.join(kept, name + ".webp");
    const now = await photograph(page);
    await mkdir(path.join(work, "pictures"), { recursive: true });
    await writeFile(path.join(work, "pictures", name + ".webp"), now);
    if (process.env.NUSTREAM_KEEP_SCREENSHOTS) await writeFile(file, now);
    const apart = await difference(browser, await readFile(file), now);
    assert.ok(apart < 0.02, `${(100 * apart).toFixed(2)}% of the pixels differ from ${file}; now: ${work}/pictures`);
    await end();
  });
}
