import hre from "hardhat";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { bytesToBase64 } from "../../../packages/keyroot/src/bytes/base64.ts";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { makeMerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { rpcCaller } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import type { ExplorerAttack, ExplorerConfig } from "../../../packages/operator/src/explorer/config.ts";
import { serveExplorer } from "../../../packages/operator/src/explorer/serveExplorer.ts";
import { Registry } from "../../../packages/operator/src/publisher/chain/registry.ts";
import { FolderStore } from "../../../packages/operator/src/publisher/files/folderStore.ts";
import { publish } from "../../../packages/operator/src/publisher/publish.ts";
import { type Stack, startStack } from "../../../packages/operator/src/stack/stack.ts";
import { buildSite } from "@keyroot/web/build";
import type { AttackerConfig } from "../../../demo/attacker.ts";
import { ATTACKS } from "../../../demo/attacks.ts";
import { startProcess } from "../../../demo/startProcess.ts";
import { LOCAL } from "../../../fixtures/local.ts";
import { samplePublicKeys, sampleRecords } from "../../../fixtures/samples.ts";
import { launchChromium } from "./openPage.ts";

/** A stack with published users, an attacker, and Chromium, for the tests of the explorer. */
export class ExplorerWorld {
  readonly #opened = new AsyncDisposableStack();
  /** 13 users in the first file, 4 in the second. */
  readonly records = sampleRecords(13);
  stack!: Stack;
  browser!: Browser;
  attacks!: ExplorerAttack[];
  root!: string;

  get victim(): KeyRecord {
    const [, , victim] = this.records;
    if (victim === undefined) throw new Error("There are too few users.");
    return victim;
  }

  async start(): Promise<void> {
    await buildSite();
    const open = <T extends { close(): Promise<void> }>(it: T): T => this.#opened.adopt(it, () => it.close());
    this.stack = open(await startStack(hre, { ports: { chain: 0, files: 0 } }));
    const { rpcUrl, merkleUrl, merkleDir, contract } = this.stack;
    const call = rpcCaller(rpcUrl, { maxBytes: 2 ** 20, timeoutMs: 30_000 });
    const registry = await Registry.connect(call, contract);
    const store = new FolderStore(merkleDir);
    const others = sampleRecords(4, 2);
    for (const records of [this.records, others]) await publish(records, { ...LOCAL, registry, store });
    this.root = makeMerkleFile(this.records).tree.root;
    const otherRoot = makeMerkleFile(others).tree.root;

    const attacker = startProcess(new URL("../../../demo/attacker.ts", import.meta.url), new AbortController().signal);
    this.#opened.use(attacker);
    const attackersKey = samplePublicKeys[3] ?? new Uint8Array();
    const victim = this.victim.userID;
    const line: AttackerConfig = { victim, attackersKey: bytesToBase64(attackersKey), otherRoot, rpcUrl, merkleUrl };
    const url = await attacker.request(JSON.stringify(line));
    this.attacks = ATTACKS.map(({ name, description, expectedCode, serverKey }) => ({
      ...{
        name,
        description,
        expectedCode,
        userID: victim,
        rpc: `${url}/${name}/rpc`,
        merkleUrl: `${url}/${name}/files`,
      },
      ...(serverKey && { expectedPublicKey: bytesToBase64(serverKey({ victim, attackersKey, otherRoot })) }),
    }));
    this.browser = open(await launchChromium());
  }

  /** Serves an explorer of the stack. */
  async serve(changes: Partial<ExplorerConfig> = {}): Promise<string> {
    const { rpcUrl, chainId, contract, merkleUrl } = this.stack;
    const samples = this.records.map(({ userID }) => userID);
    const config = { rpc: [rpcUrl], chainId, contract, merkleUrl, samples, attacks: this.attacks, ...changes };
    const server = await serveExplorer(config, 0);
    this.#opened.use(server);
    return server.url;
  }

  /** Opens a page of its own, with what it complains about and requests. */
  async open(url: string, options: BrowserContextOptions = {}): Promise<ExplorerPage> {
    const context = await this.browser.newContext(options);
    const page = await context.newPage();
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    context.on("request", (request) => requests.push(request.url()));
    await page.goto(url);
    return { page, complaints, requests, [Symbol.asyncDispose]: () => context.close() };
  }

  stop(): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

export interface ExplorerPage extends AsyncDisposable {
  page: Page;
  /** Errors and warnings in the console: violations of the policy, too. */
  complaints: readonly string[];
  requests: readonly string[];
}
