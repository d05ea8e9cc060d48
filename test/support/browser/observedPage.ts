import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

/** A page in its own browser context, with its console and its requests. */
export interface ObservedPage extends AsyncDisposable {
  page: Page;
  /** Errors and warnings in the console. They include policy violations. */
  complaints: string[];
  /** The URLs of all requests. */
  requests: string[];
}

/** The contexts of all open pages. */
const contexts = new Set<BrowserContext>();

/** Closes the pages that each test of the surrounding `describe` opens. */
export function closePagesAfterEach(): void {
  let earlier = new Set<BrowserContext>();
  beforeEach(() => {
    earlier = new Set(contexts);
  });
  afterEach(async () => {
    for (const context of contexts) if (!earlier.has(context)) await context.close();
  });
}

/** Opens a blank page. @param isExpected returns true for console messages that the test expects */
export async function observedPage(
  browser: Browser,
  options: BrowserContextOptions,
  isExpected: (message: string) => boolean = () => false,
): Promise<ObservedPage> {
  const context = await browser.newContext(options);
  contexts.add(context);
  context.on("close", () => contexts.delete(context));
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !isExpected(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  context.on("request", (request) => requests.push(request.url()));
  return { page, complaints, requests, [Symbol.asyncDispose]: () => context.close() };
}
