/**
 * Prints a random sample of comments, help texts, paragraphs of docs and test titles, to rate how plain they are:
 *
 *     node scripts/sampleProse.ts [seed]
 *
 * With the same seed and sources, the sample is the same. Readers who did not write the texts rate each one from 1 to
 * 5.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commandsWith, loadServiceCommands } from "@keyroot/operator/commands";
import { describeOption, optionName } from "@keyroot/operator/definition";

const ROOT = join(import.meta.dirname, "..");
const SOURCES = "{bench,contracts,demo,packages,scripts,tasks}/**/*.{ts,tsx,mjs,sol}";
const exclude = ["**/node_modules", "**/dist", "**/site"];

const textsIn = (pattern: string, textsOf: (source: string) => string[]) =>
  globSync(pattern, { cwd: ROOT, exclude })
    .sort()
    .flatMap((path) => textsOf(readFileSync(join(ROOT, path), "utf8")).map((text) => `${path}: ${text}`));

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

const comments = textsIn(SOURCES, (source) => [
  ...Array.from(source.matchAll(/\/\*\*([\s\S]*?)\*\//g), ([, text = ""]) => oneLine(text.replace(/^\s*\* ?/gm, ""))),
  ...Array.from(source.matchAll(/(?:^[ \t]*\/\/[^\n]*\n)+/gm), ([text]) =>
    oneLine(text.replace(/^\s*\/\/\/? ?/gm, "")),
  ),
]);
const helpTexts = new Set(
  Object.entries(commandsWith(await loadServiceCommands())).flatMap(([name, { summary, options }]) => [
    `${name}: ${summary}`,
    ...Object.entries(options).map(([key, option]) => `${optionName(key)}: ${describeOption(option)}`),
  ]),
);
const paragraphs = textsIn("{README,CONTRIBUTING,SECURITY,docs/!(commands|benchmarks)}.md", (source) =>
  source
    .replace(/```[\s\S]*?```/g, "")
    .split(/\n{2,}/)
    .map(oneLine)
    .filter((text) => /^[A-Z`*[]/.test(text) && !/^\[[^\]]*\]: /.test(text) && text.length > 60),
);
/** The titles of tests, each after the titles of the `describe` blocks around it, as in the test output. */
const titles = textsIn("test/**/*.test.ts", (source) => {
  const subjects: string[] = [];
  return Array.from(
    source.matchAll(/^( *)(describe\w*|it)(?:\.\w+|\(import\.meta\.filename\))?\(\s*(?:"([^"]+)"|`([^`]+)`)/gm),
    ([, indent = "", kind, quoted, template]) => {
      const title = quoted ?? template ?? "";
      const depth = indent.length / 2;
      subjects.length = Math.min(subjects.length, depth);
      if (kind !== "it") subjects[depth] = title;
      return kind === "it" ? [[...subjects, title].filter(Boolean).join(" > ")] : [];
    },
  ).flat();
});

/** Mulberry32, a small random generator with a seed. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = makeRandom(Number(process.argv[2] ?? 24));
for (const [kind, texts, count] of [
  ["comments", comments, 30],
  ["help texts", [...helpTexts], 10],
  ["doc paragraphs", paragraphs, 10],
  ["test titles", titles, 10],
] as const) {
  process.stdout.write(`\n# ${count} of ${texts.length} ${kind}\n`);
  for (let i = 1; i <= count; i++) process.stdout.write(`${i}. ${texts[Math.floor(random() * texts.length)]}\n`);
}
