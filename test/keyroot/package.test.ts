import { expect } from "chai";
import hre from "hardhat";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type KeyRecord, makeKeyRecord } from "../../packages/keyroot/src/identity/keyRecord.ts";
import { generateKeyPair } from "../../packages/keyroot/src/identity/publicKey.ts";
import { randomUserID } from "../../packages/keyroot/src/identity/userID.ts";
import { FolderStore } from "../../packages/operator/src/publisher/files/folderStore.ts";
import { publish } from "../../packages/operator/src/publisher/publish.ts";
import { Registry } from "../../packages/operator/src/publisher/chain/registry.ts";
import { startStack, type Stack } from "../../packages/operator/src/stack/stack.ts";
import { rpcCaller } from "../../packages/keyroot/src/transport/jsonRpc.ts";
import { newPartner } from "../support/newPartner.ts";
import { serviceOnPostgres, type TestService } from "../support/service/support.ts";

const run = promisify(execFile);
const root = hre.config.paths.root;

/** The README's five lines, with the addresses of a real stack in the place of the samples. */
async function readmeProgram(stack: Stack, userID: string, keyFromTheServer: string): Promise<string> {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const [, sample = ""] = /```js\n([^]*?)```/.exec(readme) ?? [];
  const program = sample
    .replace("http://127.0.0.1:8545", stack.rpcUrl)
    .replace("http://127.0.0.1:8546", stack.merkleUrl)
    .replace(/0x[0-9a-fA-F]{40}/, stack.contract);
  return `const userID = "${userID}", expectedPublicKey = "${keyFromTheServer}";
${program}
console.log(Buffer.from(publicKey).toString("base64"));
`;
}

/** The clients' lines of docs/http-api.md, for a partner of a real service. */
async function clientsProgram(service: TestService): Promise<string> {
  const docs = await readFile(join(root, "docs", "http-api.md"), "utf8");
  const [ofPartner, ofUser, ofList] = [...docs.matchAll(/```js\n([^]*?)```/g)].map(([, lines = ""]) =>
    lines.replace("http://127.0.0.1:8547", service.url),
  );
  const { bizId, serverToken } = await newPartner(service);
  return `import { generateKeyPair } from "keyroot";
const [bizId, serverToken, userIDHex] = ["${bizId}", "${serverToken}", "ab".repeat(20)];
const { publicKey } = generateKeyPair();
const [runId, users] = [crypto.randomUUID(), [{ userID: "cd".repeat(20), region: "us-west-2" }]];
const handOver = ({ userID }, token) => console.log(userID, token.slice(0, 13));
${ofPartner}
${ofUser}
console.log(state);
${ofList}`;
}

describe("the package", () => {
  const service = serviceOnPostgres();
  let folder: string;
  let stack: Stack;
  let published: KeyRecord;

  before("is packed and installed in an empty folder, beside a stack with one user", async function () {
    this.timeout(120_000);
    folder = await mkdtemp(join(tmpdir(), "keyroot-package-"));
    stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
    published = makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
    const call = rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: 30_000 });
    const registry = await Registry.connect(call, stack.contract);
    await publish([published], { registry, store: new FolderStore(stack.merkleDir) });

    await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root });
    const app = join(folder, "app");
    await mkdir(app);
    await writeFile(join(app, "package.json"), '{ "type": "module", "private": true }');
    await run("npm", ["install", "--prefer-offline", "../keyroot-0.1.0.tgz"], { cwd: app });
  });

  after(async () => {
    await stack.close();
    await rm(folder, { recursive: true });
  });

  it("verifies a key with the README's lines", async () => {
    const program = await readmeProgram(stack, published.userID, published.pubKey);
    await writeFile(join(folder, "app", "verify.js"), program);
    const { stdout } = await run(process.execPath, ["verify.js"], { cwd: join(folder, "app") });
    expect(stdout.trim()).to.equal(published.pubKey);
  });

  it("refuses a swapped key with the README's lines", async () => {
    const other = makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
    await writeFile(join(folder, "app", "swapped.js"), await readmeProgram(stack, published.userID, other.pubKey));
    const failure = await run(process.execPath, ["swapped.js"], { cwd: join(folder, "app") }).catch(
      (error: unknown) => error,
    );
    expect(failure).to.have.property("code", 1);
    expect(failure).to.have.property("stdout", "");
    expect(failure).to.have.property("stderr").that.includes("code: 'KEY_MISMATCH'");
  });

  it("talks to the service with the lines of docs/http-api.md", async () => {
    await writeFile(join(folder, "app", "clients.js"), await clientsProgram(service));
    const { stdout } = await run(process.execPath, ["clients.js"], { cwd: join(folder, "app") });
    expect(stdout).to.equal(`pending\n${"cd".repeat(20)} kru_us-west-2\n`);
  });

  it("has types that a strict TypeScript program can use", async () => {
    const program = `import { verifyPublicKey, type VerifiedKey } from "keyroot";
import { PartnerClient, type ProvisionOutcome, type ShadowUser } from "keyroot/partner";
import { ServiceError, UserClient, type UserPublicKey } from "keyroot/user";
export const verified: Promise<VerifiedKey> = verifyPublicKey("", { rpc: "", chainId: 1, contract: "", merkleUrl: "" });
const partner = new PartnerClient({ baseUrl: "", bizId: "", serverToken: "" });
export const created: Promise<ShadowUser & { status: 201 }> = partner.createUser("", "us-west-2", {});
// @ts-expect-error -- there is no such region
export const nowhere = partner.createUser("", "mars");
const users = [{ userID: "", region: "eu-west-1" as const, mine: 7 }];
export const outcomes: AsyncIterable<ProvisionOutcome<{ userID: string; region: "eu-west-1"; mine: number }>> =
  partner.provision(users, { runId: "", onProgress: (done: number, refused: number) => void (done + refused) });
const user = new UserClient({ baseUrl: "", bizId: "", refreshToken: "" });
export const key: Promise<UserPublicKey> = user.publicKeyOf("", { signal: AbortSignal.timeout(1) });
export const requestId = (error: unknown): string | undefined =>
  error instanceof ServiceError && error.code === "RATE_LIMITED" ? error.requestId : undefined;
`;
    await writeFile(join(folder, "app", "typed.ts"), program);
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const options = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2024",
      "--lib",
      "es2024,dom",
      "typed.ts",
    ];
    await run(process.execPath, [tsc, ...options], { cwd: join(folder, "app") });
  });

  it("brings nothing but its own modules, schemas, licence and README", async () => {
    const { stdout } = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root });
    const [pack] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const others = pack.files.map(({ path }) => path).filter((path) => !/^dist\/.*\.(js|d\.ts)$/.test(path));
    const schemas = ["docs/schemas/bundle.schema.json", "docs/schemas/proof.schema.json"];
    expect(others.sort()).to.deep.equal(["LICENSE", "README.md", ...schemas, "package.json"]);
  });

  it("depends on nothing but primitives (hashes, curves, encodings, tries), and for its clients on ky and p-map", async () => {
    const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { dependencies: object };
    expect(Object.keys(dependencies)).to.deep.equal([
      "@ethereumjs/mpt",
      "@ethereumjs/rlp",
      "@noble/curves",
      "@noble/hashes",
      "@scure/base",
      "ky",
      "p-map",
    ]);
  });
});
