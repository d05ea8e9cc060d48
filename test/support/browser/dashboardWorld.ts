import { buildSite } from "@keyroot/web/build";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { TestPartner, TestUser } from "../service/caller.ts";
import { freshDatabases, TestService } from "../service/support.ts";
import type { PublisherReport } from "../../../packages/service/src/publishing/publisherReport.ts";
import { type Difference, writeReport } from "../../../packages/service/src/publishing/publisherState.ts";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { keyFieldsOf } from "../service/answerChallenge.ts";
import { markPublished } from "../service/markPublished.ts";
import { addAuthenticator } from "./authenticator.ts";
import { launchChromium } from "./chromium.ts";
import { closePagesAfterEach, type ObservedPage, observedPage } from "./observedPage.ts";

/** The publisher's report. One of its stores fails. */
export const REPORT: PublisherReport = {
  chain: {
    ...{ chain_id: 11_155_111, contract: `0x${"5fbd".repeat(10)}`, error: null },
    state: { block: 21_345_678, owner: `0x${"f39F".repeat(10)}`, balance: "1234567890000000000", fee: "1500000000" },
  },
  stores: [
    { region: "us-west-2", location: "s3://keyroot-files/prod", error: null },
    { region: "eu-west-1", location: "s3://keyroot-files-eu/prod", error: "FILE_UNREADABLE" },
  ],
  every: null,
};

/** A service with a partner, and Chromium, for the tests of the dashboard. */
export class DashboardWorld {
  #started: Promise<void> | undefined;
  readonly #opened = new AsyncDisposableStack();
  readonly service = new TestService();
  /** Everything that the service logged. */
  readonly log: string[] = [];
  /** The number of keys that would be published now. */
  publishable = 12;
  /** The differences that the last checks found. */
  differences: Difference[] = [];
  browser!: Browser;
  bizID!: string;

  /** The dashboard's URL. Its host is localhost, because passkeys do not work with an IP address. */
  get url(): string {
    return `${this.service.url.replace("127.0.0.1", "localhost")}/dashboard/`;
  }

  /** Starts the service and the browser, unless they are already running. */
  start(): Promise<void> {
    return (this.#started ??= this.#start());
  }

  async #start(): Promise<void> {
    await buildSite();
    await this.service.start(this.#opened.use(await freshDatabases()), {
      log: this.log,
      explorerUrl: "https://explorer.test/",
      blockExplorerUrl: "https://chain.test",
      holdOnConflict: true,
      // No test sends webhooks to other machines.
      webhooks: { allowPrivate: true, resolve: () => Promise.resolve(["127.0.0.1"]) },
      // Publishing over a chain has its own tests.
      publish: () =>
        Promise.resolve([{ root: "7e".repeat(32), users: 12, transaction: `0x${"a".repeat(64)}`, block: 9 }]),
    });
    const { publisher } = this.service.context;
    if (publisher === undefined) throw new Error("The service does not publish.");
    publisher.countPublishable = () => Promise.resolve(this.publishable);
    publisher.listDifferences = () => Promise.resolve(this.differences);
    await writeReport(this.service.databases.home, REPORT);
    this.#opened.defer(() => this.service.close());
    this.bizID = await this.createPartner("Acme");
    this.browser = this.#opened.adopt(await launchChromium(), (browser) => browser.close());
  }

  async createPartner(name: string): Promise<string> {
    return (await this.service.admin("/v1/admin/partners/create", { name }))["biz_id"] as string;
  }

  /** Creates a partner with a server token, and users with one unpublished key each, in the order of their ids. */
  async createPartnerWithUsers(name: string, count: number): Promise<TestPartner & { users: TestUser[] }> {
    const partner = await this.service.createPartner(name);
    const users = await Promise.all(Array.from({ length: count }, () => this.service.createUser(partner)));
    return { ...partner, users: users.sort((a, b) => (a.userID < b.userID ? -1 : 1)) };
  }

  /** Invites a person as the operator does. @param options `bizID` is null for the operator's staff @returns the link */
  async invite(name: string, options: { role?: string; bizID?: string | null } = {}): Promise<string> {
    const { role = "administrator", bizID = this.bizID } = options;
    if (bizID === null)
      return (await this.service.admin("/v1/admin/operators/invite", { name, role }))["url"] as string;
    return (await this.service.admin("/v1/admin/staff/invite", { biz_id: bizID, name, role }))["url"] as string;
  }

  /**
   * Creates users of the first partner: some whose keys were published over the last days, and one with a pending key.
   */
  async addUsers(): Promise<TestUser[]> {
    const server = await this.service.createServerToken(this.bizID);
    const users = await Promise.all(
      Array.from({ length: 7 }, () => this.service.createUser({ bizID: this.bizID, ...server })),
    );
    for (const user of users) await this.service.registerKey(user, generateKeyPair());
    const ids = users.map(({ userID }) => userID);
    for (const [root, first, last, daysAgo] of [
      ["5d", 0, 3, 0],
      ["c4", 3, 4, 9],
      ["91", 4, 6, 20],
    ] as const)
      await this.publish(root.repeat(32), ids.slice(first, last), { daysAgo });
    return users;
  }

  /** Registers a key for a user, then offers a conflicting key. @returns the ids of both */
  async offerConflictingKey(user: TestUser): Promise<[key_id: string, otherID: string]> {
    const [own, other] = [generateKeyPair(), generateKeyPair()];
    for (const keys of [own, other]) await this.service.registerKey(user, keys);
    return [keyFieldsOf(own).key_id, keyFieldsOf(other).key_id];
  }

  /** Records a batch with these users' keys, without a chain. */
  async publish(
    root: string,
    userIDs: readonly string[],
    { transactionHash = `0x${"a".repeat(64)}`, daysAgo = 0 } = {},
  ) {
    // 55,000 gas for each user, at 2 gwei.
    const receipt = { gasUsed: 55_000 * userIDs.length, gasPrice: 2n * 10n ** 9n, addedCount: userIDs.length };
    const at = this.service.now() - daysAgo * 24 * 60 * 60 * 1000;
    await markPublished(this.service.databases, {
      root,
      userIDs,
      transactionHash,
      blockNumber: 21_000_000,
      at,
      ...receipt,
    });
  }

  /** Opens a page in a new browser context, with an authenticator. Its complaints omit the service's error responses. */
  async open(url = this.url, options: BrowserContextOptions = {}): Promise<ObservedPage> {
    const permissions = ["clipboard-read", "clipboard-write"];
    const opened = await observedPage(this.browser, { permissions, ...options }, (message) =>
      message.startsWith("Failed to load resource"),
    );
    await addAuthenticator(opened.page);
    await opened.page.goto(url);
    return opened;
  }

  /** Opens a page, accepts a new invitation and adds a passkey. */
  async signIn(name: string, options: Parameters<this["invite"]>[1] = {}, view: BrowserContextOptions = {}) {
    const opened = await this.open(await this.invite(name, options), view);
    const { page } = opened;
    await page.getByRole("button", { name: "Accept the invitation" }).click();
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await effectsRan(page);
    return opened;
  }

  stop(): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

/** Waits until the effects of what is shown have run, such as listening to keys. Preact runs them after the next frame. */
async function effectsRan(page: Page): Promise<void> {
  await page.evaluate("new Promise((ran) => requestAnimationFrame(() => setTimeout(ran)))");
}

const world = new DashboardWorld();

// Outside every describe: runs after the last test.
after("the dashboard's shared world stops", () => world.stop());

/**
 * Starts one service and browser for all tests that create their own partners and people. The pages that a test opens
 * are closed at its end.
 */
export function sharedDashboard(): DashboardWorld {
  before(() => world.start());
  closePagesAfterEach();
  return world;
}
