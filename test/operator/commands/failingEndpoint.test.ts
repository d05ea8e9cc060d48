import { expect } from "chai";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { auditedWorld } from "../../support/chain/auditedWorld.ts";
import { describeWithProgram } from "../../support/processes/commandLine.ts";
import { sampleRecords } from "../../support/samples.ts";
import { serve } from "../../support/servers/servers.ts";
import { closedAfterEach, never } from "../../support/support.ts";

const [mine = never()] = sampleRecords(1);

const refuses: RequestListener = (_, response) => response.writeHead(429).end();
const wantsPause: RequestListener = (_, response) => response.writeHead(429, { "Retry-After": "60" }).end();
const isSilent: RequestListener = () => undefined;

describeWithProgram("keyroot, with --trust endpoints:2 and a failing one of three endpoints", (keyroot) => {
  const world = auditedWorld();
  const closing = closedAfterEach();
  let runs = 0;

  beforeEach(() => world.publish([mine]));

  /** Returns the words of each command. @param place the failing endpoint's place in `--rpc`, from 0 */
  const commandsWith = (failing: string, place: number) => {
    const urls = [world.url, world.fresh.rpcUrl].toSpliced(place, 0, failing);
    const { contract, chainId, merkleUrl } = world.fresh;
    const chain = ["--rpc", urls.join(), "--trust", "endpoints:2", "--contract", contract, "--chain-id", `${chainId}`];
    const files = ["--merkle-url", merkleUrl];
    return {
      audit: ["audit", ...chain, ...files, "--state", join(world.folder, `audit-${++runs}`)],
      watch: ["watch", ...chain, ...files, "--user-id", mine.userID, "--public-key", mine.pubKey, "--once"],
      status: ["status", ...chain],
      verify: ["verify", mine.userID, ...chain, ...files],
    };
  };

  for (const [place, name] of ["first", "second", "third"].entries())
    it(`succeeds if it is the ${name}`, async () => {
      const { url } = closing(await serve(refuses));
      for (const [command, words] of Object.entries(commandsWith(url, place)))
        expect(await keyroot.run(words), command).to.include({ code: 0 });
    });

  it("finds the chain of the registry's recorded key type although it is the first", async () => {
    // A registry with the same address on another chain has another key type.
    const folder = join(import.meta.dirname, "../../../.keyroot/deployments");
    const path = join(folder, "chain-424242.json");
    const owner = `0x${"12".repeat(20)}`;
    const record = { owner, by: "create", contract: world.fresh.contract, from: owner, nonce: 0, keyType: "p256" };
    await mkdir(folder, { recursive: true });
    await writeFile(path, JSON.stringify([record]));
    try {
      const { url } = closing(await serve(refuses));
      for (const [command, words] of Object.entries(commandsWith(url, 0)))
        expect(await keyroot.run(words), command).to.include({ code: 0, stderr: "" });
    } finally {
      await rm(path);
    }
  });

  for (const [what, answer] of [
    ["wants a pause", wantsPause],
    ["does not respond", isSilent],
  ] as const)
    it(`ends after the result, and asks it no more, if it ${what}`, async () => {
      let asked = 0;
      const { url } = closing(
        await serve((request, response) => {
          asked++;
          answer(request, response);
        }),
      );
      for (const [command, words] of Object.entries(commandsWith(url, 2))) {
        const child = keyroot.start(words);
        let askedBefore: number | undefined;
        child.stdout.once("data", () => (askedBefore = asked));
        const [code] = (await once(child, "close")) as [number];
        expect([code, asked], command).to.deep.equal([0, askedBefore]);
      }
      expect(asked).to.be.above(0);
    });
});
