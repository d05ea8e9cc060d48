import { command, flag, json, keyType } from "@keyroot/operator/definition";
import type { HardhatHost } from "@keyroot/operator/hardhat";
import { HARDHAT_COMMANDS } from "@keyroot/service/commands";
import { KEY_TYPE_NAMES, ROWS } from "keyroot/internal/keyTypeNames";

/** The key types that users register themselves, which the demo shows. The partner registers documents. */
const KEY_TYPES_OF_USERS = KEY_TYPE_NAMES.filter((name) => ROWS[name].possession !== "partner");

/** `npm start` and `npm run demo`: the demo on a new local stack. */
export const demoCommand = command(
  {
    summary: "Show how keys are published and verified, and how attacks are rejected",
    options: {
      keepRunning: flag("Keep the stack running after the demo, until Ctrl-C"),
      port: HARDHAT_COMMANDS.stack.options.port,
      keyType: { ...keyType, choices: KEY_TYPES_OF_USERS },
      json,
    },
  },
  async (args, host: HardhatHost) => (await import("./startOrDemo.ts")).startOrDemo(args, host),
);
