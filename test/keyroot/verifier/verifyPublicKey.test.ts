import { expect } from "chai";
import { id, keccak256 } from "ethers";
import hre from "hardhat";
import { spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { ANY_KEY, type Eip1193Provider, type KeyRecord, userIDToHex } from "keyroot";
import { makeMerkleFile, type MerkleFile } from "keyroot/merkle";
import { base64ToBytes } from "keyroot/internal/bytes";
import { startLocalChain } from "@keyroot/service/stack";
import type { LocalChain } from "../../../packages/service/src/stack/localChain.ts";
import type { Listening } from "@keyroot/operator/shared";
import { sampleRecords, sampleUserID, textOf } from "../../support/samples.ts";
import { serve } from "../../support/servers/servers.ts";
import { closedAfterEach, failure } from "../../support/support.ts";
import { verifyOnce, type OnceOptions } from "../../support/verifier/verifyOnce.ts";

const GET_MERKLE_TREE_ROOT = id("getMerkleTreeRoot(bytes20)").slice(0, 10);

describe("a verifier's verify method", () => {
  const [mine, other, late] = sampleRecords(3) as [KeyRecord, KeyRecord, KeyRecord];
  const { userID } = mine;
  const first = makeMerkleFile([mine, other]);
  /**
   * The file of a second batch. It contains the first user with another key, but the contract keeps the user's first
   * root.
   */
  const second = makeMerkleFile([late, { ...other, userID }]);

  let chain: LocalChain;
  let contract: string;
  let files: Listening;
  /** Responds to requests in place of the file host. */
  let answerFiles: RequestListener | undefined;
  let valid: OnceOptions & { rpc: Eip1193Provider };

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
      if (answerFiles) answerFiles(request, response);
      else response.writeHead(file ? 200 : 404).end(file);
    });
    valid = { rpc: provider, chainId: chain.chainId, contract, merkleUrl: files.url, expectedPublicKey: ANY_KEY };
  });

  after(() => Promise.all([chain.close(), files.close()]));

  beforeEach(() => {
    answerFiles = undefined;
  });

  const closing = closedAfterEach();
  const verify = (options: Partial<OnceOptions> = {}, user = userID) => verifyOnce(user, { ...valid, ...options });

  /** Creates a provider that replaces one of the chain's responses. */
  const lying = (about: string, answer: unknown): Eip1193Provider => ({
    request: (args) => (JSON.stringify(args).includes(about) ? Promise.resolve(answer) : valid.rpc.request(args)),
  });
  const lyingRoot = ({ tree }: MerkleFile) => lying(GET_MERKLE_TREE_ROOT, `0x${tree.root}`);

  describe("for a published key", () => {
    const ways = {
      "an RPC address": () => chain.rpcUrl,
      "an EIP-1193 provider": () => valid.rpc,
    };
    for (const [way, rpc] of Object.entries(ways)) {
      it(`returns the key and its place over ${way}`, async () => {
        expect(await verify({ rpc: rpc() })).to.deep.equal({
          record: mine,
          index: first.lookup.get(userID),
          publicKey: base64ToBytes(mine.pubKey),
          root: first.tree.root,
          blockNumber: 2,
          contract,
          chainId: chain.chainId,
          evidence: { source: "one-endpoint", storageProof: false, uniqueness: "checked" },
        });
        expect(await verify({ rpc: rpc() }, late.userID)).to.deep.include({ record: late, blockNumber: 3 });
      });

      it(`compares the contract's code with its hash over ${way}`, async () => {
        const codeHash = keccak256(await chain.connection.ethers.provider.getCode(contract));
        expect(await verify({ rpc: rpc(), codeHash })).to.deep.include({ record: mine });
      });
    }

    it("compares the key with the server's key", async () => {
      for (const expectedPublicKey of [mine.pubKey, base64ToBytes(mine.pubKey), Buffer.from(mine.pubKey, "base64")]) {
        expect(await verify({ expectedPublicKey })).to.deep.include({ record: mine });
      }
    });

    it("fetches the file from any form of URL", async () => {
      const requested: unknown[] = [];
      answerFiles = ({ url }, response) => {
        requested.push(url);
        response.end(textOf(first));
      };
      for (const path of ["/", "//", "/a/b", "/a/?key=1/2", "/#top"]) await verify({ merkleUrl: files.url + path });
      const name = `${first.tree.root}.json`;
      expect(requested).to.deep.equal([`/${name}`, `/${name}`, `/a/b/${name}`, `/a/${name}?key=1/2`, `/${name}`]);
    });

    it("accepts the contract's address in upper and lower case", async () => {
      expect(await verify({ contract: contract.toLowerCase() })).to.deep.include({ record: mine });
    });
  });

  describe("for a key other than the published key", () => {
    it("throws KEY_MISMATCH", async () => {
      for (const expectedPublicKey of [other.pubKey, base64ToBytes(other.pubKey)]) {
        const details = { expected: mine.pubKey, actual: other.pubKey };
        expect(await failure(verify({ expectedPublicKey }))).to.include(
          verificationError("key", "KEY_MISMATCH", details),
        );
      }
    });
  });

  describe("for a user without a key", () => {
    it("throws NOT_PUBLISHED", async () => {
      expect(await failure(verify({}, sampleUserID(3)))).to.include(verificationError("root", "NOT_PUBLISHED"));
    });
  });

  describe("for a false root from the endpoint", () => {
    it("throws USER_NOT_IN_FILE for a root without the user", async () => {
      const error = await failure(verify({ rpc: lyingRoot(second) }, other.userID));
      expect(error).to.include(verificationError("record", "USER_NOT_IN_FILE"));
    });

    it("throws FILE_NOT_FOUND for a root without a file", async () => {
      for (const status of [404, 410]) {
        answerFiles = (_, response) => response.writeHead(status).end("{}");
        const error = await failure(verify({ rpc: lyingRoot(makeMerkleFile([late])) }));
        expect(error).to.include(verificationError("file", "FILE_NOT_FOUND", { actual: status }));
      }
    });

    it("throws ROOT_MISMATCH for the file of another root", async () => {
      answerFiles = (_, response) => response.end(textOf(first));
      const error = await failure(verify({ rpc: lyingRoot(second) }));
      const details = { expected: second.tree.root, actual: first.tree.root };
      expect(error).to.include(verificationError("tree", "ROOT_MISMATCH", details));
    });

    for (const answer of [null, undefined, 1n, {}, [], "0x1", `0x${"0".repeat(63)}`, "[".repeat(2 ** 20)]) {
      it(`throws RPC_ANSWER_INVALID for the response ${brief(answer)}`, async () => {
        for (const about of [GET_MERKLE_TREE_ROOT, id("getBlockNumber(bytes32)").slice(0, 10)]) {
          const error = await failure(verify({ rpc: lying(about, answer) }));
          expect(error).to.include(transportError("RPC_ANSWER_INVALID"));
          expect(error).to.have.property("message").with.property("length").below(300);
        }
      });
    }
  });

  describe("for a false file from the file host", () => {
    it("throws ROOT_MISMATCH for a file with another key", async () => {
      const forged = makeMerkleFile([{ ...late, userID }, other]);
      answerFiles = (_, response) => response.end(textOf(forged));
      const details = { expected: first.tree.root, actual: forged.tree.root };
      expect(await failure(verify())).to.include(verificationError("tree", "ROOT_MISMATCH", details));
    });

    it("throws TREE_MISMATCH for a file with a changed tree", async () => {
      answerFiles = (_, response) => response.end(textOf(first).replace('"level":0', '"level":1'));
      expect(await failure(verify())).to.include(verificationError("tree", "TREE_MISMATCH"));
    });
  });

  describe("with a broken host or network", () => {
    it("throws FILE_HOST_ERROR for any other HTTP status", async () => {
      for (const status of [201, 204, 206, 304, 401, 403, 500, 503]) {
        answerFiles = (_, response) => response.writeHead(status).end(textOf(first));
        expect(await failure(verify())).to.include(transportError("FILE_HOST_ERROR", { actual: status }));
      }
    });

    it("throws REDIRECT_REFUSED for a redirect to the right file", async () => {
      const Location = `${files.url}/${first.tree.root}.json`;
      const { url } = closing(await serve((_, response) => response.writeHead(302, { Location }).end()));
      expect(await failure(verify({ merkleUrl: url }))).to.include(transportError("REDIRECT_REFUSED"));
      expect(await failure(verify({ rpc: url }))).to.include(transportError("REDIRECT_REFUSED"));
    });

    it("throws ANSWER_TOO_LARGE for a response above the limits", async () => {
      const fileBytes = textOf(first).length;
      expect(await verify({ limits: { fileBytes } })).to.deep.include({ record: mine });
      const tooLarge = (expected: number) => transportError("ANSWER_TOO_LARGE", { expected });
      const fileLimit = { fileBytes: fileBytes - 1 };
      expect(await failure(verify({ limits: fileLimit }))).to.include(tooLarge(fileBytes - 1));
    });

    it("throws TIMEOUT after the time limit", async () => {
      const { url } = closing(await serve(() => undefined));
      const limits = { timeoutMs: 50 };
      for (const options of [
        { rpc: url },
        { merkleUrl: url },
        { rpc: { request: () => new Promise(() => undefined) } },
      ])
        expect(await failure(verify({ ...options, limits }))).to.include(transportError("TIMEOUT"));
    });

    it("names only an endpoint's host in errors", async () => {
      const { url } = closing(await serve((_, response) => response.writeHead(401).end("no")));
      const error = await failure(verify({ rpc: `${url}/v3/d41d8cd98f00b204` }));
      expect(error).to.include(transportError("RPC_ERROR"));
      expect(error)
        .to.have.property("message")
        .that.equals(`${new URL(url).host} returned the HTTP status 401 for eth_chainId.`);
    });
  });

  describe("with a signal", () => {
    it("sends no request if the signal is already aborted", async () => {
      const counted = counting();
      const error = await failure(verify({ ...counted.options, signal: AbortSignal.abort() }));
      expect(error).to.include({ name: "AbortError", code: "ABORTED" });
      expect(counted.requests).to.equal(0);
    });

    it("stops after the request during which the signal aborts", async () => {
      const controller = new AbortController();
      const rpc: Eip1193Provider = {
        request: (args) => {
          controller.abort();
          return valid.rpc.request(args);
        },
      };
      const counted = counting();
      const options = { ...counted.options, rpc, signal: controller.signal };
      expect(await failure(verify(options))).to.include({ name: "AbortError", code: "ABORTED" });
      expect(counted.requests).to.equal(0);
    });

    it("closes the connection to the file host", async () => {
      const controller = new AbortController();
      const { promise: hungUp, resolve } = Promise.withResolvers<unknown>();
      answerFiles = (request, response) => {
        request.socket.once("close", resolve);
        response.write("{", () => {
          controller.abort();
        });
      };
      expect(await failure(verify({ signal: controller.signal }))).to.include({ name: "AbortError", code: "ABORTED" });
      await hungUp;
    });

    it("removes its listener from the signal", async () => {
      const { signal } = new AbortController();
      expect(await verify({ signal })).to.deep.include({ record: mine });
      expect(getEventListeners(signal, "abort")).to.be.empty;
    });
  });

  describe("in a separate process", () => {
    it("closes requests that would keep the process running", async () => {
      const endpoint = closing(
        await serve((request, response) => {
          // The verifier sends two calls at the same time. One fails, and the other never receives a response.
          void text(request).then((body) => body.includes("eth_chainId") && response.writeHead(500).end());
        }),
      );
      expect(await inProcess(JSON.stringify(endpoint.url), 3_600_000)).to.equal("RPC_ERROR\n");
    });

    it("throws TIMEOUT for a provider that never responds", async () => {
      expect(await inProcess("{ request: () => new Promise(() => {}) }", 50)).to.equal("TIMEOUT\n");
    });
  });

  /** Verifies a key in a separate process, and returns the printed error code. */
  async function inProcess(rpc: string, timeoutMs: number): Promise<string> {
    const options = { ...valid, rpc: undefined, expectedPublicKey: undefined, limits: { timeoutMs } };
    const script = `
      import { ANY_KEY, createVerifier, oneEndpoint } from "${import.meta.resolve("../../../packages/keyroot/src/index.ts")}";
      const options = { ...${JSON.stringify(options)}, trust: oneEndpoint(), rpc: ${rpc} };
      await createVerifier(options).verify("${userID}", { expectedPublicKey: ANY_KEY }).catch(({ code }) => { console.log(code); });`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    closing({ close: () => child.kill() });
    const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
    return output;
  }

  /** Returns the chain's provider and the global fetch. Both count their requests. */
  function counting() {
    const counted = {
      requests: 0,
      options: {
        rpc: {
          request: (...args: Parameters<Eip1193Provider["request"]>) => {
            counted.requests++;
            return valid.rpc.request(...args);
          },
        },
        fetch: (...args: Parameters<typeof fetch>) => {
          counted.requests++;
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

function verificationError(step: string, code: string, details: object = {}) {
  return { name: "VerificationError", step, code, ...details };
}

function transportError(code: string, details: object = {}) {
  return { name: "TransportError", code, ...details };
}
