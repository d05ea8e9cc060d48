import { expect } from "chai";
import { once } from "node:events";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { StackNote } from "../../../packages/operator/src/stack/stackFile.ts";
import { base64ToBytes } from "../../../packages/keyroot/src/bytes/base64.ts";
import { serializeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { PartnerClient } from "../../../packages/keyroot/src/partner.ts";
import { UserClient } from "../../../packages/keyroot/src/user.ts";
import { sampleRecords } from "../../../fixtures/samples.ts";
import { temporaryFolder } from "../../support/support.ts";
import {
  keyrootJson,
  keyrootJsonLines,
  type Running,
  signalGroup,
  stackFoldersIn,
  startKeyroot,
  untilGroupIsGone,
} from "../../support/commandLine.ts";

describe("keyroot stack", function () {
  this.timeout(60_000);
  const folder = temporaryFolder();
  let child: Running;
  /** Where this stack is noted, and keeps its files. */
  let env: { KEYROOT_STACK_FILE: string; TMPDIR: string };
  beforeEach(() => {
    env = { KEYROOT_STACK_FILE: join(folder.path, "notes", "stack.json"), TMPDIR: folder.path };
  });
  afterEach(() => {
    signalGroup(child, "SIGKILL");
  });

  it("says where it is, is found by the other commands, and leaves nothing behind", async () => {
    child = startKeyroot(["stack", "--port", "0", "--json"], env);
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const place = JSON.parse(String(line)) as Omit<StackNote, "pid"> & { baseUrl: string };
    expect(place).to.have.all.keys("rpcUrl", "merkleUrl", "merkleDir", "contract", "chainId", "baseUrl");
    expect((await stat(place.merkleDir)).isDirectory()).to.be.true;

    const records = join(folder.path, "users.jsonl");
    const [record = never()] = sampleRecords(1);
    await writeFile(records, serializeKeyRecord(record));
    const published = await keyrootJsonLines(["publish", "--records", records], { env });
    expect([published.code, published.json["contract"]]).to.deep.equal([0, place.contract]);
    expect(await readdir(place.merkleDir)).to.have.lengthOf(1);
    const answers = await Promise.all([
      keyrootJson(["verify", record.userID], { env }),
      keyrootJson(["status"], { env }),
      keyrootJson(["status", "--chain-id", "1"], { env }),
    ]);
    expect(answers.map(({ code }) => code)).to.deep.equal([0, 0, 1]);

    const { json: partner } = await keyrootJson(["create-partner", "--name", "Acme"], { env });
    const bizId = String(partner["bizId"]);
    const { json: made } = await keyrootJson(["create-server-token", "--biz-id", bizId, "--name", "one"], { env });
    const { baseUrl } = place;
    const client = new PartnerClient({ baseUrl, bizId, serverToken: String(made["serverToken"]) });
    await client.createUser(record.userID, "eu-west-1");
    const refreshToken = await client.createRefreshToken(record.userID, "phone");
    const app = new UserClient({ baseUrl, bizId, refreshToken });
    await app.register(base64ToBytes(record.pubKey));
    const { code, json } = await keyrootJson(["publish-registered"], { env });
    expect([code, json["published"]]).to.deep.equal([0, 0], "this user's key is on the chain already");
    expect(await app.record()).to.include({ state: "published" });

    const rest = Promise.all([text(child.stdout), text(child.stderr)]);
    child.kill("SIGINT");
    expect(await once(child, "exit")).to.deep.equal([0, null]);
    expect(await rest).to.deep.equal(["", ""]);
    await untilGroupIsGone(child);
    expect(await stackFoldersIn(folder.path)).to.be.empty;
    expect(await readdir(join(folder.path, "notes"))).to.be.empty;
    expect(await keyrootJson(["status"], { env })).to.have.property("code", 2);
  });
});

function never(): never {
  throw new Error("there is none");
}
