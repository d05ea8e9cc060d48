import { expect } from "chai";
import { describePublisher, describeService } from "../../../packages/service/src/commands/describeConfig.ts";
import type { Schedule } from "../../../packages/service/src/config/publisherConfig.ts";
import { readConfig, readPublisherConfig } from "../../../packages/service/src/config/readConfig.ts";
import { program } from "../../support/processes/commandLine.ts";
import { migratedDatabaseUrl, serviceVariables } from "../../support/service/support.ts";
import { temporaryFolder } from "../../support/support.ts";

const CONTRACT = `0x${"ab".repeat(20)}`;
const REGISTRY = { KEYROOT_CHAIN_ID: "31337", KEYROOT_CONTRACT: CONTRACT };
const CHAIN = { ...REGISTRY, KEYROOT_RPC_URL: "http://127.0.0.1:8545", KEYROOT_FILES: "/srv/files" };
const BY_PUBLISHER = [
  "Publishing         by the process 'keyroot publisher', with the same database",
  `  to               registry ${CONTRACT}, chain 31337`,
];
const LIMITS = "Requests a minute  6,000 for each caller, 60,000 for each address, 100 refused for each address";
const HOLD = "Hold period        1 day";
const TARGET = `  to               registry ${CONTRACT}, chain 31337; files in /srv/files`;
const REQUEST = "on request, by the operator's console or 'keyroot publish-registered'";

const SERVICES: { what: string; variables: Record<string, string>; lines: string[] }[] = [
  {
    what: "a service that does not publish",
    variables: {},
    lines: [
      "Publishing         off. Keys stay unpublished. Set KEYROOT_CHAIN_ID and KEYROOT_CONTRACT, and run 'keyroot publisher'",
      ...[LIMITS, HOLD],
    ],
  },
  { what: "a service with a publisher", variables: REGISTRY, lines: [...BY_PUBLISHER, LIMITS, HOLD] },
  {
    what: "a service with other limits and a short hold period",
    variables: { ...REGISTRY, KEYROOT_RATE_LIMIT: "10", KEYROOT_HOLD_PERIOD: "90" },
    lines: [
      ...BY_PUBLISHER,
      "Requests a minute  10 for each caller, 100 for each address, 100 refused for each address",
      "Hold period        90 seconds",
    ],
  },
  {
    what: "a service without limits",
    variables: { ...REGISTRY, KEYROOT_RATE_LIMIT: "0", KEYROOT_HOLD_PERIOD: "0" },
    lines: [...BY_PUBLISHER, "Requests a minute  no limit", "Hold period        none. Keys can be published at once"],
  },
];

const PUBLISHERS: { what: string; files?: string; schedule?: Schedule; lines: string[] }[] = [
  { what: "a publisher without a schedule", lines: [`Publishing         only ${REQUEST}`, TARGET] },
  {
    what: "a publisher with a schedule",
    schedule: { every: 3_600, atLeast: 1 },
    lines: [`Publishing         every 1 hour, from 1 key on; also ${REQUEST}`, TARGET],
  },
  {
    what: "a publisher with two stores",
    files: "s3://{region}/files",
    schedule: { every: 7_200, atLeast: 1_000 },
    lines: [
      `Publishing         every 2 hours, from 1,000 keys on; also ${REQUEST}`,
      `  to               registry ${CONTRACT}, chain 31337; files in s3://us-west-2/files, s3://eu-west-1/files`,
    ],
  },
];

/** Runs a command until it says that Ctrl-C stops it. @returns its output until then */
async function outputOf(args: readonly string[], variables: Record<string, string>): Promise<string[]> {
  const child = program.start(args, variables);
  try {
    let output = "";
    for await (const chunk of child.stdout) {
      output += String(chunk);
      if (output.includes("Press Ctrl-C")) break;
    }
    return output.split("\n");
  } finally {
    child.kill();
  }
}

describe("the output of 'keyroot serve'", () => {
  const folder = temporaryFolder();

  for (const { what, variables, lines } of SERVICES)
    it(`says who publishes for ${what}, and how it limits requests`, () => {
      expect(describeService(readConfig(variables))).to.deep.equal(lines);
    });

  it("contains these lines", async () => {
    const variables = {
      ...(await serviceVariables(folder.path)),
      ...REGISTRY,
      DATABASE_URL: await migratedDatabaseUrl(),
    };
    const output = await outputOf(["serve"], variables);
    expect(output).to.include.members([...BY_PUBLISHER, "Requests a minute  no limit", HOLD]);
  });
});

describe("the output of 'keyroot publisher'", () => {
  for (const { what, files, schedule, lines } of PUBLISHERS)
    it(`says when and where ${what} publishes`, () => {
      const config = readPublisherConfig({ ...CHAIN, ...(files !== undefined && { KEYROOT_FILES: files }) });
      expect(describePublisher({ ...config, schedule })).to.deep.equal(lines);
    });

  it("contains these lines", async () => {
    const variables = { ...CHAIN, DATABASE_URL: await migratedDatabaseUrl() };
    const output = await outputOf(["publisher", "--every", "60", "--at-least", "5"], variables);
    expect(output).to.include.members([`Publishing         every 1 minute, from 5 keys on; also ${REQUEST}`, TARGET]);
  });
});
