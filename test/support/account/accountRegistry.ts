import hre from "hardhat";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { endpoints, oneEndpoint, ownNode, type Trust, userIDToHex } from "keyroot";
import { makeMerkleFile } from "keyroot/merkle";
import { makeKeyRecord } from "keyroot/records";
import type { Listening } from "@keyroot/operator/shared";
import { startLocalChain } from "@keyroot/service/stack";
import type { LocalChain } from "../../../packages/service/src/stack/localChain.ts";
import { samplePublicKeys, sampleUserID, textOf } from "../samples.ts";
import { serve } from "../servers/servers.ts";
import {
  type PlainAccount,
  plainAccount,
  plainAccountFile,
  plainKey,
  plainSlot,
  plainStatement,
} from "./plainAccount.ts";

/** The recovery keys of the accounts: in the phone's hardware, and on paper. */
export const PHONE = plainKey("p256", "phone");
export const PAPER = plainKey("ed25519", "paper");

export const FINAL = () => oneEndpoint({ block: "finalized" });
/** The trust choices that need no other servers. */
export const TRUSTS: Record<string, () => Trust> = {
  oneEndpoint: () => oneEndpoint(),
  "oneEndpoint at a block": FINAL,
  endpoints: () => endpoints({ required: 2, block: "finalized" }),
  ownNode: () => ownNode(),
};

export const keyAt = (number: number) => samplePublicKeys[number % samplePublicKeys.length] ?? new Uint8Array();
export const textAt = (number: number) => Buffer.from(keyAt(number)).toString("base64");

/** A registry on a local chain. Its file host also has account files, and its operator follows every instruction. */
export class AccountRegistry {
  /** The file host's files, by their paths. */
  readonly files: Map<string, string>;
  /** The requests of verifiers, with their bytes in both directions. */
  readonly requests: { url: string; bytes: number }[] = [];
  contract = "";
  readonly chain: LocalChain;
  readonly #host: Listening;
  /** Another endpoint of the same chain. */
  readonly #second: Listening;
  #registry: { addMerkleTreeRoot: (root: string, ids: string) => Promise<unknown> } | undefined;
  #count = 0;

  private constructor(chain: LocalChain, files: Map<string, string>, host: Listening, second: Listening) {
    this.chain = chain;
    this.files = files;
    this.#host = host;
    this.#second = second;
  }

  static async start(): Promise<AccountRegistry> {
    const chain = await startLocalChain(hre, { port: 0 });
    const files = new Map<string, string>();
    const host = await serve(({ url = "" }, response) => {
      const file = files.get(url);
      response.writeHead(file === undefined ? 404 : 200).end(file);
    });
    const forward = async (request: IncomingMessage, response: ServerResponse) => {
      const body = JSON.parse(await text(request)) as RpcRequest | RpcRequest[];
      const answers = await Promise.all([body].flat().map(answer));
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    };
    const answer = async ({ id, method, params }: RpcRequest) => {
      const result = await chain.connection.provider.request({ method, params }).then(
        (result: unknown) => ({ result }),
        () => ({ error: { code: -32000, message: "execution reverted" } }),
      );
      return { jsonrpc: "2.0", id, ...result };
    };
    const second = await serve((request, response) => void forward(request, response));
    const registry = new AccountRegistry(chain, files, host, second);
    await registry.deploy();
    return registry;
  }

  /** Deploys a registry, in which the tests then publish. */
  async deploy(): Promise<void> {
    const { ethers } = this.chain.connection;
    const [owner] = await ethers.getSigners();
    const registry = await ethers.deployContract("PublicKeyRegistry", [owner]);
    this.#registry = registry;
    this.contract = await registry.getAddress();
  }

  async publish(userID: string, publicKey: Uint8Array): Promise<void> {
    const neighbor = sampleUserID(this.#count++, 43);
    const file = makeMerkleFile([makeKeyRecord(userID, publicKey), makeKeyRecord(neighbor, keyAt(0))]);
    this.files.set(`/${file.tree.root}.json`, textOf(file));
    const ids = `0x${userIDToHex(userID)}${userIDToHex(neighbor)}`;
    await this.#registry?.addMerkleTreeRoot(`0x${file.tree.root}`, ids);
  }

  /** Creates an account for a user with a phone key and a paper key, each of which can change the key by default. */
  newAccount(threshold = 1): PlainAccount {
    const salt = (this.#count++).toString(16).padStart(32, "0");
    return plainAccount([PHONE, PAPER], threshold, { contract: this.contract.toLowerCase(), salt });
  }

  /** Stores an account file at the file host. */
  store({ hex }: PlainAccount, file: string): string {
    this.files.set(`/accounts/${hex}.txt`, file);
    return file;
  }

  /** Publishes a key, as an operator with the owner's statement does. */
  async change(account: PlainAccount, number: number, signers?: number[]): Promise<string> {
    const file = plainAccountFile(account, [plainStatement(account, number, textAt(number), signers)]);
    this.store(account, file);
    await this.publish(plainSlot(account, number), keyAt(number));
    return file;
  }

  optionsFor(trust: Trust) {
    const rpc = trust.name === "endpoints" ? [this.chain.rpcUrl, this.#second.url] : this.chain.rpcUrl;
    const { contract, chain, requests } = this;
    const counting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const bytes = await response.clone().arrayBuffer();
      const sent = typeof init?.body === "string" ? init.body.length : 0;
      requests.push({ url: input as string, bytes: bytes.byteLength + sent });
      return response;
    };
    return { rpc, chainId: chain.chainId, contract, merkleUrl: this.#host.url, trust, fetch: counting };
  }

  async close(): Promise<void> {
    await Promise.all([this.chain.close(), this.#host.close(), this.#second.close()]);
  }
}

interface RpcRequest {
  id: number;
  method: string;
  params: unknown[];
}
