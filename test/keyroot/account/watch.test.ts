import { expect } from "chai";
import { type Alarm, ANY_KEY, type Contact, oneEndpoint, type WatchKeysOptions } from "keyroot";
import { accounts } from "keyroot/account";
import { makeBundle, parseBundle } from "keyroot/bundle";
import { AccountRegistry, keyAt, textAt } from "../../support/account/accountRegistry.ts";
import { type PlainAccount, plainAccountFile, plainSlot, plainStatement } from "../../support/account/plainAccount.ts";
import { failure, never } from "../../support/support.ts";
import { type TestOptions, verifierAt } from "../../support/verifier/verifyOnce.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("watch with accounts", () => {
  let registry: AccountRegistry;
  let app: AbortController;
  let store: Map<string, string>;
  let alarms: Alarm[];
  let contacts: Contact[];
  let time: number;
  let own: PlainAccount;
  let ownFile: string;

  before(async () => {
    registry = await AccountRegistry.start();
  });

  after(() => registry.close());

  beforeEach(async () => {
    app = new AbortController();
    store = new Map();
    alarms = [];
    contacts = [];
    time = Date.UTC(2030, 0, 1);
    own = registry.newAccount();
    ownFile = await registry.change(own, 0);
  });

  afterEach(() => {
    app.abort();
  });

  const start = (options: Partial<WatchKeysOptions> = {}, network: Pick<TestOptions, "limits" | "fetch"> = {}) =>
    verifierAt({ ...registry.optionsFor(oneEndpoint()), accounts: accounts(), now: () => time, ...network }).watch({
      ...{ userID: own.userID, publicKey: keyAt(0), account: ownFile, contacts: () => contacts, store, makeBundle },
      ...{ onAlarm: (alarm) => alarms.push(alarm), signal: app.signal, ...options },
    });
  const codes = () => alarms.map(({ code, userID }) => [code, userID]);
  const fileOf = (alarm: Alarm | undefined) =>
    JSON.parse(alarm?.file.text ?? "{}") as { slot?: number; bundle?: object; now?: { root: string } };

  it("raises no alarm while the accounts' newest keys are the app's keys", async () => {
    const contact = registry.newAccount();
    await registry.change(contact, 0);
    contacts = [{ userID: contact.userID, expectedPublicKey: keyAt(0) }];
    const watch = await start();
    for (let round = 0; round < 3; round++, time += HOUR) expect((await watch.check()).errors).to.deep.equal([]);
    expect(watch.status.checkedAt).to.equal(time - HOUR);
    expect(watch.status.contactsCheckedAt.get(contact.userID)).to.equal(time - HOUR);
    expect(codes()).to.deep.equal([]);
  });

  it("checks all keys if the store returns null for a missing text, as AsyncStorage does", async () => {
    const contact = registry.newAccount();
    await registry.change(contact, 0);
    contacts = [{ userID: contact.userID, expectedPublicKey: keyAt(0) }];
    const get = (name: string) => (store.get(name) ?? null) as unknown as undefined;
    const watch = await start({ store: { get, set: (name, text) => store.set(name, text) } });
    expect((await watch.check()).errors).to.deep.equal([]);
  });

  it("checks all keys if the store never finishes storing the account files", async () => {
    for (let i = 0; i < 4; i++) {
      const contact = registry.newAccount();
      await registry.change(contact, 0);
      contacts.push({ userID: contact.userID, expectedPublicKey: keyAt(0) });
    }
    const set = (name: string, text: string) =>
      name.endsWith(":account") ? new Promise(() => undefined) : store.set(name, text);
    const slow = { get: (name: string) => store.get(name), set };
    const watch = await start({ store: slow }, { limits: { timeoutMs: 3000 } });
    // A round stores the account files of keys that an earlier round has verified.
    await watch.check();
    time += HOUR;
    const { errors, checkedAt, contactsCheckedAt } = await watch.check();
    expect(errors.map((error) => (error as { code: string }).code)).to.deep.equal(["STORE_UNAVAILABLE"]);
    expect([checkedAt, ...contactsCheckedAt.values()]).to.deep.equal([time, time, time, time, time]);
    expect([...store.keys()].filter((name) => name.startsWith("keyroot-watch"))).to.have.lengthOf(1);
  });

  describe("while a file host does not answer", () => {
    /** Returns a `fetch` that never responds for some files, and the limit of each step of a round. */
    const hanging = (isSlow: (path: string) => boolean): Pick<TestOptions, "limits" | "fetch"> => ({
      limits: { timeoutMs: 500 },
      fetch: (url, init) =>
        isSlow(url as string)
          ? new Promise((_, reject) => {
              init?.signal?.addEventListener("abort", () => {
                reject(new TypeError("aborted"));
              });
            })
          : fetch(url, init),
    });
    const newContact = async (expectedPublicKey = keyAt(0)) => {
      const contact = registry.newAccount();
      await registry.change(contact, 0);
      contacts.push({ userID: contact.userID, expectedPublicKey });
      return contact;
    };

    it("checks the other users in the same round if it withholds users' account files", async () => {
      const withheld = await Promise.all(Array.from({ length: 9 }, () => newContact()));
      const swapped = await newContact(keyAt(1));
      const network = hanging((url) => withheld.some(({ hex }) => url.includes(hex)));
      const watch = await start({}, network);
      const { errors, checkedAt, contactsCheckedAt } = await watch.check();
      expect(codes()).to.deep.equal([["CONTACT_KEY_MISMATCH", swapped.userID]]);
      expect([checkedAt, [...contactsCheckedAt.keys()]]).to.deep.equal([time, [swapped.userID]]);
      expect(errors.map((error) => (error as { code: string }).code)).to.deep.equal(Array(9).fill("TIMEOUT"));
    });

    it("raises SLOT_UNAUTHORIZED for a new key whose statement it withholds, and checks the other users", async () => {
      await registry.publish(plainSlot(own, 1), keyAt(3));
      const swapped = await newContact(keyAt(1));
      const watch = await start(
        {},
        hanging((url) => url.includes(own.hex)),
      );
      await watch.check();
      expect(codes()).to.have.deep.members([
        ["SLOT_UNAUTHORIZED", own.userID],
        ["CONTACT_KEY_MISMATCH", swapped.userID],
      ]);
    });

    /** Makes a `fetch` that sends six requests at a time, as browsers do. */
    const sixAtOnce = (fetch: typeof globalThis.fetch): typeof fetch => {
      let free = 6;
      const waiting: (() => void)[] = [];
      return async (url, init) => {
        if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
        else free--;
        try {
          return await fetch(url, init);
        } finally {
          const next = waiting.shift();
          if (next) next();
          else free++;
        }
      };
    };

    it("checks all other users within two rounds if the browser sends six requests at a time", async () => {
      const withheld = await Promise.all(Array.from({ length: 6 }, () => newContact()));
      const swapped = await newContact(keyAt(1));
      const { fetch = never(), limits } = hanging((url) => withheld.some(({ hex }) => url.includes(hex)));
      const watch = await start({}, { fetch: sixAtOnce(fetch), limits });
      // The watch itself starts the first round.
      await watch.check();
      expect(codes()).to.deep.equal([["CONTACT_KEY_MISMATCH", swapped.userID]]);
    });

    it("finds the statement of a changed key although six other users' statements are withheld", async () => {
      const users = await Promise.all(Array.from({ length: 7 }, () => newContact()));
      const files = users.map((user) => plainAccountFile(user, [plainStatement(user, 0, textAt(0))]));
      contacts = users.map(({ userID }, i) => ({ userID, expectedPublicKey: ANY_KEY, account: files[i] ?? never() }));
      for (const user of users) await registry.change(user, 1);
      const withheld = users.slice(0, 6);
      const { fetch = never(), limits } = hanging((url) => withheld.some(({ hex }) => url.includes(hex)));
      const watch = await start({}, { fetch: sixAtOnce(fetch), limits });
      for (let round = 0; round < 3; round++) await watch.check();
      expect(codes()).to.have.deep.members(withheld.map(({ userID }) => ["SLOT_UNAUTHORIZED", userID]));
    });

    it("uses a statement that it serves while it withholds the next one", async () => {
      const contact = await newContact();
      await (await start()).check();
      // The second round stores the contact's account file.
      time += HOUR;
      await (await start()).check();
      await registry.change(contact, 1);
      contacts = [{ userID: contact.userID, expectedPublicKey: keyAt(1) }];
      time += HOUR;
      const { contactsCheckedAt } = await (
        await start(
          {},
          hanging((url) => url.includes(".next")),
        )
      ).check();
      expect(contactsCheckedAt.get(contact.userID)).to.equal(time);
      expect(codes()).to.deep.equal([]);
    });
  });

  describe("for the owner", () => {
    it("raises SLOT_UNAUTHORIZED once for a key that the owner did not authorize, with a bundle of it", async () => {
      const watch = await start();
      await watch.check();
      await registry.publish(plainSlot(own, 1), keyAt(3));
      await watch.check();
      await watch.check();
      expect(codes()).to.deep.equal([["SLOT_UNAUTHORIZED", own.userID]]);
      const { slot, bundle, now } = fileOf(alarms[0]);
      expect(slot).to.equal(1);
      const { record, bundle: parsed } = parseBundle(bundle);
      expect(record).to.deep.include({ userID: plainSlot(own, 1), pubKey: textAt(3) });
      expect(parsed.proof.root).to.equal(now?.root);
      // The owner closes the slot.
      const closed = registry.store(own, `${ownFile}\n${plainStatement(own, 1, undefined)}`);
      alarms = [];
      const next = await start({ account: closed });
      await next.check();
      expect(codes()).to.deep.equal([]);
    });

    it("raises WATCHED_KEY_MISMATCH for a change that the recovery keys authorized, but not this device", async () => {
      const watch = await start();
      await watch.check();
      await registry.change(own, 1);
      await watch.check();
      await watch.check();
      expect(codes()).to.deep.equal([["WATCHED_KEY_MISMATCH", own.userID]]);
    });

    it("raises SLOT_UNAUTHORIZED for another key than the authorized one in the account's own slot", async () => {
      own = registry.newAccount();
      ownFile = plainAccountFile(own, [plainStatement(own, 0, textAt(0))]);
      await registry.publish(own.userID, keyAt(2));
      await (await start()).check();
      expect(codes()).to.deep.equal([
        ["WATCHED_KEY_MISMATCH", own.userID],
        ["SLOT_UNAUTHORIZED", own.userID],
      ]);
    });

    it("raises CHANGE_UNPUBLISHED for an authorized change that is not published in time", async () => {
      const later = plainAccountFile(own, [plainStatement(own, 1, textAt(1))]);
      const watch = await start({ publicKey: keyAt(1), account: later });
      await watch.check();
      time += 2 * DAY - HOUR;
      await watch.check();
      expect(codes()).to.deep.equal([]);
      time += HOUR;
      await watch.check();
      await watch.check();
      expect(codes()).to.deep.equal([["CHANGE_UNPUBLISHED", own.userID]]);
      expect(fileOf(alarms[0]).slot).to.equal(1);
      await registry.change(own, 1);
      await watch.check();
      expect(codes()).to.have.lengthOf(1);
    });

    it("raises CHANGE_UNPUBLISHED in time if the clock was a year ahead in the first round", async () => {
      const later = plainAccountFile(own, [plainStatement(own, 1, textAt(1))]);
      time += 365 * DAY;
      const watch = await start({ publicKey: keyAt(1), account: later });
      await watch.check();
      time -= 365 * DAY;
      for (let day = 0; day < 3; day++, time += DAY) await watch.check();
      expect(codes()).to.deep.equal([["CHANGE_UNPUBLISHED", own.userID]]);
    });

    it("accepts only an account file that authorizes the owner's key", async () => {
      expect(await failure(start({ publicKey: keyAt(1) }))).to.include({ code: "ARGUMENT_INVALID" });
      expect(await failure(start({ account: "no account" }))).to.include({ code: "ACCOUNT_INVALID" });
      const plain = verifierAt(registry.optionsFor(oneEndpoint()));
      const options = { store, makeBundle, onAlarm: () => never(), signal: app.signal };
      const error = await failure(
        plain.watch({ userID: own.userID, publicKey: keyAt(0), account: ownFile, ...options }),
      );
      expect(error).to.include({ code: "ARGUMENT_INVALID" });
    });
  });

  describe("for contacts", () => {
    let contact: PlainAccount;

    beforeEach(async () => {
      contact = registry.newAccount();
      await registry.change(contact, 0);
      contacts = [{ userID: contact.userID, expectedPublicKey: keyAt(0) }];
    });

    const watchTwice = async (between: () => Promise<unknown>) => {
      const watch = await start();
      await watch.check();
      await between();
      time += HOUR;
      return (await watch.check()).errors;
    };

    it("accepts a changed key that the server also returns", async () => {
      const errors = await watchTwice(async () => {
        await registry.change(contact, 1);
        contacts = [{ userID: contact.userID, expectedPublicKey: keyAt(1) }];
      });
      expect(errors).to.deep.equal([]);
      expect(codes()).to.deep.equal([]);
    });

    it("raises CONTACT_KEY_MISMATCH if the server still returns the key before the change", async () => {
      await watchTwice(() => registry.change(contact, 1));
      expect(codes()).to.deep.equal([["CONTACT_KEY_MISMATCH", contact.userID]]);
    });

    it("raises SLOT_UNAUTHORIZED if no statement for the next slot is known", async () => {
      await watchTwice(() => registry.publish(plainSlot(contact, 1), keyAt(3)));
      expect(codes()).to.deep.equal([["SLOT_UNAUTHORIZED", contact.userID]]);
    });

    it("reports a missing account file as an error of the round", async () => {
      contact = registry.newAccount();
      contacts = [{ userID: contact.userID, expectedPublicKey: keyAt(0) }];
      const { errors } = await (await start()).check();
      expect(errors.map((error) => (error as { code: string }).code)).to.deep.equal(["ACCOUNT_MISSING"]);
      expect(codes()).to.deep.equal([]);
    });
  });
});
