import { expect } from "chai";
import type { Page } from "playwright-core";

/**
 * Checks that no line of a page begins with a punctuation mark, and that copy buttons with the same name copy the same
 * value.
 */
export async function checkReadableText(page: Page, where: string): Promise<void> {
  const { lonely, repeated } = await page.evaluate(() => {
    const lonely: string[] = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    let before: DOMRect | undefined;
    let block: Element | null = null;
    for (let text = texts.nextNode() as Text | null; text !== null; text = texts.nextNode() as Text | null) {
      const parent = text.parentElement;
      if (parent?.closest("script, style, svg, pre, textarea, .visually-hidden") !== null) continue;
      const container = parent.closest("p, li, td, th, dd, dt, div, section, h1, h2, h3, label, button, figcaption");
      if (container !== block) [block, before] = [container, undefined];
      for (const { index } of text.data.matchAll(/\S/g)) {
        range.setStart(text, index);
        range.setEnd(text, index + 1);
        const rectangle = [...range.getClientRects()].find(({ width, height }) => width > 0 && height > 0);
        if (rectangle === undefined) continue;
        const isPunctuation = /[.,;:!?)\]]/.test(text.data.charAt(index));
        const isNewLine = before !== undefined && rectangle.top >= before.bottom - 2 && rectangle.left < before.left;
        if (isPunctuation && isNewLine)
          lonely.push(`${block?.textContent.slice(0, 100) ?? ""} … ${text.data.slice(index, index + 20)}`);
        before = rectangle;
      }
    }
    const values = new Map<string | null, string>();
    const repeated: (string | null)[] = [];
    for (const button of document.querySelectorAll("button[aria-label^=Copy]")) {
      const name = button.getAttribute("aria-label");
      const code = button.parentElement?.querySelector("code");
      const value = code?.getAttribute("title") ?? code?.textContent ?? "";
      if ((values.get(name) ?? value) !== value) repeated.push(name);
      values.set(name, value);
    }
    return { lonely, repeated };
  });
  expect(lonely, `${where}: lines that begin with punctuation`).to.deep.equal([]);
  expect(repeated, `${where}: copy buttons with the same name`).to.deep.equal([]);
}
