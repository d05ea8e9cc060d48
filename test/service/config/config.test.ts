import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import { resolvePublisherConfig } from "../../../packages/service/src/config/publisherConfig.ts";
import { rateLimitsOf, resolveConfig } from "../../../packages/service/src/config/serviceConfig.ts";
import { readConfig, readPublisherConfig } from "../../../packages/service/src/config/readConfig.ts";
import {
  PUBLISHER_VARIABLES,
  SERVICE_VARIABLES,
  SIGNER_VARIABLES,
} from "../../../packages/service/src/config/variables.ts";

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
const publisherFaultsIn = (variables: Record<string, string>) => faultsOf(() => readPublisherConfig(variables));

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
  KEYROOT_DATABASE_CONNECTIONS: "Secret-7",
  KEYROOT_ADMIN_TOKEN: "Secret-8",
  KEYROOT_MONITORING_PORT: "65536",
  KEYROOT_HOLD_PERIOD: "-1",
  KEYROOT_SHUTDOWN_DELAY: "301",
  KEYROOT_HOLD_ON_CONFLICT: "Secret-14",
  KEYROOT_RATE_LIMIT: "-1",
  KEYROOT_TRUSTED_PROXIES: "10.0.0.0/33, Secret-9",
  KEYROOT_LOG_LEVEL: "Secret-10",
  KEYROOT_AUDIT_DAYS: "-1",
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
      const variables: Record<(typeof SERVICE_VARIABLES)[keyof typeof SERVICE_VARIABLES], string> = {
        ...{ DATABASE_URL: "postgres://home/db", DATABASE_URL_US_WEST_2: "postgres://west/db" },
        ...{ DATABASE_URL_EU_WEST_1: "postgres://east/db", KEYROOT_HOST: "::1", KEYROOT_PORT: "1" },
        ...{ KEYROOT_SERVICE_URL: "https://k.test/", KEYROOT_STAGE: "prod", KEYROOT_MONITORING_PORT: "9" },
        ...{ KEYROOT_DATABASE_CONNECTIONS: "2", KEYROOT_SIGNING_KEYS: "keys.json", KEYROOT_LOG_LEVEL: "warn" },
        ...{ KEYROOT_ADMIN_TOKEN: TOKEN, KEYROOT_RATE_LIMIT: "3", KEYROOT_TRUSTED_PROXIES: "10.0.0.1" },
        ...{ KEYROOT_HOLD_PERIOD: "60", KEYROOT_SHUTDOWN_DELAY: "5", KEYROOT_HOLD_ON_CONFLICT: "true" },
        ...{ KEYROOT_EXPLORER_URL: "https://explorer.test/", KEYROOT_BLOCK_EXPLORER_URL: "https://chain.test/" },
        ...{
          KEYROOT_AUDIT_DAYS: "400",
          KEYROOT_ADDRESS_DAYS: "7",
          KEYROOT_WEBHOOK_KEYS: "webhook-keys",
          KEYROOT_WEBHOOK_PRIVATE: "true",
        },
        ...{ KEYROOT_CONTRACT: CHAIN.KEYROOT_CONTRACT, KEYROOT_CHAIN_ID: "11155111", KEYROOT_KEY_TYPE: "p256" },
        KEYROOT_ACCOUNTS: "required",
      };
      expect(readConfig(variables)).to.deep.equal({
        databaseUrl: "postgres://home/db",
        regionUrls: { "us-west-2": "postgres://west/db", "eu-west-1": "postgres://east/db" },
        ...{ host: "::1", port: 1, serviceUrl: "https://k.test", stage: "prod" },
        ...{ explorerUrl: "https://explorer.test/", blockExplorerUrl: "https://chain.test" },
        ...{ databaseFolder: ".keyroot/database", connections: 2, signingKeys: "keys.json", adminToken: TOKEN },
        ...{
          rateLimit: 3,
          monitoringPort: 9,
          trustedProxies: ["10.0.0.1"],
          logLevel: "warn",
          auditDays: 400,
          addressDays: 7,
        },
        ...{ holdPeriod: 60, shutdownDelay: 5, holdOnConflict: true },
        ...{ webhookKeys: "webhook-keys", webhooksPrivate: true, keyType: "p256", accounts: "required" },
        registry: { contract: CHAIN.KEYROOT_CONTRACT, chainId: 11155111 },
      });
    });

    it("rejects the variables of the owner's key, which only the publisher may hold", () => {
      for (const name of SIGNER_VARIABLES) {
        const [fault, ...others] = faultsIn({ [name]: "Secret" });
        expect(fault)
          .to.match(new RegExp(`^${name} must be unset.*'keyroot publisher'`))
          .and.not.include("Secret");
        expect(others).to.deep.equal([]);
      }
      expect(faultsIn({ KEYROOT_KEY_FILE: "" })).to.deep.equal([]);
    });

    it("ignores the publisher's other variables, so that both can share a file of variables", () => {
      expect(readConfig({ ...CHAIN, KEYROOT_RPC_URL: "Secret" })).to.deep.equal(
        readConfig({ KEYROOT_CONTRACT: CHAIN.KEYROOT_CONTRACT, KEYROOT_CHAIN_ID: CHAIN.KEYROOT_CHAIN_ID }),
      );
    });

    it("requires both or none of the registry's variables", () => {
      expect(faultsIn({ KEYROOT_CHAIN_ID: "1" })).to.deep.equal(["KEYROOT_CONTRACT is missing"]);
      expect(faultsIn({ KEYROOT_CONTRACT: CHAIN.KEYROOT_CONTRACT })).to.deep.equal(["KEYROOT_CHAIN_ID is missing"]);
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

    it("rejects a stage that makes bucket names too long", () => {
      expect(faultsIn({ KEYROOT_STAGE: "b".repeat(13) })).to.have.length(1);
      expect(faultsIn({ KEYROOT_STAGE: "b".repeat(12) })).to.have.length(0);
    });

    it("derives the limits per address and for rejected requests", () => {
      const limits = (variables: Record<string, string>) => rateLimitsOf(readConfig(variables));
      expect(limits({})).to.deep.equal({ caller: 6000, address: 60_000, refused: 100 });
      expect(limits({ KEYROOT_RATE_LIMIT: "50" })).to.deep.equal({ caller: 50, address: 500, refused: 100 });
      expect(limits({ KEYROOT_RATE_LIMIT: "0" })).to.deep.equal({ caller: 0, address: 0, refused: 0 });
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

  describe("readPublisherConfig", () => {
    it("reads every variable into its field", () => {
      const variables: Record<(typeof PUBLISHER_VARIABLES)[keyof typeof PUBLISHER_VARIABLES], string> = {
        ...{ DATABASE_URL: "postgres://home/db", DATABASE_URL_US_WEST_2: "postgres://west/db" },
        ...{ DATABASE_URL_EU_WEST_1: "postgres://east/db", KEYROOT_DATABASE_CONNECTIONS: "2" },
        ...{ KEYROOT_LOG_LEVEL: "warn", KEYROOT_HOLD_ON_CONFLICT: "true", ...CHAIN, KEYROOT_CONFIRMATIONS: "4" },
        ...{ KEYROOT_MAX_COST: "0.25", KEYROOT_MAX_COST_PER_DAY: "1", KEYROOT_ALLOW_HTTP: "true" },
        ...{ KEYROOT_SECOND_RPC_URL: "https://b.test", KEYROOT_FILES: "s3://keys-{region}/files" },
        ...{ KEYROOT_MAX_PRIORITY_FEE: "30", KEYROOT_KEY_TYPE: "x25519", KEYROOT_ACCOUNTS: "required" },
      };
      expect(readPublisherConfig(variables)).to.deep.equal({
        databaseUrl: "postgres://home/db",
        regionUrls: { "us-west-2": "postgres://west/db", "eu-west-1": "postgres://east/db" },
        ...{
          databaseFolder: ".keyroot/database",
          connections: 2,
          logLevel: "warn",
          accounts: "required",
          holdOnConflict: true,
          keyType: "x25519",
        },
        chain: {
          ...{ rpcUrl: "https://rpc.test", secondRpcUrl: "https://b.test", contract: CHAIN.KEYROOT_CONTRACT },
          ...{ chainId: 11155111, allowHttp: true, confirmations: 4 },
          ...{ maxFee: "50.5", maxPriorityFee: "30", maxCost: "0.25", maxCostPerDay: "1" },
          files: { "us-west-2": "s3://keys-us-west-2/files", "eu-west-1": "s3://keys-eu-west-1/files" },
        },
      });
    });

    it("requires all variables of the chain", () => {
      for (const name of Object.keys(CHAIN)) {
        const faults = publisherFaultsIn({ ...CHAIN, [name]: "" });
        expect(faults).to.have.length(1);
        expect(faults[0]).to.match(new RegExp(`^${name} is missing`));
      }
      expect(publisherFaultsIn({})).to.have.length(4);
      expect(publisherFaultsIn({ ...CHAIN, KEYROOT_RPC_URL: "Secret-11" })).to.deep.equal([
        "KEYROOT_RPC_URL must be a URL like https://host",
      ]);
    });

    it("requires https for an endpoint on another machine", () => {
      const remote = { ...CHAIN, KEYROOT_RPC_URL: "http://rpc.test" };
      for (const allow of ["", "false", "1"]) {
        const faults = publisherFaultsIn({ ...remote, KEYROOT_ALLOW_HTTP: allow });
        expect(faults.some((fault) => fault.startsWith("KEYROOT_RPC_URL must be an https URL"))).to.equal(true);
      }
      expect(publisherFaultsIn({ ...remote, KEYROOT_ALLOW_HTTP: "true" })).to.deep.equal([]);
      expect(publisherFaultsIn({ ...CHAIN, KEYROOT_RPC_URL: "http://127.0.0.1:8545" })).to.deep.equal([]);
    });

    it("requires no fee limit for a development chain on this machine", () => {
      const local = { ...CHAIN, KEYROOT_MAX_FEE: "", KEYROOT_CHAIN_ID: "31337" };
      expect(publisherFaultsIn({ ...local, KEYROOT_RPC_URL: "http://127.0.0.1:8545" })).to.deep.equal([]);
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
      expect(resolvePublisherConfig({ chain })).to.deep.equal(readPublisherConfig(CHAIN));
    });

    it("accepts its own result and the result of readConfig", () => {
      const config = readConfig({ KEYROOT_STAGE: "prod" });
      expect(resolveConfig(config)).to.deep.equal(config);
      const publisher = readPublisherConfig(CHAIN);
      expect(resolvePublisherConfig(publisher)).to.deep.equal(publisher);
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
      ["chain.maxPriorityFee", { chain: { ...chain, maxPriorityFee: "0" } }],
      ["chain.maxCostPerDay", { chain: { ...chain, maxCostPerDay: "0" } }],
      ["chain.files", { chain: { ...chain, files: 1 } }],
      ["chain.files", { chain: { ...chain, files: { "us-west-2": "files" } } }],
      ["chain", { schedule: { every: 1, atLeast: 1 } }],
      ["registry.chainId", { registry: { contract: chain.contract } }],
      ["schedule.every", { chain, schedule: { every: 0, atLeast: 1 } }],
      ["schedule.every", { chain, schedule: { every: 2_147_484, atLeast: 1 } }],
      ["schedule.atLeast", { chain, schedule: { every: 1, atLeast: 0 } }],
      ["databaseURL", { databaseURL: "postgres://Secret" }],
      ["chain.file", { chain: { ...chain, file: "Secret" } }],
    ];
    for (const [field, config] of invalid) {
      it(`names the invalid field ${field} of ${JSON.stringify(config)}`, () => {
        const resolve =
          field.startsWith("chain") || field.startsWith("schedule") ? resolvePublisherConfig : resolveConfig;
        const faults = faultsOf(() => resolve(config));
        expect(
          faults.some((fault) => fault.startsWith(`${field} `)),
          faults.join("\n"),
        ).to.equal(true);
        expect(faults.join("\n")).not.to.include("Secret");
      });
    }
  });
});
