import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/test/root.ts";
import {
  actions,
  apiFields,
  commandOptions,
  events,
  type Term,
  variables,
} from "../../scripts/generate/glossaryTerms.ts";
import { ACTIONS } from "../../packages/service/src/auditLog/recordChange.ts";
import { readPage } from "../support/pages.ts";

/** Old names from versions before 0.3.0, with their replacements. */
const OLD_NAMES: readonly (readonly [old: RegExp, instead: string])[] = [
  [/\breq(?:uest)?Id\b/, "requestID, request_id"],
  [/\b(?:biz|user|token|key)Id\b/, "bizID, userID, tokenID, keyID"],
  [/\bpublishableAt\b/, "holdEndsAt, hold_ends_at"],
  [/\bOtherKey\b|\bother_keys\b/, "ConflictingKey, conflicting_keys"],
  [/\bkey\.refused\b/, "key.conflict"],
  [/\bbaseUrl\b|KEYROOT_BASE_URL/, "serviceUrl, KEYROOT_SERVICE_URL"],
  [/KEYROOT_HOLD(?!_)/, "KEYROOT_HOLD_PERIOD"],
  [/KEYROOT_WEBHOOKS_PRIVATE/, "KEYROOT_WEBHOOK_PRIVATE"],
  [/KEYROOT_WEBHOOK(?:_SECRET(?:_FILE)?)?(?!_)\b/, "KEYROOT_ALARM_URL, KEYROOT_ALARM_SECRET"],
  [/\bmerkleDir\b/, "filesDir"],
  [/--safe-out\b/, "--safe-transactions"],
  [/--stay\b/, "--keep-running"],
  [/--block-hash\b/, "--trust"],
  [/reorganis/i, "reorganize"],
  [/\b(?:make|verify|parse)Proof\b/, "makeMerkleProof, verifyMerkleProof, parseMerkleProof"],
  [/(?<!users\/)\bcreateRefreshToken\b/, "createUserRefreshToken"],
  [/\badmin\/publish\b/, "admin/publishRegistered"],
];
/** Files that contain old names on purpose, such as the changelog, recorded results and this test. */
const EXCEPT =
  /^(?:CHANGELOG\.md|docs\/upgrading\.md|bench\/results\/|package-lock\.json|packages\/operator\/src\/commands\/parseArguments\.ts|test\/docs\/names\.test\.ts)/;

const wordsIn = (text: string) => text.trim().split(/\s+/);

/** Options with a meaning that depends on the command. Every other option has one meaning. */
const OPTIONS_BY_COMMAND = wordsIn(`
  --auditors --beacon-network --biz-id --block --chain-id --compare --every --files --fresh --json
  --keep-running --max-age --max-cost --name --out --plan --records --rpc --state
  --threshold --timeout --trust --user-id
`);

/** API fields with a description that depends on the operation. Every other field has one meaning. */
const FIELDS_BY_OPERATION = wordsIn(`
  action after at biz_id data deactivated detail events expires id name since state status token
  token_id type url user_id user_id_hex user_limit users
`);

/**
 * The exports table in docs/glossary.md, with one row for each name and meaning. `npm run check` compares the page with
 * the sources.
 */
const [section = ""] = ((await readPage("docs/glossary.md")).split("\n## Exports\n")[1] ?? "").split("\n## ");
const exported: Term[] = Array.from(
  section.matchAll(/^\| `(\w+)` *\| (.*\S) *\| (\S.*\S) *\|$/gm),
  ([, name = "", meaning = "", where = ""]) => ({ name, meaning, where }),
);

/** Names with more than one meaning. The suffix "(required)" does not change a meaning. */
function withSeveralMeanings(terms: readonly Term[]): string[] {
  const meanings = new Map<string, Set<string>>();
  for (const { name, meaning } of terms)
    meanings.set(name, (meanings.get(name) ?? new Set()).add(meaning.replace(/ \(required\)$/, "")));
  return Array.from(meanings)
    .filter(([, { size }]) => size > 1)
    .map(([name]) => name)
    .sort();
}

describe("names in the project", () => {
  it("exclude the replaced names of versions before 0.3.0", () => {
    const paths = execFileSync("git", ["ls-files", "*.ts", "*.tsx", "*.mjs", "*.js", "*.md", "*.json", "*.sol"], {
      cwd: ROOT,
      encoding: "utf8",
    });
    const found: string[] = [];
    for (const path of paths
      .trim()
      .split("\n")
      .filter((path) => !EXCEPT.test(path))) {
      const lines = readFileSync(join(ROOT, path), "utf8").split("\n");
      for (const [old, instead] of OLD_NAMES) {
        const line = lines.findIndex((line) => old.test(line));
        if (line !== -1) found.push(`${path}:${line + 1}: ${lines[line]?.trim().slice(0, 80)} (use ${instead})`);
      }
    }
    expect(found).to.deep.equal([]);
  });

  it("give each option one meaning, with listed exceptions", async () => {
    const options = await commandOptions();
    // The help marks an option as required only for some commands.
    const terms = options.map((option) => ({
      ...option,
      meaning: option.meaning.replace(/ ?\(required\)|required; /, ""),
    }));
    expect(withSeveralMeanings(terms)).to.deep.equal(OPTIONS_BY_COMMAND);
  });

  it("give each API field one meaning, with listed exceptions", () => {
    expect(withSeveralMeanings(apiFields())).to.deep.equal(FIELDS_BY_OPERATION);
  });

  it("give each export, variable, event and action one meaning", () => {
    for (const terms of [exported, variables(), events(), actions()]) {
      expect(terms).to.have.length.above(9);
      expect(withSeveralMeanings(terms)).to.deep.equal([]);
    }
  });

  it("include each action of the audit log", () => {
    expect(
      actions()
        .map(({ name }) => name)
        .sort(),
    ).to.deep.equal([...ACTIONS].sort());
  });

  it("are in snake_case in the API", () => {
    const others = apiFields().filter(({ name }) => !/^[a-z]+(?:_[a-z]+)*$/.test(name));
    expect(others.map(({ name, where }) => `${where} ${name}`)).to.deep.equal([]);
  });

  it("have one glossary line for each export", () => {
    const [, , ...lines] = section.split("\n").filter((line) => line.startsWith("|"));
    expect(exported).to.have.lengthOf(lines.length);
  });

  it("spell ID and Url in the same way in all exports", () => {
    const names = exported.map(({ name }) => name);
    expect(names).to.include("createVerifier");
    expect(names.filter((name) => /[a-z]Id(?![a-z])|URL[A-Z]|[a-z]URL/.test(name))).to.deep.equal([]);
  });
});
