"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];

function element(tag, content, className) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  for (const part of [].concat(content ?? [])) made.append(part);
  return made;
}

function resolve(schema, reference) {
  const name = schema && schema.$ref && schema.$ref.split("/").pop();
  return name ? reference.components.schemas[name] || {} : schema || {};
}

// An example of a schema: enough to see every field and its type. `seen` ends the walk of a schema that holds itself.
function example(schema, reference, seen = []) {
  const name = schema && schema.$ref;
  if (name && seen.includes(name)) return {};
  const shape = resolve(schema, reference);
  const inner = name ? [...seen, name] : seen;
  if ("default" in shape) return shape.default;
  if (shape.const !== undefined) return shape.const;
  if (shape.enum) return shape.enum[0];
  const choice = (shape.anyOf || shape.oneOf || []).find((option) => option.type !== "null");
  if (choice) return example(choice, reference, inner);
  if (shape.allOf) return Object.assign({}, ...shape.allOf.map((part) => example(part, reference, inner)));
  if (shape.type === "array") return [example(shape.items, reference, inner)];
  if (shape.properties) {
    return Object.fromEntries(
      Object.entries(shape.properties).map(([field, value]) => [field, example(value, reference, inner)]),
    );
  }
  return { integer: 0, number: 0, boolean: true, object: {} }[shape.type] ?? (shape.format || "text");
}

function schemaOf(content) {
  const media = content && Object.keys(content)[0];
  return media ? content[media].schema : undefined;
}

function shown(title, schema, reference) {
  if (!schema) return [];
  return [element("p", title, "note"), element("pre", JSON.stringify(example(schema, reference), null, 2))];
}

function parameters(operation, reference) {
  const rows = (operation.parameters || []).map((entry) => {
    const schema = resolve(entry.schema, reference);
    const type = schema.type || (schema.anyOf || []).map((option) => option.type).join(" or ");
    return element("tr", [
      element("td", element("code", entry.name)),
      element("td", `${entry.in}${entry.required ? ", required" : ""}`),
      element("td", [type || "", entry.description ? `. ${entry.description}` : ""]),
    ]);
  });
  return rows.length ? [element("table", rows)] : [];
}

function operationOf(path, method, operation, reference) {
  const body = schemaOf(operation.requestBody && operation.requestBody.content);
  const answers = Object.entries(operation.responses || {}).filter(([status]) => status.startsWith("2"));
  const guarded = operation.security && !operation.security.some((choice) => Object.keys(choice).length === 0);
  const summary = element("summary", [
    element("span", method.toUpperCase(), "method"),
    element("code", path),
    element("span", `${operation.summary || ""}${guarded ? " · token" : ""}`, "note"),
  ]);
  const content = element("div", [
    element("p", operation.description || ""),
    ...parameters(operation, reference),
    ...shown("Body", body, reference),
    ...answers.flatMap(([status, answer]) => shown(`Answer ${status}`, schemaOf(answer.content), reference)),
  ]);
  const made = element("details", [summary, content], operation.deprecated ? "deprecated" : "");
  made.dataset.words = `${method} ${path} ${operation.summary || ""} ${operation.description || ""}`.toLowerCase();
  return made;
}

function show(reference) {
  const groups = new Map();
  for (const [path, operations] of Object.entries(reference.paths)) {
    for (const method of METHODS.filter((name) => operations[name])) {
      const operation = operations[method];
      const group = (operation.tags || ["other"])[0];
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(operationOf(path, method, operation, reference));
    }
  }
  for (const group of [...groups.keys()].sort()) {
    document.getElementById("operations").append(element("section", [element("h2", group), ...groups.get(group)]));
  }
}

document.getElementById("filter").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const entry of document.querySelectorAll("details")) {
    entry.hidden = !words.every((word) => entry.dataset.words.includes(word));
  }
});

fetch("/openapi.json")
  .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`status ${answer.status}`))))
  .then((reference) => {
    show(reference);
    document.getElementById("status").remove();
  })
  .catch((error) => {
    document.getElementById("status").textContent = `The reference is not available for the moment (${error.message}).`;
  });
