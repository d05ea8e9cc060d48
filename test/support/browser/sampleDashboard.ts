import { AdminClient } from "@keyroot/client/operator";
import { randomUserID } from "keyroot/internal/identity";
import { PartnerClient } from "@keyroot/client/partner";
import { startService } from "@keyroot/service";
import { buildSite } from "@keyroot/web/build";
import { randomBytes } from "node:crypto";
import type { Browser } from "playwright-core";
import { addAuthenticator } from "./authenticator.ts";

/** A service with a partner's data, and the session of a person of the partner. */
interface SampleDashboard extends AsyncDisposable {
  /** The dashboard's URL on localhost. */
  url: string;
  /** The `Cookie` header of the person's session. */
  cookie: string;
}

const USERS = 100;

/** Starts a service with a partner that has users, and signs in a person. */
export async function startSampleDashboard(browser: Browser): Promise<SampleDashboard> {
  await buildSite();
  await using starting = new AsyncDisposableStack();
  const adminToken = randomBytes(32).toString("base64url");
  const ports = { port: 0, monitoringPort: 0 };
  const service = await startService({ adminToken, ...ports, databaseFolder: null, logLevel: "fatal" });
  starting.defer(() => service.close());
  const admin = new AdminClient({ serviceUrl: service.url, adminToken });
  const { biz_id: bizID } = await admin.createPartner("Acme");
  const { token: serverToken } = await admin.createServerToken(bizID, { name: "backend" });
  const partner = new PartnerClient({ serviceUrl: service.url, bizID, serverToken });
  for (let i = 0; i < USERS; i++) await partner.createUser(randomUserID(), "us-west-2");

  const { url: link } = await admin.invite(bizID, "Ada Lovelace");
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await addAuthenticator(page);
    await page.goto(link);
    await page.getByRole("button", { name: "Accept the invitation" }).click();
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const cookies = await context.cookies(link);
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    const running = starting.move();
    return { url: new URL("./", link).href, cookie, [Symbol.asyncDispose]: () => running.disposeAsync() };
  } finally {
    await context.close();
  }
}
