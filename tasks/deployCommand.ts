import { type Definition, defineCommand, type Parsed } from "@keyroot/operator/hardhat";

const definition = {
  summary: "Deploy a new registry",
  options: {
    owner: {
      kind: "text",
      value: "address",
      description: "Account that may add roots (default: the deploying account)",
    },
    deterministic: {
      kind: "flag",
      description: "Deploy with CREATE2: same address on every chain for the same --owner; if it exists, send nothing",
    },
    rpc: { kind: "text", value: "url", description: "JSON-RPC endpoint of the chain (default: the local stack's)" },
    chainId: {
      kind: "integer",
      value: "id",
      description: "Chain id that the endpoint must have (default: the local stack's)",
      min: 1,
    },
    json: { kind: "flag", description: "Print one JSON object instead of text" },
  },
} as const satisfies Definition;

export type DeployArgs = Parsed<typeof definition>;

export const deployCommand = defineCommand(definition, () => import("./deploy.ts"));
