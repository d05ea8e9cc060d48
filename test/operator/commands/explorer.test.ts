import { expect } from "chai";
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildSite } from "@keyroot/web/build";
import { describeOnHosts } from "../../support/processes/commandLine.ts";
import { TestAuditor } from "../../support/auditors/testAuditor.ts";
import { temporaryFolder } from "../../support/support.ts";

const CONTRACT = `0x${"ab".repeat(20)}`;
const RPC = "https://rpc-a.example/key;x?token=1";
const PLACE = ["--contract", CONTRACT, "--chain-id", "1", "--merkle-url", "https://files.example/keys"];

interface Written {
  files: { path: string; bytes: number; sha256: string }[];
  policy: string;
}

describeOnHosts("keyroot explorer", (keyroot) => {
  const folder = temporaryFolder();
  const keyFolder = temporaryFolder();

  before(async () => {
    await buildSite();
  });

  const write = async (...options: string[]) => {
    const { code, json } = await keyroot.json(["explorer", "--out", folder.path, ...PLACE, ...options]);
    return { code, ...(json as unknown as Written), error: json.error };
  };
  const page = () => readFile(join(folder.path, "index.html"), "utf8");

  it("writes a page with the configured addresses", async () => {
    const { code, files } = await write("--rpc", `${RPC},https://rpc-b.example`);
    expect(code).to.equal(0);
    const written = await readdir(folder.path, { recursive: true, withFileTypes: true });
    const paths = written.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(files.map(({ path }) => path)).to.have.members(paths);
    for (const { path, sha256 } of files) {
      expect(
        createHash("sha256")
          .update(await readFile(path))
          .digest("hex"),
      ).to.equal(sha256);
    }
    const html = await page();
    const [, config = ""] = /<script type="application\/json" id="config">(.*)<\/script>/.exec(html) ?? [];
    expect(JSON.parse(config)).to.deep.equal({
      ...{
        rpc: [RPC, "https://rpc-b.example"],
        chainId: 1,
        contract: CONTRACT,
        keyType: "curve41417",
        accounts: false,
      },
      ...{ merkleUrl: "https://files.example/keys", allowHttp: false, visitorEndpoints: false },
    });
    for (const [, path = "", integrity] of html.matchAll(/(?:src|href)="\.\/(assets[^"]+)" integrity="([^"]+)"/g)) {
      const content = await readFile(join(folder.path, path));
      expect(`sha384-${createHash("sha384").update(content).digest("base64")}`).to.equal(integrity);
    }
  });

  it("writes a content security policy with the servers' addresses and without secrets", async () => {
    const { policy } = await write("--rpc", RPC);
    expect(policy).to.contain("connect-src 'self' https://rpc-a.example/key%3bx https://files.example/keys/;");
    expect(policy).to.not.contain("token").and.not.contain("unsafe");
    expect((await page()).replaceAll("&quot;", '"')).to.contain(`content="${policy}"`);
  });

  it("escapes addresses, so that they cannot become markup", async () => {
    await write("--rpc", "https://rpc.example/</script><script>alert(1)</script>");
    expect(await page()).to.not.contain("<script>alert");
  });

  it("adds the URL of --block-explorer-url to the page", async () => {
    await write("--rpc", RPC, "--block-explorer-url", "https://etherscan.io/");
    expect(await page()).to.contain('"blockExplorerUrl":"https://etherscan.io"');
    const { error } = await write("--rpc", RPC, "--block-explorer-url", "javascript:alert(1)");
    expect(JSON.stringify(error)).to.contain("ARGUMENT_INVALID");
  });

  it("allows the page to send requests to the beacon endpoint and the auditors", async () => {
    const [alice, bob] = ["alice.example", "bob.example"].map((name) => new TestAuditor(name).key);
    const keys = join(keyFolder.path, "auditors.txt");
    await writeFile(keys, `${alice}\n${bob}\n`);
    const checkpoint = `0x${"12".repeat(32)}`;
    const { policy } = await write(
      ...["--rpc", RPC, "--beacon", "https://beacon.example", "--checkpoint", checkpoint],
      ...[
        "--auditors",
        keys,
        "--threshold",
        "2",
        "--statement-urls",
        "https://alice.example/statements,https://bob.example",
      ],
    );
    expect(policy).to.contain(" https://beacon.example/ https://alice.example/statements/ https://bob.example/;");
    expect(await page())
      .to.contain(`"lightClient":{"urls":["https://beacon.example"],"checkpoint":"${checkpoint}"}`)
      .and.contain(
        `"auditors":{"keys":["${alice}","${bob}"],"threshold":2,"urls":["https://alice.example/statements","https://bob.example"]}`,
      );
  });

  it("allows requests to other endpoints only with --visitor-endpoints", async () => {
    expect((await write("--rpc", RPC)).policy).to.not.contain(" https: ");
    expect((await write("--rpc", RPC, "--visitor-endpoints")).policy).to.contain(" https: http://localhost:*");
  });

  for (const [what, options, message] of [
    ["a missing endpoint", [], "No local stack is running here."],
    ["an endpoint that is not a URL", ["--rpc", "rpc.example"], "The rpc option must be an http(s) URL"],
    [
      "a beacon endpoint without a checkpoint",
      ["--rpc", RPC, "--beacon", "https://beacon.example"],
      "Set --checkpoint to the root of a beacon block",
    ],
    [
      "a beacon endpoint that is not a URL",
      ["--rpc", RPC, "--beacon", "b", "--checkpoint", `0x${"12".repeat(32)}`],
      "The urls option must be an http(s) URL",
    ],
    ["statements without auditors", ["--rpc", RPC, "--statement-urls", "https://alice.example"], "--auditors FILE"],
    ["an invalid code hash", ["--rpc", RPC, "--code-hash", "0x12"], "--code-hash must be 0x and 64"],
  ] as const) {
    it(`rejects ${what}`, async () => {
      const { code, error } = await write(...options);
      expect(code).to.equal(2);
      expect(error?.["message"]).to.contain(message);
      expect(await readdir(folder.path)).to.be.empty;
    });
  }

  it("ignores KEYROOT_RPC_URL, because it may contain a secret", async () => {
    const env = { KEYROOT_RPC_URL: "https://rpc.example/secret" };
    const { code, message } = await keyroot.json(["explorer", "--out", folder.path, ...PLACE], { env });
    expect(code).to.equal(2);
    expect(message)
      .to.match(/ or set --rpc\.$/)
      .and.not.contain("secret");
  });
});
