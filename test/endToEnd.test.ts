import { expect } from "chai";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import hre from "hardhat";
import { FolderStore, publish, Registry } from "@keyroot/operator/publisher";
import { createVerifier, oneEndpoint } from "keyroot";
import { type KeyRecord, serializeKeyRecord } from "keyroot/internal/identity";
import { RPC_LIMITS, rpcCaller } from "keyroot/internal/transport";
import { lightClient } from "keyroot/light-client";
import { type FileHost, startFileHost } from "../packages/service/src/stack/fileHost.ts";
import { type LocalChain, startLocalChain } from "../packages/service/src/stack/localChain.ts";
import { npxHardhat, optionsOf } from "./support/processes/commandLine.ts";
import { sampleRecords } from "./support/samples.ts";
import { failure, never, temporaryFolder } from "./support/support.ts";

const [alice = never(), bob = never(), ...others] = sampleRecords(5);
const records = [alice, bob, ...others];

/** The contract, Hardhat's tasks and the verifier, from end to end on one local chain. */
describe("end to end on one local chain", () => {
  const folder = temporaryFolder();
  let chain: LocalChain;
  let host: FileHost;
  let files: string;
  let contract: string;

  /** Runs `npx hardhat keyroot <command>`. */
  const task = async (command: string, options: Record<string, string>) => {
    const place = { rpc: chain.rpcUrl, "chain-id": String(chain.chainId) };
    const { code, stdout, stderr } = await npxHardhat.run([command, ...optionsOf({ ...place, ...options }), "--json"]);
    expect(code, stdout + stderr).to.equal(0);
    return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as Record<string, unknown>;
  };

  beforeEach(async () => {
    chain = await startLocalChain(hre, { port: 0 });
    files = join(folder.path, "files");
    await mkdir(files);
    host = await startFileHost({ dir: files, port: 0 });
    contract = (await task("deploy", {}))["contract"] as string;

    const path = join(folder.path, "users.jsonl");
    await writeFile(path, records.map(serializeKeyRecord).join("\n"));
    const plan = join(folder.path, "plan");
    await task("publish", { contract, records: path, files, "merkle-url": host.url, plan });
  });
  afterEach(async () => {
    await host.close();
    await chain.close();
  });

  const verify = (userID: string, expectedPublicKey: string) => {
    const { rpcUrl: rpc, chainId } = chain;
    const verifier = createVerifier({ rpc, chainId, contract, merkleUrl: host.url, trust: oneEndpoint() });
    return verifier.verify(userID, { expectedPublicKey });
  };

  it("verifies every published key, rejects another user's key, and passes the audit", async () => {
    const registry = await chain.connection.ethers.getContractAt("PublicKeyRegistry", contract);
    expect(await registry.getFunction("userCount")()).to.equal(BigInt(records.length));
    const keyOf = ({ pubKey }: KeyRecord) => Buffer.from(pubKey, "base64");
    for (const record of records) {
      const { publicKey } = await verify(record.userID, record.pubKey);
      expect(Buffer.from(publicKey).equals(keyOf(record)), record.userID).to.equal(true);
    }
    expect(alice.pubKey).not.to.equal(bob.pubKey);
    expect(await failure(verify(alice.userID, bob.pubKey))).to.include({ code: "KEY_MISMATCH" });
    const audited = await task("audit", { contract, files, state: join(folder.path, "audit.sqlite") });
    expect(audited).to.include({ passed: true, userCount: records.length });
  });

  it("verifies keys right after many publications in a few seconds", async () => {
    const many = sampleRecords(200);
    const { rpcUrl: rpc, chainId, connection } = chain;
    const registry = await Registry.connect(rpcCaller(rpc, RPC_LIMITS), contract);
    // One block per user
    const options = { chainId, limits: "local", registry, usersPerFile: 1 } as const;
    await publish(many, { ...options, store: new FolderStore(files) });
    const trust = lightClient(await connection.keyroot.simulateBeacon());
    const verifier = createVerifier({ rpc, chainId, contract, merkleUrl: host.url, trust });
    const { userID, pubKey: expectedPublicKey } = many.at(-1) ?? never();
    const { publicKey } = await verifier.verify(userID, { expectedPublicKey });
    expect(Buffer.from(publicKey).toString("base64")).to.equal(expectedPublicKey);
  });
});
