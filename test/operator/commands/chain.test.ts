import { expect } from "chai";
import { EventEmitter, once } from "node:events";
import { readdir, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { FolderStore, parsePlan } from "@keyroot/operator/publisher";
import { type KeyRecord, serializeKeyRecord } from "keyroot/internal/identity";
import { fetchUserCount } from "keyroot/internal/registry";
import { publish as publishRecords } from "../../../packages/operator/src/publisher/publish.ts";
import { startEndpoint } from "../../support/chain/lyingEndpoint.ts";
import { describeOnBoth, freshRegistry, startHardhat, type StartChain } from "../../support/chain/freshRegistry.ts";
import { sampleRecords } from "../../support/samples.ts";
import { goneUrl, serve } from "../../support/servers/servers.ts";
import { closedAfterEach, never, temporaryFolder } from "../../support/support.ts";
import { type CommandLine, describeOnHosts, optionsOf, program } from "../../support/processes/commandLine.ts";
import { LOCAL } from "../../support/chain/local.ts";

const NOBODY = "0x000000000000000000000000000000000000dEaD";

describeOnHosts("keyroot, on a chain", (keyroot) => {
  // For the second chain, one program is enough, because the programs differ only in parsing.
  if (keyroot === program) {
    describeOnBoth("commands", (startChain) => {
      describeCommands(keyroot, startChain);
    });
  } else describeCommands(keyroot, startHardhat);
});

function describeCommands(keyroot: CommandLine, startChain: StartChain): void {
  const fresh = freshRegistry(startChain);
  const folder = temporaryFolder();
  const closing = closedAfterEach();
  const [one = never(), two = never(), three = never()] = sampleRecords(3);

  const chain = (changes: Record<string, string> = {}) =>
    optionsOf({ rpc: fresh.rpcUrl, contract: fresh.contract, "chain-id": String(fresh.chainId), ...changes });
  const place = (changes: Record<string, string> = {}) => chain({ "merkle-url": fresh.merkleUrl, ...changes });
  let plans = 0;
  /** Returns a new plan folder for each run. */
  const planFolder = () => join(folder.path, `plan-${++plans}`);
  const write = async (records: readonly KeyRecord[]) => {
    const path = join(folder.path, "users.jsonl");
    await writeFile(path, records.map(serializeKeyRecord).join("\n"));
    return path;
  };
  const publishing = async (records: readonly KeyRecord[], changes: Record<string, string> = {}) => [
    "publish",
    ...place({ records: await write(records), files: fresh.filesDir, ...changes }),
  ];
  const publish = async (records: readonly KeyRecord[], changes: Record<string, string> = {}) =>
    keyroot.jsonLines(await publishing(records, { plan: planFolder(), ...changes }));
  const verify = async (userID: string, changes: Record<string, string> = {}) => {
    const { code, json, error } = await keyroot.json(["verify", userID, ...place(changes)]);
    return [code, error ?? json["verified"]];
  };
  const readUserCount = () => fetchUserCount(fresh.call, fresh.contract);
  /** Publishes within this process. Later commands read the result. */
  const publishQuickly = async (...records: KeyRecord[]) =>
    publishRecords(records, { ...LOCAL, registry: await fresh.connect(), store: new FolderStore(fresh.filesDir) });

  describe("publish", () => {
    it("names the users with another published key, publishes all others, and exits 1", async () => {
      await publishQuickly(one);
      const { code, json } = await publish([{ ...three, userID: one.userID }, two]);
      expect(code).to.equal(1);
      expect(json).to.include({ users: 1, alreadyPublished: 1 });
      expect(json).to.have.property("error").that.includes({ code: "KEY_DIFFERS", actual: one.keyID });
      const differing = { userID: one.userID, publishedKeyID: one.keyID, keyID: three.keyID, line: 1 };
      expect(json["differing"]).to.containSubset([differing]);
      expect(await verify(two.userID)).to.deep.equal([0, true]);
    });

    it("says before publishing, with --plan-only and in estimate, which users have another published key", async () => {
      await publishQuickly(one);
      const records = await write([{ ...three, userID: one.userID }, two]);
      for (const command of [["publish", "--plan-only"], ["estimate"]]) {
        const { code, stdout, stderr } = await keyroot.run([...command, ...place({ records })]);
        expect(code).to.equal(1);
        expect(stderr).to.match(
          new RegExp(`^KEY_DIFFERS: Another key is published for ${one.userID} \\(line 1: key id `),
        );
        expect(stdout).to.include("1 already published, 1 of them with another key than in the records.");
        const withJson = await keyroot.jsonLines([...command, ...place({ records })]);
        expect(withJson.code).to.equal(1);
        expect(withJson.json.error).to.include({ code: "KEY_DIFFERS" });
        expect(withJson.json["differing"]).to.containSubset([{ userID: one.userID, line: 1 }]);
      }
      const unknown = await keyroot.run(["estimate", ...chain({ records })]);
      expect(unknown.code).to.equal(0);
      expect(unknown.stderr).to.include("were not compared").and.to.include("--merkle-url is missing");
      expect(await readUserCount()).to.equal(1);
    });

    it("publishes keys, so that verify accepts them", async () => {
      const { code, json } = await publish([one, two, three], { "users-per-file": "2" });
      expect(code).to.equal(0);
      expect(json).to.include({ users: 3, transactions: 2, alreadyPublished: 0, contract: fresh.contract });
      expect(json).to.deep.include({ superseded: [] });
      const published = json["published"] as Record<string, unknown>[];
      expect(published).to.have.lengthOf(2);
      for (const root of published)
        expect(root).to.include.keys(
          "root",
          "users",
          "fileBytes",
          "addedCount",
          "blockNumber",
          "gasUsed",
          "gasPrice",
          "dataFee",
          "transactionHash",
        );
      expect(await verify(one.userID)).to.deep.equal([0, true]);
      expect(await readUserCount()).to.equal(3);
    });

    it("counts users who were already published", async () => {
      await publishQuickly(one);
      const { code, stdout } = await keyroot.run(await publishing([one, two]));
      expect(code).to.equal(0);
      expect(stdout).to.match(
        /^[0-9a-f]{64} {2}1 user in block \d+, [\d,]+ gas\nPublished 1 user, 1 already published\.\nVerified every key\. 1 transaction, [\d,]+ gas, [\d,]+ per user, \S+ ETH\.\n$/,
      );
      const { json, events } = await publish([one, two]);
      expect(json).to.include({ users: 0, alreadyPublished: 2 });
      const kept = events.flatMap(({ event, users }) =>
        event === "alreadyPublished" ? (users as { userID: string }[]) : [],
      );
      expect(kept.map(({ userID }) => userID)).to.have.members([one.userID, two.userID]);
    });

    it("prints each event as a line of JSON with --json", async () => {
      const { events } = await publish([one, two, three], { "users-per-file": "2" });
      const names = events.map(({ event, stage }) => (event === "stage" ? stage : event));
      expect(names.filter((name) => name !== "included" && name !== "sent")).to.deep.equal([
        "reading roots",
        "making files",
        "planned",
        "adding roots",
        "published",
        "proving keys",
        "published",
      ]);
      expect(names.filter((name) => name === "included" || name === "sent")).to.have.lengthOf(4);
      const users = events.flatMap(({ event, userIDs }) => (event === "published" ? (userIDs as string[]) : []));
      expect(users).to.have.members([one.userID, two.userID, three.userID]);
    });

    it("prints the plan with --plan-only and publishes nothing", async () => {
      const plan = async (...more: string[]) => {
        const args = ["publish", "--plan-only", ...chain({ records: await write([one, two, three]) })];
        return keyroot.run([...args, "--users-per-file", "2", ...more]);
      };
      const [first, again, people] = await Promise.all([plan("--json"), plan("--json"), plan()]);
      expect([first.code, people.code]).to.deep.equal([0, 0]);
      const { batches } = parsePlan(Buffer.from(first.stdout));
      expect(batches.map(({ userIDs }) => userIDs.length)).to.deep.equal([2, 1]);
      expect(again.stdout).to.equal(first.stdout);
      expect(people.stdout)
        .to.include(batches[0]?.root)
        .and.include("3 users to publish in 2 transactions, 0 already published.");
      expect([await readdir(fresh.filesDir), await readUserCount()]).to.deep.equal([[], 0]);

      const { json } = await publish([one, two, three], { "users-per-file": "2" });
      const roots = (json["published"] as { root: string; fileBytes: number }[]).map(({ root, fileBytes }) => [
        root,
        fileBytes,
      ]);
      expect(roots).to.have.deep.members(batches.map(({ root, fileBytes }) => [root, fileBytes]));
    });

    it("exits with code 3 if no block becomes final", async () => {
      const { code, error, events } = await publish([one], { confirmations: "1000", timeout: "1" });
      expect([code, error]).to.deep.equal([3, "NOT_FINAL"]);
      const [{ reason } = never()] = events.filter(({ event }) => event === "waiting");
      expect(reason).to.match(/^block \d+ is not final yet \(1000 confirmations\), and no block is final$/);
      expect(await readUserCount()).to.equal(1);
    });

    it("repeats a failed request for the chain id, as estimate and transfer-ownership do", async () => {
      const failing = async () => {
        const endpoint = closing(await startEndpoint(fresh.rpcUrl));
        let asked = 0;
        endpoint.lie = (method, params, truth) => {
          if (method === "eth_chainId" && ++asked <= 2) throw new Error();
          return truth(method, params);
        };
        return endpoint.url;
      };
      const records = await write([one]);
      const others = [
        ["estimate", ...chain({ records, rpc: await failing() })],
        ["transfer-ownership", "--call-only", ...chain({ "new-owner": fresh.stranger, rpc: await failing() })],
      ];
      const [published, ...ran] = await Promise.all([
        publish([one], { rpc: await failing() }),
        ...others.map((words) => keyroot.run(words)),
      ]);
      expect([published.code, ...ran.map(({ code }) => code)]).to.deep.equal([0, 0, 0]);
    });

    it("adds no root if the file host does not return the stored file", async () => {
      const hostOf = async (handler: (request: IncomingMessage, response: ServerResponse) => unknown) =>
        closing(await serve((request, response) => void handler(request, response))).url;
      const cases = [
        [await hostOf((_, response) => response.end("{}")), 1, "FILE_CONFLICT"],
        [await hostOf((_, response) => response.end("x".repeat(1_000_000))), 1, "FILE_CONFLICT"],
        [await hostOf((_, response) => response.writeHead(404).end()), 1, "FILE_NOT_FOUND"],
        [await hostOf((_, response) => response.writeHead(503).end()), 3, "FILE_HOST_ERROR"],
        [await hostOf((_, response) => response.writeHead(302, { Location: "/" }).end()), 3, "REDIRECT_REFUSED"],
        [await goneUrl(), 3, "UNREACHABLE"],
      ] as const;
      const ran = await Promise.all(cases.map(([url]) => publish([one, two], { "merkle-url": `${url}/secret` })));
      expect(ran.map(({ code, error }) => [code, error])).to.deep.equal(cases.map(([, ...expected]) => expected));
      expect(JSON.stringify(ran)).to.not.contain("secret");
      expect(ran.at(-1)?.message).to.contain("Check the URL in --merkle-url,");
      expect(await readUserCount()).to.equal(0);
    });

    it("exits with code 2 for invalid arguments and stores nothing", async () => {
      const cases: [Record<string, string>, string][] = [
        [{ "merkle-url": "files.example" }, "ARGUMENT_INVALID"],
        [{ contract: "0x123" }, "ARGUMENT_INVALID"],
        [{ contract: "0x00000000000000000000000000000000DEADbeeF" }, "ARGUMENT_INVALID"],
        [{ contract: `0X${"12".repeat(20)}` }, "ARGUMENT_INVALID"],
        [{ "users-per-file": "0" }, "ARGUMENT_INVALID"],
        [{ "in-flight": "0" }, "ARGUMENT_INVALID"],
        [{ "max-fee": "-1" }, "ARGUMENT_INVALID"],
        [{ "access-list": "perhaps" }, "ARGUMENT_INVALID"],
        [{ confirmations: "0" }, "ARGUMENT_INVALID"],
        [{ confirmations: "final" }, "ARGUMENT_INVALID"],
        [{ files: "ftp://files.example" }, "ARGUMENT_INVALID"],
        [{ records: join(folder.path, "none") }, "FILE_UNREADABLE"],
      ];
      const ran = await Promise.all(cases.map(([changes]) => publish([one], changes)));
      expect(ran.map(({ code, error }) => [code, error])).to.deep.equal(cases.map(([, error]) => [2, error]));
      expect(await readdir(fresh.filesDir)).to.be.empty;
    });

    it("exits with an error for a different chain, contract or owner", async () => {
      const contract = await fresh.deploy("0x00000000000000000000000000000000DeaDBeef");
      const cases = [
        [{ "chain-id": "1", "max-fee": "20" }, 1, "CHAIN_ID_MISMATCH"],
        [{ contract: NOBODY }, 1, "NO_CONTRACT"],
        [{ contract }, 2, "NOT_OWNER"],
      ] as const;
      const ran = await Promise.all(cases.map(([changes]) => publish([one], changes)));
      expect(ran.map(({ code, error }) => [code, error])).to.deep.equal(cases.map(([, ...expected]) => expected));
      expect(await readdir(fresh.filesDir)).to.be.empty;
    });

    it("stores nothing if a row is invalid", async () => {
      const ran = await publish([one, one]);
      expect(ran).to.include({ code: 1, error: "RECORDS_INVALID" });
      expect(await readdir(fresh.filesDir)).to.be.empty;
    });

    it("exits with code 3 if it cannot write the Safe files", async () => {
      const outcome = await publish([one], { "safe-transactions": join(folder.path, "users.jsonl", "safe") });
      expect(outcome).to.include({ code: 3, error: "FILE_UNWRITABLE" });
    });

    it("continues after it was killed between storing a file and adding its root", async () => {
      const asked = new EventEmitter();
      const holding = closing(await startEndpoint(fresh.rpcUrl));
      holding.lie = (method, params, truth) => {
        if (method !== "eth_sendTransaction") return truth(method, params);
        asked.emit("sending");
        return new Promise(() => undefined);
      };
      const plan = planFolder();
      for (const [signal, ending] of [
        ["SIGKILL", [null, "SIGKILL"]],
        ["SIGINT", [130, null]],
      ] as const) {
        const child = keyroot.start([...(await publishing([one, two, three], { rpc: holding.url })), "--plan", plan]);
        const ended = once(child, "exit");
        const said = text(child.stderr);
        await once(asked, "sending");
        child.kill(signal);
        expect(await ended).to.deep.equal(ending);
        if (signal === "SIGINT") {
          const lines = await said;
          expect(lines).to.match(/^Resuming the plan of 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ: 0 of 1 root added\.$/m);
          expect(lines).to.match(/^checking files: 3 of 3 users$/m);
          expect(lines).to.match(
            new RegExp(
              `\nInterrupted\\. Finished work is saved\\. To resume:\n {2}${keyroot.program} publish .*--plan \\S+\n$`,
            ),
          );
        }
        const { json } = await keyroot.json(["status", ...chain(), "--plan", plan]);
        expect(json["plan"]).to.include({ folder: plan, isRunning: false, roots: 1, added: 0, users: 3 });
      }
      const files = await readdir(fresh.filesDir);
      expect([files.length, await readUserCount()]).to.deep.equal([1, 0]);

      const { code, json } = await publish([one, two, three], { plan });
      expect([code, json["users"], json["alreadyPublished"]]).to.deep.equal([0, 3, 0]);
      expect((await keyroot.json(["status", ...chain(), "--plan", plan])).json["plan"]).to.equal(null);
      expect(await readdir(fresh.filesDir)).to.deep.equal(files);
      expect(await verify(three.userID)).to.deep.equal([0, true]);
    });
  });

  describe("estimate", () => {
    const estimate = async (records: readonly KeyRecord[], changes: Record<string, string> = {}) =>
      keyroot.json(["estimate", ...chain({ records: await write(records), ...changes })]);

    it("prints the gas and the cost that publish then uses", async () => {
      const records = sampleRecords(60);
      const { code, json } = await estimate(records, { "users-per-file": "50", "eth-price": "2000" });
      expect(code).to.equal(0);
      expect(json).to.include({ users: 60, transactions: 2, estimated: 2, alreadyPublished: 0, accessList: true });
      const first = json["first"] as { plain: number; withAccessList: number };
      expect(first.withAccessList).to.be.lessThan(first.plain);
      expect(json["costWei"]).to.equal(
        String(
          BigInt(json["gas"] as number) *
            (BigInt(json["baseFeePerGas"] as string) + BigInt(json["priorityFee"] as string)),
        ),
      );
      expect(Math.abs((json["money"] as number) - (Number(json["costWei"]) / 1e18) * 2000) < 0.006).to.be.true;

      const published = (await publish(records, { "users-per-file": "50" })).json;
      // Only the first call sets the user count from zero.
      expect(Number(json["gas"]) - Number(published["gasUsed"])).to.be.within(0, 2 * 17_200);
      expect((await estimate(records)).json).to.include({ users: 0, alreadyPublished: 60 });
    });

    it("needs no signing key", async () => {
      const { code, stdout } = await keyroot.run(["estimate", ...chain({ records: await write([one]) })]);
      expect(code).to.equal(0);
      expect(stdout).to.match(
        /^1 user in 1 transaction, 0 already published\.\n {2}gas +\d+, [\d.]+ per user, estimated by the node\n/,
      );
    });

    it("rejects an invalid price", async () => {
      expect(await estimate([one], { "eth-price": "much" })).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    });
  });

  describe("verify", () => {
    it("prints the verified record, contract and chain", async () => {
      await publishQuickly(one, two);
      const { code, json } = await keyroot.json([
        "verify",
        one.userID,
        ...place({ "expected-public-key": one.pubKey }),
      ]);
      expect(code).to.equal(0);
      expect(json).to.deep.include({ verified: true, record: one, contract: fresh.contract, chainId: fresh.chainId });
      const { stdout } = await keyroot.run(["verify", one.userID, ...place()]);
      expect(stdout).to.contain(`The public key of ${one.userID} is verified.\n`).and.contain(one.pubKey);
    });

    it("exits with code 1 if the key, chain, contract or code differs", async () => {
      await publishQuickly(one);
      const { userID } = one;
      const cases: [string, Record<string, string>, string][] = [
        [two.userID, {}, "NOT_PUBLISHED"],
        [userID, { "expected-public-key": two.pubKey }, "KEY_MISMATCH"],
        [userID, { "code-hash": `0x${"00".repeat(32)}` }, "CODE_HASH_MISMATCH"],
        [userID, { "chain-id": "1" }, "CHAIN_ID_MISMATCH"],
        [userID, { contract: NOBODY }, "NO_CONTRACT"],
      ];
      const ran = await Promise.all(cases.map(([user, changes]) => verify(user, changes)));
      expect(ran).to.deep.equal(cases.map(([, , error]) => [1, error]));
    });

    it("exits with code 1 if the file is missing or invalid", async () => {
      await publishQuickly(one);
      const [file = never()] = await readdir(fresh.filesDir);
      await rm(join(fresh.filesDir, file));
      expect(await verify(one.userID)).to.deep.equal([1, "FILE_NOT_FOUND"]);
      await writeFile(join(fresh.filesDir, file), "{}");
      expect(await verify(one.userID)).to.deep.equal([1, "FILE_SHAPE"]);
    });
  });

  describe("status", () => {
    it("prints the chain, code, owner, users and deployment block", async () => {
      await publishQuickly(one);
      const { code, json } = await keyroot.json(["status", ...chain()]);
      const { contract, chainId, owner } = fresh;
      expect(code).to.equal(0);
      expect(json).to.include({ contract, chainId, owner, userCount: 1 });
      expect(json["codeHash"]).to.match(/^0x[0-9a-f]{64}$/);
      expect(json["deploymentBlock"]).to.be.greaterThan(0);
      expect(await verify(one.userID, { "code-hash": json["codeHash"] as string })).to.deep.equal([0, true]);
    });

    it("reads the endpoint from KEYROOT_RPC_URL unless --rpc is set", async () => {
      const args = ["status", ...chain().slice(2)];
      const { code, json } = await keyroot.json(args, { env: { KEYROOT_RPC_URL: fresh.rpcUrl } });
      expect([code, json["contract"]]).to.deep.equal([0, fresh.contract]);
      const unavailable = { KEYROOT_RPC_URL: "http://127.0.0.1:1" };
      expect((await keyroot.json(args, { env: unavailable })).code).to.equal(3);
      expect((await keyroot.json(["status", ...chain()], { env: unavailable })).code).to.equal(0);
    });

    it("explains that a contract such as PubKeyTrust has no userCount()", async () => {
      const registry = String(await fresh.call("eth_getCode", [fresh.contract, "latest"]));
      // The function selector of userCount().
      expect(registry).to.include("07973ccf");
      await fresh.call("hardhat_setCode", [fresh.contract, registry.replaceAll("07973ccf", "07973cce")]);
      const { code, json } = await keyroot.json(["status", ...chain()]);
      expect(code).to.equal(0);
      expect(json).to.include({ contract: fresh.contract, owner: fresh.owner, userCount: null });
      const { stdout } = await keyroot.run(["status", ...chain()]);
      expect(stdout).to.match(/published users +unknown: the contract has no userCount\(\).*PubKeyTrust/);
    });

    it("exits with code 1 if the address has no contract", async () => {
      const ran = await keyroot.json(["status", ...chain({ contract: NOBODY })]);
      expect(ran).to.include({ code: 1, error: "NO_CONTRACT" });
    });
  });
}
