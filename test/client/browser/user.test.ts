import { expect } from "chai";
import { type KeyPair, makeKeyRecord, randomUserID, type UserID } from "keyroot/internal/identity";
import { PartnerClient } from "@keyroot/client/partner";
import { type FaultyProxy, faultyProxy } from "../../support/servers/faultyProxy.ts";
import { newPartner, type Partner } from "../../support/service/newPartner.ts";
import { sampleKeyPairs } from "../../support/samples.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";
import { bundle } from "../../support/browser/bundle.ts";
import { closedAfterAll } from "../../support/support.ts";
import { describeIfNamed } from "../../support/named.ts";
import { installPackages } from "../../support/packages/installPackages.ts";
import { type OpenPage, openPage } from "../../support/browser/openPage.ts";

/** An app that uses the packed library. `request` returns the response or the error code. */
const APP = `
import { UserClient } from "@keyroot/client/user";

globalThis.violations = [];
document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
  violations.push(effectiveDirective + " " + blockedURI);
});
globalThis.open = (options) => {
  globalThis.client = new UserClient(options);
};
globalThis.request = async (operation) => {
  try {
    return await operation(client);
  } catch ({ code }) {
    return code;
  }
};
`;

/** Headers that the service sends to browsers. The proxy adds the same headers to its own responses. */
const CORS = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After" };

describeIfNamed(import.meta.filename)("UserClient in Chromium, under a strict content security policy", () => {
  const [keys, otherKeys] = sampleKeyPairs as [KeyPair, KeyPair];
  const open = closedAfterAll();
  const service = serviceOnPostgres();
  let partner: Partner;
  let proxy: FaultyProxy;
  let page: OpenPage;
  let userID: UserID;
  let refreshToken: string;

  before(async () => {
    proxy = open(await faultyProxy(service.url));
    partner = await newPartner(service);
    page = open(await openPage(await bundle(APP, {}, await installPackages("keyroot", "client")), [proxy.url]));
  });

  beforeEach(async () => {
    const client = new PartnerClient({ serviceUrl: service.url, ...partner });
    userID = randomUserID();
    await client.createUser(userID, "us-west-2");
    refreshToken = await client.createUserRefreshToken(userID, "browser");
    await page.reload();
    await page.evaluate(
      `open(${JSON.stringify({ serviceUrl: proxy.url, service: service.url, bizID: partner.bizID, refreshToken })})`,
    );
  });

  /** Runs an operation of the client in the app. */
  const request = (operation: string): Promise<unknown> => page.evaluate(`request((client) => ${operation})`);
  const register = ({ publicKey, privateKey }: KeyPair) =>
    request(`client.register({ publicKey: new Uint8Array([${publicKey.join()}]), privateKey: ${privateKey}n })`);
  const exchanges = () => page.requests.filter((url) => url.endsWith("/auth/jwt")).length;

  it("registers a key and reads another user's key", async () => {
    const { pubKey, keyID } = makeKeyRecord(userID, keys.publicKey);
    expect(await request("client.record()")).to.include({ user_id: userID, state: "unregistered" });
    expect(await register(keys)).to.include({ state: "pending", public_key: pubKey, key_id: keyID });
    const found = await request(`client.unverifiedPublicKeyOf("${userID}")`);
    expect(found).to.have.all.keys("user_id", "state", "possession", "public_key", "key_id", "hold_ends_at");
    expect(found).to.include({
      user_id: userID,
      state: "pending",
      possession: "proven",
      public_key: pubKey,
      key_id: keyID,
    });
    expect(await register(otherKeys)).to.equal("PUBLIC_KEY_REGISTERED");
    expect(exchanges()).to.equal(1);
  });

  it("retries after a broken connection, and after the time in Retry-After", async () => {
    const headers = { ...CORS, "Retry-After": "1" };
    await request("client.record()");
    proxy.fail("/record/get", { status: 429, headers }, "reset after");
    const start = performance.now();
    expect(await request("client.record()")).to.include({ user_id: userID });
    expect(performance.now() - start).to.be.at.least(990);
  });

  it("rejects redirects", async () => {
    proxy.fail("/record/get", { status: 302, headers: { ...CORS, Location: "/" } });
    expect(await request("client.record()")).to.equal("REDIRECT_REFUSED");
  });

  it("stops when its signal aborts", async () => {
    expect(await request("client.record({ signal: AbortSignal.abort() })")).to.equal("ABORTED");
    expect(exchanges()).to.be.at.most(1);
  });

  it("connects only to the service and keeps tokens out of URLs", async () => {
    await register(keys);
    expect(await page.evaluate("violations")).to.deep.equal([]);
    expect(new Set(page.requests.map((url) => new URL(url).origin))).to.deep.equal(new Set([page.origin, proxy.url]));
    for (const url of page.requests)
      expect(url)
        .not.to.include("kru_")
        .and.not.to.match(/[?#]|eyJ/);
  });
});
