// Writes src/generated from the gateway's OpenAPI document: the types of its components by openapi-typescript, and a
// class for each resource with a method for each operationId.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { URL } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const SOURCE = new URL("../../../services/api-gateway/src/api_gateway/pages/openapi.json", import.meta.url);
const TARGET = new URL("../src/generated/", import.meta.url);
const HEAD = "// Generated from openapi.json by `npm run build`; do not edit.\n";
// The functions of src/results.ts.
const RESULTS = ["data", "file", "json", "list", "nothing", "text"];

const document = JSON.parse(await readFile(SOURCE, "utf8"));
const { schemas } = document.components;

const resources = new Map();
for (const [path, operations] of Object.entries(document.paths)) {
  for (const [verb, operation] of Object.entries(operations)) {
    // The audience of the others are services, webhooks of providers, mail links, redirects and probes.
    if (operation["x-audience"]) continue;
    const [resource, method] = operation.operationId.split(".");
    if (!resources.has(resource)) resources.set(resource, []);
    resources.get(resource).push(methodOf(verb.toUpperCase(), path, operation, resource, method));
  }
}

await rm(TARGET, { recursive: true, force: true });
await mkdir(new URL("resources/", TARGET), { recursive: true });
const names = [...resources.keys()].sort();
await Promise.all([
  write("schemas.ts", await schemaTypes()),
  write("codes.ts", errorClasses()),
  write("campus.ts", campusClass()),
  write("index.ts", names.map((name) => `export * from "./resources/${name}.js";`).join("\n")),
  ...names.map((name) => write(`resources/${name}.ts`, resourceModule(name, resources.get(name)))),
]);

function write(name, text) {
  return writeFile(new URL(name, TARGET), `${HEAD}${text.trimEnd()}\n`);
}

/** The types of the components that a method reaches; `paths` and `operations` would be as long again. */
async function schemaTypes() {
  const reached = {};
  const visit = (name) => {
    if (name in reached) return;
    reached[name] = schemas[name];
    for (const [, inner] of JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/(\w+)"/g)) visit(inner);
  };
  ["Problem", "Meta", "Tokens"].forEach(visit);
  for (const method of [...resources.values()].flat()) method.types.forEach(visit);
  const info = { title: "", version: "" };
  const sorted = Object.fromEntries(Object.entries(reached).sort(([a], [b]) => (a < b ? -1 : 1)));
  const ast = await openapiTS(
    { openapi: "3.1.0", info, paths: {}, components: { schemas: sorted } },
    { rootTypes: true, rootTypesNoSchemaPrefix: true, alphabetize: false },
  );
  return astToString(ast)
    .replace(/^export type (paths|webhooks|\$defs|operations) = Record<string, never>;\n/gm, "")
    .replace("export interface components", "interface components");
}

function errorClasses() {
  const codes = schemas.ProblemCode.enum;
  const classes = codes.map(
    (code) =>
      `/** The API responded with \`${code}\`. */\nexport class ${errorName(code)} extends ApiError {\n  override readonly name: string = "${errorName(code)}";\n}\n`,
  );
  const table = codes.map((code) => `  ${code}: ${errorName(code)},`);
  return [
    'import { ApiError } from "../errors.js";\nimport type { ProblemCode } from "./schemas.js";\n',
    ...classes,
    `export const CLASSES_BY_CODE: Record<ProblemCode, typeof ApiError> = {\n${table.join("\n")}\n};`,
  ].join("\n");
}

function errorName(code) {
  return `${pascal(code.toLowerCase().split("_")).replace(/Error$/, "")}Error`;
}

function campusClass() {
  const fields = names.map((name) => `  readonly ${name}: r.${className(name)} = new r.${className(name)}(this);`);
  return [
    'import { Connection } from "../connection.js";\nimport * as r from "./index.js";\n',
    "/** A client of the whole API: the methods have the names of the operations, such as `campus.orders.checkout`. */",
    `export class Campus extends Connection {\n${fields.join("\n")}\n}`,
  ].join("\n");
}

function resourceModule(name, methods) {
  const all = methods.map((method) => method.code).join("\n\n");
  const types = unique(methods.flatMap((method) => method.types));
  const options = ["KeyedOptions", "RequestOptions", "RevisionOptions"].filter((one) => all.includes(one));
  const results = unique(methods.map((method) => method.helper)).filter((one) => RESULTS.includes(one));
  const streams = unique(methods.map((method) => method.helper)).filter(
    (one) => !RESULTS.includes(one) && one !== "upload",
  );
  const resultTypes = ["List", "Result"].filter((one) => new RegExp(`: ${one}<`).test(all));
  return [
    'import { Resource } from "../../connect.js";',
    `import { ${[...options.map((one) => `type ${one}`), ...(all.includes("segment(") ? ["segment"] : [])].join(", ")} } from "../../connection.js";`,
    `import { ${[...resultTypes.map((one) => `type ${one}`), ...results].join(", ")} } from "../../results.js";`,
    ...(streams.length > 0
      ? [
          `import { ${[...streams, "type StreamEvent", ...(all.includes("StreamOptions") ? ["type StreamOptions"] : [])].join(", ")} } from "../../streams.js";`,
        ]
      : []),
    ...(all.includes("upload<") ? ['import { type ImageSource, upload } from "../../uploads.js";'] : []),
    ...(types.length > 0 ? [`import type { ${types.join(", ")} } from "../schemas.js";`] : []),
    "",
    ...methods.flatMap((method) => (method.query ? [method.query, ""] : [])),
    `/** The operations \`${name}\`. */`,
    `export class ${className(name)} extends Resource {\n${all}\n}`,
  ].join("\n");
}

/** The source of a method, the components that it names, and the function that it calls. */
function methodOf(verb, path, operation, resource, name) {
  const parameters = operation.parameters ?? [];
  const inside = (place) => parameters.filter((one) => one.in === place);
  const types = new Set();
  const args = inside("path").map((one) => `${camel(one.name)}: string`);
  const content = [];
  const { kind, helper, results } = resultOf(operation, types);

  const body = operation.requestBody?.content ?? {};
  const json = body["application/json"]?.schema;
  const sentType = json && nonNull(json);
  if (helper === "upload") args.push("image: ImageSource");
  else if (sentType && sentType.$ref !== "#/components/schemas/EmptyRequest") {
    args.push(`body${operation.requestBody.required ? "" : "?"}: ${typeOf(sentType, types)}`);
    content.push("body");
  }

  const queryName = `${pascal([resource])}${pascal([name])}Query`;
  const query = inside("query");
  const isQueryRequired = query.some((one) => one.required);
  if (query.length > 0) {
    args.push(`query${isQueryRequired ? "" : "?"}: ${queryName}`);
    content.push("query");
  }
  const headers = inside("header").map((one) => one.name);
  const isKeyed = headers.includes("Idempotency-Key");
  if (isKeyed) content.push("isKeyed: true");
  if (operation.security.length === 0) content.push("isAnonymous: true");
  else if (operation.security.some((way) => same(way, {}))) content.push("isPublic: true");
  const isStream = helper === "follow" || helper === "readOnce";
  const options =
    helper === "follow"
      ? "StreamOptions"
      : isKeyed
        ? "KeyedOptions"
        : headers.includes("If-Match")
          ? "RevisionOptions"
          : "RequestOptions";
  args.push(`options?: ${options}`);
  for (const header of headers) {
    if (!["Idempotency-Key", "If-Match", "Last-Event-ID"].includes(header))
      throw new Error(`${path}: header ${header}`);
  }

  const address = addressOf(path);
  const sent = content.length > 0 ? `{ ${content.join(", ")} }` : "{}";
  const passed = {
    data: `"${verb}", ${address}, ${sent}, options`,
    nothing: `"${verb}", ${address}, ${sent}, options`,
    list: `${address}, ${sent}, options`,
    text: `${address}, ${sent}, options`,
    file: `${address}, ${sent}, options`,
    json: `${address}, ${sent}, options`,
    upload: `${address}, image, options`,
    follow: `${address}, options`,
    readOnce: `${address}, body, options`,
  }[helper];
  const returns = isStream ? `AsyncGenerator<${kind}, void, undefined>` : kind;
  const comment = docOf(`${operation.summary}.\n\n${operation.description ?? ""}`, "  ");
  const code = `${comment}  ${name}(${args.join(", ")}): ${returns} {\n    return ${helper}${results}(this.connection, ${passed});\n  }`;
  return {
    code,
    helper,
    types: [...types],
    query: query.length > 0 ? queryInterface(queryName, operation, query, types) : "",
  };
}

/** The type that a method returns, and the function that makes it. */
function resultOf(operation, types) {
  const status = Object.keys(operation.responses).find((one) => one.startsWith("2"));
  const contents = Object.entries(operation.responses[status].content ?? {});
  if (contents.length === 0) return { kind: "Result<void, undefined>", helper: "nothing", results: "" };
  const [media, { schema }] = contents[0];
  if (media === "text/event-stream") return streamOf(operation, schema, types);
  if (media.startsWith("text/")) return { kind: "Result<string, undefined>", helper: "text", results: "" };
  if (media !== "application/json") return { kind: "Result<Blob, undefined>", helper: "file", results: "" };
  const { properties } = schema.$ref ? schemas[nameOf(schema)] : schema;
  if (!properties.success) {
    const kind = typeOf(schema, types);
    return { kind: `Result<${kind}, undefined>`, helper: "json", results: `<${kind}>` };
  }
  const meta = nameOf(properties.meta);
  const { next_cursor: cursor, total_pages: pages } = schemas[meta].properties;
  if (properties.data.type === "array" && (cursor || pages)) {
    types.add(meta);
    const both = `<${typeOf(properties.data.items, types)}, ${meta}>`;
    return { kind: `List${both}`, helper: "list", results: both };
  }
  const kind = typeOf(properties.data, types);
  const helper = operation.requestBody?.content["multipart/form-data"] ? "upload" : "data";
  // Another meta than the usual one is named.
  if (meta !== "Meta") types.add(meta);
  return {
    kind: `Result<${kind}${meta === "Meta" ? "" : `, ${meta}`}>`,
    helper,
    results: `<${kind}${meta === "Meta" ? "" : `, ${meta}`}>`,
  };
}

/** The events of the two streams. OpenAPI 3.1 has no place for their names. */
function streamOf(operation, schema, types) {
  const event = schemas[nameOf(schema)];
  const payloads = event.anyOf ?? [event];
  if (operation.operationId === "notifications.stream") {
    const kind = `StreamEvent<"notification", ${typeOf(payloads[0], types)}>`;
    return { kind, helper: "follow", results: `<${kind}>` };
  }
  if (operation.operationId === "assistant.stream") {
    const kind = ["token", "done"].map((name, index) => `StreamEvent<"${name}", ${typeOf(payloads[index], types)}>`);
    return { kind: kind.join(" | "), helper: "readOnce", results: `<${kind.join(" | ")}>` };
  }
  throw new Error(`${operation.operationId}: name the events of this stream.`);
}

function queryInterface(name, operation, query, types) {
  const fields = query.map((one) => {
    const type = typeOf(nonNull(one.schema), types);
    return `${docOf(one.description ?? "", "  ")}  ${one.name}${one.required ? "" : "?"}: ${type}${one.required ? "" : " | undefined"};`;
  });
  return `/** The query of \`${operation.operationId}\`. */\nexport interface ${name} {\n${fields.join("\n")}\n}`;
}

function typeOf(schema, types) {
  if (schema.$ref) {
    types.add(nameOf(schema));
    return nameOf(schema);
  }
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, types)).join(" | ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `${typeOf(schema.items, types)}[]`;
  const plain = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" }[
    schema.type
  ];
  if (!plain) throw new Error(`No type for ${JSON.stringify(schema)}`);
  return plain;
}

function nonNull(schema) {
  const others = schema.anyOf?.filter((one) => one.type !== "null");
  return others?.length === 1 ? others[0] : schema;
}

function addressOf(path) {
  if (!path.includes("{")) return JSON.stringify(path);
  return `\`${path.replace(/\{(\w+)\}/g, (_, name) => `\${segment(${camel(name)})}`)}\``;
}

function docOf(text, indent) {
  const lines = text.trim().replaceAll("*/", "*\\/").split("\n");
  if (lines.length === 1) return lines[0] ? `${indent}/** ${lines[0]} */\n` : "";
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

function nameOf(schema) {
  return schema.$ref.split("/").at(-1);
}

function camel(name) {
  return name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
}

/** Not `Orders`: there is a component `BankDetails` beside the resource `bankDetails`. */
function className(resource) {
  return `${pascal([resource])}Resource`;
}

function pascal(words) {
  return words.map((word) => word[0].toUpperCase() + word.slice(1)).join("");
}

function unique(values) {
  return [...new Set(values)].sort();
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
