import { expect } from "chai";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { readTsconfig } from "../../scripts/generate/exports.ts";
import { ROOT } from "../../scripts/test/root.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const summary = read("llms-api.txt");
const FOLDER = join(ROOT, "test/scripts");

/** Small programs that can be written with the API summary alone. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "verify a key": `
    import { createVerifier, VerificationError } from "keyroot";
    const verifier = createVerifier({
      rpc: "https://rpc.example",
      chainId: 1,
      contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
      merkleUrl: "https://files.example",
    });
    try {
      const { publicKey } = await verifier.verify("user", { expectedPublicKey: new Uint8Array(105) });
      publicKey.slice();
    } catch (error) {
      if (error instanceof VerificationError) error.code.trim();
    }`,
  "publish a file": `
    import { FolderJournal, FolderStore, publish, readRecords, Registry } from "@keyroot/operator";
    const call = async (method: string, params: readonly unknown[]): Promise<unknown> => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const response = await fetch("https://rpc.example", { method: "POST", body });
      return ((await response.json()) as { result: unknown }).result;
    };
    using journal = await FolderJournal.open("plan");
    const { records } = await readRecords("users.jsonl");
    const registry = await Registry.connect(call, "0x5FbDB2315678afecb367f032d93F642f64180aa3");
    await publish(records, { registry, chainId: 1, store: new FolderStore("files"), journal });`,
  "create a user": `
    import { randomUserID } from "keyroot";
    import { PartnerClient } from "keyroot/partner";
    const partner = new PartnerClient({ serviceUrl: "https://keys.example", bizID: "biz", serverToken: "token" });
    const userID = randomUserID();
    await partner.createUser(userID, "us-west-2");
    const token = await partner.createUserRefreshToken(userID, "A phone");
    token.trim();`,
};

describe("llms.txt", () => {
  it("links only to files that exist", () => {
    const links = [...read("llms.txt").matchAll(/\]\(([^)]+)\)/g)].map(([, path = ""]) => path);
    expect(links).to.include("llms-api.txt");
    for (const path of links) expect(existsSync(join(ROOT, path)), path).to.equal(true);
  });
});

describe("llms-api.txt", () => {
  const files = new Map(
    Object.entries(PROGRAMS).map(([task, text], i) => [join(FOLDER, `program${i}.ts`), { task, text }]),
  );

  for (const { task, text } of files.values())
    it(`contains every name that a program to ${task} uses`, () => {
      for (const [, names = "", module = ""] of text.matchAll(/import \{ ([^}]+) \} from "([^"]+)"/g)) {
        const part = summary.split(`## import … from "${module}"\n`)[1]?.split("\n## ")[0] ?? "";
        for (const name of names.split(", "))
          expect(part, `${name} of ${module}`).to.match(new RegExp(`^- (?:class |type |const )?${name}\\b`, "m"));
        for (const [, member = ""] of text.matchAll(/\b(?:verifier|partner|Registry|FolderJournal)\.(\w+)\(/g))
          expect(summary).to.match(new RegExp(`\\b${member}(?:\\(|: \\()`));
      }
    });

  it("describes enough of the API for programs that compile", () => {
    const { options } = readTsconfig();
    const host = ts.createCompilerHost(options);
    const disk = { ...host };
    host.fileExists = (path) => files.has(path) || disk.fileExists(path);
    host.readFile = (path) => files.get(path)?.text ?? disk.readFile(path);
    host.getSourceFile = (path, language) => {
      const text = host.readFile(path);
      return text === undefined ? undefined : ts.createSourceFile(path, text, language);
    };
    const program = ts.createProgram([...files.keys()], options, host);
    const problems = [...files.keys()].flatMap((path) => {
      const source = program.getSourceFile(path);
      return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    });
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).to.deep.equal([]);
  });
});
