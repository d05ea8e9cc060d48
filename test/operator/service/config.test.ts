import { expect } from "chai";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import { readConfig } from "../../../packages/operator/src/service/config.ts";

/** What the variables are refused for: the lines of the message after the first. */
function faultsOf(variables: Record<string, string>): string[] {
  try {
    readConfig(variables);
  } catch (error) {
    expect(error).to.be.instanceOf(ArgumentError).with.property("code", "CONFIGURATION_INVALID");
    const [first, ...faults] = (error as ArgumentError).message.split("\n  ");
    expect(first).to.equal("The configuration is not valid:");
    return faults;
  }
  return [];
}

/** A value of each variable that is wrong, and that no message may show. */
const WRONG: Record<string, string> = {
  DATABASE_URL: "mysql://user:Secret-0@host/db",
  DATABASE_URL_US_WEST_2: "Secret-1",
  DATABASE_URL_EU_WEST_1: "http://user:Secret-2@host/db",
  KEYROOT_HOST: "Secret-3.test",
  KEYROOT_PORT: "65536",
  KEYROOT_BASE_URL: "ftp://Secret-4.test",
  KEYROOT_STAGE: "Secret-5",
  KEYROOT_BUCKET_PREFIX: "Secret_6",
  KEYROOT_DATABASE_CONNECTIONS: "Secret-7",
  KEYROOT_ADMIN_TOKEN: "Secret-8",
  KEYROOT_RATE_LIMIT: "-1",
  KEYROOT_TRUSTED_PROXIES: "10.0.0.0/33, Secret-9",
  KEYROOT_LOG_LEVEL: "Secret-10",
  KEYROOT_RPC_URL: "Secret-11",
  KEYROOT_CONTRACT: "0xSecret-12",
};

describe("the service's configuration", () => {
  it("needs nothing: a database in this process, for this machine only", () => {
    expect(readConfig({})).to.include({
      host: "127.0.0.1",
      port: 8547,
      databaseUrl: undefined,
      databaseFolder: ".keyroot/database",
      adminToken: undefined,
      rateLimit: 6000,
      stage: "dev",
    });
  });

  for (const [name, value] of Object.entries(WRONG)) {
    it(`names ${name} where that one is wrong, without its value`, () => {
      const faults = faultsOf({ [name]: value });
      expect(faults.some((fault) => fault.startsWith(`${name} `))).to.equal(true);
      expect(faults.join("\n")).not.to.match(/Secret|65536|-1\b/);
    });
  }

  it("names everything that is wrong in one message, and shows no value", () => {
    const faults = faultsOf(WRONG);
    for (const name of Object.keys(WRONG)) {
      expect(
        faults.filter((fault) => fault.startsWith(`${name} `)),
        name,
      ).to.have.length.at.least(1);
    }
    expect(faults.join("\n")).not.to.include("Secret");
  });

  it("takes variables that are set to nothing as not set", () => {
    const nothing = Object.fromEntries(Object.keys(WRONG).map((name) => [name, ""]));
    expect(readConfig(nothing)).to.deep.equal(readConfig({}));
  });

  it("wants with PostgreSQL what all replicas must share: signing keys and the issuer", () => {
    const [keys, issuer, ...more] = faultsOf({ DATABASE_URL: "postgres://host/db" });
    expect(keys).to.match(/^KEYROOT_SIGNING_KEYS is missing/);
    expect(issuer).to.match(/^KEYROOT_BASE_URL is missing/);
    expect(more).to.deep.equal([]);
  });

  it("wants all that publishing needs, or nothing of it", () => {
    const whole = {
      KEYROOT_RPC_URL: "http://rpc.test",
      KEYROOT_CONTRACT: `0x${"a".repeat(40)}`,
      KEYROOT_FILES: "files",
    };
    for (const name of Object.keys(whole)) {
      const faults = faultsOf({ ...whole, [name]: "" });
      expect(faults).to.have.length(1);
      expect(faults[0]).to.match(new RegExp(`^${name} is missing`));
    }
    expect(readConfig({ ...whole, KEYROOT_FILES_EU_WEST_1: "east" }).chain?.files).to.deep.equal({
      "us-west-2": "files",
      "eu-west-1": "east",
    });
  });

  it("refuses a prefix and a stage that make a bucket's name too long, the defaults counted", () => {
    expect(faultsOf({ KEYROOT_STAGE: "a".repeat(40) })).to.have.length(1);
    expect(faultsOf({ KEYROOT_BUCKET_PREFIX: "a".repeat(10), KEYROOT_STAGE: "b".repeat(10) })).to.have.length(1);
    expect(faultsOf({ KEYROOT_BUCKET_PREFIX: "a".repeat(9), KEYROOT_STAGE: "b".repeat(10) })).to.have.length(0);
    // "keyroot" has 7 characters, "dev" 3.
    expect(faultsOf({ KEYROOT_STAGE: "b".repeat(13) })).to.have.length(1);
    expect(faultsOf({ KEYROOT_STAGE: "b".repeat(12) })).to.have.length(0);
    expect(faultsOf({ KEYROOT_BUCKET_PREFIX: "a".repeat(17) })).to.have.length(1);
    expect(faultsOf({ KEYROOT_BUCKET_PREFIX: "a".repeat(16) })).to.have.length(0);
  });

  it("takes addresses and networks as trusted proxies", () => {
    const { trustedProxies } = readConfig({ KEYROOT_TRUSTED_PROXIES: "10.0.0.0/8, ::1,fd00::/8" });
    expect(trustedProxies).to.deep.equal(["10.0.0.0/8", "::1", "fd00::/8"]);
    for (const bad of ["all", "10.0.0.0/", "10.0.0.0/33", "::1/129", "10.0.0.1,,", "10.0.0.0/8/8", "true", "1"])
      expect(faultsOf({ KEYROOT_TRUSTED_PROXIES: bad }), bad).to.have.length(1);
  });
});
