import { type Definition, defineCommand, type Parsed, port } from "@keyroot/operator/hardhat";

const definition = {
  summary: "Show how keys are published and verified, and how attacks are rejected",
  options: {
    stay: { kind: "flag", description: "Keep the stack running afterwards, until Ctrl-C" },
    port,
    json: { kind: "flag", description: "Print one JSON object instead of text" },
  },
} as const satisfies Definition;

export type DemoArgs = Parsed<typeof definition>;

export const demoCommand = defineCommand(definition, () => import("./demo.ts"));
