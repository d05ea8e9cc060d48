import { oneEndpoint } from "keyroot";
import hre from "hardhat";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { serveExplorer, type ExplorerAttacks, type ExplorerConfig } from "@keyroot/operator/explorer";
import { TEST_CHECKPOINT } from "@keyroot/operator/testing";
import { type Stack, startStack } from "@keyroot/service/stack";
import { buildSite } from "@keyroot/web/build";
import "keyroot/auditors";
import { bytesToBase64 } from "keyroot/internal/bytes";
import { fetchBlock } from "keyroot/internal/ethereum";
import { curve41417, type KeyRecord } from "keyroot/internal/identity";
import { type Bundle, makeBundle } from "keyroot/bundle";
import { makeMerkleFile } from "keyroot/internal/merkle";
import { publishAccountVictims } from "../../../demo/accountVictims.ts";
import { type AccountUser, publishAccountUser, storeAccountFile } from "../account/accountUser.ts";
import { startAttacker, startAttacks } from "../../../demo/attackContact.ts";
import { StatementHost, statementText } from "../auditors/statementHost.ts";
import { signedBy, TestAuditor } from "../auditors/testAuditor.ts";
import { callerOf, publishLocally } from "../chain/local.ts";
import { samplePublicKeys, sampleRecords } from "../samples.ts";
import { launchChromium } from "./chromium.ts";
import { type ObservedPage, observedPage } from "./observedPage.ts";

/** A stack with published users, an attacker, and Chromium, for the tests of the explorer. */
export class ExplorerWorld {
  readonly #opened = new AsyncDisposableStack();
  /** The records of the first file. The second file contains 4 other users. */
  readonly records: readonly KeyRecord[];
  stack!: Stack;
  browser!: Browser;
  attacks!: ExplorerAttacks;
  root!: string;
  /** A user of a registry with accounts. */
  accountUser!: AccountUser;
  /** A user of the same registry, whose next slot somebody else filled. */
  overtakenID!: string;

  constructor(records: readonly KeyRecord[] = sampleRecords(13)) {
    this.records = records;
  }

  get victim(): KeyRecord {
    const [, , victim] = this.records;
    if (victim === undefined) throw new Error("There are too few users.");
    return victim;
  }

  async start(): Promise<void> {
    await buildSite();
    const open = <T extends { close(): Promise<void> }>(it: T): T => this.#opened.adopt(it, () => it.close());
    this.stack = open(await startStack(hre, { ports: { chain: 0, files: 0, beacon: 0 } }));
    const olderBlock = await fetchBlock(callerOf(this.stack.rpcUrl), "latest");
    const others = sampleRecords(4, 2);
    for (const records of [this.records, others]) await publishLocally(this.stack, records);
    this.root = makeMerkleFile(this.records).tree.root;
    const otherRoot = makeMerkleFile(others).tree.root;

    const attacker = startAttacker(new AbortController().signal);
    this.#opened.use(attacker);
    const attackersKey = bytesToBase64(samplePublicKeys[3] ?? new Uint8Array());
    const accounts = await publishAccountVictims(this.stack, this.stack.contract, curve41417);
    this.accountUser = await publishAccountUser({ ...this.stack, contract: accounts.contract });
    this.overtakenID = accounts.overtaken.userID;
    await storeAccountFile(this.stack, this.overtakenID, accounts.overtaken.files[0] ?? "");
    const context = { keyType: curve41417, victim: this.victim, attackersKey, otherRoot, olderBlock, accounts };
    this.attacks = await startAttacks(attacker, this.stack, context);
    this.browser = open(await launchChromium());
  }

  /** Serves an explorer of the stack. */
  async serve(changes: Partial<ExplorerConfig> = {}): Promise<string> {
    const { rpcUrl, chainId, contract, merkleUrl } = this.stack;
    const samples = this.records.slice(0, 13).map(({ userID }) => userID);
    const config = { rpc: [rpcUrl], chainId, contract, merkleUrl, samples, attacks: this.attacks, ...changes };
    const server = await serveExplorer(config, 0);
    this.#opened.use(server);
    return server.url;
  }

  /** Settings of an explorer that uses Ethereum's light client. */
  lightClientConfig(): { lightClient: NonNullable<ExplorerConfig["lightClient"]> } {
    return { lightClient: { urls: [this.stack.beaconUrl ?? ""], checkpoint: TEST_CHECKPOINT } };
  }

  /** Settings of an explorer of the registry with accounts. */
  accountsConfig(): Pick<ExplorerConfig, "accounts" | "contract" | "samples"> {
    const { contract, userID } = this.accountUser;
    return { accounts: true, contract, samples: [userID] };
  }

  /** Settings of an explorer of which all servers are an attacker's. */
  attackedBy(name: string): Pick<ExplorerConfig, "rpc" | "merkleUrl"> {
    const server = `${this.attacks.url}/${name}`;
    return { rpc: [`${server}/rpc`], merkleUrl: `${server}/files` };
  }

  /** Settings of an explorer that accepts blocks which two of three auditors signed. Alice and Bob have signed one. */
  async auditorsConfig(): Promise<{ auditors: NonNullable<ExplorerConfig["auditors"]> & { urls: readonly string[] } }> {
    const { rpcUrl, chainId, contract } = this.stack;
    const latest = await callerOf(rpcUrl)("eth_getBlockByNumber", ["latest", false]);
    const block = latest as { number: string; hash: string; timestamp: string };
    const signers = ["alice.example", "bob.example", "carol.example"].map((name) => new TestAuditor(name));
    const text = statementText({ chainId, contract }, block, { userCount: 17 });
    const host = this.#opened.adopt(await StatementHost.start(), (it) => it.close());
    host.files.set("latest", signedBy(signers.slice(0, 2), text));
    return { auditors: { keys: signers.map(({ key }) => key), threshold: 2, urls: [host.url] } };
  }

  /** Returns the hash of the chain's newest block. */
  async latestHash(): Promise<string> {
    const block = await callerOf(this.stack.rpcUrl)("eth_getBlockByNumber", ["latest", false]);
    return (block as { hash: string }).hash;
  }

  /** The victim's bundle, and the hash of its block. */
  async makeBundle(): Promise<{ bundle: Bundle; pinned: string }> {
    const { rpcUrl: rpc, chainId, contract, merkleUrl } = this.stack;
    const { bundle, verified } = await makeBundle(this.victim.userID, {
      rpc,
      chainId,
      contract,
      merkleUrl,
      trust: oneEndpoint(),
    });
    return { bundle, pinned: verified.evidence.block?.hash ?? "" };
  }

  /** Opens a page in a new browser context. */
  async open(url: string, options: BrowserContextOptions = {}): Promise<ObservedPage> {
    const opened = await observedPage(this.browser, options);
    await opened.page.goto(url);
    // The page is drawn after it is loaded.
    await opened.page.locator("main").waitFor();
    return opened;
  }

  stop(): Promise<void> {
    return this.#opened.disposeAsync();
  }
}
