import { expect } from "chai";
import hre from "hardhat";
import { devNull } from "node:os";
import { FolderStore, publish, Registry } from "@keyroot/operator/publisher";
import { type Stack, startStack } from "@keyroot/service/stack";
import { extractHeader } from "keyroot/internal/ethereum";
import type { KeyRecord } from "keyroot/internal/identity";
import { slotOfUser, USERS_SLOT } from "keyroot/internal/registry";
import { type RpcCall, rpcCaller } from "keyroot/internal/transport";
import type { Evidence } from "keyroot/internal/verifier";
import { hashHeader, type HeaderJson } from "../../../packages/keyroot/src/ethereum/header.ts";
import { sampleRecords } from "../../support/samples.ts";
import { type Endpoint, type Lie, startEndpoint } from "../../support/chain/lyingEndpoint.ts";
import { describeWithProgram } from "../../support/processes/commandLine.ts";
import { LOCAL } from "../../support/chain/local.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

const [mine, other, late, stranger] = sampleRecords(4) as [KeyRecord, KeyRecord, KeyRecord, KeyRecord];
const { userID } = mine;
const ZERO = `0x${"0".repeat(64)}`;
const GET_MERKLE_TREE_ROOT = "0xee94c797";

describeWithProgram("keyroot verify", (keyroot) => {
  let stack: Stack;
  let call: RpcCall;
  let endpoints: [Endpoint, Endpoint, Endpoint];
  /** The newest block, and an earlier block in which one user had no root. */
  let head: NonNullable<Evidence["block"]>;
  let earlier: NonNullable<Evidence["block"]>;

  before(async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
    call = rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
    const registry = await Registry.connect(call, stack.contract);
    const store = new FolderStore(stack.filesDir);
    await publish([mine, other], { ...LOCAL, registry, store });
    earlier = await newestBlock();
    await publish([late], { ...LOCAL, registry, store });
    head = await newestBlock();
    endpoints = [
      await startEndpoint(stack.rpcUrl),
      await startEndpoint(stack.rpcUrl),
      await startEndpoint(stack.rpcUrl),
    ];
  });
  after(async () => {
    for (const endpoint of endpoints) await endpoint.close();
    await stack.close();
  });
  beforeEach(() => {
    for (const endpoint of endpoints) endpoint.lie = undefined;
  });

  const newestBlock = async () => {
    const answer = await call("eth_getBlockByNumber", ["latest", false]);
    const { hash, number, timestamp } = hashHeader(extractHeader(answer));
    return { hash, number, timestamp };
  };
  /** Replaces placeholders in options with URLs and block hashes, which are unknown until the tests run. */
  const fill = (options: string) => {
    const [one = "", two = "", three = ""] = endpoints.map(({ url }) => url);
    const words = {
      ONE: one,
      TWO: `${one},${two}`,
      THREE: `${one},${two},${three}`,
      HEAD: head.hash,
      EARLIER: earlier.hash,
    };
    const filled = options.replace(/\b[A-Z]{3,}\b/g, (word) => words[word as keyof typeof words]);
    return filled.split(" ").filter((word) => word !== "");
  };
  /** Returns a command line that uses the first endpoint, unless the options name others. */
  const line = (options: string, user = userID, contract = stack.contract) => {
    const rpc = options.includes("--rpc") ? "" : "--rpc ONE ";
    const place = ["--contract", contract, "--merkle-url", stack.merkleUrl, "--chain-id", String(stack.chainId)];
    return ["verify", user, ...place, ...fill(rpc + options)];
  };
  const verify = async (...args: Parameters<typeof line>) => {
    const ran = await keyroot.json(line(...args));
    return { ...ran, evidence: ran.json.error?.["evidence"] ?? ran.json["evidence"] };
  };

  const asksForBlock = (method: string) => method.startsWith("eth_getBlockBy");
  const dead: Lie = () => Promise.reject(new Error());
  const noKey: Lie = (method, params, truth) =>
    JSON.stringify(params).includes(GET_MERKLE_TREE_ROOT) ? ZERO : truth(method, params);
  const proofOfAnother: Lie = (method, params, truth) =>
    truth(method, method === "eth_getProof" ? params.with(1, [slotOfUser(other.userID, USERS_SLOT)]) : params);
  const lieOfBlock =
    (change: (block: HeaderJson) => HeaderJson): Lie =>
    async (method, params, truth) => {
      const answer = await truth(method, params);
      return asksForBlock(method) ? change(answer as HeaderJson) : answer;
    };
  const wrongState = lieOfBlock((block) => ({ ...block, stateRoot: ZERO }));
  /** Makes the newest block one hour old, as an endpoint that hides newer blocks returns it. */
  const hourOld = lieOfBlock((block) => {
    const old = { ...block, timestamp: `0x${(Math.floor(Date.now() / 1000) - 3600).toString(16)}` };
    return { ...old, hash: hashHeader(extractHeader(old)).hash };
  });
  /** Makes the endpoint return an earlier block as the safe and finalized block. */
  const lagging: Lie = (method, params, truth) =>
    truth(method, /safe|finalized/.test(String(params[0])) ? [`0x${earlier.number.toString(16)}`, false] : params);

  describe("with sufficient evidence", () => {
    type Known = Omit<Evidence, "block">;
    const said: [options: string, Known, at: "head" | "earlier" | undefined, text: string][] = [
      ["", { source: "one-endpoint", storageProof: false }, undefined, "one endpoint's unproven answer"],
      ["--max-age 3600", { source: "one-endpoint", storageProof: false }, "head", "one endpoint's unproven answer"],
      ["--trust own-node --block safe", { source: "own-node", storageProof: true }, "earlier", "your own node"],
      [
        "--trust pinned-block:EARLIER",
        { source: "pinned-block", storageProof: true },
        "earlier",
        "the block hash that you gave",
      ],
      [
        "--rpc THREE --trust endpoints:3",
        { source: "endpoints", details: { agreeing: 3 }, storageProof: false },
        "head",
        "3 endpoints that agree",
      ],
    ];
    for (const [options, known, at, text] of said) {
      it(`reports the evidence for ${options || "a command without options"}`, async () => {
        endpoints[0].lie = lagging;
        const { code, json, evidence } = await verify(options);
        const block = at && { head, earlier }[at];
        expect([code, json["verified"], json["record"]]).to.deep.equal([0, true, mine]);
        expect(evidence).to.deep.equal({ ...known, ...(block && { block }), uniqueness: "checked" });
        const { stdout } = await keyroot.run(line(options));
        const where = block ? ` for block ${block.number}, ${block.hash}` : "";
        const proof = known.storageProof ? ", and a storage proof under it" : "";
        expect(stdout).to.contain(`\n  evidence    ${text}${where}${proof}\n`);
      });
    }

    it("accepts a quorum even if one endpoint returns false data", async () => {
      endpoints[0].lie = noKey;
      const evidence = {
        source: "endpoints",
        storageProof: false,
        details: { agreeing: 2 },
        block: head,
        uniqueness: "checked",
      };
      expect(await verify("--rpc THREE --trust endpoints:2")).to.deep.include({ code: 0, evidence });
    });
  });

  describe("with evidence that does not prove the key", () => {
    it("reports NOT_PUBLISHED with the evidence", async () => {
      endpoints[0].lie = lagging;
      for (const [options, user, evidence] of [
        ["--block finalized", late, { source: "one-endpoint", storageProof: false, block: earlier }],
        ["--trust pinned-block:EARLIER", late, { source: "pinned-block", storageProof: true, block: earlier }],
        [
          "--rpc TWO --trust endpoints:2",
          stranger,
          { source: "endpoints", storageProof: false, details: { agreeing: 2 }, block: head },
        ],
      ] as const) {
        expect(await verify(options, user.userID)).to.deep.include({ code: 1, error: "NOT_PUBLISHED", evidence });
      }
      expect(await verify("--block latest", late.userID)).to.include({ code: 0 });
    });

    for (const [error, lie, options, step] of [
      ["PROOF_INVALID", proofOfAnother, "--trust own-node", "root"],
      ["HEADER_MISMATCH", wrongState, "--trust own-node", "anchor"],
      ["HEADER_MISMATCH", wrongState, "--trust pinned-block:HEAD", "anchor"],
      ["STALE_BLOCK", hourOld, "--max-age 1800", "anchor"],
      ["STALE_BLOCK", hourOld, "--max-age 0", "anchor"],
      ["QUORUM_NOT_REACHED", noKey, "--rpc TWO --trust endpoints:2", "anchor"],
    ] as const) {
      it(`reports ${error} for false responses with ${options}`, async () => {
        endpoints[0].lie = lie;
        const { code, json } = await verify(options);
        expect(code).to.equal(1);
        expect(json.error).to.include({ code: error, step });
      });
    }
  });

  it("exits with code 3 if too few endpoints respond", async () => {
    for (const endpoint of endpoints.slice(1)) endpoint.lie = dead;
    const { code, stdout, stderr } = await keyroot.run(line("--rpc THREE/secret --trust endpoints:2"));
    expect([code, stdout]).to.deep.equal([3, ""]);
    expect(stderr)
      .to.match(/^QUORUM_NOT_REACHED: Fewer than 2 of 3 endpoints agree\./)
      .and.not.contain("secret");
  });

  describe("with invalid options", () => {
    const fewEndpoints = "The rpc option must be at least 3 endpoints";
    for (const [what, options, message = ""] of [
      ["more endpoints than there are", "--rpc TWO --trust endpoints:3", fewEndpoints],
      ["a number of endpoints that is not a number", "--rpc TWO --trust endpoints:two"],
      ["an empty endpoint", "--rpc ONE, --trust endpoints:1"],
      ["an unknown choice of trust", "--trust quorum", "--trust must be one-endpoint, endpoints:N, own-node,"],
      ["a choice without its value", "--trust pinned-block"],
      ["a choice with a value that it does not have", "--trust own-node:2"],
      ["several endpoints, but trust in one", "--rpc TWO"],
      [
        "a setting of another choice",
        "--trust own-node --checkpoint HEAD",
        "--checkpoint has no effect with --trust own-node",
      ],
      ["a block for a pinned block", "--trust pinned-block:HEAD --block safe", "--block has no effect"],
      ["a checkpoint without its choice", "--checkpoint HEAD", "It is a setting of --trust light-client"],
      ["an unknown block tag", "--block pending"],
      ["a negative age", "--max-age -1"],
    ] as const) {
      it(`rejects ${what}`, async () => {
        let asked = 0;
        for (const endpoint of endpoints) endpoint.lie = () => asked++;
        const { code, error, message: actual } = await verify(options);
        expect([code, error, asked]).to.deep.equal([2, "ARGUMENT_INVALID", 0]);
        expect(actual).to.include(message);
      });
    }

    for (const options of ["--block finalized", "--max-age 60"]) {
      it(`rejects a bundle with ${options}`, async () => {
        const bundle = ["verify", "--bundle", devNull, "--contract", stack.contract];
        const refused = await keyroot.json([...bundle, ...fill(options)]);
        expect(refused).to.include({ code: 2, error: "ARGUMENT_INVALID" });
        expect(refused.message).to.contain("--bundle cannot be used with").and.contain(options.split(" ")[0]);
      });
    }
  });
});
