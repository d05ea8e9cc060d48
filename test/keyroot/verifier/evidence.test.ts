import { RLP } from "@ethereumjs/rlp";
import { expect } from "chai";
import { getBytes, id, keccak256, toBeHex } from "ethers";
import hre from "hardhat";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ArgumentError, KeyrootError, VerificationError } from "../../../packages/keyroot/src/errors.ts";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { makeMerkleFile, type MerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { FolderStore } from "../../../packages/operator/src/publisher/files/folderStore.ts";
import { type PublishedRoot, publish as publishRecords } from "../../../packages/operator/src/publisher/publish.ts";
import { Registry } from "../../../packages/operator/src/publisher/chain/registry.ts";
import { slotOfUser } from "../../../packages/keyroot/src/registry/slotOfUser.ts";
import { USERS_SLOT } from "../../../packages/keyroot/src/registry/slots.ts";
import { hashHeader, type HeaderJson, extractHeader } from "../../../packages/keyroot/src/ethereum/header.ts";
import { type FileHost, startFileHost } from "../../../packages/operator/src/stack/fileHost.ts";
import { startLocalChain } from "../../../packages/operator/src/stack/localChain.ts";
import { type Eip1193Provider, type RpcCall, rpcCaller } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import type { Evidence } from "../../../packages/keyroot/src/evidence.ts";
import type { VerifyOptions } from "../../../packages/keyroot/src/verifier/options.ts";
import { verifyPublicKey } from "../../../packages/keyroot/src/verifier/verifyPublicKey.ts";
import { PublicKeyRegistry__factory } from "../../../typechain-types/index.ts";
import { type Anvil, describeOnAnvil, startAnvil } from "../../../fixtures/anvil/anvil.ts";
import { accountOf, trieOf } from "../../support/tries.ts";
import { sampleRecords, sampleUserID } from "../../../fixtures/samples.ts";
import { failure } from "../../support/support.ts";
import { type Endpoint, type Lie, startEndpoint } from "../../support/lyingEndpoint.ts";

const GET_MERKLE_TREE_ROOT = id("getMerkleTreeRoot(bytes20)").slice(0, 10);
const GET_BLOCK_NUMBER = id("getBlockNumber(bytes32)").slice(0, 10);
const ZERO = `0x${"0".repeat(64)}`;

const [mine, other, late] = sampleRecords(3) as [KeyRecord, KeyRecord, KeyRecord];
const { userID } = mine;
const published = makeMerkleFile([mine, other]);
const publishedLater = makeMerkleFile([late]);
/** Another key for the same user: what a liar wants to be believed. */
const forged = makeMerkleFile([{ ...other, userID }]);

/** Where a block's hash comes from; `quorum` is 3 of the 5 endpoints, the others ask the first. */
const ANCHORS = ["endpoint", "quorum", "pinned", "light-client"] as const;
const QUORUM = 3;

/** Every pair of axes. */
const PAIRS = ANCHORS.flatMap((anchor) => [false, true].map((storageProof) => ({ anchor, storageProof })));

interface Pair {
  anchor: (typeof ANCHORS)[number];
  storageProof: boolean;
}

const nameOf = ({ anchor, storageProof }: Pair) => `${anchor}, ${storageProof ? "proven" : "not proven"}`;

describe("evidence", () => {
  describe("on Hardhat's chain", () => {
    holdsOn(async () => {
      const chain = await startLocalChain(hre, { port: 0 });
      return { url: chain.rpcUrl, close: () => chain.close() };
    });
  });

  describeOnAnvil("all of it", () => {
    holdsOn(startAnvil);
  });
});

type Block = HeaderJson & { hash: string; number: string; timestamp: string };

function holdsOn(startChain: () => Promise<Omit<Anvil, "stop">>): void {
  const running = new AsyncDisposableStack();
  let call: RpcCall;
  let endpoints: Endpoint[];
  let files: FileHost;
  let contract: string;
  let codeHash: string;
  /** A contract with the first file's root, that keeps its users at slot 1. */
  let older: string;
  let blockNumber: number;
  let chainId: number;
  /** The newest block, with both files, and an earlier one with the first. */
  let head: Block;
  let earlier: Block;

  before(async () => {
    const chain = await startChain();
    running.defer(() => chain.close());
    call = rpcCaller(chain.url, { maxBytes: 2 ** 20, timeoutMs: 30_000 });
    chainId = Number(await call("eth_chainId", []));
    contract = await deploy(call);
    codeHash = keccak256(String(await call("eth_getCode", [contract, "latest"])));
    older = await deployOlder(call, published.tree.root);

    const dir = await mkdtemp(join(tmpdir(), "keyroot-test-"));
    running.defer(() => rm(dir, { recursive: true, force: true }));
    files = await startFileHost({ dir, port: 0 });
    running.defer(() => files.close());
    const store = new FolderStore(dir);
    const registry = await Registry.connect(call, contract);
    await store.put(forged);
    const publish = async ({ records }: MerkleFile) => (await publishRecords(records, { registry, store })).published;
    [{ blockNumber }] = (await publish(published)) as [PublishedRoot];
    // So that the first file is final on Anvil, too, before there is the second.
    await call("hardhat_mine", ["0x80"]);
    earlier = await fetchBlock("latest");
    await publish(publishedLater);
    head = await fetchBlock("latest");

    endpoints = await Promise.all(Array.from({ length: 5 }, () => startEndpoint(chain.url)));
    for (const endpoint of endpoints) running.defer(() => endpoint.close());
  });
  after(() => running.disposeAsync());

  beforeEach(() => {
    for (const endpoint of endpoints) endpoint.lie = undefined;
  });

  const fetchBlock = async (at: string) => (await call("eth_getBlockByNumber", [at, false])) as Block;
  const urls = () => endpoints.map(({ url }) => url) as [string, ...string[]];

  /** The options that demand a pair of axes. */
  const demand = ({ anchor, storageProof }: Pair): VerifyOptions => {
    const place = { chainId, contract, merkleUrl: files.url, storageProof };
    const [rpc] = urls();
    switch (anchor) {
      case "endpoint":
        return { ...place, rpc };
      case "quorum":
        return { ...place, rpc: urls(), quorum: QUORUM };
      case "pinned":
        return { ...place, rpc, blockHash: head.hash };
      case "light-client":
        return { ...place, rpc, lightClient: true };
    }
  };

  /** What a verdict under such a demand rests on: the pair, never less, and the block. */
  const evidenceOf = (pair: Pair, { hash, number, timestamp }: Block): Evidence => ({
    ...pair,
    ...(pair.anchor === "quorum" ? { agreeing: QUORUM } : {}),
    block: { hash, number: Number(number), timestamp: Number(timestamp) },
  });

  /** One endpoint's word for its newest block is all that the specification asks for: then no block is looked at. */
  const isPlain = ({ anchor, storageProof }: Pair) => anchor === "endpoint" && !storageProof;

  /** Lets the first endpoints lie: theirs are the first answers to come. */
  const letLie = (lie: Lie, liars: number) => {
    for (const endpoint of endpoints.slice(0, liars)) endpoint.lie = lie;
  };

  for (const pair of PAIRS) {
    describe(nameOf(pair), () => {
      it("says so with a key, and at which block it was found", async () => {
        const verified = await verifyPublicKey(userID, demand(pair));
        expect(verified).to.deep.include({ record: mine, blockNumber });
        const evidence = isPlain(pair) ? pair : evidenceOf(pair, head);
        expect(verified.evidence).to.deep.equal(evidence);
      });

      it("says so with 'not published'", async () => {
        const error = await failure(verifyPublicKey(sampleUserID(9), demand(pair)));
        expect(error).to.include({ name: "VerificationError", step: "root", code: "NOT_PUBLISHED" });
        const { evidence, message } = error as VerificationError;
        expect(evidence).to.deep.equal(isPlain(pair) ? pair : evidenceOf(pair, head));
        if (!isPlain(pair)) expect(message).to.include(`as of block ${Number(head.number)}`);
      });

      it("says that there is no contract where there is none", async () => {
        const error = await failure(verifyPublicKey(userID, { ...demand(pair), contract: `0x${"1".repeat(40)}` }));
        expect(error).to.include({ name: "VerificationError", step: "root", code: "NO_CONTRACT" });
      });

      it("holds the contract's code against its hash", async () => {
        expect(await outcome({ ...demand(pair), codeHash })).to.equal("truth");
        expect(await outcome({ ...demand(pair), codeHash: ZERO })).to.equal("CODE_HASH_MISMATCH");
      });

      it("refuses endpoints of another chain", async () => {
        const code = pair.anchor === "quorum" ? "QUORUM_NOT_REACHED" : "CHAIN_ID_MISMATCH";
        expect(await outcome({ ...demand(pair), chainId: 1 })).to.equal(code);
      });

      it("refuses a block that is older than asked for", async () => {
        const now = () => (Number(head.timestamp) + 60) * 1000;
        expect(await outcome({ ...demand(pair), now, maxAgeMs: 60_000 })).to.equal("truth");
        const error = await failure(verifyPublicKey(userID, { ...demand(pair), now, maxAgeMs: 59_999 }));
        expect(error).to.include({ name: "VerificationError", step: "anchor", code: "STALE_BLOCK", actual: 60_000 });
      });

      it("reads a contract that keeps its users at slot 1, as PubKeyTrust does", async () => {
        const asked = { ...demand(pair), contract: older };
        expect(await outcome({ ...asked, usersSlot: 1 })).to.equal("truth");
        // A call runs the contract's code; a proof is of the slot that it is told.
        expect(await outcome(asked)).to.equal(pair.storageProof ? "NOT_PUBLISHED" : "truth");
      });
    });
  }

  describe("by tag", () => {
    for (const pair of PAIRS.filter(({ anchor }) => anchor !== "pinned")) {
      for (const block of ["latest", "safe", "finalized"] as const) {
        it(`is as of the ${block} block: ${nameOf(pair)}`, async () => {
          const at = await fetchBlock(block);
          const asked = { ...demand(pair), block, maxAgeMs: Number.MAX_SAFE_INTEGER };
          expect((await verifyPublicKey(userID, asked)).evidence).to.deep.equal(evidenceOf(pair, at));
          const isIn = Number(at.number) > Number(earlier.number);
          expect(await outcome(asked, late)).to.equal(isIn ? "truth" : "NOT_PUBLISHED");
        });
      }
    }
  });

  describe("at an earlier, pinned block", () => {
    for (const storageProof of [false, true]) {
      it(`is what was published then, ${storageProof ? "proven" : "not proven"}`, async () => {
        const asked = { ...demand({ anchor: "pinned", storageProof }), blockHash: earlier.hash };
        expect(await outcome(asked)).to.equal("truth");
        const error = await failure(verifyPublicKey(late.userID, asked));
        expect(error).to.include({ code: "NOT_PUBLISHED" });
        expect(error)
          .to.have.property("message")
          .that.includes(`as of block ${Number(earlier.number)}:`);
      });
    }
  });

  describe("against liars", () => {
    // What comes of it when so many lie about the contract, or make up a whole block. A lie that gets through is what
    // docs/threat-model.md warns of.
    const table: [Pair["anchor"], storageProof: boolean, liars: number, contract: string, block: string][] = [
      ["endpoint", false, 1, "lie", "lie"],
      ["endpoint", true, 1, "PROOF_INVALID", "lie"],
      ["light-client", false, 1, "lie", "lie"],
      ["light-client", true, 1, "PROOF_INVALID", "lie"],
      ["pinned", false, 1, "lie", "HEADER_MISMATCH"],
      ["pinned", true, 1, "PROOF_INVALID", "HEADER_MISMATCH"],
      ["quorum", false, 1, "truth", "truth"],
      ["quorum", false, 2, "truth", "truth"],
      ["quorum", false, 3, "lie", "lie"],
      ["quorum", true, 1, "truth", "truth"],
      ["quorum", true, 2, "truth", "truth"],
      ["quorum", true, 3, "truth", "lie"],
    ];
    for (const [anchor, storageProof, liars, onContract, onBlock] of table) {
      const pair = { anchor, storageProof };
      const who = anchor === "quorum" ? `${liars} of 5 liars` : "a liar";
      for (const [what, root] of Object.entries({ "another key": `0x${forged.tree.root}`, "no key": ZERO })) {
        const lie = root === ZERO ? "NOT_PUBLISHED" : "lie";
        const means = (expected: string) => (expected === "lie" ? lie : expected);

        it(`${nameOf(pair)}: ${who} about the contract, for ${what}: ${onContract}`, async () => {
          const world = await makeUp(root);
          letLie((...asked) => lieAboutContract(world, ...asked), liars);
          expect(await outcome(demand(pair))).to.equal(means(onContract));
        });

        it(`${nameOf(pair)}: ${who} about the block, for ${what}: ${onBlock}`, async () => {
          const world = await makeUp(root);
          letLie((...asked) => lieAboutBlock(world, ...asked), liars);
          expect(await outcome(demand(pair))).to.equal(means(onBlock));
        });
      }
    }

    const asksForBlock = (method: string) => method.startsWith("eth_getBlockBy");
    const lieOfBlock = (change: (block: Block) => unknown): Lie => {
      return async (method, params, truth) =>
        asksForBlock(method) ? change((await truth(method, params)) as Block) : truth(method, params);
    };

    describe("about a header", () => {
      const lies: [string, Lie, code: string, pinned?: string][] = [
        ["which has another hash", lieOfBlock((block) => ({ ...block, hash: ZERO })), "HEADER_MISMATCH", "truth"],
        ["which has no hash", lieOfBlock((block) => ({ ...block, hash: null })), "HEADER_MISMATCH", "truth"],
        ["whose hash is no text", lieOfBlock((b) => ({ ...b, hash: { toString: 1 } })), "HEADER_MISMATCH", "truth"],
        ["with another number", lieOfBlock((block) => ({ ...block, number: "0x1" })), "HEADER_MISMATCH"],
        ["with another time", lieOfBlock((block) => ({ ...block, timestamp: "0x1" })), "HEADER_MISMATCH"],
        ["with another state", lieOfBlock((block) => ({ ...block, stateRoot: ZERO })), "HEADER_MISMATCH"],
        ["without a field", lieOfBlock((block) => ({ ...block, nonce: undefined })), "HEADER_INVALID"],
        ["which is none", lieOfBlock(() => "0x"), "HEADER_INVALID"],
        ["which it does not have", lieOfBlock(() => null), "RPC_ANSWER_INVALID"],
      ];
      for (const [what, lie, code, pinned = code] of lies) {
        for (const storageProof of [false, true]) {
          it(`${what}: ${code}, ${storageProof ? "proven" : "not proven"}`, async () => {
            for (const anchor of ["endpoint", "light-client", "pinned"] as const) {
              letLie(lie, 1);
              const asked = { ...demand({ anchor, storageProof }), maxAgeMs: Number.MAX_SAFE_INTEGER };
              expect(await outcome(asked), anchor).to.equal(anchor === "pinned" ? pinned : code);
            }
          });
        }
      }

      const old = lieOfBlock(() => earlier);

      it("which is of another block than the pinned one: HEADER_MISMATCH", async () => {
        for (const storageProof of [false, true]) {
          const pair = { anchor: "pinned", storageProof } as const;
          letLie(old, 1);
          expect(await outcome(demand(pair))).to.equal("HEADER_MISMATCH");
        }
      });

      it("which is of long ago: STALE_BLOCK, if asked for", async () => {
        const pair = { anchor: "endpoint", storageProof: true } as const;
        letLie(old, 1);
        const now = () => (Number(earlier.timestamp) + 60) * 1000;
        expect(await outcome({ ...demand(pair), now }, late)).to.equal("NOT_PUBLISHED");
        expect(await outcome({ ...demand(pair), now, maxAgeMs: 59_999 }, late)).to.equal("STALE_BLOCK");
      });
    });

    describe("about a proof", () => {
      interface Proof {
        accountProof: string[];
        storageProof: [{ proof: string[] }];
      }
      const lieOfProof = (prove: (contract: string, truth: RpcCall) => unknown): Lie => {
        return (method, params, truth) =>
          method === "eth_getProof" ? prove(params[0] as string, truth) : truth(method, params);
      };
      const of = (user: string, at?: string) => (contract: string, truth: RpcCall) =>
        truth("eth_getProof", [contract, [slotOfUser(user, USERS_SLOT)], at ?? head.number]);
      const without = (change: (proof: Proof) => unknown) => async (contract: string, truth: RpcCall) =>
        change((await of(userID)(contract, truth)) as Proof);

      const lies: [string, (contract: string, truth: RpcCall) => unknown][] = [
        ["of somebody else", of(other.userID)],
        ["of somebody who has no key", of(sampleUserID(9))],
        ["of an earlier block", (...asked) => of(userID, earlier.number)(...asked)],
        ["of another contract", (_, truth) => of(userID)(older, truth)],
        ["without nodes", without(() => ({ accountProof: [], storageProof: [{ proof: [] }] }))],
        [
          "cut short",
          without((proof) => ({ ...proof, storageProof: [{ proof: proof.storageProof[0].proof.slice(0, -1) }] })),
        ],
        ["that is none", () => null],
      ];
      for (const [what, prove] of lies) {
        it(`${what}: PROOF_INVALID`, async () => {
          for (const anchor of ["endpoint", "light-client", "pinned"] as const) {
            const pair = { anchor, storageProof: true };
            letLie(lieOfProof(prove), 1);
            expect(await outcome(demand(pair)), anchor).to.equal("PROOF_INVALID");
          }
        });

        it(`${what}: truth where one of a quorum proves it, or else no quorum`, async () => {
          const pair = { anchor: "quorum", storageProof: true } as const;
          letLie(lieOfProof(prove), 4);
          expect(await outcome(demand(pair))).to.equal("truth");
          letLie(lieOfProof(prove), 5);
          expect(await outcome(demand(pair))).to.equal("QUORUM_NOT_REACHED");
        });
      }
    });

    describe("in a quorum, where 2 of 5", () => {
      const isHead = ([tag]: readonly unknown[]) => tag === "latest";
      const never = new Promise<never>(() => undefined);
      const lies: Record<string, Lie> = {
        "never answer": () => never,
        "answer null": () => null,
        "answer with an error": () => Promise.reject(new Error()),
        "speak for another chain": (method, params, truth) =>
          method === "eth_chainId" ? "0x1" : truth(method, params),
        "name a block far ahead": async (method, params, truth) => {
          const answer = await truth(method, params);
          return method === "eth_getBlockByNumber" && isHead(params)
            ? rehashed(answer, { number: "0xffffff" })
            : answer;
        },
        "name a block far behind": (method, params, truth) =>
          truth(method, method === "eth_getBlockByNumber" && isHead(params) ? ["0x1", false] : params),
        "give another block than they are asked for": (method, params, truth) =>
          truth(method, method === "eth_getBlockByNumber" && !isHead(params) ? ["0x1", false] : params),
        "renumber the block": async (method, params, truth) => {
          const answer = await truth(method, params);
          return asksForBlock(method) && !isHead(params) ? rehashed(answer, { number: "0x1" }) : answer;
        },
        "agree on the block, and then say nothing": (method, params, truth) =>
          asksForBlock(method) ? truth(method, params) : never,
        "agree on the block, and then err": (method, params, truth) =>
          asksForBlock(method) ? truth(method, params) : Promise.reject(new Error()),
        "agree on the root, and then name another block for it": (method, params, truth) =>
          JSON.stringify(params).includes(GET_BLOCK_NUMBER) ? toBeHex(1, 32) : truth(method, params),
      };
      for (const [what, lie] of Object.entries(lies)) {
        it(`${what}: truth, and at once`, async () => {
          for (const storageProof of [false, true]) {
            const pair = { anchor: "quorum", storageProof } as const;
            letLie(lie, 2);
            const verified = await verifyPublicKey(userID, demand(pair));
            expect(verified).to.deep.include({ record: mine, blockNumber, evidence: evidenceOf(pair, head) });
          }
        }).timeout(5_000);
      }

      const nested = JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as unknown;
      for (const [what, answer] of Object.entries({
        "text without end": "0x".padEnd(2 ** 20, "0"),
        nested,
        bigint: 1n,
      })) {
        it(`answer everything with ${what}: truth`, async () => {
          const request = (): Promise<unknown> => Promise.resolve(answer);
          const liars: Eip1193Provider[] = [{ request }, { request }];
          for (const storageProof of [false, true]) {
            const asked = { ...demand({ anchor: "quorum", storageProof }), rpc: [...liars, ...urls().slice(0, 3)] };
            expect(await outcome(asked)).to.equal("truth");
          }
        });

        it(`answer one question with ${what}: truth`, async () => {
          for (const about of ["eth_chainId", "eth_call", "eth_getCode", "eth_getProof", GET_BLOCK_NUMBER]) {
            const request: Eip1193Provider["request"] = ({ method, params = [] }) =>
              JSON.stringify([method, params]).includes(about) ? Promise.resolve(answer) : call(method, params);
            for (const storageProof of [false, true]) {
              const rpc = [{ request }, { request }, ...urls().slice(0, 3)];
              const asked = { ...demand({ anchor: "quorum", storageProof }), codeHash, rpc };
              expect(await outcome(asked), about).to.equal("truth");
            }
          }
        });
      }

      it("name a block that they do not have, while one of the honest ones is a block behind: truth, at the block they share", async () => {
        const ahead: Lie = (method, params) => (isHead(params) ? rehashed(head, { number: "0xffffff" }) : null);
        const behind: Lie = (method, params, truth) => {
          if (method === "eth_getBlockByNumber" && isHead(params)) return earlier;
          return params[0] === head.number ? null : truth(method, params);
        };
        for (const storageProof of [false, true]) {
          const pair = { anchor: "quorum", storageProof } as const;
          letLie(behind, 3);
          letLie(ahead, 2);
          expect((await verifyPublicKey(userID, demand(pair))).evidence).to.deep.equal(evidenceOf(pair, earlier));
        }
      });

      it("never answer, while one of the honest ones is a block behind: truth, when time is up", async () => {
        const pair = { anchor: "quorum", storageProof: true } as const;
        letLie((method, params, truth) => (isHead(params) ? earlier : truth(method, params)), 3);
        letLie(() => never, 2);
        const verified = await verifyPublicKey(userID, { ...demand(pair), limits: { timeoutMs: 300 } });
        expect(verified.evidence).to.deep.equal(evidenceOf(pair, earlier));
      });

      it("write hex in upper case: they agree", async () => {
        const upper: Lie = async (method, params, truth) => {
          const answer = JSON.stringify(await truth(method, params));
          return JSON.parse(
            answer.replace(/"0x[0-9a-f]*"/g, (hex) => hex.toUpperCase().replace("0X", "0x")),
          ) as unknown;
        };
        for (const storageProof of [false, true]) {
          const pair = { anchor: "quorum", storageProof } as const;
          letLie(upper, 2);
          expect(await outcome({ ...demand(pair), codeHash, quorum: 5 })).to.equal("truth");
        }
      });
    });

    describe("in a quorum that is not reached", () => {
      const dead: Lie = () => Promise.reject(new Error());
      const notReached = async (options: VerifyOptions) => {
        const error = await failure(verifyPublicKey(userID, options));
        expect(error).to.include({ code: "QUORUM_NOT_REACHED" });
        return (error as KeyrootError).name;
      };

      for (const storageProof of [false, true]) {
        const pair = { anchor: "quorum", storageProof } as const;

        it(`knows nothing where too few answer, ${nameOf(pair)}`, async () => {
          letLie(dead, 3);
          expect(await notReached(demand(pair))).to.equal("TransportError");
        });

        it(`refuses where two groups have enough, ${nameOf(pair)}`, async () => {
          const world = await makeUp(`0x${forged.tree.root}`);
          letLie((...asked) => lieAboutBlock(world, ...asked), 2);
          const rpc = urls().slice(0, 4);
          expect(await notReached({ ...demand(pair), rpc, quorum: 2 })).to.equal("VerificationError");
        });

        it(`refuses where one lies and too few others answer, ${nameOf(pair)}`, async () => {
          const world = await makeUp(`0x${forged.tree.root}`);
          letLie(dead, 3);
          letLie((...asked) => lieAboutBlock(world, ...asked), 1);
          expect(await notReached(demand(pair))).to.equal("VerificationError");
        });
      }

      it("refuses where all give another block than they are asked for", async () => {
        const genesis: Lie = (method, params, truth) =>
          truth(method, asksForBlock(method) && params[0] !== "latest" ? ["0x0", false] : params);
        letLie(genesis, 5);
        expect(await notReached(demand({ anchor: "quorum", storageProof: false }))).to.equal("TransportError");
      });

      it("ends at once when the caller gives up", async () => {
        for (const endpoint of endpoints) endpoint.lie = () => new Promise(() => undefined);
        const options = demand({ anchor: "quorum", storageProof: false });
        expect(await outcome({ ...options, signal: AbortSignal.timeout(50) })).to.equal("ABORTED");
      }).timeout(5_000);
    });

    /** A chain's newest block as a liar would have it: the user has this root, or none. */
    async function makeUp(root: string): Promise<World> {
      const slot = slotOfUser(userID, USERS_SLOT);
      const entries: [string, string][] = [
        [ZERO, `0x${"1".repeat(64)}`],
        ...(root === ZERO ? [] : [[slot, root] as [string, string]]),
      ];
      const storage = await trieOf(entries.map(([slot, value]) => [slot, RLP.encode(getBytes(value))]));
      const accounts = await trieOf([[contract, accountOf(storage.root, codeHash)]]);
      return {
        root,
        block: rehashed(head, { stateRoot: accounts.root }),
        proof: { accountProof: await accounts.prove(contract), storageProof: [{ proof: await storage.prove(slot) }] },
      };
    }
  });

  describe("with unusable options", () => {
    const twice = (...rpc: unknown[]) => ({ rpc, quorum: 1 });
    const asked = () => Promise.reject(new Error("asked"));
    const provider: Eip1193Provider = { request: asked };
    const unusable: [string, Record<string, unknown>][] = [
      ["several endpoints without a quorum", { rpc: ["http://a.example", "http://b.example"] }],
      ["no endpoint", { rpc: [] }],
      ["no endpoint for a quorum", { rpc: [], quorum: 1 }],
      ["a quorum of none", { rpc: ["http://a.example"], quorum: 0 }],
      ["a quorum of more than all", { rpc: ["http://a.example"], quorum: 2 }],
      ["half an endpoint more", { rpc: ["http://a.example", "http://b.example"], quorum: 1.5 }],
      ["an address twice", twice("http://a.example", "http://a.example")],
      ["an address twice, with a slash at the end", twice("http://a.example/x", "http://a.example/x/")],
      ["an address twice, in upper case", twice("http://a.example", "HTTP://A.EXAMPLE")],
      ["an address twice, with its port", twice("https://a.example", "https://a.example:443")],
      ["an address twice, with a dot after the host", twice("https://a.example:1", "https://a.example.:1")],
      ["an address twice, with a query", twice("https://a.example", "https://a.example?")],
      ["an address twice, with a fragment", twice("https://a.example", "https://a.example#b")],
      ["an address twice, without TLS", twice("https://a.example", "http://a.example")],
      ["an address twice, with spaces", twice("https://a.example", " https://a.example ")],
      ["two keys of one operator", twice("https://a.example/key1", "https://a.example/key2")],
      ["a provider twice", twice(provider, provider)],
      ["a quorum and a pinned block", { rpc: ["http://a.example"], quorum: 1, blockHash: ZERO }],
      ["a quorum and a light client", { rpc: ["http://a.example"], quorum: 1, lightClient: true }],
      ["a pinned block and a light client", { blockHash: ZERO, lightClient: true }],
      ["a pinned block and a tag", { blockHash: ZERO, block: "finalized" }],
      ["a pinned block in upper case", { blockHash: `0x${"A".repeat(64)}` }],
      ["a pinned block's number", { blockHash: "0x1" }],
      ["null for a pinned block", { blockHash: null }],
      ["null for a quorum", { quorum: null }],
      ["null for a storage proof", { storageProof: null }],
      ["a text for a storage proof", { storageProof: "no" }],
      ["a text for a light client", { lightClient: "false" }],
      ["another tag", { block: "pending" }],
      ["a number for a tag", { block: 1 }],
      ["an age below zero", { maxAgeMs: -1 }],
      ["an age that is no number", { maxAgeMs: NaN }],
      ["a slot below zero", { usersSlot: -1 }],
      ["a slot beyond 2^53", { usersSlot: 2 ** 53 }],
    ];
    for (const [what, options] of unusable) {
      it(`refuses ${what}, having asked nothing`, async () => {
        const place = { rpc: provider, chainId, contract, merkleUrl: files.url, fetch: asked };
        expect(await failure(verifyPublicKey(userID, { ...place, ...options })))
          .to.be.an.instanceof(ArgumentError)
          .and.include({ code: "ARGUMENT_INVALID" });
      });
    }
  });
}

/** What comes of a verification: the truth, the lie, or the code with which it is refused. */
async function outcome(options: VerifyOptions, { userID, pubKey } = mine): Promise<string> {
  try {
    const { record } = await verifyPublicKey(userID, options);
    return record.pubKey === pubKey ? "truth" : "lie";
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    return error.code;
  }
}

/** What a liar shows of the chain that it made up. */
interface World {
  root: string;
  block: Block;
  proof: unknown;
}

/** Gives the true block, and the made-up answer of the contract. */
const lieAboutContract = ({ root, proof }: World, ...[method, params, truth]: Parameters<Lie>) => {
  if (method === "eth_getProof") return proof;
  return JSON.stringify(params).includes(GET_MERKLE_TREE_ROOT) ? root : truth(method, params);
};

/** Gives a made-up block, whose hash is right, with whatever is at it. */
const lieAboutBlock = (world: World, ...[method, params, truth]: Parameters<Lie>) => {
  if (method.startsWith("eth_getBlockBy")) return world.block;
  // The true chain knows no such block.
  return JSON.stringify(params).includes(GET_BLOCK_NUMBER)
    ? toBeHex(1, 32)
    : lieAboutContract(world, method, params, truth);
};

/** A block with other fields, and the hash that goes with them. */
function rehashed(block: unknown, fields: HeaderJson): Block {
  const changed = { ...(block as Block), ...fields };
  return { ...changed, hash: hashHeader(extractHeader(changed)).hash };
}

/** Deploys the registry, owned by the chain's first account. */
async function deploy(call: RpcCall): Promise<string> {
  const [owner] = (await call("eth_accounts", [])) as [string];
  const { data } = await new PublicKeyRegistry__factory().getDeployTransaction(owner);
  const hash = await call("eth_sendTransaction", [{ from: owner, data, gas: "0x400000" }]);
  for (;;) {
    const receipt = (await call("eth_getTransactionReceipt", [hash])) as { contractAddress: string } | null;
    if (receipt) return receipt.contractAddress;
    await sleep(10);
  }
}

/**
 * Puts a contract on the chain that keeps roots as PubKeyTrust does, in a mapping at slot 1, and has the user's. It takes
 * every call for one of `getMerkleTreeRoot(bytes20)`.
 */
async function deployOlder(call: RpcCall, root: string): Promise<string> {
  const code = [
    "600435600052", // the argument to memory at 0
    "6001602052", // the mapping's slot to memory at 32
    "6040600020", // Keccak-256 of both
    "54600052", // what is stored there, to memory at 0
    "60206000f3", // is what it returns
  ];
  const contract = `0x${"01de".repeat(10)}`;
  await call("hardhat_setCode", [contract, `0x${code.join("")}`]);
  await call("hardhat_setStorageAt", [contract, slotOfUser(userID, 1), `0x${root}`]);
  // The state root of a block tells of it only when one is made.
  await call("hardhat_mine", ["0x1"]);
  return contract;
}
