import { chainOptions, json } from "@keyroot/operator/definition";
import { type Definition, defineCommand, type Parsed } from "@keyroot/operator/hardhat";

const definition = {
  summary: "Deploy a new registry",
  options: {
    owner: {
      kind: "text",
      value: "address",
      description: "Account that may add roots",
      defaultText: "the deploying account",
    },
    deterministic: {
      kind: "flag",
      description: "Deploy with CREATE2: same address on every chain for the same --owner; if it exists, send nothing",
    },
    ...chainOptions,
    json,
  },
} as const satisfies Definition;

export type DeployArgs = Parsed<typeof definition>;

export const deployCommand = defineCommand(definition, () => import("./deploy.ts"));
