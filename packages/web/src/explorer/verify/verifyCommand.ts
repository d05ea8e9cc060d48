import type { Options } from "../worker/messages.ts";

/** The command that repeats a verification with the same evidence. */
export function verifyCommand(userID: string, options: Options): string {
  const { rpc, contract, chainId, merkleUrl, quorum, pinned, codeHash, usersSlot, expectedPublicKey } = options;
  const named: [string, string | number | undefined][] = [
    ["--rpc", typeof rpc === "string" ? rpc : rpc.join(",")],
    ["--contract", contract],
    ["--chain-id", chainId],
    ["--merkle-url", merkleUrl],
    ["--quorum", quorum],
    ["--pinned", pinned],
    ["--code-hash", codeHash],
    ["--users-slot", usersSlot === 2 ? undefined : usersSlot],
    ["--expected-public-key", expectedPublicKey],
  ];
  const set = named
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${quote(String(value))}`);
  const words = [
    `npx -p @keyroot/operator keyroot verify ${userID}`,
    ...set,
    ...(options.storageProof === true ? ["--storage-proof"] : []),
    ...(options.allowHttp === true ? ["--allow-http"] : []),
  ];
  return words.join(" \\\n  ");
}

/** The command that verifies a bundle. */
export function bundleCommand(name: string, { contract, chainId, pinned = "0x…" }: Options): string {
  return [
    `npx -p @keyroot/operator keyroot verify --bundle ${quote(name.startsWith("-") ? `./${name}` : name)}`,
    `--pinned ${pinned}`,
    `--contract ${contract}`,
    `--chain-id ${chainId}`,
  ].join(" \\\n  ");
}

/** Quotes a word for a POSIX shell. */
function quote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
