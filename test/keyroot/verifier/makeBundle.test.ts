import { expect } from "chai";
import { keccak256 } from "ethers";
import hre from "hardhat";
import { auditors as auditorsTrust, type Statement } from "keyroot/auditors";
import {
  ArgumentError,
  type Eip1193Provider,
  type KeyRecord,
  type KeyrootError,
  TransportError,
  userIDToHex,
  VerificationError,
  oneEndpoint,
  pinnedBlock,
} from "keyroot";
import { makeMerkleFile, type MerkleFile } from "keyroot/merkle";
import { isObject } from "keyroot/internal/input";
import { verifyBundle } from "keyroot/bundle";
import { makeBundle, type MakeBundleOptions } from "../../../packages/keyroot/src/verifier/makeBundle.ts";
import { startLocalChain } from "@keyroot/service/stack";
import type { LocalChain } from "../../../packages/service/src/stack/localChain.ts";
import { statementText } from "../../support/auditors/statementHost.ts";
import { signedBy, type TestAuditor, testAuditors } from "../../support/auditors/testAuditor.ts";
import type { BlockJson } from "../../support/chain/fiveEndpoints.ts";
import { rpc as callRpc, failure } from "../../support/support.ts";
import { sampleRecords, sampleUserID, textOf } from "../../support/samples.ts";

describe("makeBundle", () => {
  const first = makeMerkleFile(sampleRecords(700));
  const second = makeMerkleFile(sampleRecords(3, 2));
  const [mine] = first.records as [KeyRecord];
  const { userID } = mine;

  let chain: LocalChain;
  let contract: string;
  let codeHash: string;
  let served: Map<string, string>;
  let options: MakeBundleOptions;

  before(async () => {
    chain = await startLocalChain(hre, { port: 0 });
    const { ethers, provider } = chain.connection;
    const [owner] = await ethers.getSigners();
    const registry = await ethers.deployContract("PublicKeyRegistry", [owner]);
    contract = await registry.getAddress();
    codeHash = keccak256(await ethers.provider.getCode(contract));
    for (const file of [first, second]) {
      const userIDs = file.records.map(({ userID }) => userIDToHex(userID)).join("");
      await registry.addMerkleTreeRoot(`0x${file.tree.root}`, `0x${userIDs}`);
    }
    const fetch = (url: unknown) => {
      const text = served.get(String(url).split("/").at(-1) ?? "");
      return Promise.resolve(new Response(text, { status: text === undefined ? 404 : 200 }));
    };
    options = {
      rpc: provider,
      chainId: chain.chainId,
      contract,
      merkleUrl: "https://files.example",
      trust: oneEndpoint(),
      fetch,
    };
  });

  after(() => chain.close());

  beforeEach(() => {
    served = new Map([first, second].map((file) => [nameOf(file), textOf(file)]));
  });

  const nameOf = ({ tree }: MerkleFile) => `${tree.root}.json`;
  const make = (change: Partial<MakeBundleOptions> = {}, user = userID) => makeBundle(user, { ...options, ...change });
  /** Creates a provider that changes the chain's responses to one method. */
  const lying = (method: string, lie: (answer: unknown) => unknown): Eip1193Provider => ({
    request: async (args) => {
      const answer = await (options.rpc as Eip1193Provider).request(args);
      return args.method === method ? lie(answer) : answer;
    },
  });
  const newest = async () => (await chain.connection.ethers.provider.getBlock("latest"))?.hash ?? "";

  it("makes bundles that can be verified offline with their block", async () => {
    const pinned = await newest();
    for (const record of [...first.records.slice(0, 9), ...first.records.slice(-2), ...second.records]) {
      const { bundle, verified } = await make({}, record.userID);
      const query = { userID: record.userID, chainId: chain.chainId, contract, codeHash };
      const bytes = new TextEncoder().encode(JSON.stringify(bundle));
      const verifiedAgain = await verifyBundle(bytes, {
        ...query,
        expectedPublicKey: record.pubKey,
        trust: pinnedBlock(pinned),
      });
      expect(verifiedAgain.evidence.source).to.equal("pinned-block");
      expect({ ...verifiedAgain, evidence: verified.evidence })
        .to.deep.equal(verified)
        .and.to.deep.include({ record, uniqueness: "unchecked" });
      expect(verifiedAgain).to.have.nested.property("evidence.block.hash", pinned);
    }
  });

  it("makes bundles of at most 8 kB for a batch of 700 users", async () => {
    const sizes = [];
    for (const { userID } of first.records.filter((_, i) => i % 50 === 0)) {
      sizes.push(JSON.stringify((await make({}, userID)).bundle).length);
    }
    expect(Math.max(...sizes)).to.be.at.most(8_000);
  });

  it("makes the same bundle with a URL and a provider", async () => {
    // Only RPC calls use the network.
    const { fetch } = options;
    const both: typeof globalThis.fetch = (url, init) =>
      (url === chain.rpcUrl ? globalThis.fetch : (fetch ?? globalThis.fetch))(url, init);
    expect(await make({ rpc: chain.rpcUrl, fetch: both })).to.deep.equal(await make());
  });

  it("writes lowercase hex if the endpoint writes uppercase hex", async () => {
    const upperCase = (answer: unknown): unknown =>
      JSON.parse(JSON.stringify(answer), (_, value: unknown) =>
        typeof value === "string" && value.startsWith("0x") ? `0x${value.slice(2).toUpperCase()}` : value,
      );
    for (const method of ["eth_getBlockByNumber", "eth_getProof"]) {
      const rpc = lying(method, (answer) => {
        const changed = upperCase(answer);
        return isObject(changed) && isObject(answer) ? { ...changed, hash: answer["hash"] } : changed;
      });
      expect(await make({ rpc })).to.deep.equal(await make());
    }
  });

  it("uses the pinned block", async () => {
    const pinned = await newest();
    await callRpc(chain.rpcUrl, "hardhat_mine", ["0x3"]);
    const { verified } = await make({ trust: pinnedBlock(pinned) });
    expect(verified).to.have.nested.property("evidence.block.hash", pinned);
    expect(await newest()).to.not.equal(pinned);
  });

  for (const [what, code, change, user] of [
    ["a user without a key", "NOT_PUBLISHED", () => ({}), sampleUserID(9, 9)],
    ["another chain", "CHAIN_ID_MISMATCH", () => ({ chainId: 1 }), userID],
    ["another contract", "NO_CONTRACT", () => ({ contract: `0x${"12".repeat(20)}` }), userID],
    ["other code", "CODE_HASH_MISMATCH", () => ({ codeHash: keccak256("0x") }), userID],
    [
      "another header",
      "HEADER_MISMATCH",
      () => ({ rpc: lying("eth_getBlockByNumber", withOther("stateRoot", HASH)) }),
      userID,
    ],
    ["another proof", "PROOF_INVALID", () => ({ rpc: lying("eth_getProof", withOther("accountProof", [])) }), userID],
  ] as const) {
    it(`throws ${code} for ${what}`, async () => {
      expect(await failure(make(change(), user)))
        .to.be.an.instanceof(VerificationError)
        .and.include({ code });
    });
  }

  it("rejects a file that is missing, changed or of another root", async () => {
    const name = nameOf(first);
    for (const [code, text] of [
      ["FILE_NOT_FOUND", undefined],
      ["ROOT_MISMATCH", textOf(second)],
      ["TREE_MISMATCH", textOf(first).replace('"level":0', '"level":1')],
    ] as const) {
      if (text === undefined) served.delete(name);
      else served.set(name, text);
      expect(await failure(make()))
        .to.be.an.instanceof(VerificationError)
        .and.include({ code });
    }
  });

  it("throws a TransportError if the endpoint fails", async () => {
    const rpc = { request: () => Promise.reject(new Error("no")) };
    expect(await failure(make({ rpc }))).to.be.an.instanceof(TransportError);
    expect(await failure(make({ trust: pinnedBlock(HASH) }))).to.be.an.instanceof(TransportError);
  });

  it("checks its options before any request", async () => {
    const rpc = { request: () => Promise.reject(new RangeError("There was a request.")) };
    for (const wrong of [{ contract: "0x12" }, { chainId: 0 }, { merkleUrl: "files" }, { trust: "latest" as never }]) {
      expect(await failure(make({ rpc, ...wrong }))).to.be.an.instanceof(ArgumentError);
    }
  });

  describe("with auditors", () => {
    const auditors = testAuditors("a", "b", "c");
    const [a, b, c] = auditors;
    const trusted = { keys: auditors.map(({ key }) => key), threshold: 2 };
    const signing = auditorsTrust({ ...trusted, urls: ["https://a.example", "https://b.example"] });
    const reading = (changes: object = {}) => ({ ...query(), trust: auditorsTrust({ ...trusted, ...changes }) });
    const query = () => ({ userID, chainId: chain.chainId, contract, expectedPublicKey: mine.pubKey });
    const time = () => Math.floor(Date.now() / 1000);
    /** Makes the auditors publish a statement about the newest block. */
    const publish = async (by: readonly TestAuditor[], changes?: Partial<Statement>) => {
      const block = (await callRpc(chain.rpcUrl, "eth_getBlockByNumber", ["latest", false])) as BlockJson;
      const text = statementText({ chainId: chain.chainId, contract }, block, changes);
      served.set("latest.txt", signedBy(by, text));
      return text;
    };

    it("makes a bundle that readers with the same auditors accept", async () => {
      await publish([a, b]);
      const { bundle, verified } = await make({ trust: signing });
      const bytes = new TextEncoder().encode(JSON.stringify(bundle));
      const again = await verifyBundle(bytes, reading());
      expect(again).to.deep.equal(verified);
      expect(again.evidence).to.deep.include({
        source: "auditors",
        storageProof: true,
        details: { auditors: [a.key, b.key] },
      });
      expect(again.evidence.block?.hash).to.equal(await newest());
    });

    it("throws AUDITORS_NOT_REACHED if too few auditors signed", async () => {
      await publish([a]);
      expect(await failure(make({ trust: signing }))).to.include({ code: "AUDITORS_NOT_REACHED" });
    });

    it("makes a bundle that readers with other auditors reject", async () => {
      await publish([a, b]);
      const { bundle } = await make({ trust: signing });
      const codeOf = async (changes: object, other: object = bundle) =>
        ((await failure((async () => verifyBundle(other, reading(changes)))())) as KeyrootError).code;
      expect(await codeOf({ threshold: 3 })).to.equal("AUDITORS_NOT_REACHED");
      expect(await codeOf({ keys: [a.key, c.key] })).to.equal("AUDITORS_NOT_REACHED");
      expect(await codeOf({ threshold: 0 })).to.equal("ARGUMENT_INVALID");
      // The reader's options must not contain a statement.
      expect(await codeOf({ statement: bundle.statement })).to.equal("ARGUMENT_INVALID");
      const { statement, ...bare } = bundle;
      expect(await codeOf({}, bare)).to.equal("UNANCHORED");
      const [text = ""] = String(statement).split("\n\n");
      expect(await codeOf({}, { ...bundle, statement: `${text}\n\n` })).to.equal("AUDITORS_NOT_REACHED");
      expect(await codeOf({}, { ...bundle, statement: "" })).to.equal("STATEMENT_INVALID");
      expect(await codeOf({}, { ...bundle, chainId: 1 })).to.equal("CHAIN_ID_MISMATCH");
      const old = signedBy([a, b], `${text}\n`.replace(/^time .*$/m, `time ${time() - 86_500}`));
      expect(await codeOf({}, { ...bundle, statement: old })).to.equal("STATEMENT_TOO_OLD");
      await verifyBundle({ ...bundle, statement: old }, reading({ maxAgeMs: 2 ** 40 }));
    });

    it("makes a bundle that requires the statement's own block", async () => {
      await publish([a, b]);
      const { bundle } = await make({ trust: signing });
      const hash = await newest();
      for (const block of [
        { number: 1, hash: `0x${"12".repeat(32)}`, timestamp: time() },
        { number: 9999, hash, timestamp: time() },
      ]) {
        const statement = signedBy([a, b], await publish([a, b], { block }));
        const other = verifyBundle({ ...bundle, statement }, reading());
        expect(await failure(other)).to.include({ code: "HEADER_MISMATCH", step: "anchor" });
      }
    });

    it("makes a bundle that readers accept with a pinned block or with auditors", async () => {
      await publish([a, b]);
      const { bundle } = await make({ trust: signing });
      const trust = pinnedBlock(await newest());
      expect(await verifyBundle(bundle, { ...query(), trust })).to.deep.include({ record: mine });
      expect(await verifyBundle(bundle, reading())).to.deep.include({ record: mine });
    });
  });
});

const HASH = `0x${"12".repeat(32)}`;

/** Returns a function that replaces one field of a response. */
function withOther(name: string, value: unknown) {
  return (answer: unknown) => (isObject(answer) ? { ...answer, [name]: value } : answer);
}
