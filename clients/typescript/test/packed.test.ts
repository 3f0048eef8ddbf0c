// The packed tarball, installed into an empty project.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ok, problem, startWire } from "./wire.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../", import.meta.url));
const project = mkdtempSync(join(tmpdir(), "campus-client-"));
const wire = await startWire();
const command = (...given: string[]): Promise<{ stdout: string; stderr: string }> =>
  run(join(project, "node_modules/.bin/campus-client"), given);

before(async () => {
  await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", project], { cwd: root });
  const [tarball = ""] = readdirSync(project);
  await run("npm", ["install", "--silent", "--offline", "--no-audit", "--prefix", project, join(project, tarball)]);
});
after(() => {
  rmSync(project, { recursive: true });
});

test("its command lists products", async () => {
  const rice = { id: "1", name: "Rice", priceMinor: 4_500_050 };
  wire.answer(ok([rice], { next_cursor: null, has_more: false, limit: 20 }));
  const { stdout } = await command("--api", wire.url, "jollof", "rice");
  assert.match(stdout, /^ *₦45,000\.50 {2}Rice\n$/);
  assert.deepEqual(
    wire.received.map(({ url }) => url),
    ["/api/products?q=jollof+rice&limit=20"],
  );
});

test("its command names what failed", async () => {
  await assert.rejects(command("--api", "nowhere"), { code: 2, stderr: /--api is no address: nowhere\nusage:/ });
  await assert.rejects(command("--limit", "0"), { code: 2, stderr: /--limit is a number from 1 to 100/ });
  wire.answer(problem(422, "VALIDATION_ERROR"));
  await assert.rejects(command("--api", wire.url), { code: 2, stderr: /VALIDATION_ERROR/ });
});

test("its types, licence, changelog and source maps are part of it", () => {
  const folder = join(project, "node_modules/campus-client");
  const files = readdirSync(folder, { recursive: true }).map(String);
  for (const name of ["LICENSE", "CHANGELOG.md", "dist/esm/index.d.ts", "dist/cjs/index.js", "dist/esm/index.js.map"]) {
    assert.ok(files.includes(name), name);
  }
});
