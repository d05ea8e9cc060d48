/** The options of commands that verify keys in a registry with accounts. */
import type { Accounts } from "keyroot/account";
import { flag, text } from "./defineCommand.ts";
import { readInput } from "./inputFiles.ts";

export const accountOptions = {
  accounts: flag("The registry has accounts, so users can change their keys. The user id is an account id"),
  account: text(
    "file",
    "The user's account file, which implies --accounts. Without it, the command fetches the file from the file host",
  ),
};

export interface AccountArguments {
  accounts: boolean;
  account?: string | undefined;
}

/** Returns the options of a verifier for `--accounts`, and those of a call for `--account`. */
export async function readAccountOptions({ accounts: isUsed, account }: AccountArguments): Promise<{
  choice: { accounts?: Accounts };
  file: { account?: Uint8Array };
}> {
  if (!isUsed && account === undefined) return { choice: {}, file: {} };
  const { accounts } = await import("keyroot/account");
  return { choice: { accounts: accounts() }, file: account === undefined ? {} : { account: await readInput(account) } };
}
