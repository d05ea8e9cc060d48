import { command, flag, json, keyType } from "@keyroot/operator/definition";
import type { HardhatHost } from "@keyroot/operator/hardhat";
import { HARDHAT_COMMANDS } from "@keyroot/service/commands";

/** `npm start` and `npm run demo`: the demo on a new local stack. */
export const demoCommand = command(
  {
    summary: "Show how keys are published and verified, and how attacks are rejected",
    options: {
      keepRunning: flag("Keep the stack running after the demo, until Ctrl-C"),
      port: HARDHAT_COMMANDS.stack.options.port,
      // Users cannot register documents themselves, which the demo shows.
      keyType: { ...keyType, choices: ["curve41417", "x25519", "ed25519", "p256"] as const },
      json,
    },
  },
  async (args, host: HardhatHost) => (await import("./startOrDemo.ts")).startOrDemo(args, host),
);
