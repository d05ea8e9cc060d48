import { expect } from "chai";
import { resolve } from "node:path";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { randomUserID, type UserID } from "../../../packages/keyroot/src/identity/userID.ts";
import { PartnerClient } from "../../../packages/keyroot/src/client/partner/partnerClient.ts";
import { type FaultyProxy, faultyProxy } from "../../support/faultyProxy.ts";
import { newPartner, type Partner } from "../../support/newPartner.ts";
import { samplePublicKeys } from "../../../fixtures/samples.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";
import { bundle } from "../../support/browser/bundle.ts";
import { type OpenPage, openPage } from "../../support/browser/openPage.ts";

/** Hardhat loads every file under test/. This one needs Chromium, and makes its claims only where it is named. */
const describeIfNamed = process.argv.some((path) => resolve(path) === import.meta.filename)
  ? describe
  : () => undefined;

/** The app: it has the published package, and tells what that says: an answer, or CODE. */
const APP = `
import { UserClient } from "keyroot/user";

globalThis.violations = [];
document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
  violations.push(effectiveDirective + " " + blockedURI);
});
globalThis.open = (options) => {
  globalThis.client = new UserClient(options);
};
globalThis.ask = async (question) => {
  try {
    return await question(client);
  } catch ({ code }) {
    return code;
  }
};
`;

const HOUR = 3_600_000;
/** What the service says to browsers, where the proxy answers in its place. */
const CORS = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After" };

describeIfNamed("keyroot/user in Chromium, under a strict content security policy", () => {
  const [key, otherKey] = samplePublicKeys as [Uint8Array, Uint8Array];
  const opened = new AsyncDisposableStack();
  const service = serviceOnPostgres();
  let partner: Partner;
  let proxy: FaultyProxy;
  let page: OpenPage;
  let userID: UserID;
  let refreshToken: string;

  before(async function () {
    this.timeout(60_000);
    const open = <T extends { close(): Promise<void> }>(it: T): T => opened.adopt(it, () => it.close());
    proxy = open(await faultyProxy(service.url));
    partner = await newPartner(service);
    page = open(await openPage(await bundle(APP), [proxy.url]));
  });

  after(() => opened.disposeAsync());

  beforeEach(async () => {
    const client = new PartnerClient({ baseUrl: service.url, ...partner });
    userID = randomUserID();
    await client.createUser(userID, "us-west-2");
    refreshToken = await client.createRefreshToken(userID, "browser");
    await page.reload();
    await page.evaluate(`open(${JSON.stringify({ baseUrl: proxy.url, bizId: partner.bizId, refreshToken })})`);
  });

  /** What the app is told. */
  const ask = (question: string): Promise<unknown> => page.evaluate(`ask((client) => ${question})`);
  const register = (publicKey: Uint8Array) => ask(`client.register(new Uint8Array([${publicKey.join()}]))`);
  const exchanges = () => page.requests.filter((url) => url.endsWith("/auth/jwt")).length;

  it("registers a public key, and reads the record and another user's key", async () => {
    const { pubKey, keyID } = makeKeyRecord(userID, key);
    expect(await ask("client.record()")).to.include({ user_id: userID, state: "unregistered" });
    expect(await register(key)).to.include({ state: "pending", pubKey, keyID });
    expect(await ask(`client.publicKeyOf("${userID}")`)).to.deep.equal({
      user_id: userID,
      state: "pending",
      pubKey,
      keyID,
    });
    expect(await register(otherKey)).to.equal("PUBLIC_KEY_REGISTERED");
    expect(exchanges()).to.equal(1);
  });

  it("exchanges its token once for 50 calls at once, and anew when it has expired", async () => {
    for (const expected of [1, 2]) {
      const answers = await ask("Promise.all(Array.from({ length: 50 }, () => client.record()))");
      expect(answers).to.have.lengthOf(50);
      expect(exchanges()).to.equal(expected);
      service.ahead += 5 * HOUR;
    }
  });

  it("waits as long as a busy service asks it to, and tries again over a connection that broke", async () => {
    const headers = { ...CORS, "Retry-After": "1" };
    await ask("client.record()");
    proxy.fail("/record/get", { status: 429, headers }, "reset after");
    const start = performance.now();
    expect(await ask("client.record()")).to.include({ user_id: userID });
    expect(performance.now() - start).to.be.at.least(990);
  });

  it("follows no redirect, which browsers do not let it see", async () => {
    proxy.fail("/record/get", { status: 302, headers: { ...CORS, Location: "/" } });
    expect(await ask("client.record()")).to.equal("REDIRECT_REFUSED");
  });

  it("gives up when it is told to", async () => {
    expect(await ask("client.record({ signal: AbortSignal.abort() })")).to.equal("ABORTED");
    expect(exchanges()).to.be.at.most(1);
  });

  it("keeps to the policy, asks none but the service, and has its tokens in no address", async () => {
    await register(key);
    expect(await page.evaluate("violations")).to.deep.equal([]);
    expect(new Set(page.requests.map((url) => new URL(url).origin))).to.deep.equal(new Set([page.origin, proxy.url]));
    for (const url of page.requests)
      expect(url)
        .not.to.include("kru_")
        .and.not.to.match(/[?#]|eyJ/);
  });
});
