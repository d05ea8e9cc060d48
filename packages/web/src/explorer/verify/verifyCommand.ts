import type { Options } from "../worker/messages.ts";

const DAY_MS = 86_400_000;
/** The file to which the command writes the auditors' keys. The keys are from the page's configuration. */
const KEYS_FILE = "auditors.txt";

/** Returns a command that repeats a verification with the same evidence. */
export function verifyCommand(userID: string, options: Options): string {
  const {
    rpc,
    contract,
    chainId,
    merkleUrl,
    quorum,
    pinned,
    beacon,
    auditors,
    codeHash,
    usersSlot,
    expectedPublicKey,
  } = options;
  const named: [string, string | number | undefined][] = [
    ["--rpc", typeof rpc === "string" ? rpc : rpc.join(",")],
    ["--contract", contract],
    ["--chain-id", String(chainId)],
    ["--merkle-url", merkleUrl],
    ["--quorum", quorum],
    ["--pinned", pinned],
    ["--beacon", beacon?.urls.join(",")],
    ["--checkpoint", beacon?.checkpoint],
    ["--beacon-network", beacon?.network as string | undefined],
    ["--max-checkpoint-age", beacon?.maxCheckpointAgeMs && beacon.maxCheckpointAgeMs / DAY_MS],
    ["--auditors", auditors && KEYS_FILE],
    ["--statement-urls", auditors?.urls.join(",")],
    ["--threshold", auditors?.threshold],
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
  const command = words.join(" \\\n  ");
  return auditors ? `printf '%s\\n' ${auditors.keys.map(quote).join(" ")} > ${KEYS_FILE}\n${command}` : command;
}

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
