import { expect } from "chai";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { type KeyHolder, makeSafetyCode } from "../../packages/keyroot/src/identity/safetyCode.ts";
import { launchChromium } from "../support/browser/chromium.ts";
import { click, sees } from "../support/browser/controls.ts";
import { done } from "../support/browser/explorerStates.ts";
import { observedPage } from "../support/browser/observedPage.ts";
import { sharedExplorer } from "../support/browser/sharedExplorer.ts";
import { describeIfNamed } from "../support/named.ts";

/** The size of the false camera's picture. */
const [WIDTH, HEIGHT] = [640, 480];
/** Chromium's arguments for a visitor who allows the camera, and for a false camera. */
const ALLOWED = "--use-fake-ui-for-media-stream";
const CAMERA = "--use-fake-device-for-media-stream";

describeIfNamed(import.meta.filename)("safety code in the explorer", () => {
  const explorer = sharedExplorer();
  const { world } = explorer;

  const holder = (place: number): KeyHolder => {
    const { userID = "", pubKey = "" } = world.records[place] ?? {};
    return { userID, publicKey: pubKey };
  };
  const card = (page: Page) => page.locator(".more", { hasText: "Compare the safety code" });

  /** Opens the page of a user, and enters the visitor's own id and key. */
  const enter = async (page: Page, contact: KeyHolder, own: KeyHolder): Promise<Locator> => {
    await page.goto(`${explorer.url}#/verify/${contact.userID}`);
    await done(page);
    const form = card(page);
    await form.locator("summary").click();
    await form.getByLabel("Your own user id").fill(own.userID);
    await form.getByLabel("Your own public key").fill(own.publicKey as string);
    await form.locator(".safety-digits").waitFor();
    return form;
  };

  /** Returns the rows of the QR code that the contact's app shows, with true for each dark module. */
  const codeOf = async (contact: KeyHolder, own: KeyHolder): Promise<boolean[][]> => {
    const { page } = await world.open(explorer.url);
    const form = await enter(page, own, contact);
    await form.locator(".qr-code path").waitFor({ state: "attached" });
    return form.locator(".qr-code").evaluate((svg) => {
      const size = Number(svg.getAttribute("viewBox")?.split(" ")[2]);
      const rows = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
      const runs =
        svg
          .querySelector("path")
          ?.getAttribute("d")
          ?.matchAll(/M(\d+) (\d+)h(\d+)/g) ?? [];
      for (const [, x, y, length] of runs) rows[Number(y)]?.fill(true, Number(x), Number(x) + Number(length));
      return rows;
    });
  };

  it("compares the code with entered digits and QR codes, and turns the whole verdict", async () => {
    const { page, requests, complaints } = await world.open(explorer.url);
    const [mine, contact, stranger] = [holder(0), holder(2), holder(1)];
    // The code in the contact's app, and the app's code for a different key of the visitor.
    const right = makeSafetyCode(contact, mine);
    const wrong = makeSafetyCode(contact, { ...mine, publicKey: stranger.publicKey });
    const form = await enter(page, contact, { ...mine, publicKey: hexOf(mine.publicKey as string) });
    const shown = form.getByLabel("What the other app shows");
    const groups = await form.locator(".safety-digits span").allInnerTexts();
    expect(groups.map((group) => group.trim())).to.deep.equal(right.digits.match(/\d{5}/g));
    const before = requests.length;
    const verdict = page.locator("[data-verdict]");
    for (const text of [right.digits.replace(/\d{5}/g, "$& "), right.payload]) {
      await shown.fill(text);
      await sees(form, "The safety codes are equal");
      await sees(verdict, "Same key, according to one server");
      expect(await verdict.innerText()).to.contain("You and the other app have the same safety code.");
    }
    for (const text of [wrong.digits, wrong.payload]) {
      await shown.fill(text);
      await sees(form, "The safety codes are different.");
      await page.locator("[data-verdict=bad] h2", { hasText: "Different key" }).waitFor();
      expect(await page.getAttribute("[data-step=key]", "data-state")).to.equal("failed");
    }
    for (const [text, code] of [
      [makeSafetyCode(stranger, mine).payload, "USER_MISMATCH"],
      ["123", "SAFETY_CODE_INVALID"],
    ] as const) {
      await shown.fill(text);
      await sees(form, code);
      expect(await form.innerText()).not.to.contain("are equal");
      expect(await verdict.innerText()).to.contain("Published, according to one server");
    }
    expect(requests.length).to.equal(before);
    expect(page.url()).to.equal(`${explorer.url}#/verify/${contact.userID}`);
    expect(complaints).to.deep.equal([]);
  });

  it("reads the other app's QR code from a picture", async () => {
    const [mine, contact] = [holder(0), holder(2)];
    const { page: other } = await world.open(explorer.url);
    const theirs = await enter(other, mine, contact);
    await theirs.locator(".qr-code path").waitFor({ state: "attached" });
    const buffer = await theirs.locator(".qr-code").screenshot();
    const { page, complaints } = await world.open(explorer.url);
    const form = await enter(page, contact, mine);
    const picture = form.getByLabel("Or a picture of the QR code");
    const choose = (buffer: Buffer) => picture.setInputFiles({ name: "code.png", mimeType: "image/png", buffer });

    await choose(Buffer.from("no picture"));
    await sees(form, "not a picture that the browser can open");
    await choose(await page.locator("h1").screenshot());
    await sees(form, "The picture has no readable QR code.");
    await choose(buffer);
    await sees(form, "The safety codes are equal");
    await sees(page.locator("[data-verdict]"), "Same key");
    expect(complaints).to.deep.equal([]);
  });

  describe("with a camera", () => {
    const browsers: Browser[] = [];
    afterEach(() => Promise.all(browsers.splice(0).map((browser) => browser.close())));
    const open = async (args: readonly string[]) => {
      const browser = await launchChromium(args);
      browsers.push(browser);
      return observedPage(browser, {});
    };

    it("reads the QR code that the camera sees", async () => {
      const [mine, contact] = [holder(0), holder(2)];
      const folder = await mkdtemp(join(tmpdir(), "keyroot-camera-"));
      try {
        const file = join(folder, "camera.y4m");
        await writeFile(file, videoOf(await codeOf(contact, mine)));
        const { page, complaints } = await open([ALLOWED, CAMERA, `--use-file-for-fake-video-capture=${file}`]);
        const form = await enter(page, contact, mine);
        await click(form, "Scan with the camera");
        await sees(form, "The safety codes are equal");
        expect(await form.locator("video").count()).to.equal(0);
        expect(complaints).to.deep.equal([]);
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    for (const [what, args, message] of [
      ["a camera that the visitor refuses", [`${ALLOWED}=deny`, CAMERA], "The browser may not use the camera."],
      ["no camera", [ALLOWED], "This device has no camera."],
    ] as const) {
      it(`names what to do with ${what}`, async () => {
        const { page } = await open(args);
        const form = await enter(page, holder(2), holder(0));
        await click(form, "Scan with the camera");
        await sees(form, message);
        await sees(form, "picture");
        expect(await form.locator("video").count()).to.equal(0);
      });
    }
  });
});

function hexOf(base64: string): string {
  return Buffer.from(base64, "base64").toString("hex");
}

/** Writes a video of one picture of a QR code, as YUV4MPEG2 without colors. */
function videoOf(rows: readonly (readonly boolean[])[]): Buffer {
  const scale = Math.floor(HEIGHT / rows.length);
  const [left, top] = [WIDTH, HEIGHT].map((size) => Math.floor((size - scale * rows.length) / 2)) as [number, number];
  const luma = Buffer.alloc(WIDTH * HEIGHT, 235);
  for (const [y, row] of rows.entries())
    for (const [x, isDark] of row.entries())
      for (let line = 0; isDark && line < scale; line++) {
        const start = (top + y * scale + line) * WIDTH + left + x * scale;
        luma.fill(16, start, start + scale);
      }
  const header = Buffer.from(`YUV4MPEG2 W${WIDTH} H${HEIGHT} F10:1 Ip A1:1 C420jpeg\n`);
  const frame = Buffer.concat([Buffer.from("FRAME\n"), luma, Buffer.alloc((WIDTH * HEIGHT) / 2, 128)]);
  return Buffer.concat([header, frame, frame]);
}
