// Copies the committed files of examples/storefront to template/, as a project outside the repository needs them.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath, URL } from "node:url";

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const example = (path) => at(`../../examples/storefront/${path}`);
// npm packs no file with these names.
const packed = (path) => (path === ".gitignore" || path === ".npmrc" ? path.slice(1) : path);
const change = (path, edit) => {
  const before = readFileSync(at(`template/${path}`), "utf8");
  const after = edit(before);
  if (after === before) throw new Error(`${path} of the example changed: adapt scripts/template.mjs`);
  writeFileSync(at(`template/${path}`), after);
};
const json = (edit) => (text) => {
  const value = JSON.parse(text);
  edit(value);
  return `${JSON.stringify(value, null, 2)}\n`;
};

rmSync(at("template"), { recursive: true, force: true });
for (const path of execFileSync("git", ["ls-files"], { cwd: example(""), encoding: "utf8" }).trim().split("\n")) {
  mkdirSync(dirname(at(`template/${packed(path)}`)), { recursive: true });
  cpSync(example(path), at(`template/${packed(path)}`));
}
// The installed package in place of the client of the checkout.
change(
  "tsconfig.json",
  json((it) => delete it.compilerOptions.paths),
);
// What the README says about the repository, up to its first heading of the second level, and the step of the copy.
change("README.md", (text) => {
  const kept = text.slice(text.indexOf("\n## ")).replace(/^1\. [^]*?(?=^2\. )/m, "").replace(/^[2-9](?=\. )/gm, (n) => n - 1);
  return `# My storefront\n\n    npm install && npm run build && npm run smoke && npm run dev\n\n\`.env\` has the API's address.\n${kept}`;
});
cpSync(at("../../CHANGELOG.md"), at("CHANGELOG.md"));
