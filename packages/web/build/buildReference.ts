import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exampleOf, nameOf, resolve, type Schema, type Schemas, typeOf } from "./apiSchemas.ts";
import { PROJECT } from "./sources.ts";

/** The part of an OpenAPI 3.1 document that the reference shows. */
interface ApiDocument {
  info: { title: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, { post: ApiOperation }>;
  webhooks?: Record<string, { post: ApiOperation }>;
  components: { schemas: Schemas };
}

interface ApiOperation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: Record<string, unknown>[];
  parameters?: { name: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}

/** The file of each API's page, and the OpenAPI document that the page shows. */
const PAGES = {
  "partner.html": { document: "openapi.json", path: "/docs", name: "Partner API" },
  "operator.html": { document: "openapi-operator.json", path: "/docs/operator", name: "Operator API" },
};
const ICON = `data:image/svg+xml,${encodeURIComponent(readFileSync(join(PROJECT, "packages/web/src/shared/favicon.svg"), "utf8"))}`;
const DOCS = "https://github.com/keyroot/keyroot/blob/main/docs";

/** Builds the pages of the API reference from the OpenAPI documents. Each page is one file without scripts. */
export function buildReference(): Map<string, string> {
  const read = (path: string) => readFileSync(join(PROJECT, path), "utf8");
  const codes = readServiceCodes(read("docs/errors.md"));
  const css = ["shared/base.css", "reference/reference.css"].map((path) => read(`packages/web/src/${path}`));
  const style = css
    .join("\n")
    .replaceAll(/\/\*.*?\*\//gs, "")
    .replaceAll(/\s+/g, " ");
  return new Map(
    Object.entries(PAGES).map(([file, { document, path }]) => [
      file,
      toPage(JSON.parse(read(`docs/${document}`)) as ApiDocument, { document, path }, codes, style),
    ]),
  );
}

/** Reads the codes that the service returns, by HTTP status. */
function readServiceCodes(errors: string): ReadonlyMap<string, string[]> {
  const section = errors.split(/^## /m).find((text) => text.startsWith("ServiceError\n")) ?? "";
  const rows = [...section.matchAll(/^\| `([A-Z0-9_]+)` +\| (\d{3}) /gm)];
  const byStatus = Map.groupBy(rows, ([, , status = ""]) => status);
  return new Map([...byStatus].map(([status, found]) => [status, found.map(([, code = ""]) => code)]));
}

function toPage(
  api: ApiDocument,
  { document, path: current }: { document: string; path: string },
  codes: ReadonlyMap<string, string[]>,
  style: string,
): string {
  const { info, tags, paths, webhooks = {}, components } = api;
  const operations = Object.entries(paths).map(([path, { post }]) => ({ ...post, path }));
  const sections = tags.map((tag) => ({ ...tag, of: operations.filter((each) => each.tags.includes(tag.name)) }));
  const received = Object.entries(webhooks).map(([name, { post }]) => ({ ...post, path: name }));
  const { schemas } = components;
  const used = Object.entries(schemas).filter(([name]) => name !== "Problem");
  const menu = [
    ...sections.map(({ name, of }) => menuOf(name, of)),
    ...(received.length > 0 ? [menuOf("webhooks", received)] : []),
    `<h2><a href="#errors">Errors</a></h2>`,
    `<h2><a href="#schemas">Schemas</a></h2>`,
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(info.title)}</title>
<link rel="icon" href="${ICON}">
<style>${style}</style>
</head>
<body>
<header class="head"><a class="brand" href="/"><img src="${ICON}" alt="" width="28" height="28"> Keyroot</a> ${Object.values(
    PAGES,
  )
    .map(({ path, name }) => `<a href="${path}"${path === current ? ` aria-current="page"` : ""}>${name}</a>`)
    .join(" ")}</header>
<div class="page">
<nav class="pages-menu" aria-label="Operations" tabindex="0">${menu.join("")}</nav>
<main>
<h1>${escape(info.title)}</h1>
<p class="lead">${prose(info.description)}</p>
<p>Every operation is a <code>POST</code> request with a JSON body. <a href="/${document}">OpenAPI document</a></p>
${sections
  .map(
    ({ name, description, of }) =>
      `<h2 id="${name}">${capitalized(name)}</h2><p>${prose(description)}</p>${of.map((each) => operationOf(each, schemas)).join("")}`,
  )
  .join("")}
${received.length === 0 ? "" : `<h2 id="webhooks">Webhooks</h2><p>The service sends these requests to your endpoints.</p>${received.map((each) => webhookOf(each, schemas)).join("")}`}
<h2 id="errors">Errors</h2>
<p>Every error is a problem document (RFC 9457). Its <code>code</code> is stable.</p>
<ul class="fields">${errorsOf(operations, codes).join("")}</ul>
<h3 id="schema-Problem">Problem</h3>
${fieldsOf(schemas["Problem"] ?? {}, schemas)}
<h2 id="schemas">Schemas</h2>
${used.map(([name, schema]) => `<section class="schema"><h3 id="schema-${name}">${name}</h3><p>${prose(schema.description ?? "")}</p>${fieldsOf(schema, schemas)}</section>`).join("")}
</main>
</div>
</body>
</html>
`;
}

type Operation = ApiOperation & { path: string };

function menuOf(name: string, operations: readonly Operation[]): string {
  const items = operations.map(
    ({ operationId, path }) => `<li><a href="#${operationId}">${escape(shortPath(path))}</a></li>`,
  );
  return `<h2><a href="#${name}">${capitalized(name)}</a></h2><ul>${items.join("")}</ul>`;
}

/** An operation: the fields of the request and the response on the left, and an example on the right. */
function operationOf(operation: Operation, schemas: Schemas): string {
  const { operationId, path, summary, description, security = [], parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content["application/json"].schema ?? {};
  const [status = "200", success] = Object.entries(responses).find(([name]) => name.startsWith("2")) ?? [];
  const answer = Object.values(success?.content ?? {})[0]?.schema ?? {};
  const failures = Object.keys(responses).filter((name) => !name.startsWith("2"));
  const head = [
    `POST ${path} HTTP/1.1`,
    ...(security.length > 0 ? ["Authorization: Bearer …"] : []),
    "Content-Type: application/json",
  ];
  return `<article class="operation" id="${operationId}">
<header><h3>${escape(summary)}</h3><code>POST ${escape(path)}</code>${description === undefined ? "" : `<p>${prose(description)}</p>`}</header>
<div>${parameters.length === 0 ? "" : `<h4>Headers</h4>${headersOf(parameters)}`}
<h4>Request</h4>${fieldsOf(body, schemas)}
<h4>Response</h4>${referenceTo(answer)}${fieldsOf(answer, schemas)}
<p class="type">Errors: ${failures.map((name) => `<a href="#error-${name}">${name}</a>`).join(", ")}</p></div>
<div><h4>Example</h4>${codeOf("Request", `${head.join("\n")}\n\n${json(exampleOf(body, schemas))}`)}${codeOf("Response", `HTTP/1.1 ${status}\n\n${json(exampleOf(answer, schemas))}`)}</div>
</article>`;
}

/** The statuses of failed requests, with the codes that the service returns with each. */
function errorsOf(operations: readonly Operation[], codes: ReadonlyMap<string, string[]>): string[] {
  const all = new Map(
    operations.flatMap(({ responses }) =>
      Object.entries(responses).map(([status, { description }]) => [status, description] as const),
    ),
  );
  return [...all]
    .filter(([status]) => !status.startsWith("2"))
    .sort()
    .map(([status, description]) => {
      const links = (codes.get(status) ?? []).map(errorLink);
      return `<li id="error-${status}"><b>${status}</b> ${prose(description)}<br>${links.join(", ")}</li>`;
    });
}

function webhookOf({ operationId, path, summary, description = "", requestBody }: Operation, schemas: Schemas): string {
  const body = requestBody?.content["application/json"].schema ?? {};
  return `<article class="operation" id="${operationId}">
<header><h3>${escape(summary)}</h3><code>${escape(path)}</code><p>${prose(description)}</p></header>
<div><h4>Body</h4>${fieldsOf(body, schemas)}</div>
<div><h4>Example</h4>${codeOf("Body", json(exampleOf(body, schemas)))}</div>
</article>`;
}

function headersOf(parameters: NonNullable<ApiOperation["parameters"]>): string {
  const items = parameters.map(({ name, required = false, description, schema }) =>
    fieldOf(name, { ...schema, ...(description !== undefined && { description }) }, required, {}),
  );
  return `<ul class="fields">${items.join("")}</ul>`;
}

function referenceTo(schema: Schema): string {
  const name = nameOf(schema);
  return name === undefined ? "" : `<p><a href="#schema-${name}">${name}</a></p>`;
}

/** The fields of an object. Fields with a named schema link to it. */
function fieldsOf(schema: Schema, schemas: Schemas): string {
  const { properties = {}, required = [], anyOf } = resolve(schema, schemas);
  if (anyOf !== undefined) return `<p class="type">One of: ${anyOf.map(linkedType).join(", ")}</p>`;
  const fields = Object.entries(properties);
  if (fields.length === 0) return `<p class="type">No fields.</p>`;
  return `<ul class="fields">${fields.map(([name, field]) => fieldOf(name, field, required.includes(name), schemas)).join("")}</ul>`;
}

function fieldOf(name: string, field: Schema, isRequired: boolean, schemas: Schemas): string {
  const inner = field.items ?? field.anyOf?.find(({ type }) => type === "object") ?? field;
  const hasFields = inner.$ref === undefined && inner.properties !== undefined;
  const description = field.description ?? inner.description ?? "";
  return `<li><code>${escape(name)}</code> <span class="type">${linkedType(field)}${isRequired ? "" : ", optional"}</span><br>${prose(description)}${hasFields ? fieldsOf(inner, schemas) : ""}</li>`;
}

/** The type in words. The names of schemas are links. */
function linkedType(schema: Schema): string {
  return escape(typeOf(schema)).replaceAll(/\b[A-Z][A-Za-z]+\b/g, (name) => `<a href="#schema-${name}">${name}</a>`);
}

function codeOf(label: string, text: string): string {
  return `<pre class="code" tabindex="0" role="group" aria-label="${label}"><code>${escape(text)}</code></pre>`;
}

function errorLink(code: string): string {
  return `<a href="${DOCS}/errors.md#serviceerror"><code>${code}</code></a>`;
}

/** Converts a description with code in backticks and names of documentation pages. */
function prose(text: string): string {
  return escape(text)
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
    .replaceAll(/\bdocs\/([a-z-]+\.md)/g, (path, name: string) => `<a href="${DOCS}/${name}">${path}</a>`);
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function shortPath(path: string): string {
  return path.replace(/^\/v1\/(?:public|authdBizSrv|authdUser|admin)\//, "");
}

function capitalized(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
