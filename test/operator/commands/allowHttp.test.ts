import { expect } from "chai";
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { serializeKeyRecord } from "keyroot/internal/identity";
import { COMMANDS } from "../../../packages/operator/src/commands/commandTable.ts";
import { sampleRecords } from "../../support/samples.ts";
import { optionsOf, program as keyroot } from "../../support/processes/commandLine.ts";
import { temporaryFolder } from "../../support/support.ts";

/** A host name that never resolves (RFC 6761, section 6.4). */
const REMOTE = "http://keyroot.invalid";

describe("--allow-http", () => {
  const folder = temporaryFolder();
  const [record] = sampleRecords(1);
  const { userID = "", pubKey = "" } = record ?? {};
  const records = () => join(folder.path, "users.jsonl");
  before(() => writeFile(records(), record === undefined ? "" : serializeKeyRecord(record)));

  const run = (command: string[], given: Record<string, string>, env: NodeJS.ProcessEnv = {}) => {
    const place = { rpc: "https://keyroot.invalid", contract: `0x${"12".repeat(20)}`, "chain-id": "1", ...given };
    return keyroot.jsonLines([...command, ...optionsOf(place)], { env });
  };
  /** The arguments of each command that reads a chain. */
  const commands = (): Record<string, string[]> => ({
    publish: [
      ...["publish", "--records", records(), "--files", folder.path],
      ...["--max-fee", "1", "--merkle-url", "https://f.invalid"],
    ],
    estimate: ["estimate", "--records", records()],
    status: ["status"],
    "transfer-ownership": ["transfer-ownership", "--new-owner", `0x${"34".repeat(20)}`, "--max-fee", "1"],
    "accept-ownership": ["accept-ownership", "--max-fee", "1"],
    verify: ["verify", userID, "--merkle-url", "https://f.invalid"],
    explorer: ["explorer", "--out", join(folder.path, "explorer"), "--merkle-url", "https://f.invalid"],
    bundle: ["bundle", userID, "--files", folder.path, "--merkle-url", "https://f.invalid"],
    audit: ["audit", "--merkle-url", "https://f.invalid"],
    "sign-statement": [
      ...["sign-statement", "--key", "key.json", "--statements", folder.path, "--trust", "own-node"],
      ...["--code-hash", `0x${"12".repeat(32)}`, "--merkle-url", "https://f.invalid"],
    ],
    watch: ["watch", "--once", "--user-id", userID, "--public-key", pubKey, "--merkle-url", "https://f.invalid"],
  });

  it("is an option of every command with an endpoint", () => {
    const withEndpoint = Object.entries(COMMANDS).filter(([, { options }]) => "rpc" in options);
    expect(withEndpoint.map(([name]) => name)).to.have.members(["deploy", "account", ...Object.keys(commands())]);
    for (const [name, { options }] of withEndpoint) expect(options, name).to.have.property("allowHttp");
  });

  it("is required for an http endpoint on another machine", async () => {
    for (const [name, command] of Object.entries(commands())) {
      const { code, error, message } = await run(command, { rpc: REMOTE });
      expect([code, error], name).to.deep.equal([2, "ARGUMENT_INVALID"]);
      expect(message, name).to.include("keyroot.invalid").and.include("--allow-http");
    }
  });

  it("is required for an http file host on another machine", async () => {
    for (const [name, command] of Object.entries(commands())) {
      const at = command.indexOf("--merkle-url");
      if (at === -1) continue;
      const { code, error, message } = await run(command.toSpliced(at, 2), { "merkle-url": REMOTE });
      expect([code, error], name).to.deep.equal([2, "ARGUMENT_INVALID"]);
      expect(message, name).to.include("merkleUrl").and.include("--allow-http");
    }
  });

  it("can be set by KEYROOT_ALLOW_HTTP=true", async () => {
    const unreachable = { code: 3, error: "UNREACHABLE" };
    expect(await run(["status", "--allow-http"], { rpc: REMOTE })).to.include(unreachable);
    expect(await run(["status"], { rpc: REMOTE }, { KEYROOT_ALLOW_HTTP: "true" })).to.include(unreachable);
    const files = { rpc: REMOTE, "merkle-url": REMOTE };
    expect(await run(["verify", userID, "--allow-http"], files)).to.include(unreachable);
    expect(await run(["status"], { rpc: REMOTE }, { KEYROOT_ALLOW_HTTP: "yes" })).to.include({
      code: 2,
      error: "ARGUMENT_INVALID",
    });
  });
});
