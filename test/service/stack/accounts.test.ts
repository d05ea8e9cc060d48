import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import hre from "hardhat";
import { AdminClient } from "@keyroot/client/operator";
import { PartnerClient } from "@keyroot/client/partner";
import { UserClient } from "@keyroot/client/user";
import { createVerifier, oneEndpoint, ownNode, type Trust } from "keyroot";
import { accounts } from "keyroot/account";
import { lightClient } from "keyroot/light-client";
import { generateKeyPair } from "keyroot/records";
import { TEST_CHECKPOINT } from "@keyroot/operator/testing";
import { type Stack, startStack } from "../../../packages/service/src/stack/startStack.ts";
import { userIDToHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { type AccountService, AccountUser } from "../../support/service/accountUser.ts";
import { never } from "../../support/support.ts";
import { testAll } from "../../support/testSize.ts";

/** The number of people who have the user as a contact. */
const CONTACTS = 25;

describe("a local stack with accounts", () => {
  let stack: Stack;
  let admin: AdminClient;
  let service: AccountService;

  before(async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0, service: 0, beacon: 0 }, accounts: "required" });
    const { serviceUrl, adminToken } = stack.service ?? never();
    admin = new AdminClient({ serviceUrl, adminToken });
    const bizID = (await admin.createPartner("A company")).biz_id;
    const { token } = await admin.createServerToken(bizID);
    const partner = new PartnerClient({ serviceUrl, bizID, serverToken: token });
    service = { serviceUrl, bizID, chainId: stack.chainId, contract: stack.contract, partner };
  });

  after(() => stack.close());

  /** Starts apps of people who have a user as a contact. They run all the time, and count their requests. */
  const startApps = async (trust: Trust) => {
    const { rpcUrl: rpc, chainId, contract, merkleUrl } = stack;
    const { serviceUrl, bizID, partner } = service;
    const traffic = { requests: 0, bytes: 0 };
    const counting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const sent = typeof init?.body === "string" ? init.body.length : 0;
      traffic.requests++;
      traffic.bytes += sent + (await response.clone().arrayBuffer()).byteLength;
      return response;
    };
    const apps = await Promise.all(
      Array.from({ length: CONTACTS }, async () => {
        const { user_id: userID } = await partner.createUser(randomBytes(20).toString("hex"), "us-west-2");
        const refreshToken = await partner.createUserRefreshToken(userID, "a phone");
        const client = new UserClient({ serviceUrl, bizID, refreshToken, chainId, contract, fetch: counting });
        const options = { rpc, chainId, contract, merkleUrl, trust, accounts: accounts(), fetch: counting };
        return { client, verifier: createVerifier(options) };
      }),
    );
    /** The number of the contact's key in each app, and its traffic. */
    return async (userID: string) => {
      Object.assign(traffic, { requests: 0, bytes: 0 });
      const found = await Promise.all(apps.map(({ client, verifier }) => client.publicKeyOf(userID, verifier)));
      const keys = new Set(found.map(({ publicKey }) => publicKey.toString()));
      const numbers = new Set(found.map(({ account }) => account?.number));
      const { requests, bytes } = traffic;
      return { numbers: [...numbers], keys: [...keys], requests: requests / CONTACTS, bytes: bytes / CONTACTS };
    };
  };

  /** The trust choices, and the requests that each app may send more in the half hour after a change. */
  const trusts: Record<string, { makeTrust: () => Trust; more: number }> = {
    lightClient: {
      makeTrust: () => lightClient({ urls: [stack.beaconUrl ?? never()], checkpoint: TEST_CHECKPOINT }),
      more: 5,
    },
    ...(testAll && {
      oneEndpoint: { makeTrust: () => oneEndpoint(), more: 2 },
      ownNode: { makeTrust: () => ownNode(), more: 5 },
    }),
  };
  for (const [name, { makeTrust, more }] of Object.entries(trusts))
    it(`with ${name}, leads from a lost phone to 25 contacts with the new key, without a restart`, async () => {
      const verify = await startApps(makeTrust());
      const user = await AccountUser.create(service);
      const { userID } = user.account;
      const first = await user.start();
      expect(await admin.publishRegistered()).to.have.lengthOf(1);
      // The first call also exchanges each app's refresh token.
      await verify(userID);
      const before = await verify(userID);
      expect(before).to.deep.include({ numbers: [0], keys: [first.publicKey.toString()] });

      const key = generateKeyPair();
      expect(await user.change(1, key)).to.include({ number: 1, state: "pending" });
      expect(await verify(userID)).to.deep.equal(before);
      expect(await admin.publishRegistered()).to.have.lengthOf(1);
      const during = await verify(userID);
      expect(during).to.deep.include({ numbers: [1], keys: [key.publicKey.toString()] });
      expect(await user.client.account()).to.deep.include({ number: 0 });
      // The file in the answer proves too old, so each app fetches the host's file of the change, and reads the chain
      // once more.
      expect(during.requests).to.be.at.most(before.requests + more);
      expect(during.bytes).to.be.at.most(2 * before.bytes);
    });

  it("stores the account file of the first key and of a change beside the Merkle-tree files", async () => {
    const user = await AccountUser.create(service);
    const hex = userIDToHex(user.account.userID);
    await user.start();
    await admin.publishRegistered();
    const path = join(stack.filesDir, "eu-west-1", `accounts/${hex}.txt`);
    const { account_file: file } = await user.client.account();
    expect(await readFile(path, "utf8")).to.equal(file);
    await user.change(1, generateKeyPair());
    await admin.publishRegistered();
    expect(await readFile(path, "utf8")).to.equal(file);
    const { next_account_file: next } = await user.client.account();
    const response = await fetch(`${stack.merkleUrl}/accounts/${hex}.next.txt`);
    expect(await response.text()).to.equal(next);
    expect(response.headers.get("cache-control")).to.equal("public, max-age=10");
  });
});
