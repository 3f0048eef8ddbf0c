import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { baseUrl, codeFor, pay, secrets } from "./system.js";

const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

function browserPath(): string {
  for (const name of NAMES) {
    try {
      return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {
      continue;
    }
  }
  throw new Error("Chromium is missing: `tools/setup browser` installs it.");
}

test("a purchase in Chromium, by a page of another origin", async () => {
  const bundled = await build({
    entryPoints: [new URL("page.js", import.meta.url).pathname],
    bundle: true,
    minify: true,
    format: "iife",
    write: false,
  });
  const script = bundled.outputFiles[0]?.text ?? "";
  const server = createServer((request, response) => {
    response.setHeader("Content-Type", request.url === "/page.js" ? "text/javascript" : "text/html");
    response.end(
      request.url === "/page.js" ? script : '<!doctype html><meta charset="utf-8"><script src="/page.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.exposeFunction("sandboxCodeFor", codeFor);
    await page.exposeFunction("sandboxPay", pay);
    await page.goto(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`);
    await page.evaluate(
      ([url, password]) => globalThis.play(url ?? "", password ?? ""),
      [baseUrl, secrets["DEMO_PASSWORD"]],
    );
    assert.equal(await page.evaluate((url) => globalThis.closedPort(url), "http://127.0.0.1:9"), "TransportError");
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
    server.close();
  }
});
