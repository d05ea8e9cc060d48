import { expect } from "chai";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { growthExponent } from "../../bench/runner/growth.ts";
import { renderPages } from "../../bench/runner/pages.ts";
import { BENCHMARKS } from "../../bench/runner/registry.ts";
import { ROOT } from "../../scripts/test/root.ts";
import { readPage } from "../support/pages.ts";

const page = await readPage("docs/benchmarks.md");

describe("docs/benchmarks.md", () => {
  it("shows the newest results", async () => {
    for (const [path, text] of await renderPages())
      expect(await readPage(path), `${path}: run "npm run bench -- --pages"`).to.equal(text);
  });

  it("has a section for each benchmark", () => {
    const parts = [...page.matchAll(/^<!-- bench: (\S+) -->$/gm)].map(([, name]) => name);
    expect(parts.toSorted()).to.deep.equal([...BENCHMARKS.map(({ name }) => name), "missed", "summary"].toSorted());
  });

  it("has at most 1,500 words beside the generated tables", () => {
    const written = page.replaceAll(/^<!-- bench: [^]*?^<!-- end of bench -->$/gm, "");
    expect(written.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word))).to.have.lengthOf.at.most(1_500);
  });

  it("has charts whose labels do not collide", async () => {
    const charts = [...(await renderPages())].filter(([path]) => path.endsWith(".svg"));
    for (const [path, svg] of charts) {
      const labels = [...svg.matchAll(/<text ([^>]*)translate\(([\d.]+) ([\d.]+)\)"[^>]*>([^<]+)</g)].map(
        ([, attributes = "", x, y, text = ""]) => {
          const width = 0.55 * Number(/font-size:([\d.]+)/.exec(attributes)?.[1] ?? 12) * text.length;
          const anchor = /text-anchor="(\w+)"/.exec(attributes)?.[1];
          const left = Number(x) - (anchor === "middle" ? width / 2 : anchor === "end" ? width : 0);
          // The lines of a text are above and below its place.
          const line = Number(/ y="([-\d.]+)"/.exec(attributes)?.[1] ?? 0);
          return { text, y: Number(y) + line, left, right: left + width };
        },
      );
      expect(labels.length, path).to.be.above(5);
      const colliding = labels.flatMap((a, i) =>
        labels
          .slice(i + 1)
          .filter((b) => Math.abs(a.y - b.y) < 10 && a.left < b.right + 6 && b.left < a.right + 6)
          .map((b) => `${a.text} and ${b.text}`),
      );
      expect(colliding, path).to.deep.equal([]);
    }
  });

  it("shows only up-to-date charts", async () => {
    const images = await readdir(join(ROOT, "docs/images"));
    const drawn = [...(await renderPages()).keys()].map((path) => basename(path));
    expect(drawn).to.include.members(images.filter((name) => /^bench-.*\.svg$/.test(name)));
  });
});

describe("growthExponent", () => {
  /** Compares numbers in place of `closeTo`. Other tests load ethers' `closeTo`, which accepts only whole numbers. */
  const isClose = (actual = NaN, expected: number) => Math.abs(actual - expected) < 1e-9;

  it("returns the exponent of a power function", () => {
    for (const exponent of [0, 0.5, 1, 2]) {
      const points = [1, 700, 10_000].map((size) => [size, 3 * size ** exponent] as const);
      expect(isClose(growthExponent(points), exponent)).to.equal(true);
    }
  });

  it("returns the slope of the least-squares line through the logarithms", () => {
    // The logarithms are x = 0, 1, 2 and y = 0, 1, 1, and the line through them has the slope 1/2.
    const points = [
      [1, 1],
      [Math.E, Math.E],
      [Math.E ** 2, Math.E],
    ] as const;
    expect(isClose(growthExponent(points), 0.5)).to.equal(true);
  });

  it("returns undefined for a single size", () => {
    expect(growthExponent([[700, 3]])).to.equal(undefined);
  });
});
