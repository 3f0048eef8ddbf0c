#!/usr/bin/env node
// Creates a storefront in a new folder.
//   npm create campus-storefront my-shop -- --api https://api.campus.example
import { cpSync, existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath, URL } from "node:url";
import { parseArgs } from "node:util";

const usage =
  "usage: create-campus-storefront FOLDER [--api URL] [--client VERSION]   (URL: http://localhost:8080)";
const fail = (text) => {
  console.error(text);
  process.exit(2);
};
const own = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const version = JSON.parse(readFileSync(own("package.json"), "utf8")).version;

let given;
try {
  given = parseArgs({
    allowPositionals: true,
    options: {
      api: { type: "string", default: "http://localhost:8080" },
      client: { type: "string", default: `^${version}` },
    },
  });
} catch (error) {
  fail(`${error.message}\n${usage}`);
}
const { api, client } = given.values;
const [folder, ...more] = given.positionals;
if (!folder || more.length) fail(`Name one folder for the storefront.\n${usage}`);
if (!URL.canParse(api) || !/^https?:$/.test(new URL(api).protocol)) fail(`--api is no address: ${api}\n${usage}`);
const target = resolve(folder);
const name = basename(target);
if (!/^[a-z0-9][a-z0-9._-]{0,213}$/.test(name)) {
  fail(`${name} is no name of a package: use small letters, digits and hyphens.`);
}
if (existsSync(target) && readdirSync(target).length) fail(`${target} is not empty: name a new folder.`);

cpSync(own("template"), target, { recursive: true });
for (const hidden of ["gitignore", "npmrc"]) renameSync(join(target, hidden), join(target, `.${hidden}`));
const change = (file, edit) => {
  const value = JSON.parse(readFileSync(join(target, file), "utf8"));
  edit(value);
  writeFileSync(join(target, file), `${JSON.stringify(value, null, 2)}\n`);
};
change("package.json", (it) => {
  Object.assign(it, { name, version: "0.0.0", description: "A storefront of the Campus Marketplace API." });
  it.dependencies = { "campus-client": client.endsWith(".tgz") ? `file:${resolve(client)}` : client, ...it.dependencies };
});
writeFileSync(join(target, ".env"), `VITE_API_URL=${api.replace(/\/$/, "")}\n`);

console.log(`${name} is a storefront of ${api}. Next:

  cd ${folder}
  npm install
  npm run build
  npm run smoke    # needs the API
  npm run dev`);
