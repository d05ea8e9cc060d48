import { expect } from "chai";
import { openDatabases } from "../../../../packages/service/src/api/database/database.ts";
import { REGIONS, type Region } from "../../../../packages/keyroot/src/identity/region.ts";
import { userIDFromHex } from "../../../../packages/keyroot/src/identity/userID.ts";
import { sampleKeyPairs } from "../../../support/samples.ts";
import { type BrokenWire, wireTo } from "../../../support/service/brokenWire.ts";
import { expectProblem, randomHex, type TestPartner, type TestUser } from "../../../support/service/caller.ts";
import { dump } from "../../../support/service/dump.ts";
import { migratedDatabaseUrl, TestService } from "../../../support/service/support.ts";

const CREATE = "/v1/authdBizSrv/users/create";
const LIST = "/v1/authdBizSrv/users/list";
const RECORD = "/v1/authdUser/record/get";

const [keys = { privateKey: 0n, publicKey: new Uint8Array() }] = sampleKeyPairs;

describe("regions with separate databases", () => {
  const service = new TestService();
  const wires = {} as Record<Region | "home", BrokenWire>;
  const users = {} as Record<Region, TestUser>;
  let partner: TestPartner;

  before(async () => {
    for (const place of ["home", ...REGIONS] as const) wires[place] = await wireTo(await migratedDatabaseUrl());
    const [home, west, east] = [wires.home.url, wires["us-west-2"].url, wires["eu-west-1"].url];
    await service.start(await openDatabases({ url: home, regionUrls: { "us-west-2": west, "eu-west-1": east } }));
    partner = await service.createPartner();
    for (const region of REGIONS) {
      users[region] = await service.createUser(partner, region);
      expect((await service.registerKey(users[region], keys)).status).to.equal(200);
    }
  });
  afterEach(() => {
    for (const wire of Object.values(wires)) wire.mend();
  });
  after(async () => {
    await service.close();
    await service.databases[Symbol.asyncDispose]();
    for (const wire of Object.values(wires)) await wire.close();
  });

  const record = (region: Region) => service.post(RECORD, {}, { token: users[region].jwt });
  const create = (region: Region, hex = randomHex()) =>
    service.post(CREATE, { user_id_hex: hex, region }, { token: partner.jwt });
  const other = (region: Region): Region => (region === "us-west-2" ? "eu-west-1" : "us-west-2");

  it("store all rows of the region's users", async () => {
    const { home, regions } = service.databases;
    const rows = {
      home: await dump(home),
      ...{ west: await dump(regions["us-west-2"]), east: await dump(regions["eu-west-1"]) },
    };
    const tablesWith = (place: Record<string, string[]>, text: string) =>
      Object.keys(place).filter((table) => place[table]?.some((row) => row.includes(text)));
    for (const [region, here, there] of [
      ["us-west-2", rows.west, rows.east],
      ["eu-west-1", rows.east, rows.west],
    ] as const) {
      const { userID } = users[region];
      const tables = ["audit_entries", "events", "key_events", "public_keys", "user_tokens", "users"];
      expect(tablesWith(here, userID).sort()).to.deep.equal(tables);
      expect(tablesWith(there, userID)).to.deep.equal([]);
      expect(tablesWith(rows.home, userID)).to.deep.equal(["user_ids"]);
      expect(rows.home["user_ids"]?.find((row) => row.includes(userID))).to.satisfy(
        (row: string) =>
          Object.keys(JSON.parse(row) as object)
            .sort()
            .join() === "biz_id,region,user_id",
      );
      // Only the home database contains partners.
      expect(here["partners"]).to.deep.equal([]);
      expect(here["server_tokens"]).to.deep.equal([]);
      expect(here["user_ids"]).to.deep.equal([]);
    }
    for (const table of ["users", "user_tokens", "public_keys", "batches"]) expect(rows.home[table]).to.deep.equal([]);
  });

  it("return their users in one common list", async () => {
    const { users: listed } = await service.done(LIST, {}, { token: partner.jwt });
    const ids = (listed as { user_id: string }[]).map(({ user_id }) => user_id);
    expect(ids).to.include.members(REGIONS.map((region) => users[region].userID));
  });

  for (const region of REGIONS) {
    it(`serve their users while the database of ${region} is unreachable`, async () => {
      wires[region].cut();
      const hex = randomHex();
      const answers = [await record(region), await create(region, hex)];
      for (const answer of answers) expectProblem(answer, [503, "UNAVAILABLE"]);
      expect((await record(other(region))).status).to.equal(200);
      expect((await create(other(region))).status).to.equal(201);
      const exchange = { biz_id: partner.bizID, token: partner.refreshToken };
      expect((await service.post("/v1/public/auth/jwt", exchange)).status).to.equal(200);

      // The id is claimed. Another partner cannot take it, and the same partner's next request completes the user.
      const thief = await service.createPartner();
      const stolen = await service.post(CREATE, { user_id_hex: hex, region: other(region) }, { token: thief.jwt });
      expectProblem(stolen, [409, "USER_ID_TAKEN"]);
      wires[region].mend();
      expect((await record(region)).status).to.equal(200);
      expect((await create(region, hex)).status).to.equal(201);
    });
  }

  it("create all or none of a list's users in each region", async () => {
    const path = "/v1/authdBizSrv/users/createMany";
    const users = Array.from({ length: 6 }, (_, i) => ({
      ...{ user_id_hex: randomHex(), region: REGIONS[i % 2] },
      context: "A phone",
    }));
    const carried = { token: partner.jwt, idempotencyKey: randomHex() };
    wires["eu-west-1"].cut();
    expectProblem(await service.post(path, { users }, carried), [503, "UNAVAILABLE"]);
    const found = async () => {
      const listed = (await service.done(LIST, { limit: 1000 }, { token: partner.jwt }))["users"] as {
        user_id: string;
      }[];
      const ids = new Set(listed.map(({ user_id }) => user_id));
      return users.map(({ user_id_hex }) => ids.has(userIDFromHex(user_id_hex)));
    };
    wires["eu-west-1"].mend();
    expect(await found()).to.satisfy(
      (all: boolean[]) => new Set(all.filter((_, i) => i % 2 === 0)).size === 1 && !all.some((is, i) => i % 2 && is),
    );
    const { users: created } = await service.done(path, { users }, carried);
    expect((created as { status: number }[]).map(({ status }) => status)).to.deep.equal(Array(6).fill(201));
    expect(await found()).to.deep.equal(Array(6).fill(true));
    expect((await service.done(path, { users }, carried))["users"]).to.deep.equal(created);
  });

  it("respond with 503 while the home database is unreachable", async () => {
    wires.home.cut();
    for (const region of REGIONS) expectProblem(await create(region), [503, "UNAVAILABLE"]);
    expectProblem(await service.monitor("/readyz"), [503, "UNAVAILABLE"]);
    expect((await service.monitor("/healthz")).status).to.equal(200);
    wires.home.mend();
    expect((await service.monitor("/readyz")).status).to.equal(200);
    for (const region of REGIONS) expect((await create(region)).status).to.equal(201);
  });

  it("make /readyz respond with 503 while one of them is unreachable", async () => {
    wires["eu-west-1"].cut();
    expectProblem(await service.monitor("/readyz"), [503, "UNAVAILABLE"]);
    wires["eu-west-1"].mend();
    expect((await service.monitor("/readyz")).status).to.equal(200);
  });
});
