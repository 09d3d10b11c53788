// The status page of the real service over a real broker, in a real browser: it shows what /api/v1/state returns, goes on
// with it, and outlives the service, its broker and its budget.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import { Service, eventually, rows, rowsOf } from "./harness.mjs";
import { browser } from "./one_browser.mjs";

/** A service over a topic of `lanes` lanes, and a page on each of its two listeners. */
async function world(lanes, ...lines) {
  const service = await Service.start([0, 0], lanes);
  await service.tell(...lines);
  const look = async (url) => {
    const page = await (await browser.newContext()).newPage();
    await eventually("the service listens", () => fetch(url + "/livez").then(() => true, () => false));
    await page.goto(url);
    return page;
  };
  return { service, page: await look(service.url), operator: await look(service.operatorUrl) };
}

/** The lane's part of the state, once it has come to `step`. */
const laneAt = (service, step, lane = 0) => eventually(`lane ${lane} comes to step ${step}`, async () => {
  const state = await service.state().catch(() => null);
  const found = state && state.lanes.find((each) => each.lane === lane);
  return found && found.step === step && found;
});
const sees = (page, text, where = "body") =>
  eventually(`the page says: ${text}`, async () => text.test(await page.textContent(where)));
/** The lane's past goes on after `points`. A lane that is opened reads its past from its topic a moment after it serves. */
const keepsPast = (service, points) => eventually("the past is the same", async () => {
  const after = await (await fetch(service.url + "/api/v1/history/0")).json();
  return isDeepStrictEqual(after.points.slice(0, points.length), points);
});
const shows = (page, lane) => eventually("the page shows the state", async () =>
  JSON.stringify(await rows(page)) === JSON.stringify(rowsOf(lane)));

test("shows the numbers of the state, and goes on with it", async () => {
  const { service, page } = await world(1, "write 1000", "start");
  const first = await laneAt(service, 1000);
  await shows(page, first);
  await sees(page, /As published at step 1,000\./);
  await eventually("the page is live", async () => (await page.textContent("#live")) === "live");
  await service.tell("write 500");
  const next = await laneAt(service, 1500);
  assert.notDeepEqual(rowsOf(next), rowsOf(first));
  await shows(page, next);
  const spent = await page.$$eval("#privacy data", (all) => all.map((each) => Number(each.value)));
  for (const value of [next.rho, next.rho_limit, next.epsilon, next.rho_ledger]) assert.ok(spent.includes(value), value);
  await service.tell("stop");
});

test("survives a restart of the service, with its past", async () => {
  const { service, page } = await world(1, "write 1000", "start");
  await shows(page, await laneAt(service, 1000));
  const before = await (await fetch(service.url + "/api/v1/history/0")).json();
  await service.tell("kill");
  await sees(page, /connection lost/, "#live");
  assert.equal((await rows(page)).length, 2, "the last values stay");
  await service.tell("write 300", "start");
  const next = await laneAt(service, 1300);
  await shows(page, next);
  await keepsPast(service, before.points);
  await service.tell("stop");
});

test("survives a lost broker, and says to the operator alone what it waits for", async () => {
  const { service, page, operator } = await world(1, "write 1000", "start -X session.timeout.ms=3000");
  const published = await laneAt(service, 1000);
  await shows(page, published);
  const before = await (await fetch(service.url + "/api/v1/history/0")).json();
  await service.tell("broker kill");
  await sees(operator, /rejoining/, "#operator");
  await sees(operator, /waiting for 127\.0\.0\.1/, "#operator");
  await sees(page, /Not ready/, "#summary");
  // Outside of its group the instance has no lane: another instance may have it by now. What was published stays on the
  // page, with these words. The public page says nothing more.
  await sees(page, /No lane is open here: .* others may have gone on/);
  assert.deepEqual((await service.state()).lanes, []);
  await shows(page, published);
  await eventually("the page is not live", async () => (await page.textContent("#live")) === "connected");
  assert.doesNotMatch(await page.textContent("body"), /rejoining|127\.0\.0\.1/);
  await service.tell("broker restart");
  await sees(page, /Ready\./, "#summary");
  assert.doesNotMatch(await page.textContent("body"), /No lane is open/);
  await keepsPast(service, before.points);
  await service.tell("write 200");
  await shows(page, await laneAt(service, 1200));
  await service.tell("stop");
});

test("says to everybody that a budget is used up", async () => {
  // The 700 steps together cost .5, so a budget of .4 allows 560 of them.
  const limits = "--set noise.correlation=\"anti-pgd\" --set noise.horizon=700 --set privacy.budget=0.4";
  const { service, page } = await world(2, "write 300 0", "write 400 1", `start ${limits}`);
  await laneAt(service, 300, 0);
  await laneAt(service, 400, 1);
  assert.doesNotMatch(await page.textContent("#summary"), /used up/);
  await service.tell("write 500 1");
  await sees(page, /budget of lane 1 is used up/, "#summary");
  const over = (await service.state()).lanes.find((each) => each.lane === 1);
  assert.ok(over.rho_ledger <= 0.4 && over.steps_committed <= 560 && over.steps_committed >= 559, over.steps_committed);
  await service.tell("write 100 0");
  await laneAt(service, 400, 0);
  await service.tell("kill");
});

test("shows a restoring and a failed lane to the operator alone", async () => {
  const { service, page, operator } = await world(2, "write 500 0", "write 500 1", "start");
  await laneAt(service, 500, 0);
  await laneAt(service, 500, 1);
  await service.tell("catch restoring");
  await sees(operator, /restoring/, "#operator");
  await sees(page, /Not ready/, "#summary");
  assert.doesNotMatch(await page.textContent("body"), /restoring/);
  await service.tell("broker thaw");
  await sees(page, /Ready\./, "#summary");
  await service.tell("stop", "write 100 1", "lose 1 550", "start");
  await sees(operator, /failed/, "#operator");
  await sees(page, /Not ready/, "#summary");
  assert.doesNotMatch(await page.textContent("body"), /failed|gone/);
  await service.tell("write 200 0");
  await laneAt(service, 700, 0);
  await service.tell("kill");
});
