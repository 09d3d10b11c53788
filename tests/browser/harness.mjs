// What the browser's tests share: the server that they look at, the browser, and how a check is waited for.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import path from "node:path";

export const [server, work, browserPath, kept] = process.argv.slice(2).map((each) => path.resolve(each));
const require = createRequire(path.join(work, "package.json"));
const { chromium } = require("playwright-core");
export const axeSource = require.resolve("axe-core/axe.min.js");

/** The page server, or the attached world: tell("go 0 500") resolves once the server has done that. */
export class Service {
  static running = new Set();
  /** Ends what a test that failed has left running, so that the tests after it begin, and node ends after the last. */
  static async stopAll() {
    await Promise.all([...Service.running].map((each) => each.kill()));
  }
  static async start(ports = [0, 0], ...more) {
    const service = new Service();
    service.process = spawn(server, [...ports, ...more].map(String), { stdio: ["pipe", "pipe", "inherit"] });
    Service.running.add(service);
    service.process.once("exit", () => Service.running.delete(service));
    service.lines = createInterface({ input: service.process.stdout })[Symbol.asyncIterator]();
    const first = await service.lines.next();
    if (first.done) throw new Error("the page server did not start");
    service.ports = first.value.split(" ").map(Number);
    service.url = `http://127.0.0.1:${service.ports[0]}`;
    service.operatorUrl = `http://127.0.0.1:${service.ports[1]}`;
    return service;
  }
  async tell(...lines) {
    for (const line of lines) {
      this.process.stdin.write(line + "\n");
      if ((await this.lines.next()).done) throw new Error(`the page server ended at: ${line}`);
    }
  }
  async state() {
    return (await fetch(this.url + "/api/v1/state")).json();
  }
  stop() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.stdin.end();
    return ended;
  }
  kill() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGKILL");
    return ended;
  }
}

export const launch = () =>
  chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"] });

/** Waits until `check` returns something true, on a busy machine too. */
export async function eventually(what, check, seconds = 300) {
  const until = Date.now() + 1000 * seconds;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > until) throw new Error(`in ${seconds} s not true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Rows of the table of coefficients, each with its exact numbers. */
export const rows = (page) => page.$$eval("#coefficients tbody tr", (all) => all.map((row) => [
  row.querySelector("th").textContent, ...[...row.querySelectorAll("data")].map((each) => Number(each.value))]));

/** The same rows, as they follow from the state of a lane. */
export const rowsOf = ({ estimate, average, interval }) => Object.keys(estimate).map((name) => [
  name, (average ?? estimate)[name], ...(interval ? [interval.lower[name], interval.upper[name]] : []),
  ...(average ? [estimate[name]] : [])]);

/** The names of axe's findings that are serious or critical. */
export async function findings(page) {
  await page.evaluate(await (await import("node:fs/promises")).readFile(axeSource, "utf8"));
  const result = await page.evaluate(() => window.axe.run());
  return result.violations
    .filter((each) => each.impact === "serious" || each.impact === "critical")
    .map((each) => `${each.id}: ${each.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}

/** The page, or as much of it as a reader of the docs scrolls through, as a small WebP: a twentieth of what PNG takes. */
export async function photograph(page) {
  const session = await page.context().newCDPSession(page);
  const { width, height } = await page.evaluate(() => ({ width: innerWidth, height: document.documentElement.scrollHeight }));
  const { data } = await session.send("Page.captureScreenshot",
    { format: "webp", quality: 35, captureBeyondViewport: true, clip: { x: 0, y: 0, width, height: Math.min(height, 2 * width + 600), scale: 0.6 } });
  return Buffer.from(data, "base64");
}

/** The share of pixels in which two WebP files differ by more than a shade; 1 where their sizes differ. */
export async function difference(browser, one, other) {
  const page = await browser.newPage();
  try {
    return await page.evaluate(async ([a, b]) => {
      const pixels = async (data) => {
        const image = new Image();
        image.src = "data:image/webp;base64," + data;
        await image.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [image.width, image.height];
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
      };
      const [left, right] = [await pixels(a), await pixels(b)];
      if (left.width !== right.width || left.height !== right.height) return 1;
      let differing = 0;
      for (let i = 0; i < left.data.length; i += 4) {
        const apart = Math.abs(left.data[i] - right.data[i]) + Math.abs(left.data[i + 1] - right.data[i + 1]) +
          Math.abs(left.data[i + 2] - right.data[i + 2]);
        if (apart > 96) ++differing;
      }
      return differing / (left.data.length / 4);
    }, [one.toString("base64"), other.toString("base64")]);
  } finally {
    await page.close();
  }
}
