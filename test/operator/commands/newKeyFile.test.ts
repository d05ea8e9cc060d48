import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { KeyrootError } from "../../../packages/keyroot/src/errors.ts";
import type { Host } from "../../../packages/operator/src/commands/host.ts";
import makeAuditorKey from "../../../packages/operator/src/commands/makeAuditorKey.ts";
import makeOwnerKey from "../../../packages/operator/src/commands/makeOwnerKey.ts";
import { temporaryFolder } from "../../support/support.ts";

describe("the file of a new key", () => {
  const folder = temporaryFolder();
  const host = { environment: { KEYROOT_PASSPHRASE: "correct horse battery staple" } } as unknown as Host;
  /** Each command, and the part of its result that is in the file. */
  const commands: Record<string, [make: (out: string) => Promise<{ json: object }>, part: string]> = {
    "make-owner-key": [(out) => makeOwnerKey({ out } as Parameters<typeof makeOwnerKey>[0], host), "address"],
    "make-auditor-key": [
      (out) => makeAuditorKey({ out, name: "auditor.example" } as Parameters<typeof makeAuditorKey>[0], host),
      "key",
    ],
  };

  for (const [name, [make, part]] of Object.entries(commands))
    it(`is not replaced by another run of ${name} at the same time`, async () => {
      const out = join(folder.path, "keys", `${name}.json`);
      const results = await Promise.allSettled([make(out), make(out), make(out)]);
      const made = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.json] : []));
      const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
      expect([made.length, errors.length]).to.deep.equal([1, 2]);
      for (const error of errors)
        expect(error).to.be.instanceOf(KeyrootError).and.include({ code: "ARGUMENT_INVALID" });
      const value = String(Object.entries(made[0] ?? {}).find(([key]) => key === part)?.[1]);
      expect((await readFile(out, "utf8")).toLowerCase()).to.contain(value.replace(/^0x/, "").toLowerCase());
    });
});
