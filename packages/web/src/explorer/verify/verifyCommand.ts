import type { Options, TrustChoice } from "../worker/messages.ts";

/** The file to which the command writes the auditors' keys. The keys are from the page's configuration. */
const KEYS_FILE = "auditors.txt";

/** Returns a command that repeats a verification with the same evidence. */
export function verifyCommand(userID: string, options: Options): string {
  const { rpc, contract, chainId, merkleUrl, trust, keyType, accounts, codeHash, expectedPublicKey } = options;
  const lightClient = trust.name === "light-client" ? trust.settings : undefined;
  const auditors = trust.name === "auditors" ? trust.settings : undefined;
  const named: [string, string | number | undefined][] = [
    ["--rpc", typeof rpc === "string" ? rpc : rpc.join(",")],
    ["--contract", contract],
    ["--chain-id", String(chainId)],
    ["--merkle-url", merkleUrl],
    ["--trust", trustWord(trust)],
    ["--beacon", lightClient?.urls.join(",")],
    ["--checkpoint", lightClient?.checkpoint],
    ["--auditors", auditors && KEYS_FILE],
    ["--statement-urls", auditors?.urls?.join(",")],
    ["--threshold", auditors?.threshold],
    ["--key-type", keyType === "curve41417" ? undefined : keyType],
    ["--code-hash", codeHash],
    ["--expected-public-key", expectedPublicKey],
  ];
  const set = named
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${quote(String(value))}`);
  const words = [
    `npx -p @keyroot/operator keyroot verify ${userID}`,
    ...set,
    ...(accounts === true ? ["--accounts"] : []),
    ...(options.allowHttp === true ? ["--allow-http"] : []),
  ];
  const command = words.join(" \\\n  ");
  return auditors ? `printf '%s\\n' ${auditors.keys.map(quote).join(" ")} > ${KEYS_FILE}\n${command}` : command;
}

export function bundleCommand(name: string, { contract, chainId, trust, keyType, accounts }: Options): string {
  return [
    `npx -p @keyroot/operator keyroot verify --bundle ${quote(name.startsWith("-") ? `./${name}` : name)}`,
    `--trust ${trustWord(trust)}`,
    `--contract ${contract}`,
    `--chain-id ${chainId}`,
    ...(keyType === undefined || keyType === "curve41417" ? [] : [`--key-type ${keyType}`]),
    ...(accounts === true ? ["--accounts"] : []),
  ].join(" \\\n  ");
}

/** Returns the value of `--trust` for a choice. */
function trustWord(trust: TrustChoice): string {
  if (trust.name === "endpoints") return `endpoints:${trust.required}`;
  return trust.name === "pinned-block" ? `pinned-block:${trust.hash}` : trust.name;
}

/** Quotes a word for a POSIX shell. */
function quote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
