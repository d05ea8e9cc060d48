import { expect } from "chai";
import { once } from "node:events";
import { chmod, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { devNull } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { json as jsonOf, text as textOf } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { serializeKeyRecord } from "keyroot/internal/identity";
import { auditedWorld } from "../../support/chain/auditedWorld.ts";
import { sampleRecords } from "../../support/samples.ts";
import { goneUrl, serve } from "../../support/servers/servers.ts";
import { closedAfterEach, never } from "../../support/support.ts";
import { describeWithProgram, outcomeOf } from "../../support/processes/commandLine.ts";

const records = sampleRecords(5);
const [mine = never(), ...others] = records;
const other = others.find(({ pubKey }) => pubKey !== mine.pubKey) ?? never();
const HASH = `0x${"ab".repeat(32)}`;

describeWithProgram("keyroot", (keyroot) => {
  const world = auditedWorld();
  const closing = closedAfterEach();

  const place = (merkleUrl = world.fresh.merkleUrl) => [...chain(), "--merkle-url", merkleUrl];
  const chain = () => world.chainArgs();
  const statePath = () => join(world.folder, "state.json");
  const auditing = (...more: string[]) => ["audit", ...place(), "--state", statePath(), ...more];
  const watching = (...more: string[]) => [
    ...["watch", ...place(), "--user-id", mine.userID, "--public-key", mine.pubKey],
    ...(more.includes("--once") || more.includes("--every") ? [] : ["--every", "1"]),
    ...more,
  ];
  const auditingFolder = (path: string) => ["audit", ...chain(), "--state", statePath(), "--files", path];

  describe("audit", () => {
    beforeEach(() => world.publish(others));

    it("exits with code 0, and prints a report with a chart of the batches", async () => {
      // The chart has a bar for each time, and blocks of the same second share their time.
      await world.fresh.call("evm_increaseTime", [1]);
      const root = await world.publish([mine]);
      const hash = await world.head();
      const { code, stdout } = await keyroot.run(auditing("--trust", `pinned-block:${hash}`));
      expect(code).to.equal(0);
      expect(stdout).to.include(`Audit of ${world.fresh.contract.toLowerCase()} on chain ${world.fresh.chainId}\n`);
      expect(stdout).to.match(/ {2}block {6}\d+, 20/);
      expect(stdout).to.include(`  hash       ${hash}\n`);
      expect(stdout).to.include("the block hash that you gave, and a storage proof of the number of users under it\n");
      expect(stdout).to.match(/ {2}users {6}5 in 2 files\n/);
      expect(stdout).to.match(/ {2}from \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}█+ +4 users in 1 batch\n/);
      expect(stdout).to.match(/^Audit passed: every event, every file and every user is correct\.\n/);
      const { json } = await keyroot.json(auditingFolder(world.fresh.filesDir));
      expect(json).to.deep.include({
        passed: true,
        userCount: 5,
        roots: 2,
        damage: 0,
        findings: [],
        straysSearched: true,
      });
      expect((json["batches"] as { root: string }[]).map((batch) => batch.root)[1]).to.equal(root);
    });

    it("audits the files of several regions together, in subfolders and links of the folder", async () => {
      const dir = world.fresh.filesDir;
      const [second, third] = [await world.publish([mine]), await world.publish(sampleRecords(1, 7))];
      for (const [region, root] of [
        ["eu-west-1", second],
        ["ap-east-1", third],
      ] as const) {
        // The second region's folder is elsewhere.
        const folder = region === "eu-west-1" ? join(dir, region) : join(world.folder, region);
        await mkdir(folder);
        await rename(world.pathOf(`${root}.json`), join(folder, `${root}.json`));
        if (region !== "eu-west-1") await symlink(folder, join(dir, region));
      }
      const honest = await keyroot.json(auditingFolder(dir));
      expect([honest.code, honest.json["findings"], honest.json["filesRead"]]).to.deep.equal([0, [], 3]);

      await writeFile(join(dir, "eu-west-1", "notes.txt"), "");
      const { code, json } = await keyroot.json(auditingFolder(dir));
      const [stray, ...rest] = json["findings"] as Record<string, unknown>[];
      expect([code, rest]).to.deep.equal([1, []]);
      expect(stray).to.include({ code: "FILE_STRAY" }).with.property("message").that.includes("eu-west-1/notes.txt");
    });

    it("exits with code 2 if --files is not a readable folder", async () => {
      for (const path of [join(world.folder, "none"), devNull]) {
        const { code, error, message } = await keyroot.json(auditingFolder(path));
        expect([code, error]).to.deep.equal([2, "FILE_UNREADABLE"]);
        expect(message).to.contain("--files").and.contain(path);
      }
    });

    it("exits with code 1, and prints the finding for a wrong file", async () => {
      const root = await world.publish([mine]);
      await world.writeText(root, (await world.readText(root)).replace(mine.pubKey, other.pubKey));
      const { code, json } = await keyroot.json(auditing());
      expect([code, json["passed"], json["damage"]]).to.deep.equal([1, false, 1]);
      const [found] = json["findings"] as Record<string, unknown>[];
      expect(found).to.include({ code: "FILE_INVALID", detail: "ROOT_MISMATCH", severity: "damage", root });
      const page = await keyroot.run(auditing());
      expect(page.code).to.equal(1);
      expect(page.stdout).to.match(
        /^Audit failed: 1 finding\. .*\n\nDamage: 1 finding about 1 user\n {2}FILE_INVALID \(ROOT_MISMATCH\): The file [^]*\nAudit of /,
      );
    });

    it("exits with code 3 until the file host is available", async () => {
      const away = ["audit", ...place(await goneUrl()), "--state", statePath()];
      const { code, json } = await keyroot.json(away);
      expect([code, json["passed"], json["findings"]]).to.deep.equal([3, false, []]);
      expect((json["unavailableFiles"] as { code: string }[])[0]?.code).to.equal("UNREACHABLE");
      expect((await keyroot.run(away)).stdout).to.match(/^No verdict: /);
      expect((await keyroot.run(auditing())).code).to.equal(0);
    });

    it("exits with code 1 for a false proof from the endpoint", async () => {
      world.lie((method, params, truth) => truth(method, method === "eth_getProof" ? params.with(1, [HASH]) : params));
      expect(await keyroot.json(auditing("--trust", "own-node"))).to.include({ code: 1, error: "PROOF_INVALID" });
    });

    it("exits with code 2 for an invalid state, until the file is deleted", async () => {
      await writeFile(statePath(), "{}");
      expect(await keyroot.json(auditing())).to.include({ code: 2, error: "STATE_INVALID" });
      await rm(statePath());
      expect((await keyroot.run(auditing())).code).to.equal(0);
      expect((await keyroot.run(auditing())).code).to.equal(0);
    });

    it("exits with code 2 for invalid arguments", async () => {
      let asked = 0;
      world.lie(() => asked++);
      const wrong = [
        ["--block", "pending"],
        ["--block", "safe", "--trust", `pinned-block:${HASH}`],
        ["--trust", "pinned-block:0x12"],
        ["--code-hash", HASH.toUpperCase()],
        ["--trust", "auditors"],
      ];
      const ran = await Promise.all(wrong.map((options) => keyroot.json(auditing(...options))));
      for (const one of ran) expect(one).to.include({ code: 2, error: "ARGUMENT_INVALID" });
      expect(asked).to.equal(0);
    });

    it("ends without a verdict at Ctrl-C", async () => {
      const child = keyroot.start(auditing());
      await new Promise<void>((resolve) => {
        world.lie((method, params, truth) => {
          if (method !== "eth_getLogs") return truth(method, params);
          resolve();
          return new Promise<never>(() => undefined);
        });
      });
      child.kill("SIGINT");
      const ended = Promise.all([once(child, "close"), textOf(child.stdout), textOf(child.stderr)]);
      const [[code], stdout, stderr] = (await ended) as [[number], string, string];
      expect([code, stdout]).to.deep.equal([130, ""]);
      expect(stderr).to.match(/^Interrupted\. There is no verdict yet\./m);
    });
  });

  it("exits with code 3 from audit and watch --once if the endpoint is unavailable", async () => {
    // Both repeat their first requests for some time.
    const [gone, names] = [await goneUrl(), ["audit", "watch"]];
    const ran = [auditing(), watching("--once")].map((words) =>
      outcomeOf(keyroot.start([...words.with(2, gone), "--json"])),
    );
    for (const [i, { code, stdout }] of (await Promise.all(ran)).entries()) {
      const { error } = JSON.parse(stdout) as { error: object };
      expect(code, names[i]).to.equal(3);
      expect(error, names[i]).to.include({ code: "UNREACHABLE" });
    }
  });

  describe("watch", () => {
    /** Starts a webhook that records its messages. `hooked` contains the options that name it. */
    const startWebhook = async () => {
      const messages: Record<string, unknown>[] = [];
      const { url } = closing(
        await serve((request, response) => {
          void jsonOf(request).then((message) => {
            messages.push(message as Record<string, unknown>);
            response.end();
          });
        }),
      );
      const { host } = new URL(url);
      return { url, host, messages, hooked: ["--alarm-url", url, "--alarm-host", host] };
    };

    it("continues from the block of the last run with --once", async () => {
      const once = watching("--once", "--state", statePath());
      expect((await keyroot.run(once)).code).to.equal(0);
      const root = await world.publish([mine]);
      const { code, events, json: polled } = await keyroot.jsonLines(once);
      expect(code).to.equal(0);
      const [assigned, added, published] = events;
      // The user's state on the chain is reported first, before the file is read.
      expect(assigned).to.include({ event: "assigned", root, userID: mine.userID });
      expect(added).to.include({ event: "rootAdded", root, addedCount: 1 });
      expect(published).to.include({ event: "published", root, userID: mine.userID });
      expect(polled).to.include({ event: "polled", rootsAdded: 1, usersAdded: 1, publishedUsers: 1, alarms: 0 });
      expect(polled["time"]).to.match(/^\d{4}-.*Z$/);
    });

    it("sends an alarm once with --once and --state, and later exits with code 1 because it is still open", async () => {
      const { messages, hooked } = await startWebhook();
      const failing = closing(await serve((_, response) => response.writeHead(500).end()));
      const { host } = new URL(failing.url);
      const once = watching("--once", "--state", statePath());
      expect((await keyroot.run(once)).code).to.equal(0);
      await world.publish([{ ...other, userID: mine.userID }]);
      // A webhook that fails gets the alarm again in the next run.
      const unsent = await keyroot.run([...once, "--alarm-url", failing.url, "--alarm-host", host]);
      expect([unsent.code, unsent.stderr.includes("The alarm was not sent")]).to.deep.equal([1, true]);
      const first = await keyroot.run([...once, ...hooked]);
      expect(first.code).to.equal(1);
      expect(first.stdout).to.match(/^ALARM {2}WATCHED_KEY_MISMATCH: /m);
      const second = await keyroot.run([...once, ...hooked]);
      expect(second.code).to.equal(1);
      expect(second.stdout)
        .to.match(/^still open {2}WATCHED_KEY_MISMATCH: /m)
        .and.not.include("ALARM");
      const third = await keyroot.jsonLines([...once, ...hooked]);
      expect(third.code).to.equal(1);
      expect(third.events.map(({ event }) => event))
        .to.include("stillOpen")
        .and.not.include("alarm");
      expect(third.json).to.include({ event: "polled", alarms: 1 });
      expect(messages).to.have.lengthOf(1);
    });

    it("prints a line for each root and user only with --verbose", async () => {
      const roots: string[] = [];
      for (const record of records) roots.push(await world.publish([record]));
      const once = watching("--once", "--from-block", "0");
      const { code, stdout } = await keyroot.run(once);
      expect(code).to.equal(0);
      expect(stdout).to.match(/^block \d+ {2}5 new roots with 5 users, 1 of 1 watched key published, 0 alarms\n$/);

      const verbose = (await keyroot.run([...once, "--verbose"])).stdout.trim().split("\n");
      const user = `${mine.userID} has the root ${roots[0]}`;
      expect(verbose.map((line) => line.replace(/ {2}1 user in block \d+$/, ""))).to.have.members([
        `assigned  ${user} on the chain`,
        ...roots.map((root) => `root ${root}`),
        `published  ${user}, with their own key`,
        stdout.trim(),
      ]);
    });

    it("sends an alarm for a wrong key before it exits with code 1", async () => {
      const { url, host, messages } = await startWebhook();
      const child = keyroot.start(watching("--json", "--alarm-host", host), { KEYROOT_ALARM_URL: `${url}/secret` });
      const lines: string[] = [];
      const reading = (async () => {
        for await (const line of createInterface({ input: child.stdout })) {
          if (lines.push(line) === 1) await world.publish([{ ...other, userID: mine.userID }]);
        }
      })();
      const [code] = (await once(child, "close")) as [number];
      await reading;
      expect(code).to.equal(1);
      const alarms = lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ event }) => event === "alarm");
      expect(alarms).to.have.lengthOf(1);
      expect(alarms[0]).to.include({ code: "WATCHED_KEY_MISMATCH", userID: mine.userID });
      expect(messages).to.have.lengthOf(1);
      expect(messages[0]).to.include({ event: "alarm", code: "WATCHED_KEY_MISMATCH", chainId: world.fresh.chainId });
      expect(lines.join()).not.to.include("secret");
    });

    it("reports a user's root although its file is unavailable", async () => {
      const host = closing(await serve((_, response) => response.writeHead(503).end()));
      const once = [...watching("--once", "--state", statePath()).with(8, host.url)];
      expect((await keyroot.run(once)).code).to.equal(0);
      const root = await world.publish([{ ...other, userID: mine.userID }]);
      const first = await keyroot.run(once);
      expect(first.code).to.equal(3);
      expect(first.stdout).to.match(
        new RegExp(
          `^assigned {2}${mine.userID} has the root ${root} on the chain\nunavailable {2}the file of ${root}, since `,
        ),
      );
      const { code, events } = await keyroot.jsonLines(once, { env: { KEYROOT_UNAVAILABLE_AFTER: "0" } });
      expect(code).to.equal(1);
      const [assigned, unavailable, alarm] = events;
      expect(assigned).to.include({ event: "assigned", root, userID: mine.userID });
      expect(unavailable).to.include({ event: "fileUnavailable", root, code: "FILE_HOST_ERROR" });
      expect(alarm).to.include({ event: "alarm", code: "FILE_UNAVAILABLE", root, userID: mine.userID });
    });

    it("signs alarms with a secret from a file or a variable", async () => {
      await world.publish([{ ...other, userID: mine.userID }]);
      const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
      const path = join(world.folder, "secret");
      await writeFile(path, secret, { mode: 0o600 });
      const verified: unknown[] = [];
      const hook = closing(
        await serve((request, response) => {
          void textOf(request).then((body) => {
            verified.push(new Webhook(secret).verify(body, request.headers as Record<string, string>));
            response.end();
          });
        }),
      );
      const hooked = ["--alarm-url", hook.url, "--alarm-host", new URL(hook.url).host];
      const runs = await Promise.all([
        keyroot.run(watching("--once", ...hooked, "--alarm-secret-file", path)),
        keyroot.run(watching("--once", ...hooked), { env: { KEYROOT_ALARM_SECRET: secret } }),
      ]);
      for (const { code, stdout, stderr } of runs) {
        expect(code).to.equal(1);
        expect(stdout + stderr).not.to.include("BwcH");
      }
      expect(verified).to.have.lengthOf(2);
      for (const message of verified) expect(message).to.include({ type: "keyroot.alarm", event: "alarm" });
      await chmod(path, 0o644);
      const open = await keyroot.run(watching("--once", ...hooked, "--alarm-secret-file", path));
      expect([open.code, open.stderr]).to.satisfy(
        ([code, text]: [number, string]) => code === 2 && text.includes("chmod 600"),
      );
      expect((await keyroot.run(watching("--once"), { env: { KEYROOT_ALARM_SECRET: secret } })).code).to.equal(2);
      expect((await keyroot.run(watching("--once"), { env: { KEYROOT_UNAVAILABLE_AFTER: "soon" } })).code).to.equal(2);
    });

    it("sends alarms about a failing endpoint to the webhook", async () => {
      const { messages, hooked } = await startWebhook();
      // A false header ends the watch. The watch must then send an alarm.
      world.lie(async (method, params, truth) => {
        const answer = await truth(method, params);
        return method === "eth_getBlockByNumber" && params[0] === "latest"
          ? { ...(answer as object), timestamp: "0x1" }
          : answer;
      });
      const ended = await keyroot.run(watching("--keep-running", ...hooked));
      expect(ended.code).to.equal(1);
      expect(ended.stderr).to.include("HEADER_MISMATCH");
      expect(messages).to.have.lengthOf(1);
      expect(messages[0]).to.include({ type: "keyroot.alarm", code: "WATCH_ENDED", detail: "HEADER_MISMATCH" });

      world.lie();
      await world.publish([mine]);
      const once = watching("--once", "--state", statePath(), ...hooked);
      expect((await keyroot.run(once)).code).to.equal(0);
      await world.publish(others);
      world.lie(async (method, params, truth) => {
        if (method === "eth_getLogs") throw new Error("unavailable");
        const answer = await truth(method, params);
        // The last word of the response is the user's root.
        return method === "eth_call" ? `${String(answer).slice(0, -64)}${"0".repeat(64)}` : answer;
      });
      const alarmed = await keyroot.run([...once, "--json"]);
      expect(alarmed.stdout).to.include("WATCHED_ROOT_CHANGED");
      expect(alarmed.code).to.equal(1);
      expect(messages.slice(1).map(({ code }) => code)).to.deep.equal(["WATCHED_ROOT_CHANGED"]);
    });

    it("reports an alarm for one of several watched users", async () => {
      const path = join(world.folder, "users.jsonl");
      await writeFile(path, records.map(serializeKeyRecord).join("\n"));
      await world.publish([...others, { ...other, userID: mine.userID }]);
      const hook = `${await goneUrl()}/secret`;
      const hooked = ["--alarm-url", hook, "--alarm-host", new URL(hook).host];
      const { code, stdout, stderr } = await keyroot.run(["watch", ...place(), "--records", path, "--once", ...hooked]);
      expect(code).to.equal(1);
      expect(stdout).to.match(new RegExp(` ${others.length} of ${records.length} watched keys published, 1 alarm\\n`));
      expect(stdout.split("\n")).to.have.lengthOf(3);
      expect(stdout).to.match(/^ALARM {2}WATCHED_KEY_MISMATCH: /m);
      expect(stderr)
        .to.match(/^UNREACHABLE: The alarm was not sent: /)
        .and.not.include("secret");
    });

    it("continues after the endpoint fails", async () => {
      // The first calls read the chain id and the genesis block. The next one fails as often as the first poll repeats
      // it.
      let calls = 0;
      world.lie((method, params, truth) => {
        if (++calls > 2 && calls <= 2 + 6) throw new Error();
        return truth(method, params);
      });
      const child = keyroot.start(watching("--json"));
      const seen: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        seen.push((JSON.parse(line) as { event: string }).event);
        if (seen.at(-1) === "polled") break;
      }
      child.kill("SIGINT");
      const [code] = (await once(child, "close")) as [number];
      expect(code).to.equal(0);
      expect(seen.slice(-2)).to.deep.equal(["recovered", "polled"]);
      expect(new Set(seen.slice(0, -2))).to.deep.equal(new Set(["unavailable"]));
    });

    it("repeats its first requests if the endpoint fails", async () => {
      for (const words of [watching("--once"), auditing()]) {
        const failed = new Set<string>();
        world.lie((method, params, truth) => {
          const request = params[0] === "0x0" ? "first block" : method;
          const isFirst = (method === "eth_chainId" || request === "first block") && !failed.has(request);
          if (!isFirst) return truth(method, params);
          failed.add(request);
          throw new Error();
        });
        expect([(await keyroot.run(words)).code, failed.size], words[0]).to.deep.equal([0, 2]);
      }
    });

    it("exits with code 2 for invalid arguments", async () => {
      let asked = 0;
      world.lie(() => asked++);
      const hook = "https://hooks.example/secret";
      const wrong = [
        ["watch", ...place()],
        ["watch", ...place(), "--user-id", mine.userID],
        watching().with(-3, "AAAA"),
        watching("--records", "users.jsonl"),
        watching("--alarm-url", hook),
        watching("--alarm-url", hook, "--alarm-host", "other.example"),
        watching("--alarm-url", "http://hooks.example/secret", "--alarm-host", "hooks.example"),
        watching("--block", "pending"),
        watching("--from-block", "-1"),
        watching("--every", "0"),
        watching("--every", "2147484"),
      ];
      const ran = await Promise.all(wrong.map((args) => keyroot.json(args)));
      expect(ran.map(({ code }) => code)).to.deep.equal(wrong.map(() => 2));
      expect(JSON.stringify(ran)).not.to.include("secret");
      expect(asked).to.equal(0);
    });
  });
});
