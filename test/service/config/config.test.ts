import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import { rateLimitsOf, resolveConfig } from "../../../packages/service/src/config/config.ts";
import { readConfig } from "../../../packages/service/src/config/readConfig.ts";
import { VARIABLES } from "../../../packages/service/src/config/variables.ts";

/** Returns the lines after the first line of the error message: one line per invalid variable or field. */
function faultsOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    expect(error).to.be.instanceOf(ArgumentError).with.property("code", "CONFIGURATION_INVALID");
    const [first, ...faults] = (error as ArgumentError).message.split("\n  ");
    expect(first).to.equal("The configuration is invalid:");
    return faults;
  }
  return [];
}
const faultsIn = (variables: Record<string, string>) => faultsOf(() => readConfig(variables));

/** An invalid value for each variable. No message may contain it. */
const INVALID: Record<string, string> = {
  DATABASE_URL: "mysql://user:Secret-0@host/db",
  DATABASE_URL_US_WEST_2: "Secret-1",
  DATABASE_URL_EU_WEST_1: "http://user:Secret-2@host/db",
  KEYROOT_HOST: "Secret-3.test",
  KEYROOT_PORT: "65536",
  KEYROOT_SERVICE_URL: "ftp://Secret-4.test",
  KEYROOT_EXPLORER_URL: "https://Secret-16.test/#/verify",
  KEYROOT_STAGE: "Secret-5",
  KEYROOT_BUCKET_PREFIX: "Secret_6",
  KEYROOT_DATABASE_CONNECTIONS: "Secret-7",
  KEYROOT_ADMIN_TOKEN: "Secret-8",
  KEYROOT_MONITORING_HOST: "Secret-13.test",
  KEYROOT_MONITORING_PORT: "65536",
  KEYROOT_POSSESSION: "Secret-15",
  KEYROOT_HOLD_PERIOD: "-1",
  KEYROOT_SHUTDOWN_DELAY: "301",
  KEYROOT_HOLD_ON_CONFLICT: "Secret-14",
  KEYROOT_RATE_LIMIT: "-1",
  KEYROOT_ADDRESS_RATE_LIMIT: "-1",
  KEYROOT_REFUSED_RATE_LIMIT: "Secret-14",
  KEYROOT_TRUSTED_PROXIES: "10.0.0.0/33, Secret-9",
  KEYROOT_LOG_LEVEL: "Secret-10",
  KEYROOT_AUDIT_DAYS: "-1",
  KEYROOT_RPC_URL: "Secret-11",
  KEYROOT_CONTRACT: "0xSecret-12",
};

/** A token that is made as the docs describe. */
const TOKEN = randomBytes(32).toString("hex");

const CHAIN = {
  KEYROOT_RPC_URL: "https://rpc.test",
  KEYROOT_CONTRACT: `0x${"a".repeat(40)}`,
  KEYROOT_CHAIN_ID: "11155111",
  KEYROOT_MAX_FEE: "50.5",
  KEYROOT_FILES: "files",
};

describe("the service's configuration", () => {
  describe("readConfig", () => {
    it("uses PGlite and a loopback address by default", () => {
      const { databaseUrl, adminToken, ...config } = readConfig({});
      expect([databaseUrl, adminToken]).to.deep.equal([undefined, undefined]);
      expect(config).to.include({
        ...{ host: "127.0.0.1", port: 8547, databaseFolder: ".keyroot/database" },
        ...{ rateLimit: 6000, stage: "dev" },
      });
    });

    it("reads every variable into its field", () => {
      const variables: Record<(typeof VARIABLES)[keyof typeof VARIABLES], string> = {
        ...{ DATABASE_URL: "postgres://home/db", DATABASE_URL_US_WEST_2: "postgres://west/db" },
        ...{ DATABASE_URL_EU_WEST_1: "postgres://east/db", KEYROOT_HOST: "::1", KEYROOT_PORT: "1" },
        ...{ KEYROOT_SERVICE_URL: "https://k.test/", KEYROOT_STAGE: "prod", KEYROOT_BUCKET_PREFIX: "co" },
        ...{ KEYROOT_DATABASE_FOLDER: "folder", KEYROOT_DATABASE_CONNECTIONS: "2", KEYROOT_SIGNING_KEYS: "keys.json" },
        ...{ KEYROOT_ADMIN_TOKEN: TOKEN, KEYROOT_RATE_LIMIT: "3", KEYROOT_TRUSTED_PROXIES: "10.0.0.1" },
        ...{
          KEYROOT_ADDRESS_RATE_LIMIT: "5",
          KEYROOT_REFUSED_RATE_LIMIT: "2",
          KEYROOT_SECOND_RPC_URL: "https://b.test",
        },
        ...{ KEYROOT_MONITORING_HOST: "127.0.0.2", KEYROOT_MONITORING_PORT: "9" },
        ...{
          KEYROOT_POSSESSION: "optional",
          KEYROOT_HOLD_PERIOD: "60",
          KEYROOT_SHUTDOWN_DELAY: "5",
          KEYROOT_HOLD_ON_CONFLICT: "true",
        },
        ...{ KEYROOT_EXPLORER_URL: "https://explorer.test/", KEYROOT_BLOCK_EXPLORER_URL: "https://chain.test/" },
        ...{ KEYROOT_AUDIT_DAYS: "400" },
        ...{ KEYROOT_LOG_LEVEL: "warn", ...CHAIN, KEYROOT_CONFIRMATIONS: "4" },
        ...{ KEYROOT_MAX_COST: "0.25", KEYROOT_MAX_COST_PER_DAY: "1", KEYROOT_ALLOW_HTTP: "true" },
        ...{ KEYROOT_WEBHOOK_KEYS: "webhook-keys", KEYROOT_WEBHOOK_PRIVATE: "true", KEYROOT_EVENT_DAYS: "90" },
        ...{ KEYROOT_FILES_US_WEST_2: "west", KEYROOT_FILES_EU_WEST_1: "east" },
        ...{ KEYROOT_BROTLI: "true" },
      };
      expect(readConfig(variables)).to.deep.equal({
        databaseUrl: "postgres://home/db",
        regionUrls: { "us-west-2": "postgres://west/db", "eu-west-1": "postgres://east/db" },
        ...{
          host: "::1",
          port: 1,
          serviceUrl: "https://k.test",
          explorerUrl: "https://explorer.test/",
          blockExplorerUrl: "https://chain.test",
          stage: "prod",
          bucketPrefix: "co",
        },
        ...{ databaseFolder: "folder", connections: 2, signingKeys: "keys.json", adminToken: TOKEN },
        ...{ rateLimit: 3, addressRateLimit: 5, refusedRateLimit: 2, monitoringHost: "127.0.0.2", monitoringPort: 9 },
        ...{ trustedProxies: ["10.0.0.1"], logLevel: "warn", auditDays: 400 },
        ...{ possession: "optional", holdPeriod: 60, shutdownDelay: 5, holdOnConflict: true },
        ...{ webhookKeys: "webhook-keys", webhooksPrivate: true, eventDays: 90 },
        chain: {
          ...{
            rpcUrl: "https://rpc.test",
            secondRpcUrl: "https://b.test",
            contract: CHAIN.KEYROOT_CONTRACT,
            chainId: 11155111,
            allowHttp: true,
            confirmations: 4,
            maxFee: "50.5",
            maxCost: "0.25",
            maxCostPerDay: "1",
          },
          files: { "us-west-2": "west", "eu-west-1": "east" },
          ...{ brotli: true },
        },
      });
    });

    it("names every invalid variable in one message, without its value", () => {
      const faults = faultsIn(INVALID);
      for (const name of Object.keys(INVALID)) {
        expect(
          faults.filter((fault) => fault.startsWith(`${name} `)),
          name,
        ).to.have.length.at.least(1);
      }
      expect(faults.join("\n")).not.to.match(/Secret|65536|-1\b/);
    });

    it("treats empty variables as unset", () => {
      const empty = Object.fromEntries(Object.keys(INVALID).map((name) => [name, ""]));
      expect(readConfig(empty)).to.deep.equal(readConfig({}));
    });

    it("requires signing keys and the service URL with PostgreSQL", () => {
      const [keys, issuer, ...more] = faultsIn({ DATABASE_URL: "postgres://host/db" });
      expect(keys).to.match(/^KEYROOT_SIGNING_KEYS is missing/);
      expect(issuer).to.match(/^KEYROOT_SERVICE_URL is missing/);
      expect(more).to.deep.equal([]);
    });

    it("requires all or none of the publishing variables", () => {
      for (const name of Object.keys(CHAIN)) {
        const faults = faultsIn({ ...CHAIN, [name]: "" });
        expect(faults).to.have.length(1);
        expect(faults[0]).to.match(new RegExp(`^${name} is missing`));
      }
      expect(readConfig({ ...CHAIN, KEYROOT_FILES_EU_WEST_1: "east" }).chain?.files).to.deep.equal({
        "us-west-2": "files",
        "eu-west-1": "east",
      });
      expect(readConfig({ KEYROOT_CONFIRMATIONS: "4", KEYROOT_FILES_EU_WEST_1: "east" }).chain).to.equal(undefined);
    });

    it("rejects a contract address with a wrong checksum", () => {
      const address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
      const faults = (contract: string) => faultsIn({ ...CHAIN, KEYROOT_CONTRACT: contract });
      for (const right of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`])
        expect(faults(right), right).to.deep.equal([]);
      for (const wrong of [address.replace("aa3", "aA3"), address.replace("5F", "5f")]) {
        const [fault, ...others] = faults(wrong);
        expect(fault).to.match(/^KEYROOT_CONTRACT must have a valid checksum \(EIP-55\), or letters of only one case/);
        expect(others).to.deep.equal([]);
      }
    });

    it("requires https for an endpoint on another machine", () => {
      const remote = { ...CHAIN, KEYROOT_RPC_URL: "http://rpc.test" };
      for (const allow of ["", "false", "1"]) {
        const faults = faultsIn({ ...remote, KEYROOT_ALLOW_HTTP: allow });
        expect(faults.some((fault) => fault.startsWith("KEYROOT_RPC_URL must be an https URL"))).to.equal(true);
      }
      expect(faultsIn({ ...remote, KEYROOT_ALLOW_HTTP: "true" })).to.deep.equal([]);
      expect(faultsIn({ ...CHAIN, KEYROOT_RPC_URL: "http://127.0.0.1:8545" })).to.deep.equal([]);
    });

    it("requires no fee limit for a development chain on this machine", () => {
      const local = { ...CHAIN, KEYROOT_MAX_FEE: "", KEYROOT_CHAIN_ID: "31337" };
      expect(faultsIn({ ...local, KEYROOT_RPC_URL: "http://127.0.0.1:8545" })).to.deep.equal([]);
    });

    it("rejects a prefix and stage that make bucket names too long", () => {
      expect(faultsIn({ KEYROOT_STAGE: "a".repeat(40) })).to.have.length(1);
      expect(faultsIn({ KEYROOT_BUCKET_PREFIX: "a".repeat(10), KEYROOT_STAGE: "b".repeat(10) })).to.have.length(1);
      expect(faultsIn({ KEYROOT_BUCKET_PREFIX: "a".repeat(9), KEYROOT_STAGE: "b".repeat(10) })).to.have.length(0);
      // "keyroot" has 7 characters, and "dev" has 3.
      expect(faultsIn({ KEYROOT_STAGE: "b".repeat(13) })).to.have.length(1);
      expect(faultsIn({ KEYROOT_STAGE: "b".repeat(12) })).to.have.length(0);
      expect(faultsIn({ KEYROOT_BUCKET_PREFIX: "a".repeat(17) })).to.have.length(1);
      expect(faultsIn({ KEYROOT_BUCKET_PREFIX: "a".repeat(16) })).to.have.length(0);
    });

    it("has default limits per address and for rejected requests", () => {
      const limits = (variables: Record<string, string>) => rateLimitsOf(readConfig(variables));
      expect(limits({})).to.deep.equal({ caller: 6000, address: 60_000, refused: 100 });
      expect(limits({ KEYROOT_RATE_LIMIT: "50" })).to.deep.equal({ caller: 50, address: 500, refused: 100 });
      expect(limits({ KEYROOT_RATE_LIMIT: "0" })).to.deep.equal({ caller: 0, address: 0, refused: 0 });
      const set = { KEYROOT_RATE_LIMIT: "0", KEYROOT_ADDRESS_RATE_LIMIT: "7", KEYROOT_REFUSED_RATE_LIMIT: "3" };
      expect(limits(set)).to.deep.equal({ caller: 0, address: 7, refused: 3 });
    });

    it("requires an https service URL if other machines can connect", () => {
      const faults = (host: string, serviceUrl: string) =>
        faultsIn({ KEYROOT_HOST: host, KEYROOT_SERVICE_URL: serviceUrl }).map((fault) => fault.split(" ", 1)[0]);
      for (const host of ["0.0.0.0", "::", "192.0.2.1", "10.0.0.1", "2001:db8::1", "::ffff:192.0.2.1"]) {
        expect(faults(host, "http://keys.test"), host).to.deep.equal(["KEYROOT_SERVICE_URL"]);
        expect(faults(host, ""), host).to.deep.equal(["KEYROOT_SERVICE_URL"]);
        expect(faults(host, "https://keys.test"), host).to.deep.equal([]);
      }
      for (const host of ["127.0.0.1", "127.8.9.1", "::1", "localhost", "::ffff:127.0.0.1"])
        expect(faults(host, "http://localhost:8547"), host).to.deep.equal([]);
    });

    it("rejects admin tokens that are easy to guess", () => {
      const faults = (token: string) => faultsIn({ KEYROOT_ADMIN_TOKEN: token });
      for (const guessable of [
        "a".repeat(32),
        "a".repeat(500),
        "ab".repeat(40),
        "0123456789abcdef0123456789abcdef",
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "password1234password1234password1234",
        "changeme-changeme-changeme-changeme-changeme",
        "00000000-0000-0000-0000-000000000000",
        "KEYROOT_ADMIN_TOKEN_KEYROOT_ADMIN_TOKEN",
      ]) {
        const [fault, ...others] = faults(guessable);
        expect(fault, guessable).to.match(/^KEYROOT_ADMIN_TOKEN is too easy to guess\. .*openssl rand -hex 32/);
        expect(others).to.deep.equal([]);
      }
      for (const [bytes, encoding] of [
        [16, "hex"],
        [32, "hex"],
        [24, "base64url"],
        [32, "base64url"],
      ] as const)
        for (let i = 0; i < 2000; i++) {
          const token = randomBytes(bytes).toString(encoding);
          expect(faults(token), token).to.deep.equal([]);
        }
    });

    it("accepts addresses and networks as trusted proxies", () => {
      const { trustedProxies } = readConfig({ KEYROOT_TRUSTED_PROXIES: "10.0.0.0/8, ::1,fd00::/8" });
      expect(trustedProxies).to.deep.equal(["10.0.0.0/8", "::1", "fd00::/8"]);
      for (const bad of ["all", "10.0.0.0/", "10.0.0.0/33", "::1/129", "10.0.0.1,,", "10.0.0.0/8/8", "true", "1"])
        expect(faultsIn({ KEYROOT_TRUSTED_PROXIES: bad }), bad).to.have.length(1);
    });
  });

  describe("resolveConfig", () => {
    const chain = {
      rpcUrl: "https://rpc.test",
      contract: `0x${"a".repeat(40)}`,
      chainId: 11155111,
      maxFee: "50.5",
      files: "files",
    };

    it("adds the same defaults as readConfig", () => {
      const defined = (config: object): unknown => JSON.parse(JSON.stringify(config));
      expect(defined(resolveConfig({}))).to.deep.equal(defined(readConfig({})));
      expect(resolveConfig({ chain }).chain).to.deep.equal(readConfig(CHAIN).chain);
    });

    it("accepts its own result and the result of readConfig", () => {
      const config = readConfig(CHAIN);
      expect(resolveConfig(config)).to.deep.equal(config);
    });

    it("keeps null as the database folder and as the monitoring port", () => {
      expect(resolveConfig({ databaseFolder: null }).databaseFolder).to.equal(null);
      expect(resolveConfig({ monitoringPort: null }).monitoringPort).to.equal(null);
    });

    const invalid: [field: string, config: object][] = [
      ["port", { port: "80" }],
      ["port", { port: 1.5 }],
      ["host", { host: 1 }],
      ["databaseUrl", { databaseUrl: "mysql://Secret" }],
      ["adminToken", { adminToken: "Secret" }],
      ["chain.rpcUrl", { chain: { ...chain, rpcUrl: undefined } }],
      ["chain.chainId", { chain: { ...chain, chainId: undefined } }],
      ["chain.chainId", { chain: { ...chain, chainId: 0 } }],
      ["chain.maxFee", { chain: { ...chain, maxFee: undefined } }],
      // Neither the endpoint nor the chain id alone makes a chain local.
      ["chain.maxFee", { chain: { ...chain, maxFee: undefined, chainId: 31337 } }],
      ["chain.maxFee", { chain: { ...chain, maxFee: undefined, rpcUrl: "http://127.0.0.1:8545" } }],
      ["chain.maxFee", { chain: { ...chain, maxFee: "-1" } }],
      ["chain.maxFee", { chain: { ...chain, maxFee: "0" } }],
      ["chain.maxFee", { chain: { ...chain, maxFee: undefined, maxCost: "1" } }],
      ["chain.maxCost", { chain: { ...chain, maxCost: "1 ETH" } }],
      ["chain.maxCostPerDay", { chain: { ...chain, maxCostPerDay: "0" } }],
      ["chain.files", { chain: { ...chain, files: 1 } }],
      ["chain.files", { chain: { ...chain, files: { "us-west-2": "files" } } }],
      ["chain.rpcUrl", { schedule: { every: 1, atLeast: 1 } }],
      ["schedule.every", { chain, schedule: { every: 0, atLeast: 1 } }],
      ["schedule.every", { chain, schedule: { every: 2_147_484, atLeast: 1 } }],
      ["schedule.atLeast", { chain, schedule: { every: 1, atLeast: 0 } }],
      ["databaseURL", { databaseURL: "postgres://Secret" }],
      ["chain.file", { chain: { ...chain, file: "Secret" } }],
    ];
    for (const [field, config] of invalid) {
      it(`names the invalid field ${field} of ${JSON.stringify(config)}`, () => {
        const faults = faultsOf(() => resolveConfig(config));
        expect(
          faults.some((fault) => fault.startsWith(`${field} `)),
          faults.join("\n"),
        ).to.equal(true);
        expect(faults.join("\n")).not.to.include("Secret");
      });
    }
  });
});
