import { expect } from "chai";
import { mkdir, writeFile } from "node:fs/promises";
import { makeKeyRecord } from "keyroot/records";
import { auditedWorld } from "../support/chain/auditedWorld.ts";
import { blocksOf, printedBy, readPage } from "../support/pages.ts";
import { never } from "../support/support.ts";
import { userIDToHex } from "keyroot";

const page = await readPage("docs/accounts.md");
const blockOf = (language: string, index = 0) => blocksOf(page, language)[index] ?? never();

interface Made {
  userID: string;
  key: number[];
  accountFile: string;
  secretKey: number[];
}

describe("docs/accounts.md", () => {
  const world = auditedWorld();

  it("has programs that make an account, verify its key and sign the next one", async () => {
    const { fresh } = world;
    const place = (code: string) =>
      code.replace(/chainId: 1\b/, `chainId: ${fresh.chainId}`).replace(/"0x[0-9a-fA-F]{40}"/, `"${fresh.contract}"`);
    const result =
      "JSON.stringify({ userID: account.userID, key: [...publicKey], accountFile, secretKey: [...paper.secretKey] })";
    const printed = (await printedBy(`${place(blockOf("js"))}\nconsole.log(${result});`)).split("\n");
    expect(page).to.include(`This prints \`${printed[0]}\``);
    const made = JSON.parse(printed[1] ?? "") as Made;
    const { userID, accountFile } = made;
    const publicKey = Uint8Array.from(made.key);

    await mkdir(world.pathOf("accounts"));
    await writeFile(world.pathOf(`accounts/${userIDToHex(userID)}.txt`), accountFile);
    await world.publish([makeKeyRecord(userID, publicKey)]);
    const urls = [fresh.rpcUrl, world.url];
    const program = place(blockOf("ts"))
      .replace(/rpc: \[[^\]]*\]/, `rpc: ${JSON.stringify(urls)}`)
      .replace(/merkleUrl: "[^"]*"/, `merkleUrl: "${fresh.merkleUrl}"`)
      .replace("verified.publicKey,", "verified.publicKey.length,");
    const fromServer = `const userID = "${userID}", accountFile = ${JSON.stringify(accountFile)};
const keyFromServer = "${Buffer.from(publicKey).toString("base64")}";`;
    const [imports = "", ...rest] = program.split(/^(?=const verifier)/m);
    expect(await printedBy(`${imports}${fromServer}\n${rest.join("")}`)).to.equal(`${publicKey.length} 0\n`);

    // The service of the page is not started here, so the statement is printed instead of submitted.
    const [makeImports = "", ...making] = blockOf("js").split(/^(?=const paper)/m);
    const signKey = /^const signKey[^]*?^};$/m.exec(making.join(""))?.[0] ?? never();
    const change = `import { ANY_KEY } from "keyroot";
import { parseAccount, verifyKeyStatement } from "keyroot/account";
${makeImports}${imports}
const paper = { secretKey: Uint8Array.from(${JSON.stringify(made.secretKey)}) };
const account = parseAccount(${JSON.stringify(accountFile.slice(0, accountFile.indexOf("\n\n") + 1))});
const user = { submitStatement: (statement) => console.log(verifyKeyStatement(account, statement).number) };
${rest.join("").replace(/^const verified[^]*/m, "")}${signKey}
${blockOf("js", 1)}`;
    expect(await printedBy(change)).to.equal("1\n");
  });
});
