// Measures how long it takes until the status page is first painted: the median of 20 loads on loopback, each in a browser
// context of its own, so that nothing is cached. This is no test. Usage: run PAGE_SERVER WORK first_paint.mjs
import { Service, launch } from "./harness.mjs";

const loads = 20;
const browser = await launch();
const service = await Service.start();
const names = Array.from({ length: 12 }, (_, j) => `feature_${j}`).join(" ");
await service.tell("phase serving", `features ${names}`, "open 0", "go 0 31536000");
const times = [];
for (let load = 0; load <= loads; ++load) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(service.url, { waitUntil: "load" });
  const time = await page.evaluate(() => new Promise((resolve) => {
    const look = () => performance.getEntriesByName("first-contentful-paint")[0];
    if (look()) return resolve(look().startTime);
    new PerformanceObserver(() => look() && resolve(look().startTime)).observe({ type: "paint", buffered: true });
  }));
  if (load > 0) times.push(time); // the first load starts the browser's processes
  await context.close();
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ first_contentful_paint_milliseconds: {
  loads, median: (times[loads / 2 - 1] + times[loads / 2]) / 2, least: times[0], most: times[loads - 1] } }));
await service.stop();
await browser.close();
