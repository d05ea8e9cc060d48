import { expect } from "chai";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/test/root.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const summary = read("llms-api.txt");

/** Small programs that need only the API summary, by task. `npm run check` compiles them. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "verify a key": "verifyKey.ts",
  "publish a file": "publishFile.ts",
  "create a user": "createUser.ts",
};

describe("llms.txt", () => {
  it("links only to files that exist", () => {
    const links = [...read("llms.txt").matchAll(/\]\(([^)]+)\)/g)].map(([, path = ""]) => path);
    expect(links).to.include("llms-api.txt");
    for (const path of links) expect(existsSync(join(ROOT, path)), path).to.equal(true);
  });
});

describe("llms-api.txt", () => {
  for (const [task, file] of Object.entries(PROGRAMS))
    it(`contains every name that a program to ${task} uses`, () => {
      const text = read(`test/scripts/apiPrograms/${file}`);
      const imports = [...text.matchAll(/import \{ ([^}]+) \} from "([^"]+)"/g)];
      expect(imports).not.to.be.empty;
      for (const [, names = "", module = ""] of imports) {
        const part = summary.split(`## import … from "${module}"\n`)[1]?.split("\n## ")[0] ?? "";
        for (const name of names.split(", "))
          expect(part, `${name} of ${module}`).to.match(new RegExp(`^- (?:class |type |const )?${name}\\b`, "m"));
      }
      for (const [, member = ""] of text.matchAll(/\b(?:verifier|partner|Registry|FolderJournal)\.(\w+)\(/g))
        expect(summary).to.match(new RegExp(`\\b${member}(?:\\(|: \\()`));
    });
});
