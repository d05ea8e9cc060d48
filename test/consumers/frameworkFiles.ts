/** The files of the projects in `frameworks.test.ts`, by their paths. */

/** A page that verifies a key, and routes that run `check` and load the partner's client. */
export const NEXT: Readonly<Record<string, string>> = {
  "package.json": `{ "type": "module", "private": true }`,
  "next.config.js": `export default { turbopack: { root: new URL("../..", import.meta.url).pathname } };
`,
  "app/layout.js": `export default function Layout({ children }) {
  return <html><body>{children}</body></html>;
}
`,
  "app/page.js": `import { createVerifier, oneEndpoint } from "keyroot";

export default async function Page() {
  const { userID, published, options } = JSON.parse(process.env.KEYROOT_LATE);
  const verifier = createVerifier({ ...options, trust: oneEndpoint() });
  const shown = await verifier.verify(userID, { expectedPublicKey: published }).then(
    ({ record }) => record.pubKey,
    ({ code }) => code,
  );
  return <p>{shown}</p>;
}
`,
  "app/check/route.js": `import { check } from "../../check.js";

export const dynamic = "force-dynamic";
export const GET = async () => Response.json(await check(JSON.parse(process.env.KEYROOT_INPUT)));
`,
  ...Object.fromEntries(
    (["node", "edge"] as const).map((runtime) => [
      `app/partner/${runtime}/route.js`,
      `import { PartnerClient } from "@keyroot/client/partner";

export const runtime = "${runtime === "node" ? "nodejs" : "edge"}";
const serverToken = "krs_" + "A".repeat(43);
const options = { serviceUrl: "https://keys.example", bizID: "biz_1", serverToken };
export const GET = () => new Response(typeof new PartnerClient(options).createUser);
`,
    ]),
  ),
};

/** Tests of an app in jsdom, with Node's functions that jsdom lacks. */
export const JEST: Readonly<Record<string, string>> = {
  "package.json": `{ "private": true }`,
  "jest.config.js": `const find = (name) => require.resolve(name, { paths: [process.env.KEYROOT_TOOLS] });
module.exports = {
  testEnvironment: "./environment.js",
  transformIgnorePatterns: ["/node_modules/(?!keyroot/|@keyroot/)"],
  transform: { "\\\\.js$": [find("babel-jest"), { presets: [[find("@babel/preset-env"), { targets: { node: "current" } }]] }] },
};
`,
  "environment.js": `const { TestEnvironment } = require(require.resolve("jest-environment-jsdom", { paths: [process.env.KEYROOT_TOOLS] }));

module.exports = class extends TestEnvironment {
  constructor(...args) {
    super(...args);
    Object.assign(this.global, { AbortController, AbortSignal, fetch, Headers, Request, Response, TextDecoder, TextEncoder });
  }
};
`,
  "keys.test.js": `import { createVerifier, oneEndpoint } from "keyroot";
import { parseMerkleFile } from "keyroot/merkle";
import { check } from "./check.js";

const input = JSON.parse(process.env.KEYROOT_INPUT);

test("verifies a key", async () => {
  expect(await check(input)).toEqual(JSON.parse(process.env.KEYROOT_EXPECTED));
});

test("accepts bytes of another realm", async () => {
  const { userID, published, options } = input;
  const expectedPublicKey = Buffer.from(published, "base64");
  expect(expectedPublicKey).not.toBeInstanceOf(Uint8Array);
  const verifier = createVerifier({ ...options, trust: oneEndpoint() });
  const { record, root } = await verifier.verify(userID, { expectedPublicKey });
  expect(record.pubKey).toBe(published);
  const bytes = new TextEncoder().encode(await (await fetch(\`\${options.merkleUrl}/\${root}.json\`)).text());
  expect(bytes).not.toBeInstanceOf(Uint8Array);
  expect(parseMerkleFile(bytes, root).tree.root).toBe(root);
});
`,
};

/** Builds \`main.js\` with webpack, whose module is the first argument. */
export const WEBPACK = `const webpack = require(process.argv[2]);
const config = {
  ...{ mode: "production", context: __dirname, entry: "./main.js", output: { path: __dirname + "/dist", publicPath: "/" } },
};
webpack(config, (error, stats) => {
  if (error || stats.hasErrors()) throw error ?? new Error(stats.toString());
});
`;

/** The configuration of a worker in workerd, with the input of \`check\`. It listens on any free port. */
export const workerdConfig = (
  compatibilityDate: string,
  input: string,
): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "main", esModule = embed "worker.js")],
  compatibilityDate = ${JSON.stringify(compatibilityDate)},
  bindings = [(name = "INPUT", text = ${JSON.stringify(input)})],
);
`;
