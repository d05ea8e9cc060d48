import { expect } from "chai";
import type { Page } from "playwright-core";

/** Checks that no line of a page begins with a punctuation mark, and that no two copy buttons have the same name. */
export async function checkReadableText(page: Page, where: string): Promise<void> {
  const { lonely, repeated } = await page.evaluate(() => {
    const lonely: string[] = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    /** Returns the rectangle of a character that is drawn. */
    const rectangleOf = (text: Text, at: number) => {
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return [...range.getClientRects()].find(({ width, height }) => width > 0 && height > 0);
    };
    let before: DOMRect | undefined;
    let block: Element | null = null;
    for (let text = texts.nextNode() as Text | null; text !== null; text = texts.nextNode() as Text | null) {
      const parent = text.parentElement;
      if (parent?.closest("script, style, svg, pre, textarea, .visually-hidden") !== null) continue;
      const container = parent.closest("p, li, td, th, dd, dt, div, section, h1, h2, h3, label, button, figcaption");
      if (container !== block) [block, before] = [container, undefined];
      for (const { index } of text.data.matchAll(/\S/g)) {
        const rectangle = rectangleOf(text, index);
        if (rectangle === undefined) continue;
        const isPunctuation = /[.,;:!?)\]]/.test(text.data.charAt(index));
        const isNewLine = before !== undefined && rectangle.top >= before.bottom - 2 && rectangle.left < before.left;
        if (isPunctuation && isNewLine)
          lonely.push(`${block?.textContent.slice(0, 100) ?? ""} … ${text.data.slice(index, index + 20)}`);
        before = rectangle;
      }
    }
    const names = [...document.querySelectorAll("button[aria-label^=Copy]")].map((button) =>
      button.getAttribute("aria-label"),
    );
    return { lonely, repeated: names.filter((name, i) => names.indexOf(name) !== i) };
  });
  expect(lonely, `${where}: lines that begin with punctuation`).to.deep.equal([]);
  expect(repeated, `${where}: names of several copy buttons`).to.deep.equal([]);
}
