import { expect } from "chai";
import { PartnerClient } from "@keyroot/client/partner";
import { UserClient } from "@keyroot/client/user";
import { slotIDOf } from "keyroot/account";
import { generateKeyPair } from "keyroot/records";
import { takePublishable } from "../../../packages/service/src/publishing/takePublishable.ts";
import { AccountPublisher, SETTLE_MS } from "../../../packages/service/src/publisher/accountPublisher.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import { userIDToHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { AccountUser } from "../../support/service/accountUser.ts";
import { markPublished } from "../../support/service/markPublished.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";
import { failure, never } from "../../support/support.ts";
import { sha256 } from "../../support/samples.ts";

const REGION = "us-west-2";
const HOLD_MS = 3_600_000;
const CONTRACT = `0x${"5fbd".repeat(10)}`;
/** The recovery keys of `AccountUser`: the owner has the paper, and a thief the phone. */
const [PHONE, PAPER] = [1, 2];

describe("attacks on accounts in the service", () => {
  const service = serviceOnPostgres({
    ...{ accounts: "required", registry: { contract: CONTRACT, chainId: 1 }, holdPeriodMs: HOLD_MS },
  });
  let [partner, other]: [PartnerClient, PartnerClient] = [never, never] as never;
  let files: Map<string, string>;
  let bizIDs: [string, string];

  before(async () => {
    const start = async () => {
      const { bizID, refreshToken } = await service.createPartner();
      return { bizID, client: new PartnerClient({ serviceUrl: service.url, bizID, serverToken: refreshToken }) };
    };
    const [a, b] = [await start(), await start()];
    [partner, other, bizIDs] = [a.client, b.client, [a.bizID, b.bizID]];
  });

  beforeEach(() => {
    files = new Map();
  });

  afterEach(() => {
    service.resetClock();
  });

  const userOf = (client: PartnerClient) => {
    const bizID = bizIDs[client === partner ? 0 : 1];
    return AccountUser.create(
      { serviceUrl: service.url, bizID, chainId: 1, contract: CONTRACT, partner: client },
      REGION,
    );
  };
  /** The client of a user whose id is a slot of another user's account. */
  const userOfSlot = async ({ account }: AccountUser, number: number) => {
    const refreshToken = await other.createUserRefreshToken(slotIDOf(account, number), "a phone");
    const place = { serviceUrl: service.url, bizID: bizIDs[1], chainId: 1, contract: CONTRACT };
    return new UserClient({ ...place, refreshToken });
  };
  const publisher = () => {
    const putAccountFile = (name: string, text: string) => Promise.resolve(void files.set(name, text));
    return new AccountPublisher(service.databases, REGION, { putAccountFile }, () => service.now());
  };
  const publish = async () => {
    service.ahead += HOLD_MS + 1;
    const userIDs = (await takePublishable(service.databases, REGION, { now: service.now() })).map((key) => key.userID);
    await publisher().storeBefore(userIDs);
    const root = sha256(userIDs.join(" "));
    if (userIDs.length > 0) await markPublished(service.databases, { root, userIDs, at: service.now() });
    return userIDs.length;
  };
  /** Settles changes, as if these slots had a root on the chain. */
  const settle = (hasRoot: boolean) => {
    service.ahead += SETTLE_MS + 1;
    return publisher().settle((ids) => Promise.resolve(ids.map(() => (hasRoot ? "root" : undefined))), SERVICE);
  };
  const start = async () => {
    const user = await userOf(partner);
    await user.start();
    await publish();
    return user;
  };
  const codeOf = async (call: Promise<unknown>) => ((await failure(call)) as { code?: string }).code;
  const statesOf = async ({ client }: AccountUser) =>
    (await client.account()).statements.slice(1).map(({ number, state }) => `${number} ${state}`);

  it("another partner cannot see, stop or approve a change", async () => {
    const [user, key] = [await start(), generateKeyPair()];
    const { userID } = user.account;
    const { key_id: keyID } = await user.change(1, key);
    expect(await codeOf(other.accounts.get(userID))).to.equal("USER_UNKNOWN");
    expect(await codeOf(other.accounts.object(userID, 1, keyID))).to.equal("USER_UNKNOWN");
    await user.client.objectToChange(user.object(1, key.publicKey, PAPER));
    expect(await codeOf(other.accounts.approve(userID, 1, keyID))).to.equal("USER_UNKNOWN");
    expect(await statesOf(user)).to.deep.equal(["1 objected"]);
    expect(await publish()).to.equal(0);
  });

  it("another user cannot submit the account's statements or objections", async () => {
    const [user, key, attacker] = [await start(), generateKeyPair(), await userOf(other)];
    await attacker.start();
    await user.change(1, key);
    const { client } = attacker;
    expect(await codeOf(client.storeAccount(user.account.text))).to.equal("ACCOUNT_MISMATCH");
    expect(await codeOf(client.submitStatement(user.sign(1, key.publicKey), key))).to.equal("KEY_STATEMENT_INVALID");
    expect(await codeOf(client.objectToChange(user.object(1, key.publicKey)))).to.equal("KEY_STATEMENT_INVALID");
    expect(await statesOf(user)).to.deep.equal(["1 pending"]);
  });

  it("an objection to one key does not stop another one, and cannot be sent before its statement", async () => {
    const [user, first, second] = [await start(), generateKeyPair(), generateKeyPair()];
    const objection = user.object(1, first.publicKey, PAPER);
    expect(await codeOf(user.client.objectToChange(objection))).to.equal("CHANGE_UNKNOWN");
    await user.change(1, first, PHONE);
    await user.client.objectToChange(objection);
    await user.change(1, second, PAPER);
    expect((await user.client.objectToChange(objection)).state).to.equal("objected");
    expect(await codeOf(user.client.objectToChange(user.object(2, second.publicKey)))).to.equal("CHANGE_UNKNOWN");
    expect(await publish()).to.equal(1);
    expect(await statesOf(user)).to.have.members(["1 objected", "1 published"]);
  });

  it("a stolen recovery key cannot declare the owner's newest key void", async () => {
    const [user, key] = [await start(), generateKeyPair()];
    await user.change(1, key, PAPER);
    expect(await codeOf(user.client.submitStatement(user.sign(1, "void", PHONE)))).to.equal("CHANGE_PENDING");
    await publish();
    expect(await codeOf(user.client.submitStatement(user.sign(1, "void", PHONE)))).to.equal("CHANGE_PENDING");
    await settle(true);
    expect(await codeOf(user.client.submitStatement(user.sign(1, "void", PHONE)))).to.equal("STATEMENT_NUMBER");
  });

  it("a void statement for an empty slot never counts, and the owner's objection makes room for a change", async () => {
    const [user, key] = [await start(), generateKeyPair()];
    await user.client.submitStatement(user.sign(1, "void", PHONE));
    service.ahead += HOLD_MS;
    await settle(false);
    expect(await codeOf(user.change(1, key, PAPER))).to.equal("CHANGE_PENDING");
    await user.client.objectToChange(user.object(1, "void", PAPER));
    await user.change(1, key, PAPER);
    await publish();
    await settle(true);
    expect(await statesOf(user)).to.have.members(["1 objected", "1 published"]);
    expect([...files.values()].join("")).not.to.include("\nvoid\n");
    expect(await codeOf(user.client.submitStatement(user.sign(1, "void", PHONE)))).to.equal("CHANGE_OBJECTED");
  });

  it("another partner who knows the account text cannot keep its slots by creating users with their ids", async () => {
    const user = await userOf(partner);
    const hex = (number: number) => userIDToHex(slotIDOf(user.account, number));
    const create = (number: number) => other.createUser(hex(number), "eu-west-1");
    for (const number of [1, 2, 8, 9]) await create(number);
    const squatter = await userOfSlot(user, 9);
    const key = generateKeyPair();
    expect(await codeOf(squatter.storeAccount(user.account.text))).to.equal("ACCOUNT_MISMATCH");
    expect(await codeOf(squatter.submitStatement(user.sign(0, key.publicKey), key))).to.equal("ACCOUNT_MISSING");
    await user.start();
    await publish();
    expect(await codeOf(create(1))).to.equal("USER_ID_TAKEN");
    expect(await codeOf(other.getUser(hex(8)))).to.equal("USER_UNKNOWN");
    expect((await other.getUser(hex(9))).user_id).to.equal(slotIDOf(user.account, 9));
    await user.change(1, key);
    expect(await codeOf(squatter.account())).to.equal("ACCESS_TOKEN_REVOKED");
    expect(await codeOf(other.getUser(hex(9)))).to.equal("USER_UNKNOWN");
    for (const number of [1, 8, 9]) expect(await codeOf(create(number)), String(number)).to.equal("USER_ID_TAKEN");
    await publish();
    expect(await statesOf(user)).to.deep.equal(["1 published"]);
  });

  it("a text that is too long for an account is rejected before it is parsed", async () => {
    const user = await userOf(partner);
    const long = `${user.account.text}${"x".repeat(5000)}`;
    expect(await codeOf(user.client.storeAccount(long))).to.equal("TEXT_TOO_LONG");
  });
});
