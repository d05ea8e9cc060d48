import { expect } from "chai";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PartnerClient } from "@keyroot/client/partner";
import { randomUserID } from "keyroot/internal/identity";
import { ed25519, p256, x25519 } from "keyroot/key-types";
import { bundle } from "../support/browser/bundle.ts";
import { openPage } from "../support/browser/openPage.ts";
import { describeIfNamed } from "../support/named.ts";
import { installPackages } from "../support/packages/installPackages.ts";
import { newPartner } from "../support/service/newPartner.ts";
import { serviceOnPostgres } from "../support/service/support.ts";
import { closedAfterAll } from "../support/support.ts";
import { startWorker } from "./startWorker.ts";
import { installTools, writeFiles } from "./tools.ts";

/** An app that makes a key that cannot be exported, and registers it with the packed client. */
const APP = `
import { UserClient } from "@keyroot/client/user";
import { ed25519, p256, x25519 } from "keyroot/key-types";

const ALGORITHMS = { x25519: "X25519", ed25519: "Ed25519", p256: { name: "ECDSA", namedCurve: "P-256" } };

export async function registerNewKey({ type, ...options }) {
  const usages = type === "x25519" ? ["deriveBits"] : ["sign", "verify"];
  const pair = await crypto.subtle.generateKey(ALGORITHMS[type], false, usages);
  const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  const exported = await crypto.subtle.exportKey("jwk", pair.privateKey).then(() => "exported", () => "refused");
  const client = new UserClient({ ...options, keyType: { ed25519, p256, x25519 }[type] });
  const { public_key, possession } = await client.register({ publicKey, privateKey: pair.privateKey });
  return { exported, publicKey: Array.from(publicKey), public_key, possession };
}
`;
const WORKER = `import { registerNewKey } from "./app.js";
export default {
  async fetch(request) {
    try {
      return Response.json(await registerNewKey(await request.json()));
    } catch (error) {
      return new Response(String(error.stack), { status: 500 });
    }
  },
};
`;

interface Input {
  type: string;
  serviceUrl: string;
  bizID: string;
  refreshToken: string;
}
interface Registered {
  exported: string;
  publicKey: number[];
  public_key: string;
  possession: string;
}
type Register = (input: Input) => Promise<Registered>;

describeIfNamed(import.meta.filename)("a CryptoKey that cannot be exported", () => {
  const open = closedAfterAll();
  const registrations = [x25519, ed25519, p256].map((keyType) => ({
    keyType,
    service: serviceOnPostgres({ keyType }),
  }));
  let folder: string;
  let workerd: string | undefined;

  before("installs an app with the packed client", async () => {
    const tools = installTools();
    folder = join(await installPackages("keyroot", "client"), "non-exportable");
    await writeFiles(folder, { "app.js": APP, "main.js": WORKER });
    ({ workerd } = await tools);
  });

  /** Registers a user's new key for each key type, and expects that the service has a proof. */
  async function expectProofs(register: Register): Promise<void> {
    for (const { keyType, service } of registrations) {
      const partner = await newPartner(service);
      const client = new PartnerClient({ serviceUrl: service.url, ...partner });
      const userID = randomUserID();
      await client.createUser(userID, "us-west-2");
      const refreshToken = await client.createUserRefreshToken(userID, "a device");
      const input = { type: keyType.name, serviceUrl: service.url, bizID: partner.bizID, refreshToken };
      const { publicKey, ...registered } = await register(input);
      const public_key = Buffer.from(publicKey).toString("base64");
      expect(registered).to.deep.equal({ exported: "refused", public_key, possession: "proven" });
    }
  }

  it("proves possession of X25519, Ed25519 and P-256 keys in Node", async () => {
    const app = (await import(pathToFileURL(join(folder, "app.js")).href)) as { registerNewKey: Register };
    await expectProofs(app.registerNewKey);
  });

  it("proves possession of X25519, Ed25519 and P-256 keys in Chromium", async () => {
    const code = `import { registerNewKey } from "./app.js"; globalThis.registerNewKey = registerNewKey;`;
    const page = open(
      await openPage(
        await bundle(code, {}, folder),
        registrations.map(({ service }) => service.url),
      ),
    );
    await page.reload();
    await expectProofs((input) => page.evaluate(`registerNewKey(${JSON.stringify(input)})`));
  });

  it("proves possession of X25519, Ed25519 and P-256 keys in Cloudflare Workers", async function () {
    if (workerd === undefined) return this.skip(); // npm has workerd's binary only for some platforms.
    const { url } = open(await startWorker(workerd, folder, "2026-11-17"));
    await expectProofs(async (input) => {
      const response = await fetch(url, { method: "POST", body: JSON.stringify(input) });
      const text = await response.text();
      expect(response.status, text).to.equal(200);
      return JSON.parse(text) as Registered;
    });
  });
});
