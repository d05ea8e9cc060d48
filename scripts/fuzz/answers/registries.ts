/**
 * The registry under attack, and the attacker's registry. Both have the same contract address and chain id. However,
 * the attacker's registry is on another chain, where another key is published for the same user.
 */
import { type KeyRecord, pinnedBlock } from "keyroot";
import { auditors as trustAuditors } from "keyroot/auditors";
import { makeBundle } from "keyroot/bundle";
import { SimulatedBeacon } from "@keyroot/operator/testing";
import { signedBy, type TestAuditor, testAuditors } from "../../../test/support/auditors/testAuditor.ts";
import { statementText } from "../../../test/support/auditors/statementHost.ts";
import { type ChainWithFiles, deployOn, startHardhat, withFiles } from "../../../test/support/chain/freshRegistry.ts";
import { publishLocally } from "../../../test/support/chain/local.ts";
import { sampleRecords } from "../../../test/support/samples.ts";

/** The hosts of the attacks. None of them exists: `Attack` answers their requests. */
export const HOSTS = {
  rpc: ["https://rpc.one.example", "https://rpc.two.example", "https://rpc.three.example"],
  files: "https://files.example",
  beacon: "https://beacon.example",
  statements: ["https://a.example", "https://b.example", "https://c.example"],
};

/** A JSON-RPC call, or the path of a file, a statement or an answer of the Beacon API. */
export interface Question {
  host: keyof typeof HOSTS;
  method: string;
  params: readonly unknown[];
}

interface Block {
  hash: string;
  number: string;
  timestamp: string;
}

const [mine, other, ...more] = sampleRecords(5) as [KeyRecord, KeyRecord, ...KeyRecord[]];
export const user = mine;
/** The attacker's record of the same user. */
export const forgedRecord: KeyRecord = { ...other, userID: mine.userID };

const signers = testAuditors("alice", "bob", "carol", "mallory");
/** The auditors whom the app trusts, two of whom are needed. Mallory is nobody's auditor. */
export const auditorKeys = signers.slice(0, 3).map(({ key }) => key);

/** One of the two chains, with the registry and all hosts' answers about it. */
export class Registry {
  readonly #running: AsyncDisposableStack;
  readonly #chain: ChainWithFiles;
  readonly #signedBy: readonly TestAuditor[];
  readonly #beacon: SimulatedBeacon;
  /** The answers so far, by their questions. */
  readonly #answers = new Map<string, Promise<Uint8Array | undefined>>();
  readonly contract: string;
  readonly head: Block;

  private constructor(
    running: AsyncDisposableStack,
    chain: ChainWithFiles,
    found: { contract: string; head: Block; beacon: SimulatedBeacon },
    signedBy: readonly TestAuditor[],
  ) {
    this.#running = running;
    this.#chain = chain;
    this.#signedBy = signedBy;
    this.#beacon = found.beacon;
    this.contract = found.contract;
    this.head = found.head;
  }

  /**
   * Starts a chain with the users' keys.
   * @param now the time of the simulated beacon chain, in ms since 1970
   */
  static async start(isForged: boolean, now: () => number): Promise<Registry> {
    await using starting = new AsyncDisposableStack();
    const chain = await withFiles(await startHardhat(), starting);
    const contract = await deployOn(chain.call, chain.owner);
    await publishLocally({ ...chain, contract }, [isForged ? forgedRecord : mine, ...more]);
    const head = (await chain.call("eth_getBlockByNumber", ["latest", false])) as Block;
    const beacon = new SimulatedBeacon({ call: chain.call, now });
    // One of the trusted auditors is the attacker's.
    const by = isForged ? signers.slice(2) : signers.slice(0, 3);
    return new Registry(starting.move(), chain, { contract, head, beacon }, by);
  }

  close(): Promise<void> {
    return this.#running.disposeAsync();
  }

  get chainId(): number {
    return this.#chain.chainId;
  }

  get checkpoint(): string {
    return this.#beacon.checkpoint;
  }

  /** The auditors' statement about the newest block. */
  get statement(): string {
    return signedBy([...this.#signedBy], statementText(this, this.head));
  }

  /**
   * Returns the body of the answer, or the result of a call as JSON. Returns undefined if there is no answer. If a call
   * asks for a block that this chain does not have, the answer is about the newest block.
   */
  answer(question: Question): Promise<Uint8Array | undefined> {
    const key = JSON.stringify(question);
    const known = this.#answers.get(key) ?? this.#ask(question).catch(() => undefined);
    this.#answers.set(key, known);
    return known;
  }

  async #ask({ host, method, params }: Question): Promise<Uint8Array | undefined> {
    if (host === "statements") return Buffer.from(this.statement);
    if (host === "beacon") {
      const { status, bytes } = await this.#beacon.answer(method);
      return status === 200 ? bytes : undefined;
    }
    if (host === "files") {
      const response = await fetch(`${this.#chain.merkleUrl}${method}`);
      return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
    }
    return Buffer.from(JSON.stringify(await this.#call(method, params)));
  }

  async #call(method: string, params: readonly unknown[]): Promise<unknown> {
    const { call } = this.#chain;
    const ask = async (given: readonly unknown[]) => {
      const result = await call(method, given);
      if (result === null) throw new Error("The chain does not have this block.");
      return result;
    };
    return ask(params).catch(() => ask(method === "eth_getBlockByHash" ? [this.head.hash, false] : atHead(params)));
  }

  /** Creates the user's bundle, for a pinned block and, with a statement, for auditors. */
  async bundles(now: number): Promise<{ pinned: Uint8Array; audited: Uint8Array }> {
    const answering: typeof globalThis.fetch = async (input, init) => {
      const url = input as string;
      const isStatement = url.startsWith(HOSTS.statements[0] ?? "");
      return isStatement ? new Response(this.statement) : globalThis.fetch(url, init);
    };
    const { rpcUrl, merkleUrl, chainId } = this.#chain;
    const place = { rpc: rpcUrl, merkleUrl, chainId, contract: this.contract, fetch: answering };
    const make = async (trust: Parameters<typeof makeBundle>[1]["trust"]) =>
      Buffer.from(JSON.stringify((await makeBundle(user.userID, { ...place, trust })).bundle));
    const pinned = await make(pinnedBlock(this.head.hash));
    const keys = this.#signedBy.map(({ key }) => key);
    const urls = HOSTS.statements.slice(0, 1);
    const audited = await make(trustAuditors({ keys, threshold: 1, urls, maxAgeMs: now }));
    return { pinned, audited };
  }
}

/** Returns the parameters of a call with this chain's newest block instead of another. */
function atHead(params: readonly unknown[]): unknown[] {
  return params.map((one) =>
    (typeof one === "string" && /^0x[0-9a-f]{1,16}$/.test(one)) || isBlock(one) ? "latest" : one,
  );
}

function isBlock(value: unknown): boolean {
  return typeof value === "object" && value !== null && "blockHash" in value;
}
