import { expect } from "chai";
import { describeConfig } from "../../../packages/service/src/commands/describeConfig.ts";
import type { Schedule } from "../../../packages/service/src/config/config.ts";
import { readConfig } from "../../../packages/service/src/config/readConfig.ts";
import { program } from "../../support/processes/commandLine.ts";
import { migratedDatabaseUrl, serviceVariables } from "../../support/service/support.ts";
import { temporaryFolder } from "../../support/support.ts";

const CONTRACT = `0x${"ab".repeat(20)}`;
const CHAIN = {
  ...{ KEYROOT_RPC_URL: "http://127.0.0.1:8545", KEYROOT_CHAIN_ID: "31337" },
  ...{ KEYROOT_CONTRACT: CONTRACT, KEYROOT_FILES: "/srv/files" },
};
const TARGET = `  to               registry ${CONTRACT}, chain 31337; files in /srv/files`;
const LIMITS = "Requests a minute  6,000 for each caller, 60,000 for each address, 100 refused for each address";
const HOLD = "Hold period        1 day";

interface Row {
  what: string;
  variables: Record<string, string>;
  schedule?: Schedule;
  lines: string[];
}

const ROWS: Row[] = [
  {
    what: "a service that does not publish",
    variables: {},
    lines: [
      "Publishing         off. Keys stay unpublished. Set KEYROOT_RPC_URL, KEYROOT_CHAIN_ID, KEYROOT_CONTRACT and KEYROOT_FILES",
      ...[LIMITS, HOLD],
    ],
  },
  {
    what: "a service that publishes on request",
    variables: CHAIN,
    lines: [
      "Publishing         only on request, by the operator's console or 'keyroot publish-registered'",
      ...[TARGET, LIMITS, HOLD],
    ],
  },
  {
    what: "a service that publishes every hour",
    variables: CHAIN,
    schedule: { every: 3_600, atLeast: 1 },
    lines: ["Publishing         every 1 hour, from 1 key on", TARGET, LIMITS, HOLD],
  },
  {
    what: "a service with two stores, other limits and a short hold period",
    variables: {
      ...{ ...CHAIN, KEYROOT_FILES_EU_WEST_1: "s3://eu/files" },
      ...{ KEYROOT_RATE_LIMIT: "10", KEYROOT_REFUSED_RATE_LIMIT: "0", KEYROOT_HOLD_PERIOD: "90" },
    },
    schedule: { every: 7_200, atLeast: 1_000 },
    lines: [
      "Publishing         every 2 hours, from 1,000 keys on",
      `${TARGET}, s3://eu/files`,
      "Requests a minute  10 for each caller, 100 for each address",
      "Hold period        90 seconds",
    ],
  },
  {
    what: "a service without limits",
    variables: { KEYROOT_RATE_LIMIT: "0", KEYROOT_HOLD_PERIOD: "0" },
    lines: [
      "Publishing         off. Keys stay unpublished. Set KEYROOT_RPC_URL, KEYROOT_CHAIN_ID, KEYROOT_CONTRACT and KEYROOT_FILES",
      "Requests a minute  no limit",
      "Hold period        none. Keys can be published at once",
    ],
  },
];

describe("the output of 'keyroot serve'", () => {
  const folder = temporaryFolder();

  for (const { what, variables, schedule, lines } of ROWS)
    it(`says how ${what} publishes and limits requests`, () => {
      expect(describeConfig({ ...readConfig(variables), schedule })).to.deep.equal(lines);
    });

  it("contains these lines", async () => {
    const child = program.start(["serve", "--every", "60", "--at-least", "5"], {
      ...(await serviceVariables(folder.path)),
      ...CHAIN,
      DATABASE_URL: await migratedDatabaseUrl(),
    });
    try {
      let output = "";
      for await (const chunk of child.stdout) {
        output += String(chunk);
        if (output.includes("Press Ctrl-C")) break;
      }
      for (const line of [
        "Publishing         every 1 minute, from 5 keys on",
        TARGET,
        "Requests a minute  no limit",
        HOLD,
      ])
        expect(output.split("\n")).to.include(line);
    } finally {
      child.kill();
    }
  });
});
