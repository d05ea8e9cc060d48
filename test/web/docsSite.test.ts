import { expect } from "chai";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { axeViolations } from "../support/browser/axeViolations.ts";
import { launchChromium } from "../support/browser/chromium.ts";
import { eventually } from "../support/browser/eventually.ts";
import { COLOR_RULES } from "../support/browser/pageQuality.ts";
import { ERROR_CODES } from "../../packages/keyroot/src/errors.ts";
import { describeIfNamed } from "../support/named.ts";
import { ROOT, run } from "../support/packages/installPackages.ts";

const HOME = "index.html";
const ERRORS = "documents/errors.html";
const ERROR = "classes/keyroot.VerificationError.html";
const API = "functions/keyroot.createVerifier.html";

describeIfNamed(import.meta.filename)("documentation site, opened from a folder", () => {
  let folder: string;
  /** The texts of the site's pages and pictures, by path. */
  let texts: Map<string, string>;
  let pages: Map<string, string>;
  let files: Set<string>;
  let browser: Browser;

  before("builds it", async () => {
    folder = await mkdtemp(join(tmpdir(), "keyroot-docs-"));
    await run(process.execPath, [join(ROOT, "scripts/docs/buildDocs.ts"), "--out", folder]);
    files = new Set((await readdir(folder, { recursive: true })).map((path) => path.replaceAll("\\", "/")));
    const named = [...files].filter((path) => /\.(?:html|svg)$/.test(path));
    const read = async (path: string) => [path, await readFile(join(folder, path), "utf8")] as const;
    texts = new Map(await Promise.all(named.map(read)));
    pages = new Map([...texts].filter(([path]) => path.endsWith(".html")));
    browser = await launchChromium();
  });

  after(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  /** Opens a page and waits for its menu. Fails if the page requests anything except files. */
  async function open(path: string) {
    const page = await browser.newPage({ colorScheme: "light", reducedMotion: "reduce" });
    await page.route(/^(?!file:|data:)/, async (route) => {
      await route.abort();
      throw new Error(`${path} requests ${route.request().url()}`);
    });
    await page.goto(pathToFileURL(join(folder, path)).href);
    await page.locator("#tsd-nav-container a").first().waitFor({ state: "attached" });
    return page;
  }

  it("contains every page and every public entry", async () => {
    const docs = (await readdir(join(ROOT, "docs"))).filter((name) => name.endsWith(".md"));
    expect(docs.filter((name) => !pages.has(`documents/${name.replace(".md", ".html")}`))).to.deep.equal([]);
    const modules = [...pages].filter(([path]) => path.startsWith("modules/"));
    const names = modules.map(([, html]) => /<h1>Module ([^<]+)<\/h1>/.exec(html)?.[1]);
    expect(names).to.include.members([
      "keyroot",
      "@keyroot/client/partner",
      "@keyroot/client/user",
      "keyroot/bundle",
      "keyroot/records",
    ]);
    expect(names).to.include.members(["@keyroot/operator", "@keyroot/operator/hardhat", "@keyroot/contracts"]);
  });

  it("links only to files and headings that exist", () => {
    const broken = new Set<string>();
    for (const [path, html] of pages) {
      for (const [, link = ""] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
        if (/^(?:https?|data|mailto):/.test(link)) continue;
        const [target = "", anchor = ""] = link.split("#");
        const file = target === "" ? path : posix.join(dirname(path), decodeURI(target));
        const exists =
          files.has(file) && (anchor === "" || texts.get(file)?.includes(` id="${decodeURIComponent(anchor)}"`));
        if (!exists) broken.add(`${path}: ${link}`);
      }
    }
    expect([...broken]).to.deep.equal([]);
  });

  it("links every error code to its entry", () => {
    const errors = pages.get(ERRORS) ?? "";
    expect(ERROR_CODES.filter((code) => !errors.includes(`<tr id="${code}">`))).to.deep.equal([]);
    expect(pages.get(API)).to.include('<a href="../documents/errors.html#ARGUMENT_INVALID">ARGUMENT_INVALID</a>');
    const unlinked = [...pages].flatMap(([path, html]) =>
      ERROR_CODES.filter((code) => html.includes(`<code>${code}</code>`)).map((code) => `${path}: ${code}`),
    );
    expect(unlinked).to.deep.equal([]);
  });

  it("names the types of codes and functions instead of writing them out", () => {
    const textOf = (path: string) => pages.get(path)?.replaceAll(/<[^>]+>/g, "") ?? "";
    expect(textOf(ERROR)).to.match(/Code extends string = ErrorCode/);
    const [longest = ""] = [...pages]
      .filter(([path]) => /^(?:classes|functions|interfaces)\//.test(path))
      .flatMap(([, html]) => [...html.matchAll(/<div class="tsd-signature[^"]*"[^>]*>(.*?)<\/div>/gs)])
      .map(([, signature = ""]) => signature.replaceAll(/<[^>]+>/g, "").replaceAll(/(?:&nbsp;|\s)+/g, " "))
      .sort((a, b) => b.length - a.length);
    expect(longest.length, longest).to.be.at.most(1_200);
    const written = [...pages.keys()].filter((path) => textOf(path).includes("&quot;USER_ID_INVALID&quot;"));
    expect(written).to.deep.equal(["variables/keyroot.ERROR_CODES.html"]);
  });

  it("has a search that finds pages, functions and error codes without a server", async () => {
    const page = await open(HOME);
    for (const [words, result] of [
      ["createVerifier", "createVerifier.html"],
      ["quick starts", "quickstart.html"],
      ["KEY_DIFFERS", `${ERRORS}#KEY_DIFFERS`],
      ["not_publ", `${ERRORS}#NOT_PUBLISHED`],
    ] as const) {
      await page.locator("#tsd-search-trigger").click();
      await page.locator("#tsd-search-input").fill(words);
      await page.locator(`#tsd-search-results li:first-child a[href$="${result}"]`).waitFor();
      await page.keyboard.press("Escape");
    }
    await page.close();
  });

  it("shows pictures in the colors that the reader chose, not only in those of the system", async () => {
    const page = await open("documents/dashboard.html");
    const picture = page.locator("picture img").first();
    for (const [theme, file] of [
      ["light", "dashboard-overview.webp"],
      ["dark", "dashboard-overview-dark.webp"],
      ["os", "dashboard-overview.webp"],
    ] as const) {
      await page.locator("#tsd-theme").selectOption(theme, { force: true });
      await eventually(async () => {
        expect(posix.basename(await picture.evaluate((image: HTMLImageElement) => image.currentSrc))).to.equal(file);
      });
    }
    await page.close();
  });

  for (const path of [HOME, "documents/system.html", "documents/alternatives.html", API, ERROR]) {
    it(`passes the accessibility checks of axe: ${path}`, async () => {
      const page = await open(path);
      expect(await axeViolations(page), "light").to.deep.equal([]);
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await axeViolations(page, { runOnly: COLOR_RULES }), "dark").to.deep.equal([]);
      await page.close();
    });
  }
});
