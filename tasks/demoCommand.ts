import { type Definition, defineCommand, type Parsed } from "@keyroot/operator/hardhat";
import { HARDHAT_COMMANDS } from "@keyroot/service/commands";

const definition = {
  summary: "Show how keys are published and verified, and how attacks are rejected",
  options: {
    keepRunning: { kind: "flag", description: "Keep the stack running after the demo, until Ctrl-C" },
    port: HARDHAT_COMMANDS.stack.options.port,
    json: { kind: "flag", description: "Print one JSON object instead of text" },
  },
} as const satisfies Definition;

export type DemoArgs = Parsed<typeof definition>;

export const demoCommand = defineCommand(definition, () => import("./startOrDemo.ts"));
