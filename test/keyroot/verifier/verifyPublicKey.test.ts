import { expect } from "chai";
import { id, keccak256 } from "ethers";
import hre from "hardhat";
import { spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import { base64ToBytes } from "../../../packages/keyroot/src/bytes/base64.ts";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { userIDToHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { makeMerkleFile, type MerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { type LocalChain, startLocalChain } from "../../../packages/operator/src/stack/localChain.ts";
import type { Listening } from "../../../packages/operator/src/stack/ports.ts";
import type { Eip1193Provider } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import type { VerifyOptions } from "../../../packages/keyroot/src/verifier/options.ts";
import { verifyPublicKey } from "../../../packages/keyroot/src/verifier/verifyPublicKey.ts";
import { sampleRecords, sampleUserID, textOf } from "../../../fixtures/samples.ts";
import { serve } from "../../support/servers.ts";
import { closedAfterEach, failure } from "../../support/support.ts";

const GET_MERKLE_TREE_ROOT = id("getMerkleTreeRoot(bytes20)").slice(0, 10);

describe("verifyPublicKey", () => {
  const [mine, other, late] = sampleRecords(3) as [KeyRecord, KeyRecord, KeyRecord];
  const { userID } = mine;
  const first = makeMerkleFile([mine, other]);
  /** Names the first user again, with another key: the contract keeps the first root. */
  const second = makeMerkleFile([late, { ...other, userID }]);

  let chain: LocalChain;
  let contract: string;
  let files: Listening;
  /** What the file host answers instead of the file. */
  let misanswer: RequestListener | undefined;
  let valid: VerifyOptions & { rpc: Eip1193Provider };

  before(async () => {
    chain = await startLocalChain(hre, { port: 0 });
    const { ethers, provider } = chain.connection;
    const [owner] = await ethers.getSigners();
    const registry = await ethers.deployContract("PublicKeyRegistry", [owner]);
    contract = await registry.getAddress();

    const served = new Map<string | undefined, string>();
    for (const file of [first, second]) {
      const userIDs = file.records.map(({ userID }) => userIDToHex(userID)).join("");
      await registry.addMerkleTreeRoot(`0x${file.tree.root}`, `0x${userIDs}`);
      served.set(`/${file.tree.root}.json`, textOf(file));
    }
    files = await serve((request, response) => {
      const file = served.get(request.url);
      if (misanswer) misanswer(request, response);
      else response.writeHead(file ? 200 : 404).end(file);
    });
    valid = { rpc: provider, chainId: chain.chainId, contract, merkleUrl: files.url };
  });

  after(() => Promise.all([chain.close(), files.close()]));

  beforeEach(() => {
    misanswer = undefined;
  });

  const closing = closedAfterEach();
  const verify = (options: Partial<VerifyOptions> = {}, user = userID) =>
    verifyPublicKey(user, { ...valid, ...options });

  /** The chain, but for one answer. */
  const lying = (about: string, answer: unknown): Eip1193Provider => ({
    request: (args) => (JSON.stringify(args).includes(about) ? Promise.resolve(answer) : valid.rpc.request(args)),
  });
  const lyingRoot = ({ tree }: MerkleFile) => lying(GET_MERKLE_TREE_ROOT, `0x${tree.root}`);

  describe("of a published key", () => {
    const ways = {
      "an RPC address": () => chain.rpcUrl,
      "an EIP-1193 provider": () => valid.rpc,
    };
    for (const [way, rpc] of Object.entries(ways)) {
      it(`returns it and tells where it is published, over ${way}`, async () => {
        expect(await verify({ rpc: rpc() })).to.deep.equal({
          record: mine,
          index: first.lookup.get(userID),
          publicKey: base64ToBytes(mine.pubKey),
          root: first.tree.root,
          blockNumber: 2,
          contract,
          chainId: chain.chainId,
          evidence: { anchor: "endpoint", storageProof: false },
        });
        expect(await verify({ rpc: rpc() }, late.userID)).to.deep.include({ record: late, blockNumber: 3 });
      });

      it(`holds against the hash of the contract's code, over ${way}`, async () => {
        const codeHash = keccak256(await chain.connection.ethers.provider.getCode(contract));
        expect(await verify({ rpc: rpc(), codeHash })).to.deep.include({ record: mine });
      });
    }

    it("holds against the key that was handed out, as bytes and as base64", async () => {
      for (const expectedPublicKey of [mine.pubKey, base64ToBytes(mine.pubKey), Buffer.from(mine.pubKey, "base64")]) {
        expect(await verify({ expectedPublicKey })).to.deep.include({ record: mine });
      }
    });

    it("finds its file under an address with a slash at the end, a folder and a query", async () => {
      const asked: unknown[] = [];
      misanswer = ({ url }, response) => {
        asked.push(url);
        response.end(textOf(first));
      };
      for (const path of ["/", "//", "/a/b", "/a/?key=1/2", "/#top"]) await verify({ merkleUrl: files.url + path });
      const name = `${first.tree.root}.json`;
      expect(asked).to.deep.equal([`/${name}`, `/${name}`, `/a/b/${name}`, `/a/${name}?key=1/2`, `/${name}`]);
    });

    it("takes a contract's address in any case", async () => {
      expect(await verify({ contract: contract.toLowerCase() })).to.deep.include({ record: mine });
    });
  });

  describe("of a key that is not the published one", () => {
    it("fails with KEY_MISMATCH", async () => {
      for (const expectedPublicKey of [other.pubKey, base64ToBytes(other.pubKey)]) {
        const details = { expected: mine.pubKey, actual: other.pubKey };
        expect(await failure(verify({ expectedPublicKey }))).to.include(falsehood("key", "KEY_MISMATCH", details));
      }
    });
  });

  describe("of a user without a key", () => {
    it("fails with NOT_PUBLISHED", async () => {
      expect(await failure(verify({}, sampleUserID(3)))).to.include(falsehood("root", "NOT_PUBLISHED"));
    });
  });

  describe("against the wrong contract", () => {
    it("fails with NO_CONTRACT where there is none", async () => {
      const error = await failure(verify({ contract: `0x${"1".repeat(40)}` }));
      expect(error).to.include(falsehood("root", "NO_CONTRACT"));
    });

    it("fails with CODE_HASH_MISMATCH where its code is not the expected one", async () => {
      const codeHash = keccak256("0x");
      const error = await failure(verify({ codeHash }));
      expect(error).to.include(falsehood("root", "CODE_HASH_MISMATCH", { expected: codeHash }));
    });

    it("fails with CHAIN_ID_MISMATCH on another chain", async () => {
      const details = { expected: 1, actual: chain.chainId };
      expect(await failure(verify({ chainId: 1 }))).to.include(falsehood("root", "CHAIN_ID_MISMATCH", details));
    });
  });

  describe("against a lying endpoint", () => {
    it("fails with USER_NOT_IN_FILE when the root is of a batch without the user", async () => {
      const error = await failure(verify({ rpc: lyingRoot(second) }, other.userID));
      expect(error).to.include(falsehood("record", "USER_NOT_IN_FILE"));
    });

    it("fails with FILE_NOT_FOUND when the root has no file", async () => {
      for (const status of [404, 410]) {
        misanswer = (_, response) => response.writeHead(status).end("{}");
        const error = await failure(verify({ rpc: lyingRoot(makeMerkleFile([late])) }));
        expect(error).to.include(falsehood("file", "FILE_NOT_FOUND", { actual: status }));
      }
    });

    it("fails with ROOT_MISMATCH when the file is another root's", async () => {
      misanswer = (_, response) => response.end(textOf(first));
      const error = await failure(verify({ rpc: lyingRoot(second) }));
      const details = { expected: second.tree.root, actual: first.tree.root };
      expect(error).to.include(falsehood("tree", "ROOT_MISMATCH", details));
    });

    for (const answer of [null, undefined, 1n, {}, [], "0x1", `0x${"0".repeat(63)}`, "[".repeat(2 ** 20)]) {
      it(`knows nothing from ${brief(answer)}`, async () => {
        for (const about of [GET_MERKLE_TREE_ROOT, id("getBlockNumber(bytes32)").slice(0, 10)]) {
          const error = await failure(verify({ rpc: lying(about, answer) }));
          expect(error).to.include(ignorance("RPC_ANSWER_INVALID"));
          expect(error).to.have.property("message").with.property("length").below(300);
        }
      });
    }
  });

  describe("against a lying file host", () => {
    it("fails with ROOT_MISMATCH when the user's key in the file is another", async () => {
      const forged = makeMerkleFile([{ ...late, userID }, other]);
      misanswer = (_, response) => response.end(textOf(forged));
      const details = { expected: first.tree.root, actual: forged.tree.root };
      expect(await failure(verify())).to.include(falsehood("tree", "ROOT_MISMATCH", details));
    });

    it("fails with TREE_MISMATCH when the tree in the file is not the one of its values", async () => {
      const forged = textOf(first).replace('"level":0', '"level":1');
      misanswer = (_, response) => response.end(forged);
      expect(await failure(verify())).to.include(falsehood("tree", "TREE_MISMATCH"));
    });

    it("fails with what is wrong with the file when it is none", async () => {
      misanswer = (_, response) => response.end("<!doctype html>");
      expect(await failure(verify())).to.include(falsehood("file", "JSON_FORBIDDEN_TOKEN"));
    });
  });

  describe("when the world does not answer", () => {
    it("knows nothing from another HTTP status of the file host", async () => {
      for (const status of [201, 206, 401, 403, 500, 503]) {
        misanswer = (_, response) => response.writeHead(status).end(textOf(first));
        expect(await failure(verify())).to.include(ignorance("FILE_HOST_ERROR", { actual: status }));
      }
    });

    it("follows neither's redirect, not even to the right file", async () => {
      const Location = `${files.url}/${first.tree.root}.json`;
      const { url } = closing(await serve((_, response) => response.writeHead(302, { Location }).end()));
      expect(await failure(verify({ merkleUrl: url }))).to.include(ignorance("REDIRECT_REFUSED"));
      expect(await failure(verify({ rpc: url }))).to.include(ignorance("REDIRECT_REFUSED"));
    });

    it("takes no more bytes than it was told to", async () => {
      const fileBytes = textOf(first).length;
      expect(await verify({ limits: { fileBytes } })).to.deep.include({ record: mine });
      const tooLarge = (expected: number) => ignorance("ANSWER_TOO_LARGE", { expected });
      const fileLimit = { fileBytes: fileBytes - 1 };
      expect(await failure(verify({ limits: fileLimit }))).to.include(tooLarge(fileBytes - 1));
      expect(await failure(verify({ rpc: chain.rpcUrl, limits: { rpcBytes: 40 } }))).to.include(tooLarge(40));
    });

    it("waits no longer than it was told to", async () => {
      const { url } = closing(await serve(() => undefined));
      const limits = { timeoutMs: 50 };
      for (const options of [
        { rpc: url },
        { merkleUrl: url },
        { rpc: { request: () => new Promise(() => undefined) } },
      ])
        expect(await failure(verify({ ...options, limits }))).to.include(ignorance("TIMEOUT"));
    });

    it("repeats nothing of an endpoint's address but its host", async () => {
      const { url } = closing(await serve((_, response) => response.writeHead(401).end("no")));
      const error = await failure(verify({ rpc: `${url}/v3/d41d8cd98f00b204` }));
      expect(error).to.include(ignorance("RPC_ERROR"));
      expect(error)
        .to.have.property("message")
        .that.equals(`${new URL(url).host} answers eth_chainId with the HTTP status 401.`);
    });
  });

  describe("for a caller who gives up", () => {
    it("asks nothing when it was before", async () => {
      const counted = counting();
      const error = await failure(verify({ ...counted.options, signal: AbortSignal.abort() }));
      expect(error).to.include(ignorance("ABORTED"));
      expect(counted.asked).to.equal(0);
    });

    it("asks no further", async () => {
      const controller = new AbortController();
      const rpc: Eip1193Provider = {
        request: (args) => {
          controller.abort();
          return valid.rpc.request(args);
        },
      };
      const counted = counting();
      const options = { ...counted.options, rpc, signal: controller.signal };
      expect(await failure(verify(options))).to.include(ignorance("ABORTED"));
      expect(counted.asked).to.equal(0);
    });

    it("stops fetching the file", async () => {
      const controller = new AbortController();
      const { promise: hungUp, resolve } = Promise.withResolvers<unknown>();
      misanswer = (request, response) => {
        request.socket.once("close", resolve);
        response.write("{", () => {
          controller.abort();
        });
      };
      expect(await failure(verify({ signal: controller.signal }))).to.include(ignorance("ABORTED"));
      await hungUp;
    });

    it("changes nothing when it was afterwards, and has left nothing at the signal", async () => {
      const { signal } = new AbortController();
      expect(await verify({ signal })).to.deep.include({ record: mine });
      expect(getEventListeners(signal, "abort")).to.be.empty;
    });
  });

  describe("with unusable options", () => {
    const unusable: [string, Record<string, unknown>][] = [
      ["ARGUMENT_INVALID", { rpc: "wss://rpc.example" }],
      ["ARGUMENT_INVALID", { rpc: undefined }],
      ["ARGUMENT_INVALID", { rpc: {} }],
      ["ARGUMENT_INVALID", { merkleUrl: "/files" }],
      ["ARGUMENT_INVALID", { merkleUrl: "http://user:password@127.0.0.1" }],
      ["ARGUMENT_INVALID", { merkleUrl: undefined }],
      ["ARGUMENT_INVALID", { chainId: 0 }],
      ["ARGUMENT_INVALID", { chainId: 1.5 }],
      ["ARGUMENT_INVALID", { chainId: "1" }],
      ["ARGUMENT_INVALID", { contract: "0x12" }],
      ["ARGUMENT_INVALID", { contract: undefined }],
      ["ARGUMENT_INVALID", { codeHash: `0x${"A".repeat(64)}` }],
      ["ARGUMENT_INVALID", { codeHash: null }],
      ["ARGUMENT_INVALID", { limits: { fileBytes: 0 } }],
      ["ARGUMENT_INVALID", { limits: { rpcBytes: Infinity } }],
      ["ARGUMENT_INVALID", { limits: { timeoutMs: 2 ** 31 } }],
      ["BASE64_INVALID", { expectedPublicKey: "BA=" }],
      ["PUBLIC_KEY_LENGTH", { expectedPublicKey: "" }],
      ["PUBLIC_KEY_LENGTH", { expectedPublicKey: null }],
      ["PUBLIC_KEY_LENGTH", { expectedPublicKey: new Uint8Array(104) }],
      ["PUBLIC_KEY_LENGTH", { expectedPublicKey: new Array(105).fill(4) }],
    ];
    for (const [code, option] of unusable) {
      it(`throws ${code} for ${brief(option)}, having asked nothing`, async () => {
        const counted = counting();
        expect(await failure(verify({ ...counted.options, ...option })))
          .to.be.an.instanceof(ArgumentError)
          .and.include({ code });
        expect(counted.asked).to.equal(0);
      });
    }

    it("throws USER_ID_INVALID for any other form of a user id, having asked nothing", async () => {
      const counted = counting();
      for (const user of [userID.toUpperCase(), userIDToHex(userID), ` ${userID}`, "", null as never]) {
        expect(await failure(verifyPublicKey(user, { ...valid, ...counted.options })))
          .to.be.an.instanceof(ArgumentError)
          .and.include({ code: "USER_ID_INVALID" });
      }
      expect(counted.asked).to.equal(0);
    });
  });

  describe("when it is over", () => {
    it("leaves no request behind that keeps a process alive", async () => {
      const endpoint = closing(
        await serve((request, response) => {
          // Of the two questions that are asked at once, one fails and the other is never answered.
          void text(request).then((body) => body.includes("eth_chainId") && response.writeHead(500).end());
        }),
      );
      expect(await inProcess(JSON.stringify(endpoint.url))).to.equal("RPC_ERROR\n");
    }).timeout(10_000);

    it("has told of a provider that never answers, though nothing else kept the process alive", async () => {
      expect(await inProcess("{ request: () => new Promise(() => {}) }", 50)).to.equal("TIMEOUT\n");
    }).timeout(10_000);
  });

  /** Verifies in a process of its own, and returns what that has printed when it ends: the error's code. */
  async function inProcess(rpc: string, timeoutMs?: number): Promise<string> {
    const options = { ...valid, rpc: undefined, limits: { timeoutMs } };
    const script = `
      import { verifyPublicKey } from "${import.meta.resolve("../../../packages/keyroot/src/index.ts")}";
      const options = { ...${JSON.stringify(options)}, rpc: ${rpc} };
      await verifyPublicKey("${userID}", options).catch(({ code }) => { console.log(code); });`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    closing({ close: () => child.kill() });
    const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
    return output;
  }

  /** The chain's provider and the global fetch, and how often they were asked. */
  function counting() {
    const counted = {
      asked: 0,
      options: {
        rpc: {
          request: (...args: Parameters<Eip1193Provider["request"]>) => {
            counted.asked++;
            return valid.rpc.request(...args);
          },
        },
        fetch: (...args: Parameters<typeof fetch>) => {
          counted.asked++;
          return fetch(...args);
        },
      },
    };
    return counted;
  }
});

function brief(value: unknown): string {
  return inspect(value, { breakLength: Infinity, maxStringLength: 24, maxArrayLength: 3 });
}

function falsehood(step: string, code: string, details: object = {}) {
  return { name: "VerificationError", step, code, ...details };
}

function ignorance(code: string, details: object = {}) {
  return { name: "TransportError", code, ...details };
}
