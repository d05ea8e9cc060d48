import { expect } from "chai";
import { Wallet } from "ethers";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fetchOwner } from "keyroot/internal/registry";
import { describeOnBoth, freshRegistry } from "../../support/chain/freshRegistry.ts";
import { serve } from "../../support/servers/servers.ts";
import { closedAfterEach, temporaryFolder } from "../../support/support.ts";
import { optionsOf, program as keyroot } from "../../support/processes/commandLine.ts";

const DEPLOYMENTS = join(import.meta.dirname, "../../../.keyroot/deployments");
const JSON_TYPE = { "Content-Type": "application/json" };

const PASSPHRASE = "correct horse battery staple";
/** The key file for the tests on both chains. Making and checking one takes seconds of processor time. */
let key: ReturnType<typeof makeOwnerKey> | undefined;

/** Creates an encrypted key file, which wallets can also open. */
async function makeOwnerKey(file: string, env: NodeJS.ProcessEnv) {
  const { json } = await keyroot.json(["make-owner-key", "--out", file], { env });
  const text = await readFile(file, "utf8");
  const { address } = await Wallet.fromEncryptedJson(text, PASSPHRASE);
  expect(json["address"]).to.equal(address);
  return { address, text };
}

describeOnBoth("keyroot deploy", (startChain) => {
  const fresh = freshRegistry(startChain);
  const closing = closedAfterEach();
  const folder = temporaryFolder();
  let before: string[];
  const deployments = () => readdir(DEPLOYMENTS).catch(() => []);
  beforeEach(async () => {
    before = await deployments();
  });
  afterEach(async () => {
    const added = (await deployments()).filter((name) => !before.includes(name));
    for (const name of added) await rm(join(DEPLOYMENTS, name), { recursive: true });
    if (before.length === 0) await rm(DEPLOYMENTS, { recursive: true, force: true });
  });
  const deploy = (changes: Record<string, string> = {}, env: NodeJS.ProcessEnv = {}) =>
    keyroot.json(["deploy", ...optionsOf({ rpc: fresh.rpcUrl, "chain-id": String(fresh.chainId), ...changes })], {
      env,
    });
  const ownerOf = (contract: unknown) => fetchOwner(fresh.call, contract as string);

  it("deploys one registry per owner", async () => {
    const first = await deploy();
    expect(first.code, JSON.stringify(first.json)).to.equal(0);
    expect(await ownerOf(first.json["contract"])).to.equal(fresh.owner.toLowerCase());
    expect(first.json["existed"]).to.equal(false);
    expect((await deploy()).json).to.deep.equal({ ...first.json, existed: true });
    const other = await deploy({ owner: fresh.stranger });
    expect(await ownerOf(other.json["contract"])).to.equal(fresh.stranger.toLowerCase());
    expect(other.json["codeHash"]).to.equal(first.json["codeHash"]);
  });

  it("deploys a registry for another owner with a key from an encrypted file", async () => {
    const [file, passphrase] = [join(folder.path, "owner.json"), join(folder.path, "passphrase")];
    await writeFile(passphrase, `${PASSPHRASE}\n`, { mode: 0o600 });
    const env = { KEYROOT_KEY_FILE: file, KEYROOT_PASSPHRASE_FILE: passphrase };
    const { address, text } = await (key ??= makeOwnerKey(file, env));
    await writeFile(file, text, { mode: 0o600 });

    // A registry of another owner does not count as this account's registry.
    expect((await deploy()).code).to.equal(0);
    expect((await deploy({}, env)).message)
      .to.contain(address)
      .and.to.contain("Send ETH to this account");
    await fresh.call("eth_sendTransaction", [{ from: fresh.owner, to: address, value: "0xde0b6b3a7640000" }]);
    const { code, json } = await deploy({ owner: fresh.stranger, "max-fee": "100" }, env);
    expect(code, JSON.stringify(json)).to.equal(0);
    expect(json["owner"]).to.equal(fresh.stranger);
    expect(json["constructorArguments"]).to.equal(fresh.stranger.slice(2).toLowerCase().padStart(64, "0"));
    expect(await fresh.call("eth_getTransactionCount", [address, "latest"])).to.equal("0x1");
    // The registry that used the nonce of the failed deployment does not count either.
    const limits = { "max-fee": "100", "max-cost": "0.0000001" };
    expect(await deploy(limits, env)).to.include({ code: 3, error: "COST_LIMIT_REACHED" });
  });

  it("deploys again if the chain has lost the registry", async () => {
    const snapshot = await fresh.call("evm_snapshot", []);
    const first = await deploy();
    await fresh.call("evm_revert", [snapshot]);
    expect((await deploy()).json).to.deep.equal(first.json);
  });

  it("records the key type, which publish, estimate, audit, watch and verify then require", async () => {
    const { json } = await deploy({ "key-type": "p256" });
    expect(json).to.include({ keyType: "p256", existed: false });
    const contract = String(json["contract"]);
    const chain = { rpc: fresh.rpcUrl, "chain-id": String(fresh.chainId), contract, "merkle-url": fresh.merkleUrl };
    const place = optionsOf({ ...chain, "key-type": "x25519" });
    const users = await keyroot.run(["sample-users", "--count", "2", "--key-type", "x25519"]);
    const path = join(folder.path, "users.jsonl");
    await writeFile(path, users.stdout);
    const records = ["--records", path];
    for (const command of [
      ["publish", ...records, "--files", folder.path, "--max-fee", "100"],
      ["publish", "--plan-only", ...records],
      ["estimate", ...records],
      ["audit"],
      ["watch", "--once", ...records],
      ["verify", "y".repeat(32)],
    ]) {
      const { code, stderr } = await keyroot.run([...command, ...place]);
      expect(code, stderr).to.equal(2);
      expect(stderr)
        .to.match(/KEY_TYPE_MISMATCH: .* has P-256 keys .* is for X25519 keys\. Set --key-type p256/)
        .and.include(join(".keyroot", "deployments"));
    }
    // No user has a key of the recorded type yet.
    const changed = await deploy({ "key-type": "x25519" });
    expect(changed.json).to.deep.equal({ ...json, keyType: "x25519", existed: true });
    const estimated = await keyroot.json(["estimate", ...records, ...place]);
    expect([estimated.code, estimated.json["users"]]).to.deep.equal([0, 2]);
    const publishing = ["--files", fresh.filesDir, "--plan", join(folder.path, "plan")];
    const published = await keyroot.run(["publish", ...records, ...place, ...publishing, "--max-fee", "100"]);
    expect(published.code, published.stderr).to.equal(0);
    expect(await deploy({ "key-type": "p256" })).to.include({ code: 2, error: "KEY_TYPE_MISMATCH" });
  });

  it("exits with an error for an invalid owner or a different chain", async () => {
    for (const owner of ["0x123", `0X${"12".repeat(20)}`, "0x00000000000000000000000000000000DEADbeeF"]) {
      expect(await deploy({ owner }), owner).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    }
    expect(await deploy({ "chain-id": "1", "max-fee": "20" })).to.include({ code: 1, error: "CHAIN_ID_MISMATCH" });
    expect(await deployments()).to.deep.equal(before);
  });

  it("exits with code 3 if the endpoint fails during the deployment", async () => {
    const failing = closing(
      await serve((request, response) => {
        void text(request).then(async (body) => {
          const answer = await fetch(fresh.rpcUrl, { method: "POST", body, headers: JSON_TYPE });
          const message = "over quota: https://rpc.example/secret";
          const error = JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32000, message } });
          response.end(body.includes("eth_sendTransaction") ? error : await answer.text());
        });
      }),
    );
    const failed = await deploy({ rpc: `${failing.url}/secret` });
    expect(failed).to.include({ code: 3, error: "RPC_ERROR" });
    expect(JSON.stringify(failed)).to.contain("over quota").and.not.contain("secret");
  });
});
