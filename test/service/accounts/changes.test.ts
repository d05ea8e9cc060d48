import type { EventType } from "../../../packages/service/src/auditLog/recordChange.ts";
import { EVENT_SCHEMAS } from "../../../packages/service/src/webhooks/eventSchemas.ts";
import { expect } from "chai";
import { eq } from "drizzle-orm";
import { randomBytes } from "node:crypto";
import { PartnerClient } from "@keyroot/client/partner";
import { serializeAccountFile, slotIDOf } from "keyroot/account";
import { generateKeyPair } from "keyroot/records";
import { curve41417 } from "../../../packages/keyroot/src/identity/keyTypes/curve41417.ts";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { type UserID, userIDToHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import { AccountPublisher, SETTLE_MS } from "../../../packages/service/src/publisher/accountPublisher.ts";
import { importStatements } from "../../../packages/service/src/publisher/importStatements.ts";
import { rebuildAccountFiles } from "../../../packages/service/src/publisher/rebuildAccountFiles.ts";
import { keyStatements, publicKeys } from "../../../packages/service/src/keys/tables.ts";
import { userIDs } from "../../../packages/service/src/users/tables.ts";
import { takePublishable } from "../../../packages/service/src/publishing/takePublishable.ts";
import { AccountUser, type Key } from "../../support/service/accountUser.ts";
import { markPublished } from "../../support/service/markPublished.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";
import { failure, never } from "../../support/support.ts";

const REGION = "us-west-2";
const HOLD_MS = 3_600_000;
const CONTRACT = `0x${"5fbd".repeat(10)}`;
/** The recovery keys of `AccountUser`. */
const [PHONE, PAPER] = [1, 2];

const randomRoot = () => randomBytes(32).toString("hex");

/** A user whose first key is on the chain, and who changes it. */
interface Story {
  user: AccountUser;
  /** The user's first key, and the keys of changes. */
  keys: [Key, Key, Key];
}

describe("a service with accounts", () => {
  const service = serviceOnPostgres({
    ...{ accounts: "required", registry: { contract: CONTRACT, chainId: 1 }, holdPeriodMs: HOLD_MS },
  });
  let partner: PartnerClient;
  let bizID: string;
  let files: Map<string, string>;
  /** The ids that have a root on the chain. */
  let onChain: Set<UserID>;

  before(async () => {
    const created = await service.createPartner();
    bizID = created.bizID;
    partner = new PartnerClient({ serviceUrl: service.url, bizID, serverToken: created.refreshToken });
  });

  beforeEach(() => {
    files = new Map();
    onChain = new Set();
  });

  afterEach(() => {
    service.resetClock();
  });

  const placeOf = () => ({ serviceUrl: service.url, bizID, chainId: 1, contract: CONTRACT, partner });
  const accountFiles = () => {
    const putAccountFile = (name: string, text: string) => Promise.resolve(void files.set(name, text));
    return new AccountPublisher(service.databases, REGION, { putAccountFile }, () => service.now());
  };
  /** Takes the keys whose hold period is over, like a publisher. @returns the ids of the taken keys */
  const take = async () => {
    const taken = await takePublishable(service.databases, REGION, { now: service.now() });
    return taken.map(({ userID }) => userID);
  };
  /** Publishes like a publisher. @returns the ids of the published keys */
  const publish = async () => {
    const ids = await take();
    await accountFiles().storeBefore(ids);
    if (ids.length > 0) await markPublished(service.databases, { root: randomRoot(), userIDs: ids, at: service.now() });
    for (const id of ids) onChain.add(id);
    return ids;
  };
  const afterHold = () => {
    service.ahead += HOLD_MS + 1;
    return publish();
  };
  const settle = () => {
    service.ahead += SETTLE_MS + 1;
    return accountFiles().settle(
      (ids) => Promise.resolve(ids.map((id) => (onChain.has(id) ? "root" : undefined))),
      SERVICE,
    );
  };
  const start = async (): Promise<Story> => {
    const user = await AccountUser.create(placeOf(), REGION);
    const keys: Story["keys"] = [generateKeyPair(), generateKeyPair(), generateKeyPair()];
    await user.start(keys[0]);
    await afterHold();
    return { user, keys };
  };
  const slot = ({ user }: Story, number: number) => slotIDOf(user.account, number);
  const codeOf = async (call: Promise<unknown>) => ((await failure(call)) as { code?: string }).code;
  /** The states of the account's statements from number 1, such as "1 pending". */
  const states = async ({ user }: Story) => {
    const { statements } = await partner.accounts.get(user.account.userID);
    return statements.filter(({ number }) => number > 0).map(({ number, state }) => `${number} ${state}`);
  };
  /** Whether the account file has a void statement. */
  const isVoid = async ({ user }: Story) => (await user.client.account()).account_file?.includes("\nvoid\n");
  const idOf = async ({ user }: Story, number: number) => {
    const { statements } = await user.client.account();
    return statements.findLast((one) => one.number === number)?.key_id ?? never();
  };

  /** What happens, what the last step returns, and the states of all changes afterwards. */
  const OUTCOMES: Record<string, { run: (story: Story) => Promise<unknown>; returns: unknown; states: string[] }> = {
    "is published after its hold period": {
      async run(story) {
        await story.user.change(1, story.keys[1]);
        service.resetClock();
        return [await publish(), await afterHold()];
      },
      returns: [[], "published"],
      states: ["1 published"],
    },
    "sent twice, has one effect": {
      async run({ user, keys }) {
        const first = await user.change(1, keys[1]);
        const second = await user.client.submitStatement(user.sign(1, keys[1].publicKey));
        return second.submitted === first.submitted;
      },
      returns: true,
      states: ["1 pending"],
    },
    "sent together with another one for the same number, excludes the other": {
      async run({ user, keys }) {
        const calls = await Promise.allSettled([user.change(1, keys[1], 1), user.change(1, keys[2], 2)]);
        const codes = calls.flatMap((call) =>
          call.status === "rejected" ? (call.reason as { code: string }).code : [],
        );
        return [...new Set(codes)];
      },
      returns: ["CHANGE_PENDING"],
      states: ["1 pending"],
    },
    "during the hold period of another one, is rejected": {
      async run({ user, keys }) {
        await user.change(1, keys[1]);
        return [await codeOf(user.change(1, keys[2])), await codeOf(user.change(2, keys[2]))];
      },
      returns: ["CHANGE_PENDING", "CHANGE_PENDING"],
      states: ["1 pending"],
    },
    "is rejected until the last change is settled, and then accepted": {
      async run({ user, keys }) {
        await user.change(1, keys[1]);
        await afterHold();
        const early = await codeOf(user.change(2, keys[2]));
        await settle();
        return [early, (await user.change(2, keys[2])).state];
      },
      returns: ["CHANGE_PENDING", "pending"],
      states: ["1 published", "2 pending"],
    },
    "with a number that is not the next one, is rejected": {
      run: ({ user, keys }) => codeOf(user.change(2, keys[1])),
      returns: "STATEMENT_NUMBER",
      states: [],
    },
    "without the new key's proof of possession, is rejected": {
      run: ({ user, keys }) => codeOf(user.client.submitStatement(user.sign(1, keys[1].publicKey))),
      returns: "POSSESSION_REQUIRED",
      states: [],
    },
    "is never published after an objection by the owner's other recovery key": {
      async run({ user, keys }) {
        await user.change(1, keys[1], 1);
        await user.client.objectToChange(user.object(1, keys[1].publicKey, 2));
        return [await afterHold(), await codeOf(user.change(1, keys[1], 1)), (await user.change(1, keys[2])).state];
      },
      returns: [[], "CHANGE_OBJECTED", "pending"],
      states: ["1 objected", "1 pending"],
    },
    "is never published after an objection by the partner": {
      async run(story) {
        const { user, keys } = story;
        await user.change(1, keys[1]);
        await partner.accounts.object(user.account.userID, 1, await idOf(story, 1));
        return afterHold();
      },
      returns: [],
      states: ["1 objected"],
    },
    "is published if the partner approves it after an objection, and recovery keys can no longer object": {
      async run(story) {
        const { user, keys } = story;
        await user.change(1, keys[1], 2);
        await user.client.objectToChange(user.object(1, keys[1].publicKey, 1));
        await partner.accounts.approve(user.account.userID, 1, await idOf(story, 1));
        const again = await codeOf(user.client.objectToChange(user.object(1, keys[1].publicKey, 1)));
        return [again, await publish()];
      },
      returns: ["CHANGE_SUBMITTED", "published"],
      states: ["1 published"],
    },
    "can no longer be stopped after a publisher has taken it": {
      async run(story) {
        const { user, keys } = story;
        await user.change(1, keys[1]);
        service.ahead += HOLD_MS + 1;
        await take();
        const objection = await codeOf(user.client.objectToChange(user.object(1, keys[1].publicKey)));
        return [objection, await codeOf(partner.accounts.object(user.account.userID, 1, await idOf(story, 1)))];
      },
      returns: ["CHANGE_SUBMITTED", "CHANGE_SUBMITTED"],
      states: ["1 submitted"],
    },
    "of a suspended partner's user, waits, and can be objected to": {
      async run(story) {
        const { user, keys } = story;
        await user.change(1, keys[1]);
        const asOperator = { token: service.adminToken };
        await service.done("/v1/admin/partners/suspend", { biz_id: bizID }, asOperator);
        const [taken, refused] = [await afterHold(), await codeOf(user.change(1, keys[2]))];
        const { state } = await user.client.objectToChange(user.object(1, keys[1].publicKey));
        await service.done("/v1/admin/partners/resume", { biz_id: bizID }, asOperator);
        return [taken, refused, state];
      },
      returns: [[], "PARTNER_SUSPENDED", "objected"],
      states: ["1 objected"],
    },
    "of a deactivated user, is never published": {
      async run({ user, keys }) {
        await user.change(1, keys[1]);
        await partner.deactivateUser(user.account.userID);
        return afterHold();
      },
      returns: [],
      states: ["1 pending"],
    },
    "of a slot that another key has taken, fails, and the owner signs the next number": {
      async run(story) {
        const { user, keys } = story;
        await user.change(1, keys[1]);
        const record = makeKeyRecord(slot(story, 1), keys[2].publicKey);
        const published = { root: randomRoot(), transactionHash: "0x01", blockNumber: 7, blockHash: "0x01" };
        await service.publications.adoptPublished(REGION, published, [record], service.now(), SERVICE);
        return [(await user.change(1, keys[1])).state, (await user.change(2, keys[2])).state];
      },
      returns: ["taken", "pending"],
      states: ["1 taken", "2 pending"],
    },
    "to void, counts after its hold period when the slot has a root": {
      async run(story) {
        const { user } = story;
        const { hold_ends_at: end, submitted } = await user.client.submitStatement(user.sign(1, "void"));
        service.resetClock();
        onChain.add(slot(story, 1));
        await settle();
        const during = await isVoid(story);
        onChain.clear();
        service.ahead += HOLD_MS;
        await settle();
        const empty = await isVoid(story);
        onChain.add(slot(story, 1));
        await settle();
        return [(end ?? 0) - submitted, during, empty, await isVoid(story)];
      },
      returns: [HOLD_MS, false, false, true],
      states: ["1 published"],
    },
    "to void, is never in the account file after an objection by the owner's other recovery key": {
      async run(story) {
        const { user, keys } = story;
        await user.client.submitStatement(user.sign(1, "void", 1));
        await user.client.objectToChange(user.object(1, "void", 2));
        onChain.add(slot(story, 1));
        service.ahead += HOLD_MS;
        await settle();
        return [await isVoid(story), (await user.change(1, keys[1])).state];
      },
      returns: [false, "pending"],
      states: ["1 objected", "1 pending"],
    },
    "to void, counts at once if the partner approves it": {
      async run(story) {
        const { user } = story;
        await user.client.submitStatement(user.sign(1, "void"));
        await partner.accounts.approve(user.account.userID, 1, "void");
        onChain.add(slot(story, 1));
        await settle();
        return isVoid(story);
      },
      returns: true,
      states: ["1 published"],
    },
    "to void, waits while the partner is suspended, and for another hold period afterwards": {
      async run(story) {
        const { user } = story;
        await user.client.submitStatement(user.sign(1, "void"));
        onChain.add(slot(story, 1));
        const asOperator = { token: service.adminToken };
        await service.done("/v1/admin/partners/suspend", { biz_id: bizID }, asOperator);
        service.ahead += HOLD_MS;
        await settle();
        const during = await isVoid(story);
        await service.done("/v1/admin/partners/resume", { biz_id: bizID }, asOperator);
        service.resetClock();
        await settle();
        const after = await isVoid(story);
        service.ahead += HOLD_MS;
        await settle();
        return [during, after, await isVoid(story)];
      },
      returns: [false, false, true],
      states: ["1 published"],
    },
  };

  describe("a change of a key", () => {
    for (const [what, { run, returns, states: expected }] of Object.entries(OUTCOMES))
      it(what, async () => {
        const story = await start();
        const returned = JSON.parse(
          JSON.stringify((await run(story)) ?? null).replaceAll(`["${slot(story, 1)}"]`, '"published"'),
        ) as unknown;
        expect(returned).to.deep.equal(JSON.parse(JSON.stringify(returns)));
        expect(await states(story)).to.deep.equal(expected);
      });

    it("is deleted with the user's account during the hold period, and the slots stay reserved", async () => {
      const story = await start();
      const { user, keys } = story;
      await user.change(1, keys[1]);
      await partner.eraseUser(user.account.userID);
      expect(await afterHold()).to.deep.equal([]);
      expect(await codeOf(partner.createUser(userIDToHex(slot(story, 1)), REGION))).to.equal("USER_ID_TAKEN");
    });

    it("is recorded in the audit log with its author, at each step", async () => {
      const story = await start();
      const { user, keys } = story;
      const { userID } = user.account;
      await user.change(1, keys[1]);
      await user.client.objectToChange(user.object(1, keys[1].publicKey));
      await partner.accounts.approve(userID, 1, await idOf(story, 1));
      await publish();
      await settle();
      await user.change(2, keys[2]);
      const record = makeKeyRecord(slot(story, 2), keys[1].publicKey);
      const published = { root: randomRoot(), transactionHash: "0x01", blockNumber: 7, blockHash: "0x01" };
      await service.publications.adoptPublished(REGION, published, [record], service.now(), SERVICE);
      const steps: string[] = [];
      for await (const { action, actor } of partner.listAuditLog({ userID }))
        if (/^(?:account|keyChange)\./.test(action)) steps.push(`${action} by ${actor.kind}`);
      expect(steps).to.have.members([
        ...["account.stored by user", "keyChange.submitted by user", "keyChange.objected by user"],
        ...["keyChange.approved by partner", "keyChange.published by service", "keyChange.submitted by user"],
        "keyChange.taken by service",
      ]);
    });

    it("causes an event for each step", async () => {
      const story = await start();
      const { user, keys } = story;
      await user.change(1, keys[1]);
      await user.client.objectToChange(user.object(1, keys[1].publicKey));
      await user.change(1, keys[2]);
      await afterHold();
      const types: string[] = [];
      for (let after: string | undefined; ;) {
        const { events, cursor } = await partner.listEvents({ ...(after !== undefined && { after }), limit: 1000 });
        const own = events.filter(({ data }) => data["user_id"] === user.account.userID);
        for (const event of own) EVENT_SCHEMAS[event.type as EventType].parse(event);
        types.push(...own.map(({ type }) => type));
        if (events.length < 1000) break;
        after = cursor;
      }
      const held = ["keyChange.submitted", "keyChange.held"];
      expect(types.filter((type) => type.startsWith("keyChange"))).to.deep.equal([
        ...[...held, "keyChange.objected"],
        ...[...held, "keyChange.published"],
      ]);
    });

    it("leaves the current key in answers and in the account file until everyone sees the new one", async () => {
      const { user, keys } = await start();
      const { userID } = user.account;
      const name = `accounts/${userIDToHex(userID)}`;
      const first = files.get(`${name}.txt`);
      await user.change(1, keys[1]);
      await afterHold();
      expect((await user.client.unverifiedPublicKeyOf(userID)).account_file).to.equal(first);
      expect([files.get(`${name}.txt`), files.get(`${name}.next.txt`) === first]).to.deep.equal([first, false]);
      await settle();
      const answer = await user.client.unverifiedPublicKeyOf(userID);
      expect(answer).to.include({ number: 1, account_file: files.get(`${name}.txt`), state: "published" });
      expect(files.get(`${name}.txt`)).to.equal(files.get(`${name}.next.txt`));
    });
  });

  describe("an account", () => {
    it("is the only way to register a key", async () => {
      const user = await AccountUser.create(placeOf(), REGION);
      expect(await codeOf(user.client.register(generateKeyPair()))).to.equal("STATEMENT_REQUIRED");
      const key = generateKeyPair();
      const submitted = user.client.submitStatement(user.sign(0, key.publicKey), key);
      expect(await codeOf(submitted)).to.equal("ACCOUNT_MISSING");
    });

    it("must have the user's id, and the service's registry", async () => {
      const [user, other] = [await AccountUser.create(placeOf(), REGION), await AccountUser.create(placeOf(), REGION)];
      expect(await codeOf(user.client.storeAccount(other.account.text))).to.equal("ACCOUNT_MISMATCH");
      expect(await codeOf(user.client.storeAccount(`${user.account.text}\n`))).to.equal("ACCOUNT_INVALID");
      const elsewhere = await AccountUser.create({ ...placeOf(), chainId: 5 }, REGION);
      expect(await codeOf(elsewhere.client.storeAccount(elsewhere.account.text))).to.equal("ACCOUNT_MISMATCH");
    });

    it("accepts only statements and objections that the account's recovery keys signed", async () => {
      const { user, keys } = await start();
      const other = await AccountUser.create(placeOf(), REGION);
      const foreign = other.sign(1, keys[1].publicKey);
      expect(await codeOf(user.client.submitStatement(foreign, keys[1]))).to.equal("KEY_STATEMENT_INVALID");
      const forged = foreign.replace(other.account.userID, user.account.userID);
      expect(await codeOf(user.client.submitStatement(forged, keys[1]))).to.equal("KEY_STATEMENT_INVALID");
      await user.change(1, keys[1]);
      expect(await codeOf(user.client.objectToChange(other.object(1, keys[1].publicKey)))).to.equal(
        "KEY_STATEMENT_INVALID",
      );
      const statement = user.sign(1, keys[1].publicKey);
      expect(await codeOf(user.client.objectToChange(statement))).to.equal("KEY_STATEMENT_INVALID");
    });

    it("reserves the ids of its slots, which no partner can use for users", async () => {
      const story = await start();
      for (const number of [1, 2, 8]) {
        const hex = userIDToHex(slot(story, number));
        expect(await codeOf(partner.createUser(hex, REGION)), String(number)).to.equal("USER_ID_TAKEN");
        const { outcomes } = { outcomes: await partner.createUsers([{ userID: hex, region: REGION }]) };
        expect(JSON.stringify(outcomes)).to.include("USER_ID_TAKEN");
      }
    });

    it("has files that are rebuilt from the database, except for a newer file after a restore", async () => {
      const story = await start();
      const { user, keys } = story;
      const { userID } = user.account;
      const [name, nextName] = [`accounts/${userIDToHex(userID)}.txt`, `accounts/${userIDToHex(userID)}.next.txt`];
      const first = files.get(name) ?? never();
      await user.change(1, keys[1]);
      await afterHold();
      const next = files.get(nextName) ?? never();
      const store = {
        putAccountFile: (name: string, text: string) => Promise.resolve(void files.set(name, text)),
        readAccountFile: (name: string) =>
          Promise.resolve(files.has(name) ? Buffer.from(files.get(name) ?? "") : undefined),
      };
      const rebuild = async () => {
        const { rebuilt, newer } = await rebuildAccountFiles(service.databases, {
          "us-west-2": store,
          "eu-west-1": store,
        });
        const own = (names: string[]) => names.filter((one) => one === name || one === nextName);
        return [own(rebuilt), own(newer)];
      };
      expect(await rebuild()).to.deep.equal([[], []]);
      files.delete(nextName);
      files.set(name, `${first}x`);
      expect(await rebuild()).to.deep.equal([[nextName, name], []]);
      expect([files.get(nextName), files.get(name)]).to.deep.equal([next, first]);
      const newer = serializeAccountFile(user.account, [user.sign(2, keys[2].publicKey)]);
      files.set(nextName, newer);
      files.set(name, newer.replace("number 2", "number 3"));
      expect(await rebuild()).to.deep.equal([[name], [nextName]]);
      expect([files.get(nextName), files.get(name)]).to.deep.equal([newer, first]);
    });

    it("gets the published statements that only its files have, after a restore, and no others", async () => {
      const story = await start();
      const { user, keys } = story;
      const { userID } = user.account;
      const name = `accounts/${userIDToHex(userID)}.txt`;
      const key = keys[1];
      await user.change(1, key, PAPER);
      await afterHold();
      await settle();
      const newest = files.get(name) ?? never();
      const regional = service.databases.regions[REGION];
      const restore = async () => {
        await regional.delete(keyStatements).where(eq(keyStatements.slotID, slot(story, 1)));
        await regional.delete(publicKeys).where(eq(publicKeys.userID, slot(story, 1)));
        await service.databases.home.delete(userIDs).where(eq(userIDs.userID, slot(story, 1)));
      };
      await restore();
      // A thief of the phone's recovery key could then make the first key valid again, if nobody objected.
      expect((await user.client.submitStatement(user.sign(1, "void", PHONE))).state).to.equal("pending");
      await regional.delete(keyStatements).where(eq(keyStatements.keyID, "void"));
      await restore();

      const root = randomRoot();
      const store = {
        putAccountFile: (file: string, text: string) => Promise.resolve(void files.set(file, text)),
        readAccountFile: (file: string) =>
          Promise.resolve(files.has(file) ? Buffer.from(files.get(file) ?? "") : undefined),
      };
      const stores = { "us-west-2": store, "eu-west-1": store };
      const rootsOf = (ids: readonly UserID[]) =>
        Promise.resolve(ids.map((id) => (onChain.has(id) ? root : undefined)));
      const { databases } = service;
      const importAll = () =>
        importStatements({ databases, stores, keyType: curve41417, rootsOf, now: () => service.now() });
      // A statement that is not on the chain, and a file that the account's keys did not sign.
      const unpublished = serializeAccountFile(user.account, [user.sign(2, keys[2].publicKey)]);
      for (const other of [unpublished, newest.replace("number 1", "number 3")]) {
        files.set(name, other);
        files.set(name.replace(".txt", ".next.txt"), other);
        expect([...(await importAll())]).to.deep.equal([]);
      }
      files.set(name, newest);
      expect([...(await importAll())]).to.deep.equal([[slot(story, 1), root]]);
      expect([...(await importAll())]).to.deep.equal([]);
      const published = { root, transactionHash: `0x${root}`, blockNumber: 7, blockHash: "0x01" };
      const record = makeKeyRecord(slot(story, 1), key.publicKey);
      await service.publications.adoptPublished(REGION, published, [record], service.now(), SERVICE);
      expect(await states(story)).to.deep.equal(["1 published"]);
      expect(await user.client.unverifiedPublicKeyOf(userID)).to.include({ number: 1, account_file: newest });
      expect(await codeOf(user.client.submitStatement(user.sign(1, "void", PHONE)))).to.equal("STATEMENT_NUMBER");
      expect(await codeOf(partner.createUser(userIDToHex(slot(story, 1)), REGION))).to.equal("USER_ID_TAKEN");
      expect((await user.change(2, keys[2])).state).to.equal("pending");
    });

    it("gets another first key after a withdrawal, with another statement 0", async () => {
      const user = await AccountUser.create(placeOf(), REGION);
      const first = await user.start();
      const { key_id: keyID = never() } = await user.client.record();
      await user.client.withdraw(keyID);
      const second = generateKeyPair();
      await user.client.submitStatement(user.sign(0, second.publicKey), second);
      const { account_file: file, statements } = await user.client.account();
      expect(statements.map(({ state }) => state).sort()).to.deep.equal(["pending", "withdrawn"]);
      expect(file).to.include(Buffer.from(second.publicKey).toString("base64"));
      expect(file).not.to.include(Buffer.from(first.publicKey).toString("base64"));
    });
  });
});

describe("a service without accounts", () => {
  const service = serviceOnPostgres();

  it("rejects the operations on accounts, and answers without account files", async () => {
    const created = await service.createPartner();
    const partner = new PartnerClient({
      serviceUrl: service.url,
      bizID: created.bizID,
      serverToken: created.refreshToken,
    });
    const place = { serviceUrl: service.url, bizID: created.bizID, chainId: 1, contract: CONTRACT, partner };
    const user = await AccountUser.create(place);
    expect(await failure(user.client.storeAccount(user.account.text))).to.include({ code: "ACCOUNTS_DISABLED" });
    expect(await user.client.record()).not.to.have.any.keys("account_file", "number");
  });
});
