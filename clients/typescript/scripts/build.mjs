// Compiles src to dist/esm and dist/cjs, each with its types and source maps, and copies the changelog for the package.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, URL } from "node:url";

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const tsc = (project) =>
  execFileSync(process.execPath, [at("node_modules/typescript/bin/tsc"), "-p", at(project)], { stdio: "inherit" });

rmSync(at("dist"), { recursive: true, force: true });
tsc("tsconfig.json");
tsc("tsconfig.cjs.json");
mkdirSync(at("dist/cjs"), { recursive: true });
cpSync(at("dist/esm"), at("dist/cjs"), { recursive: true, filter: (path) => !/\.js(\.map)?$/.test(path) });
writeFileSync(at("dist/cjs/package.json"), '{ "type": "commonjs", "sideEffects": false }\n');
cpSync(at("../../CHANGELOG.md"), at("CHANGELOG.md"));
