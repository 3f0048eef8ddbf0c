// Writes the examples of README.md to test/readme.ts, which is compiled with the tests.
import { readFile, writeFile } from "node:fs/promises";
import { URL } from "node:url";

const at = (path) => new URL(`../${path}`, import.meta.url);
const blocks = [...(await readFile(at("README.md"), "utf8")).matchAll(/^```ts\n(.*?)^```$/gms)].map(
  ([, block]) => block,
);
const imported = {
  "campus-client": new Set(["Campus", "type CheckoutLine", "type TokenStore"]),
  "campus-client/webhooks": new Set(),
};
const bodies = blocks.map((block, index) => {
  const body = block.replace(/^import \{ (.*) \} from "(.*)";\n/gm, (_, names, from) => {
    for (const name of names.split(", ")) imported[from].add(name);
    return "";
  });
  return `export async function example${index + 1}(): Promise<void> {\n${body}}\n`;
});

await writeFile(
  at("test/readme.ts"),
  `${Object.entries(imported)
    .map(([from, names]) => `import { ${[...names].join(", ")} } from "${from}";`)
    .join("\n")}

declare const baseUrl: string, password: string, code: string, email: string, orderId: string, productId: string, pin: string;
declare const accountNumber: string, bankCode: string;
declare const current: string, previous: string, body: string, request: Request;
declare const campus: Campus, items: CheckoutLine[], file: File, signal: AbortSignal, store: TokenStore;
declare const refreshPage: () => void, record: (id: string, data: object) => Promise<void>;

${bodies.join("\n")}`,
);
