import { expect } from "chai";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ANY_KEY, oneEndpoint } from "keyroot";
import { accounts, parseAccountFile, slotIDOf, verifyKeyStatement } from "keyroot/account";
import { userIDToHex } from "keyroot";
import { AccountRegistry, keyAt, textAt } from "../../support/account/accountRegistry.ts";
import { changeResult, type RpcProxy, startRpcProxy } from "../../support/servers/rpcProxy.ts";
import { describeWithProgram } from "../../support/processes/commandLine.ts";
import { temporaryFolder } from "../../support/support.ts";
import { verifierAt } from "../../support/verifier/verifyOnce.ts";

const env = { KEYROOT_PASSPHRASE: "correct horse battery staple" };

describeWithProgram("keyroot account", (keyroot) => {
  const folder = temporaryFolder();
  let registry: AccountRegistry;
  let count = 0;

  before(async () => {
    registry = await AccountRegistry.start();
  });

  after(() => registry.close());

  /** Paths of new files: an account, and the keys on paper and in a safe. */
  const newPaths = () => {
    const dir = join(folder.path, String(count++));
    return { account: join(dir, "account.txt"), paper: join(dir, "paper.json"), safe: join(dir, "safe.json") };
  };
  const run = (action: string, args: readonly string[], rest: readonly string[] = ["--rpc", registry.chain.rpcUrl]) =>
    keyroot.json(["account", action, ...args, ...rest], { env });
  const make = async (paths: { account: string }, keys: string, more: readonly string[] = []) => {
    const place = ["--chain-id", String(registry.chain.chainId), "--contract", registry.contract];
    const made = await run(
      "new",
      ["--account", paths.account, "--keys", keys, "--public-key", textAt(0), ...more],
      place,
    );
    expect(made, JSON.stringify(made.json)).to.include({ code: 0 });
    return String(made.json["userID"]);
  };
  /** Publishes the key that an account file authorizes, as an operator does. */
  const publish = async (path: string, number: number) => {
    const text = await readFile(path, "utf8");
    const { account } = parseAccountFile(Buffer.from(text));
    registry.files.set(`/accounts/${userIDToHex(account.userID)}.txt`, text);
    await registry.publish(slotIDOf(account, number), keyAt(number));
  };
  const verified = async (userID: string) => {
    const verifier = verifierAt({ ...registry.optionsFor(oneEndpoint()), accounts: accounts() });
    const { account, record } = await verifier.verify(userID, { expectedPublicKey: ANY_KEY });
    return [account?.number, record.pubKey];
  };

  it("makes an account, changes its key twice, and shows it", async () => {
    const paths = newPaths();
    const [files, keys] = [
      ["--account", paths.account],
      ["--keys", paths.paper],
    ];
    const userID = await make(paths, paths.paper);
    await publish(paths.account, 0);
    expect(await verified(userID)).to.deep.equal([0, textAt(0)]);
    for (const number of [1, 2]) {
      const rotated = await run("rotate", [...files, ...keys, "--public-key", textAt(number)]);
      expect(rotated.json).to.include({ userID, number, isVoid: false });
      await publish(paths.account, number);
      expect(await verified(userID)).to.deep.equal([number, textAt(number)]);
    }
    const { json } = await run("show", files);
    expect(json).to.include({ userID, threshold: 1, number: 2, publicKey: textAt(2), isPublished: true });
    expect(json).to.include({ isNextFilled: false, nextNumber: 3, contract: registry.contract.toLowerCase() });
  });

  it("names the file at the file host, which has another name for a change than for the first key", async () => {
    const paths = newPaths();
    const place = ["--chain-id", String(registry.chain.chainId), "--contract", registry.contract];
    const files = ["--account", paths.account, "--keys", paths.paper, "--public-key"];
    const made = await keyroot.run(["account", "new", ...files, textAt(0), ...place], { env });
    const { account } = parseAccountFile(await readFile(paths.account, "utf8"));
    const name = `accounts/${userIDToHex(account.userID)}`;
    expect(made.stdout).to.include(`store the account file at the file host as ${name}.txt.\n`);
    const rotated = await keyroot.run(["account", "rotate", ...files, textAt(1), "--offline"], { env });
    expect(rotated.stdout).to.include(`Store it at the file host as ${name}.next.txt. `);
  });

  it("signs no change before the last one is published, but does with --offline", async () => {
    const paths = newPaths();
    await make(paths, paths.paper);
    const args = ["--account", paths.account, "--keys", paths.paper, "--public-key", textAt(1)];
    expect(await run("rotate", args)).to.include({ code: 1, error: "NOT_PUBLISHED" });
    const { account } = parseAccountFile(await readFile(paths.account));
    const signed = await run("rotate", args, ["--offline"]);
    expect(signed.json).to.include({ number: 1 });
    const statement = (await readFile(paths.account, "utf8")).slice(account.text.length + 1);
    expect(verifyKeyStatement(account, statement)).to.deep.include({ number: 1, publicKey: textAt(1) });
  });

  it("declares a slot void only if it is filled, and the key is then the newest one again", async () => {
    const paths = newPaths();
    const userID = await make(paths, paths.paper);
    await publish(paths.account, 0);
    const args = ["--account", paths.account, "--keys", paths.paper];
    expect(await run("void", args)).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    const { account } = parseAccountFile(await readFile(paths.account));
    await registry.publish(slotIDOf(account, 1), keyAt(3));
    expect((await run("show", ["--account", paths.account])).json).to.include({ isNextFilled: true });
    expect((await run("void", args)).json).to.include({ number: 1, isVoid: true });
    registry.files.set(`/accounts/${userIDToHex(userID)}.txt`, await readFile(paths.account, "utf8"));
    expect(await verified(userID)).to.deep.equal([0, textAt(0)]);
    // The slot that somebody filled is skipped.
    expect((await run("rotate", [...args, "--public-key", textAt(2)])).json).to.include({ number: 2 });
  });

  describe("with an endpoint that says that every slot is filled", () => {
    let liar: RpcProxy;

    before(async () => {
      const fill = (result: unknown) => String(result).replace(/0{64}$/, "1".repeat(64));
      liar = await startRpcProxy(registry.chain.rpcUrl, changeResult("eth_call", fill));
    });

    after(() => liar.close());

    it("signs what the endpoint says only if --trust says so", async () => {
      const paths = newPaths();
      await make(paths, paths.paper);
      await publish(paths.account, 0);
      const args = ["--account", paths.account, "--keys", paths.paper];
      const before = await readFile(paths.account, "utf8");
      const both = `${registry.chain.rpcUrl},${liar.url}`;
      const agreeing = ["--rpc", both, "--trust", "endpoints:2"];
      expect(await run("void", args, agreeing)).to.include({ error: "QUORUM_NOT_REACHED" });
      const changed = await run("rotate", [...args, "--public-key", textAt(1)], agreeing);
      expect(changed).to.include({ error: "QUORUM_NOT_REACHED" });
      // The storage proof shows that the slot is empty.
      const proving = ["--rpc", liar.url, "--trust", "own-node"];
      expect(await run("void", args, proving)).to.include({ code: 2, error: "ARGUMENT_INVALID" });
      expect((await run("show", args.slice(0, 2), proving)).json).to.include({
        isPublished: true,
        isNextFilled: false,
      });
      expect(await readFile(paths.account, "utf8")).to.equal(before);
      const signed = await run("void", args, ["--rpc", liar.url]);
      expect(signed.json).to.include({ number: 1, isVoid: true });
    });

    it("signs the first empty slot of the block that the choice proves", async () => {
      const paths = newPaths();
      await make(paths, paths.paper);
      await publish(paths.account, 0);
      const args = ["--account", paths.account, "--keys", paths.paper, "--public-key", textAt(1)];
      const { rpcUrl } = registry.chain;
      expect((await run("rotate", args, ["--rpc", rpcUrl, "--trust", "own-node"])).json).to.include({ number: 1 });
      const auditors = await run("rotate", args, ["--rpc", rpcUrl, "--trust", "auditors"]);
      expect(auditors).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    });
  });

  it("writes files with which verify and bundle show the newest key", async () => {
    const paths = newPaths();
    const userID = await make(paths, paths.paper);
    const old = await readFile(paths.account);
    await publish(paths.account, 0);
    const rotated = ["--account", paths.account, "--keys", paths.paper, "--public-key", textAt(1)];
    await run("rotate", rotated);
    await publish(paths.account, 1);
    const { contract, chain } = registry;
    const place = ["--contract", contract, "--chain-id", String(chain.chainId)];
    const host = ["--rpc", chain.rpcUrl, "--merkle-url", registry.optionsFor(oneEndpoint()).merkleUrl, ...place];
    const outdated = join(folder.path, "outdated.txt");
    await writeFile(outdated, old);
    for (const accountFile of [["--accounts"], ["--account", paths.account], ["--account", outdated]]) {
      const { json } = await keyroot.json(["verify", userID, ...accountFile, ...host]);
      expect(json["account"]).to.deep.equal({ userID, number: 1 });
      expect(json["record"]).to.include({ pubKey: textAt(1) });
    }
    expect(await keyroot.json(["verify", userID, ...host])).to.include({ code: 0 });
    const written = await keyroot.json(["bundle", userID, "--files", folder.path, "--accounts", ...host]);
    const { path } = written.json["bundle"] as { path: string };
    const { hash } = written.json["block"] as { hash: string };
    const verifiedBundle = await keyroot.json([
      "verify",
      "--bundle",
      path,
      "--trust",
      `pinned-block:${hash}`,
      ...place,
    ]);
    expect(verifiedBundle.json["account"]).to.deep.equal({ userID, number: 1 });
  });

  it("collects the signatures of several holders", async () => {
    const paths = newPaths();
    const userID = await make(paths, `${paths.paper},${paths.safe}`, ["--threshold", "2"]);
    await publish(paths.account, 0);
    const args = ["--account", paths.account, "--public-key", textAt(1)];
    const before = await readFile(paths.account, "utf8");
    const first = await run("rotate", [...args, "--keys", paths.paper]);
    expect(first.json).to.include({ number: 1, missing: 1 });
    expect(await readFile(paths.account, "utf8")).to.equal(before);
    const lines = join(folder.path, "lines.txt");
    await writeFile(lines, `${(first.json["signatures"] as string[]).join("\n")}\n`);
    const second = await run("rotate", [...args, "--keys", paths.safe, "--signatures", lines]);
    expect(second.json).to.include({ userID, number: 1 });
    await publish(paths.account, 1);
    expect(await verified(userID)).to.deep.equal([1, textAt(1)]);
    const other = await run("rotate", [
      "--account",
      paths.account,
      "--public-key",
      textAt(2),
      "--keys",
      paths.safe,
      "--signatures",
      lines,
    ]);
    expect(other).to.include({ code: 1, error: "KEY_STATEMENT_INVALID" });
  });

  it("refuses a foreign recovery key, a wrong passphrase, an invalid key and an unknown action", async () => {
    const [paths, other] = [newPaths(), newPaths()];
    await make(paths, paths.paper);
    await make(other, other.paper);
    await publish(paths.account, 0);
    const args = ["--account", paths.account, "--public-key", textAt(1)];
    expect(await run("rotate", [...args, "--keys", other.paper])).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    const wrong = ["account", "rotate", ...args, "--keys", paths.paper, "--offline"];
    const refused = await keyroot.json(wrong, { env: { KEYROOT_PASSPHRASE: "another passphrase" } });
    expect(refused).to.include({ code: 2, error: "KEY_FILE_INVALID" });
    const invalid = ["--account", paths.account, "--keys", paths.paper, "--public-key", "AAAA"];
    expect(await run("rotate", invalid)).to.include({ code: 2, error: "PUBLIC_KEY_LENGTH" });
    expect(await run("renew", args)).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    const place = ["--chain-id", "1", "--contract", registry.contract];
    const again = await run("new", [...args, "--keys", paths.paper], place);
    expect(again).to.include({ code: 2, error: "ARGUMENT_INVALID" });
  });

  it("writes keys only in encrypted form", async () => {
    const paths = newPaths();
    await make(paths, paths.paper);
    const file = JSON.parse(await readFile(paths.paper, "utf8")) as Record<string, string>;
    expect(Object.keys(file)).to.deep.equal(["format", "key", "salt", "nonce", "encrypted"]);
    expect(file).to.include({ format: "keyroot-recovery-key-v1" });
    expect(file["encrypted"]).to.have.lengthOf(2 * (32 + 16));
  });
});
