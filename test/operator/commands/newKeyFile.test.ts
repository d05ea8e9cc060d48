import { expect } from "chai";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { KeyrootError } from "keyroot/internal/errors";
import type { Host } from "../../../packages/operator/src/commands/host.ts";
import { makeAuditorKey } from "../../../packages/operator/src/commands/makeAuditorKey.ts";
import { makeOwnerKey } from "../../../packages/operator/src/commands/makeOwnerKey.ts";
import { failure, temporaryFolder } from "../../support/support.ts";

describe("a new key file", () => {
  const folder = temporaryFolder();
  const hostWith = (passphrase: string) => ({ environment: { KEYROOT_PASSPHRASE: passphrase } }) as unknown as Host;
  const strong = hostWith("correct horse battery staple");
  /** Each command, and the part of its result that is in the file. */
  const commands: Record<
    string,
    [make: (out: string, host?: Host) => Promise<{ json: object } | undefined>, part: string]
  > = {
    "make-owner-key": [(out, host = strong) => makeOwnerKey.run({ out } as never, host), "address"],
    "make-auditor-key": [
      (out, host = strong) => makeAuditorKey.run({ out, name: "auditor.example" } as never, host),
      "key",
    ],
  };

  for (const [name, [make, part]] of Object.entries(commands)) {
    it(`is not written by ${name} if the passphrase has fewer than 15 characters`, async () => {
      const out = join(folder.path, `short-${name}.json`);
      // The second passphrase has 14 code points of two UTF-16 units.
      for (const passphrase of ["x".repeat(14), "🔑".repeat(14)]) {
        const error = (await failure(make(out, hostWith(passphrase)))) as KeyrootError;
        expect(error).to.include({ code: "PASSPHRASE_TOO_SHORT", expected: 15, actual: 14 });
        expect(error.message).to.contain("openssl rand").and.not.contain(passphrase);
      }
      expect(existsSync(out)).to.equal(false);
      await make(out, hostWith("x".repeat(15)));
      expect(existsSync(out)).to.equal(true);
    });

    it(`is not replaced by another run of ${name} at the same time`, async () => {
      const out = join(folder.path, "keys", `${name}.json`);
      const results = await Promise.allSettled([make(out), make(out), make(out)]);
      const made = results.flatMap((result) => (result.status === "fulfilled" ? [result.value?.json] : []));
      const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
      expect([made.length, errors.length]).to.deep.equal([1, 2]);
      for (const error of errors)
        expect(error).to.be.instanceOf(KeyrootError).and.include({ code: "ARGUMENT_INVALID" });
      const value = String(Object.entries(made[0] ?? {}).find(([key]) => key === part)?.[1]);
      expect((await readFile(out, "utf8")).toLowerCase()).to.contain(value.replace(/^0x/, "").toLowerCase());
    });
  }

  it("is not written by make-auditor-key for a name that is no URL without its scheme", async () => {
    const out = join(folder.path, "named.json");
    for (const [name, example] of [
      ["https://auditor.example/", "auditor.example"],
      ["https://auditor.example/keys", "auditor.example/keys"],
      ["Ada Lovelace", "auditor.example"],
      ["a+b", "auditor.example"],
      ["", "auditor.example"],
    ] as const) {
      const error = await failure(makeAuditorKey.run({ out, name } as never, strong));
      expect(error, name).to.include({ code: "ARGUMENT_INVALID" });
      expect((error as KeyrootError).message).to.contain(`such as ${example}, `);
    }
    expect(existsSync(out)).to.equal(false);
  });
});
