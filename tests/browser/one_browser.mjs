// One browser for all tests of a file: pages and services that a test leaves are gone before the next one begins.
import { after, afterEach, before } from "node:test";

import { Service, launch } from "./harness.mjs";

export let browser;
before(async () => { browser = await launch(); });
afterEach(async () => {
  await Promise.all(browser.contexts().map((each) => each.close()));
  await Service.stopAll();
});
after(() => browser.close());
