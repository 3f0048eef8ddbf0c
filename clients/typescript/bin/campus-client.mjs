#!/usr/bin/env node
// Lists products of a marketplace: the first call of the client, without a project.
//   npx campus-client --api https://api.campus.example rice
import { parseArgs } from "node:util";
import { Campus, CampusError } from "../dist/esm/index.js";

const usage = "usage: campus-client [--api URL] [--limit NUMBER] [WORDS...]   (URL: http://localhost:8080)";
const fail = (text) => {
  console.error(text);
  process.exit(2);
};

let given;
try {
  given = parseArgs({
    allowPositionals: true,
    options: { api: { type: "string", default: "http://localhost:8080" }, limit: { type: "string", default: "20" } },
  });
} catch (error) {
  fail(`${error.message}\n${usage}`);
}
const { api, limit } = given.values;
if (!URL.canParse(api)) fail(`--api is no address: ${api}\n${usage}`);
if (!/^[1-9]\d?$|^100$/.test(limit)) fail(`--limit is a number from 1 to 100: ${limit}\n${usage}`);

const naira = new Intl.NumberFormat("en-NG", { style: "currency", currency: "NGN" });
try {
  const campus = new Campus({ baseUrl: api.replace(/\/$/, "") });
  const { items } = await campus.products.list({ q: given.positionals.join(" ") || undefined, limit: Number(limit) });
  for (const product of items) console.log(`${naira.format(product.priceMinor / 100).padStart(14)}  ${product.name}`);
  if (items.length === 0) console.log("No product was found.");
} catch (error) {
  if (error instanceof CampusError) fail(`${api}: ${error.message}`);
  throw error;
}
