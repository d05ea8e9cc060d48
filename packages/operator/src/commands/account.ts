import { command, flag, integer, json, onlyWith, text } from "./defineCommand.ts";
import { chainWithTrust, keyType, trustWithoutAuditors } from "./options.ts";

const { rpc, allowHttp, chainId, contract } = chainWithTrust;

export const account = command(
  {
    summary: "Make an account, sign a change of its key, or show it",
    argument: {
      name: "action",
      description:
        "new: make an account and authorize its first key. rotate: authorize another key. void: keep the key although somebody filled the next slot. show: print the account and its slots",
      kind: "required",
      choices: ["new", "rotate", "void", "show"],
    },
    needs: ({ action, offline }) => [
      ...(action === "show" ? [] : ["keys"]),
      ...(action === "new" || action === "rotate" ? ["publicKey"] : []),
      ...(action === "new" ? ["chainId", "contract"] : offline === true ? [] : ["rpc"]),
    ],
    options: {
      account: text("file", "Account file. new writes it, and rotate and void replace it", { required: true }),
      keys: text(
        "files",
        "For new, rotate and void: files of recovery keys, separated by commas. They are encrypted with the passphrase in the file that KEYROOT_PASSPHRASE_FILE names. new creates missing files",
        { onlyWith: { action: ["new", "rotate", "void"] } },
      ),
      ...onlyWith(
        { action: ["new"] },
        {
          moreKeys: text(
            "keys",
            "For new: recovery keys of other holders, separated by commas, such as p256:BASE64 of a phone's hardware",
          ),
          threshold: integer("n", "For new: number of recovery keys that must sign each key", {
            min: 1,
            max: 16,
            default: 1,
          }),
        },
      ),
      ...onlyWith(
        { action: ["new", "rotate"] },
        { publicKey: text("base64", "For new and rotate: the user's public key"), keyType },
      ),
      signatures: text("file", "For rotate and void: file with the lines that other holders' commands printed", {
        onlyWith: { action: ["rotate", "void"] },
      }),
      offline: flag("Sign or show without reading the chain. Before you sign, run show on a machine that can read it", {
        excludes: ["rpc", "allowHttp", "trust"],
        onlyWith: { action: ["rotate", "void", "show"] },
      }),
      // The account file contains the chain and the registry, which are signed.
      ...onlyWith({ action: ["rotate", "void", "show"] }, { rpc, allowHttp, ...trustWithoutAuditors }),
      ...onlyWith({ action: ["new"] }, { chainId, contract }),
      json,
    },
  },
  async (args, host) => (await import("./accountActions.ts")).runAccountAction(args, host),
);
