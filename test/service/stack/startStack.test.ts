import { PGlite, type PGliteOptions } from "@electric-sql/pglite";
import { expect } from "chai";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { REGIONS } from "../../../packages/keyroot/src/identity/region.ts";
import { Caller } from "../../support/service/caller.ts";
import hre from "hardhat";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import { startStack, type StackOptions } from "../../../packages/service/src/stack/startStack.ts";
import { readStackFile } from "../../../packages/operator/src/commands/stackFile.ts";
import { closedAfterEach, failure, freePort, hold, portOf, rpc, temporaryFolder } from "../../support/support.ts";

const ANY = { chain: 0, files: 0 };
const ROOT = "0123456789abcdef".repeat(4);

describe("the local stack", () => {
  const project = temporaryFolder();
  const temporary = temporaryFolder();
  const closing = closedAfterEach();
  const { TMPDIR } = process.env;

  beforeEach(() => {
    process.env["TMPDIR"] = temporary.path;
  });
  afterEach(() => {
    if (TMPDIR === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = TMPDIR;
  });

  /** Returns this project with its stack file in a different folder, so that a running stack does not interfere. */
  const elsewhere = (root: string): HardhatRuntimeEnvironment => {
    const config = { ...hre.config, paths: { ...hre.config.paths, root } };
    return Object.create(hre, { config: { value: config } }) as HardhatRuntimeEnvironment;
  };
  const start = async (options: StackOptions = {}) =>
    closing(await startStack(elsewhere(project.path), { ports: ANY, ...options }));

  const deployments = () => readdir(join(hre.config.paths.ignition, "deployments")).catch(() => "none");

  describe("startStack", () => {
    it("deploys a registry that the first account owns", async () => {
      const { rpcUrl, contract, connection } = await start();
      expect(await rpc(rpcUrl, "eth_getCode", [contract, "latest"])).to.match(/^0x[0-9a-f]{100,}$/);
      const [owner] = await connection.ethers.getSigners();
      const registry = await connection.ethers.getContractAt("PublicKeyRegistry", contract);
      expect(await registry.getFunction("owner")()).to.equal(owner?.address);
    });

    it("serves the files of a new folder", async () => {
      const { merkleUrl, filesDir } = await start();
      expect(await readdir(filesDir)).to.be.empty;
      await writeFile(join(filesDir, `${ROOT}.json`), "{}");
      expect(await (await fetch(`${merkleUrl}/${ROOT}.json`)).text()).to.equal("{}");
    });

    it("names each part before it starts", async () => {
      const steps: string[] = [];
      await start({ onStep: (step) => steps.push(step) });
      expect(steps).to.deep.equal(["Starting the chain and the file host.", "Deploying the registry."]);
    });

    it("prints nothing and writes no deployment record", async () => {
      const { stdout } = process;
      const write = stdout.write.bind(stdout);
      const printed: unknown[] = [];
      const before = await deployments();
      stdout.write = (chunk: unknown) => printed.push(chunk) > 0;
      try {
        await start();
      } finally {
        stdout.write = write;
      }
      expect(printed).to.be.empty;
      expect(await deployments()).to.deep.equal(before);
    });

    it("runs two separate stacks at the same time", async () => {
      const ports = { chain: await freePort(), files: await freePort() };
      const [one, other] = await Promise.all([start({ ports }), start({ ports })]);
      expect(new Set([one.rpcUrl, one.merkleUrl, other.rpcUrl, other.merkleUrl])).to.have.lengthOf(4);
      expect(one.filesDir).to.not.equal(other.filesDir);
      await rpc(one.rpcUrl, "evm_mine");
      expect(await rpc(one.rpcUrl, "eth_blockNumber")).to.equal("0x2");
      expect(await rpc(other.rpcUrl, "eth_blockNumber")).to.equal("0x1");
    });

    for (const [step, ports, code] of [
      ["chain", { chain: -1, files: 0 }, "ARGUMENT_INVALID"],
      ["file host", { chain: 0, files: -1 }, "ARGUMENT_INVALID"],
    ] as const) {
      it(`leaves nothing behind if the ${step} does not start`, async () => {
        const error = await failure(start({ ports }));
        expect(error).to.be.an.instanceof(ArgumentError).with.property("code", code);
        expect(await readdir(temporary.path)).to.be.empty;
      });
    }

    it("leaves nothing behind if the last step fails", async () => {
      await writeFile(join(project.path, ".keyroot"), "in the way");
      const ports = { chain: await freePort(), files: await freePort() };
      await failure(start({ ports, announce: true }));
      expect(await readdir(temporary.path)).to.be.empty;
      for (const port of Object.values(ports)) closing(await hold(port));
    });
  });

  describe("the partner service", () => {
    it("stores users and files of each region separately", async () => {
      const created: PGlite[] = [];
      const create: (options?: PGliteOptions) => Promise<PGlite> = PGlite.create.bind(PGlite);
      PGlite.create = (async (options?: PGliteOptions) => {
        const database = await create(options);
        created.push(database);
        return database;
      }) as typeof PGlite.create;
      try {
        // Another program holds the port, so the service uses a later one.
        const taken = portOf(closing(await hold(0)));
        const stack = await start({ ports: { chain: 0, files: 0, service: taken } });
        const { serviceUrl = "", adminToken = "" } = stack.service ?? {};
        const caller = new Caller(adminToken);
        caller.url = serviceUrl;
        const partner = await caller.createPartner();
        for (const region of REGIONS)
          await caller.registerKey(await caller.createUser(partner, region), generateKeyPair());
        const open = created.filter(({ closed }) => !closed);
        const stored = open.map(async (database) => (await database.query("select region from users")).rows);
        expect((await Promise.all(stored)).filter(({ length }) => length > 0)).to.have.deep.members(
          REGIONS.map((region) => [{ region }]),
        );

        const { batches } = await caller.admin("/v1/admin/publishRegistered", {});
        const [west = "", east = ""] = (batches as { root: string }[]).map(({ root }) => root);
        expect(await readdir(stack.filesDir)).to.have.members([`${west}.json`, "eu-west-1"]);
        expect(await readdir(join(stack.filesDir, "eu-west-1"))).to.have.members([`${east}.json`]);
        for (const root of [west, east]) expect((await fetch(`${stack.merkleUrl}/${root}.json`)).status).to.equal(200);
      } finally {
        PGlite.create = create as typeof PGlite.create;
      }
    });
  });

  describe("the announce option", () => {
    it("writes the stack file for other processes", async () => {
      const stack = await start({ announce: true });
      expect(stack.announced).to.be.true;
      const { pid, ...place } = (await readStackFile(project.path)) ?? {};
      expect(pid).to.equal(process.pid);
      expect(stack).to.deep.include(place);
      expect(place).to.have.all.keys("rpcUrl", "merkleUrl", "filesDir", "contract", "chainId", "keyType");
    });

    it("is off by default", async () => {
      expect(await start()).to.have.property("announced", false);
      expect(await readdir(project.path)).to.be.empty;
    });

    it("keeps the stack file of another running stack", async () => {
      const one = await start({ announce: true });
      const other = await start({ announce: true });
      expect(other.announced).to.be.false;
      await other.close();
      expect(await readStackFile(project.path)).to.have.property("rpcUrl", one.rpcUrl);
    });
  });

  describe("close", () => {
    it("frees the ports for the next start", async () => {
      const ports = { chain: await freePort(), files: await freePort() };
      for (let round = 0; round < 2; round++) {
        const stack = await start({ ports });
        expect(stack.rpcUrl).to.equal(`http://127.0.0.1:${ports.chain}`);
        expect(stack.merkleUrl).to.equal(`http://127.0.0.1:${ports.files}`);
        await stack.close();
      }
    });

    it("removes the folder of files and the stack file", async () => {
      const stack = await start({ announce: true });
      await writeFile(join(stack.filesDir, `${ROOT}.json`), "{}");
      await stack.close();
      expect(await readdir(temporary.path)).to.be.empty;
      expect(await readdir(join(project.path, ".keyroot"))).to.be.empty;
    });

    it("can be repeated", async () => {
      const stack = await start();
      await Promise.all([stack.close(), stack.close()]);
      await stack.close();
    });
  });
});
