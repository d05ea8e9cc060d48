import {
  type AuditorList,
  type Cosignature,
  cosignedMessage,
  fetchAuditorList,
  onePerKey,
  parseAuditorOptions,
  parseSignedAuditorList,
  serializeAuditorList,
  type SignedAuditorList,
  verifySignatures,
} from "keyroot/auditors/protocol";
import { KeyrootError } from "keyroot/errors";
import { checkSourceUrl, DEFAULT_LIMITS } from "keyroot/transport";
import { openAuditorKeyFile } from "../audit/statements/auditorKeyFile.ts";
import { StatementFolder } from "../audit/statements/statementFolder.ts";
import { ArgumentError, VerificationError } from "../errors.ts";
import { readStackFile } from "./stackFile.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "./host.ts";
import { readLines } from "./inputFiles.ts";
import { style } from "./output.ts";
import { checkAddress } from "./hexOptions.ts";

type Args = ArgsOf<"sign-auditor-list">;
/** The public keys of the current auditors, and the number of auditors that must sign. */
type Policy = ReturnType<typeof parseAuditorOptions>;

/** `keyroot sign-auditor-list`: signs a list of new auditors, and merges the signatures of other auditors. */
export default async function signAuditorList(args: Args, host: Host): Promise<Outcome> {
  const { auditors, threshold, statements, sequence } = args;
  const policy = parseAuditorOptions({ keys: await readLines(auditors), threshold });
  const wanted = await listOf(args, host);
  const folder = new StatementFolder(statements);
  const lists = [await folder.readList(sequence), ...(await fetchOthers(args))];
  const cosignatures = [
    ...(await ownSignature(args, wanted.text, policy, host)),
    ...lists.flatMap((list) => (list === undefined ? [] : sameList(list, wanted, policy).cosignatures)),
  ];
  const signed = { ...wanted, cosignatures: onePerKey(cosignatures, policy.keys) };
  const path = await folder.writeList(signed);
  const signers = [...verifySignatures(signed, policy.keys).keys()];
  const isComplete = signers.length >= threshold;
  const count = `${signers.length} of ${threshold} required auditors`;
  return {
    json: { ...signed.list, path, signers, required: threshold, complete: isComplete },
    text: isComplete
      ? `${style("success", "Complete")}: ${count} signed. Apps that read this folder follow ${path}.`
      : `${style("notice", "Incomplete")}: ${count} signed ${path}. The other auditors must sign the same list. --merge adds their signatures.`,
  };
}

/** Returns the new list without signatures. @throws ArgumentError ARGUMENT_INVALID, FILE_UNREADABLE */
async function listOf(args: Args, host: Host): Promise<SignedAuditorList> {
  const { newAuditors, newThreshold: threshold, sequence } = args;
  const stack = args.contract === undefined ? await readStackFile(host.root) : undefined;
  const [contract, chainId] = [args.contract ?? stack?.contract, args.chainId ?? stack?.chainId];
  if (!contract || !chainId)
    throw invalid("The list needs the registry's address and chain id. Set --contract and --chain-id.");
  const auditors = (await readLines(newAuditors)).map((line) => {
    const [key = "", url = ""] = line.split(" ");
    return { key, url };
  });
  const place = { chainId, contract: checkAddress("--contract", contract).toLowerCase() };
  const list: AuditorList = { ...place, sequence, threshold, auditors };
  try {
    return parseSignedAuditorList(Buffer.from(`${serializeAuditorList(list)}\n`));
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    throw invalid(`${newAuditors} must have a key and an https URL per line. ${error.message}`);
  }
}

async function fetchOthers({ merge, sequence, allowHttp }: Args): Promise<SignedAuditorList[]> {
  const urls = merge?.split(",").map((url) => checkSourceUrl("merge", url, allowHttp)) ?? [];
  const limits = { timeoutMs: DEFAULT_LIMITS.timeoutMs, allowHttp };
  return Promise.all(urls.map(async (url) => parseSignedAuditorList(await fetchAuditorList(url, sequence, limits))));
}

/**
 * Returns the signature with the key of --sign, or none without --sign.
 * @throws ArgumentError ARGUMENT_INVALID, and the errors of `openAuditorKeyFile`
 */
async function ownSignature({ sign }: Args, text: string, { keys }: Policy, host: Host): Promise<Cosignature[]> {
  if (sign === undefined) return [];
  const signer = await openAuditorKeyFile(sign, host.environment);
  const { name, id, text: key } = signer.key;
  if (!keys.some(({ text }) => text === key))
    throw invalid(`The key in ${sign} is not in the file of --auditors. Use the key of one of these auditors.`);
  const time = Math.floor(Date.now() / 1000);
  return [{ name, keyID: id, time, signature: signer.sign(cosignedMessage(text, time)) }];
}

/**
 * Checks that another auditor's file has the same list and no false signature. An auditor must not sign two different lists
 * with the same number.
 * @throws VerificationError STATEMENT_CONFLICT, STATEMENT_INVALID
 */
function sameList(other: SignedAuditorList, wanted: SignedAuditorList, { keys }: Policy): SignedAuditorList {
  verifySignatures(other, keys);
  if (other.text === wanted.text) return other;
  const message = `A different list of auditors with the number ${wanted.list.sequence} exists. Nothing was signed. Agree with the other auditors on one list.`;
  throw new VerificationError("anchor", "STATEMENT_CONFLICT", message, { expected: wanted.text, actual: other.text });
}

function invalid(message: string): ArgumentError {
  return new ArgumentError("ARGUMENT_INVALID", message);
}
