import { expect } from "chai";
import hre from "hardhat";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SimulatedBeacon } from "@keyroot/operator/testing";
import type { Listening } from "@keyroot/operator/shared";
import type { KeyRecord } from "keyroot/internal/identity";
import { USER_COUNT_SLOT } from "keyroot/internal/registry";
import { type RpcCall, rpcCaller } from "keyroot/internal/transport";
import { FolderStore, publish, Registry } from "@keyroot/operator/publisher";
import { type Stack, startStack } from "@keyroot/service/stack";
import { LOCAL } from "../../support/chain/local.ts";
import { describeWithProgram, optionsOf } from "../../support/processes/commandLine.ts";
import { sampleRecords } from "../../support/samples.ts";
import { startEndpoint } from "../../support/chain/lyingEndpoint.ts";
import { serveFolder } from "../../support/servers/servers.ts";
import { closedAfterEach, temporaryFolder } from "../../support/support.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

const [mine, stranger] = sampleRecords(2) as [KeyRecord, KeyRecord];

describeWithProgram("keyroot, with a light client", (keyroot) => {
  let stack: Stack;
  let call: RpcCall;
  let beacon: SimulatedBeacon;
  let server: Listening;
  let trusted: string[];
  const closing = closedAfterEach();

  before(async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
    call = rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
    beacon = new SimulatedBeacon({ call });
    server = await beacon.listen();
    trusted = ["--beacon", server.url, "--checkpoint", beacon.checkpoint];
    const registry = await Registry.connect(call, stack.contract);
    await publish([mine], { ...LOCAL, registry, store: new FolderStore(stack.filesDir) });
  });
  after(async () => {
    await server.close();
    await stack.close();
  });

  const place = () => ["--rpc", stack.rpcUrl, "--contract", stack.contract, "--merkle-url", stack.merkleUrl];

  const run = (...words: string[]) => keyroot.json(words);

  describe("light-client", () => {
    const follow = (options: Record<string, string> = {}) => {
      const all = { beacon: server.url, checkpoint: beacon.checkpoint, "beacon-network": "test", ...options };
      return run("light-client", ...optionsOf(all));
    };

    it("prints the newest finalized block", async () => {
      const { code, json } = await follow();
      const { hash } = (await call("eth_getBlockByNumber", ["latest", false])) as { hash: string };
      expect(json).to.include({ network: "test", chainId: 31_337, checkpoint: beacon.checkpoint, blockHash: hash });
      expect(json).to.include({ participation: 512 });
      expect(json["periods"]).to.be.at.least(2);
      expect(json["ageSeconds"]).to.be.at.least(0);
      expect(code).to.equal(0);
    });

    it("selects the test network if the checkpoint belongs to the local stack", async () => {
      const { code, json } = await run("light-client", ...trusted);
      expect({ code, ...json }).to.include({ code: 0, network: "test", chainId: 31_337 });
    });

    it("exits with code 3 if no endpoint responds", async () => {
      expect(await follow({ beacon: "http://127.0.0.1:1" })).to.include({ code: 3, error: "UNREACHABLE" });
    });

    it("exits with code 1 if the response is for a different network", async () => {
      const answer = await follow({ "beacon-network": "mainnet" });
      expect(answer).to.include({ code: 1, error: "LIGHT_CLIENT_INVALID" });
    });

    it("exits with code 2 without a valid checkpoint", async () => {
      expect(await run("light-client", "--beacon", server.url)).to.include({ code: 2 });
      expect(await run("light-client", "--checkpoint", beacon.checkpoint)).to.include({ code: 2 });
      expect(await follow({ checkpoint: "0x12" })).to.include({ code: 2 });
    });
  });

  describe("verify --trust light-client", () => {
    const verify = (user: KeyRecord, ...options: string[]) =>
      run("verify", user.userID, ...place(), "--chain-id", "31337", "--trust", "light-client", ...trusted, ...options);

    it("verifies a key, and reports the light client as evidence", async () => {
      const { code, json } = await verify(mine);
      expect(json["evidence"]).to.include({ source: "light-client", storageProof: true });
      expect(json).to.have.nested.property("evidence.details.checkpoint", beacon.checkpoint);
      expect(code).to.equal(0);
    });

    it("exits with code 1 for an unpublished key", async () => {
      expect(await verify(stranger)).to.include({ code: 1, error: "NOT_PUBLISHED" });
    });

    it("exits with code 2 for a second source of the block", async () => {
      for (const trust of ["own-node", "endpoints:1", "one-endpoint"])
        expect(
          await run("verify", mine.userID, ...place(), "--chain-id", "31337", "--trust", trust, ...trusted),
        ).to.include({
          ...{ code: 2, error: "ARGUMENT_INVALID" },
        });
    });

    it("exits with code 2 for a checkpoint without an endpoint", async () => {
      expect(
        await run("verify", mine.userID, ...place(), "--trust", "light-client", "--checkpoint", beacon.checkpoint),
      ).to.include({ code: 2 });
    });
  });

  describe("--trust light-client in status, audit and watch", () => {
    const chain = (rpc = stack.rpcUrl) => [
      ...optionsOf({ rpc, contract: stack.contract, "chain-id": "31337", trust: "light-client" }),
      ...trusted,
    ];
    const files = () => ["--merkle-url", stack.merkleUrl];
    const user = ["--user-id", mine.userID, "--public-key", mine.pubKey, "--once"];
    const states = temporaryFolder();
    let audits = 0;
    /**
     * Starts an endpoint that replaces storage proofs with those of an empty trie.
     * @param except requests that contain this text get true proofs
     */
    const serveFalseProofs = async (except = "nothing") => {
      const endpoint = await startEndpoint(stack.rpcUrl);
      endpoint.lie = async (method, params, truth) => {
        const answer = await truth(method, params);
        const isFalse = method === "eth_getProof" && !JSON.stringify(params).includes(except);
        return isFalse ? { ...(answer as object), storageProof: [[]] } : answer;
      };
      return endpoint;
    };

    it("adds a storage proof of the user count to status", async () => {
      const { code, json } = await run("status", ...chain());
      expect(json).to.include({ userCount: 1 }).and.have.nested.property("evidence.source", "light-client");
      expect(json).to.have.nested.property("evidence.storageProof", true);
      expect(code).to.equal(0);
    });

    it("sets the light client as the evidence of audit", async () => {
      const { code, json } = await run("audit", ...chain(), ...files());
      expect(json).to.include({ passed: true }).and.have.nested.property("evidence.source", "light-client");
      expect(code).to.equal(0);
    });

    it("selects the block at which watch reads roots", async () => {
      const { code, json } = await keyroot.jsonLines(["watch", ...chain(), ...files(), ...user]);
      expect(json).to.include({ event: "polled", publishedUsers: 1, alarms: 0 });
      expect(code).to.equal(0);
    });

    it("causes status, audit and watch to reject a false proof", async () => {
      const server = closing(await serveFalseProofs());
      const refused = { code: 1, error: "PROOF_INVALID" };
      expect(await run("status", ...chain(server.url))).to.include(refused);
      // The second server's proof of the user count is true. Its proofs of the users' roots are false.
      for (const { url } of [server, closing(await serveFalseProofs(USER_COUNT_SLOT))]) {
        expect(
          await run("audit", ...chain(url), ...files(), "--state", join(states.path, String(++audits))),
        ).to.include(refused);
        expect(await keyroot.jsonLines(["watch", ...chain(url), ...files(), ...user])).to.include(refused);
      }
    });

    it("needs --checkpoint, and cannot be used with --block", async () => {
      for (const command of ["status", "audit", "watch"])
        expect(await run(command, ...chain().slice(0, -2)), command).to.include({ code: 2 });
      expect(await run("audit", ...chain(), ...files(), "--block", "latest")).to.include({ code: 2 });
      expect(await run("watch", ...chain(), ...files(), ...user, "--block", "latest")).to.include({ code: 2 });
    });
  });

  describe("bundle --trust light-client", () => {
    const folder = temporaryFolder();

    it("writes a bundle that verify accepts without a network", async () => {
      const chain = ["--chain-id", "31337"];
      const made = await run(
        "bundle",
        mine.userID,
        ...place(),
        ...chain,
        "--trust",
        "light-client",
        ...trusted,
        "--files",
        folder.path,
      );
      expect(made.code).to.equal(0);
      const { bundle, blockProof } = made.json as unknown as Record<string, { path: string }>;
      const contract = ["--contract", stack.contract, ...chain, "--trust", "light-client"];
      const offline = ["verify", "--bundle", bundle?.path ?? "", ...contract, "--block-proof", blockProof?.path ?? ""];
      const { code, json } = await run(...offline, "--checkpoint", beacon.checkpoint);
      expect(json).to.have.nested.property("evidence.source", "light-client");
      expect(json).to.have.nested.property("evidence.details.checkpoint", beacon.checkpoint);
      expect(code).to.equal(0);
      const other = await run(...offline, "--checkpoint", `0x${"7".repeat(64)}`);
      expect(other).to.include({ code: 1, error: "LIGHT_CLIENT_INVALID" });
      expect(await run(...offline)).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    });
  });

  describe("sign-statement --trust light-client", () => {
    const folder = temporaryFolder();
    const env = { KEYROOT_PASSPHRASE: "correct horse battery staple" };

    it("signs a block that verify, status and watch accept with --trust auditors", async () => {
      const keyFile = join(folder.path, "key.json");
      const made = await keyroot.json(["make-auditor-key", "--out", keyFile, "--name", "auditor.example"], { env });
      const keys = join(folder.path, "keys.txt");
      await writeFile(keys, `${String(made.json["key"])}\n`);
      await call("hardhat_mine", ["0x7"]);
      const { json: status } = await run("status", "--rpc", stack.rpcUrl, "--contract", stack.contract);
      const audit = [
        "sign-statement",
        ...place(),
        "--chain-id",
        "31337",
        "--trust",
        "light-client",
        ...trusted,
        "--code-hash",
        String(status["codeHash"]),
      ];
      const statements = join(folder.path, "statements");
      const sign = ["--key", keyFile, "--statements", statements, "--interval", "3"];
      const signed = await keyroot.json([...audit, ...sign], { env });
      expect(signed.json).to.have.nested.property("evidence.source", "light-client");
      expect(signed.json).to.have.nested.property("signed.source", "light client");
      const { number } = (signed.json["evidence"] as { block: { number: number } }).block;
      expect(number % 3).to.equal(0);
      const head = Number(await call("eth_blockNumber", []));
      expect(number).to.be.within(head - 2, head);

      const host = closing(await serveFolder(statements));
      const auditors = [
        "--chain-id",
        "31337",
        "--trust",
        "auditors",
        "--auditors",
        keys,
        "--threshold",
        "1",
        "--statement-urls",
        host.url,
      ];
      const verified = await run("verify", mine.userID, ...place(), ...auditors);
      expect(verified.json).to.have.nested.property("evidence.source", "auditors");
      expect(verified.code).to.equal(0);
      const { json } = await run("status", ...place().slice(0, 4), ...auditors);
      expect(json).to.have.nested.property("evidence.block.number", number);
      const user = ["--user-id", mine.userID, "--public-key", mine.pubKey, "--once"];
      const watched = await keyroot.jsonLines(["watch", ...place(), ...auditors, ...user]);
      expect(watched.json).to.include({ event: "polled", blockNumber: number, publishedUsers: 1 });

      const bundled = await run("bundle", mine.userID, ...place(), ...auditors, "--files", folder.path);
      const { path } = (bundled.json as unknown as { bundle: { path: string } }).bundle;
      const offline = ["verify", "--bundle", path, "--contract", stack.contract, ...auditors.slice(0, 8)];
      const { json: ofBundle, code } = await run(...offline);
      expect(ofBundle).to.have.nested.property("evidence.source", "auditors");
      expect(code).to.equal(0);
      expect(await run(...offline.slice(0, -2))).to.include({ code: 2, error: "ARGUMENT_INVALID" });

      const incomplete = await run("verify", mine.userID, ...place(), ...auditors.slice(0, 6));
      expect(incomplete).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    });
  });
});
