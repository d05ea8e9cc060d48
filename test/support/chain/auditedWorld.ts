import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fetchBlock } from "keyroot/internal/ethereum";
import { type KeyRecord, serializeKeyRecord, type UserID, userIDToHex } from "keyroot/internal/identity";
import { DEFAULT_LIMITS, RPC_LIMITS, rpcCaller } from "keyroot/internal/transport";
import { audit, AuditState, verdictOf } from "@keyroot/operator/audit";
import type { AuditOptions, AuditReport, FileSource, OpenStateOptions, PollOptions } from "@keyroot/operator/audit";
import { readLogs, readUsers } from "../../../packages/operator/src/watch/pollChain.ts";
import { readFiles } from "../../../packages/operator/src/watch/pollFiles.ts";
import { plainFile } from "../data/plainFile.ts";
import { FAST_RETRY, type FreshRegistry, freshRegistry, type StartChain } from "./freshRegistry.ts";
import { closedAfterEach, temporaryFolder } from "../support.ts";
import { serve } from "../servers/servers.ts";
import { type Endpoint, type Lie, startEndpoint } from "./lyingEndpoint.ts";
import { ENDLESS_MS } from "../endless.ts";

export const LIMITS = { maxBytes: DEFAULT_LIMITS.fileBytes, timeoutMs: ENDLESS_MS };

/** A real chain with a registry and files, an endpoint in front of it that can return false answers, and an auditor. */
export interface AuditedWorld {
  readonly fresh: FreshRegistry;
  /** The address of the endpoint. */
  readonly url: string;
  /** A folder for states. */
  readonly folder: string;
  /**
   * Sets the function that computes the endpoint's responses. Without one, the endpoint forwards those of the chain.
   */
  lie(lie?: Lie): void;
  /** Stores the file of these values, valid or not. @returns its root */
  store(values: readonly string[]): Promise<string>;
  /** Adds users to a root as the registry's owner, even if the root has no file. */
  add(root: string, userIDs: readonly UserID[]): Promise<void>;
  /** Stores a file and adds its root. @returns the root */
  publish(records: readonly KeyRecord[]): Promise<string>;
  readText(root: string): Promise<string>;
  writeText(root: string, text: string | Uint8Array): Promise<void>;
  /** Returns a path in the folder of files. */
  pathOf(name: string): string;
  /** The newest block's hash. */
  head(): Promise<string>;
  /** Opens a state in the folder. The caller closes it. */
  openState(name?: string, options?: OpenStateOptions): Promise<AuditState>;
  audit(changes?: Partial<AuditOptions>): Promise<AuditReport>;
  /** Returns a command's options for the endpoint, the chain and the registry. */
  chainArgs(): string[];
  /**
   * Starts a file host that ends with the test. It returns 503 if `answers` returns false for a path.
   * @returns the source of files, and the roots that were requested
   */
  hostFiles(answers?: (path: string) => boolean): Promise<{ files: FileSource; requested: string[] }>;
  /** Options of `pollEvents`, without a state. */
  pollOptions(): Omit<PollOptions, "state">;
}

/** Returns an audit's verdict, and the sorted codes of its findings with their details. */
export function outcomeOf(report: AuditReport): { verdict: string; codes: string[] } {
  const codes = report.findings.list.map(({ code, detail }) => (detail === undefined ? code : `${code} ${detail}`));
  return { verdict: verdictOf(report), codes: [...codes, ...report.unavailableFiles.map(({ code }) => code)].sort() };
}

/** Polls once: runs the steps of `pollEvents` without its events. */
export async function poll(options: PollOptions) {
  const users = await readUsers(options);
  const logs = await readLogs(options, users);
  const files = await readFiles(options, users, logs);
  return { ...users, ...logs, ...files, findings: [...users.findings, ...logs.findings, ...files.findings] };
}

/** One world for all tests of the surrounding `describe`. Each test has a new registry. */
export function auditedWorld(startChain?: StartChain): AuditedWorld {
  const fresh = freshRegistry(startChain);
  const closing = closedAfterEach();
  const folder = temporaryFolder();
  let endpoint: Endpoint;
  before(async () => {
    endpoint = await startEndpoint(fresh.rpcUrl);
  });
  after(() => endpoint.close());
  beforeEach(() => {
    endpoint.lie = undefined;
  });

  const world: AuditedWorld = {
    fresh,
    get url() {
      return endpoint.url;
    },
    get folder() {
      return folder.path;
    },
    lie(lie) {
      endpoint.lie = lie;
    },
    async store(values) {
      const { root, ...file } = plainFile(values);
      await world.writeText(root, JSON.stringify(file));
      return root;
    },
    async add(root, userIDs) {
      await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${root}`, `0x${userIDs.map(userIDToHex).join("")}`);
    },
    async publish(records) {
      const root = await world.store(records.map(serializeKeyRecord));
      await world.add(
        root,
        records.map(({ userID }) => userID),
      );
      return root;
    },
    readText: (root) => readFile(world.pathOf(`${root}.json`), "utf8"),
    writeText: (root, text) => writeFile(world.pathOf(`${root}.json`), text),
    pathOf: (name) => join(fresh.filesDir, name),
    head: async () => (await fetchBlock(fresh.call, "latest")).hash,
    async openState(name = randomUUID(), options) {
      const { hash: genesisHash } = await fetchBlock(fresh.call, 0);
      const target = { chainId: fresh.chainId, genesisHash, contract: fresh.contract };
      return AuditState.open(join(folder.path, name), target, options);
    },
    audit: async (changes = {}) =>
      audit({
        call: rpcCaller(endpoint.url, { maxBytes: RPC_LIMITS.maxBytes, timeoutMs: ENDLESS_MS }),
        contract: fresh.contract.toLowerCase(),
        chainId: fresh.chainId,
        at: "latest",
        storageProof: false,
        files: { merkleUrl: fresh.merkleUrl, ...LIMITS, retry: FAST_RETRY },
        workers: 0,
        retry: FAST_RETRY,
        ...changes,
      }),
    chainArgs: () => ["--rpc", world.url, "--contract", fresh.contract, "--chain-id", String(fresh.chainId)],
    async hostFiles(answers = () => true) {
      const requested: string[] = [];
      const { url } = closing(
        await serve((request, response) => {
          const { url: path = "" } = request;
          requested.push(path.slice(1, 65));
          if (!answers(path)) response.writeHead(503).end();
          else void fetch(`${fresh.merkleUrl}${path}`).then(async (got) => response.end(await got.text()));
        }),
      );
      return { requested, files: { merkleUrl: url, ...LIMITS, retry: FAST_RETRY } };
    },
    pollOptions: () => ({
      ...{ call: rpcCaller(endpoint.url, LIMITS), chainId: fresh.chainId, contract: fresh.contract },
      files: { merkleUrl: fresh.merkleUrl, ...LIMITS, retry: FAST_RETRY },
      retry: FAST_RETRY,
      ...{ users: [], tag: "latest", rereadAfterMs: 0 },
    }),
  };
  return world;
}
