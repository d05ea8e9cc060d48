import { existsSync } from "node:fs";
import {
  type AccountFile,
  keyStatementText,
  type KeyStatementOptions,
  makeAccount,
  makeKeyStatement,
  parseAccountFile,
  serializeAccountFile,
  slotIDOf,
  type StatementSignature,
} from "keyroot/account";
import { base64ToBytes, bytesToBase64 } from "keyroot/internal/bytes";
import { VerificationError } from "keyroot/internal/errors";
import { fetchBlockByHash } from "keyroot/internal/ethereum";
import { checkPublicKey, type KeyTypeName, type UserID, userIDToHex } from "keyroot/internal/identity";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { writeFileAtomic } from "../disk/writeFileAtomic.ts";
import { argumentInvalid } from "../errors.ts";
import { proveRoots, readRoots } from "../follow/index.ts";
import { Chain } from "../publisher/chain/chain.ts";
import {
  makeRecoveryKeyFile,
  type NamedRecoveryKey,
  openRecoveryKeyFile,
  parseRecoveryKey,
  type RecoverySigner,
} from "../publisher/signers/recoveryKeyFile.ts";
import { ChainAndFiles, type ChainAndFilesArgs } from "./chainAndFiles.ts";
import type { Host, Outcome } from "./host.ts";
import { readInput, readLines } from "./inputFiles.ts";
import { writeKeyFile } from "./newKeyFile.ts";
import { endpointsOf, openTrustedChain, type TrustArguments } from "./trust.ts";

interface AccountArgs extends ChainAndFilesArgs, Pick<TrustArguments, "trust" | "beacon" | "checkpoint"> {
  rpc?: string | undefined;
  action: keyof typeof ACTIONS;
  account: string;
  keys?: string | undefined;
  moreKeys?: string | undefined;
  threshold: number;
  publicKey?: string | undefined;
  signatures?: string | undefined;
  offline: boolean;
  keyType: KeyTypeName;
}

/** The number of slots after the last statement that are read, to find the first empty one. */
const SLOTS_READ = 16;
const SIGNATURE_LINE = /^— ([1-9][0-9]?) ([A-Za-z0-9+/]{86}==)$/;

const ACTIONS = { new: makeNew, rotate, void: closeSlot, show };

export async function runAccountAction(args: AccountArgs, host: Host): Promise<Outcome> {
  return ACTIONS[args.action](args, host);
}

async function makeNew(args: AccountArgs, host: Host): Promise<Outcome> {
  const { account: path, moreKeys, threshold, chainId = NaN, contract = "" } = args;
  if (existsSync(path)) throw argumentInvalid(`${path} already exists. Choose another file.`);
  const publicKey = await readPublicKey(args);
  const paths = listOf(args.keys);
  if (paths.length < threshold) {
    const message = `The first key needs ${threshold} signatures, but --keys names ${paths.length} files. Name at least as many as --threshold.`;
    throw argumentInvalid(message);
  }
  const others = listOf(moreKeys).map(parseRecoveryKey);
  const environment = host.environment;
  for (const file of paths) if (!existsSync(file)) await writeKeyFile(file, environment, makeRecoveryKeyFile);
  const signers = await openKeys(args, host);
  const keys = [...signers.map(({ key }) => key), ...others];
  const account = makeAccount({ chainId, contract, threshold, keys: keys.map(withoutText) });
  const options = { number: 0, publicKey };
  const statement = makeKeyStatement(account, { ...options, signatures: sign(account, options, signers) });
  await writeFileAtomic(path, serializeAccountFile(account, [statement]));
  return {
    json: { userID: account.userID, number: 0, account: path, keys: keys.map(({ text }) => text), threshold },
    text: [
      `${path} is the account file of the new user id ${account.userID}.`,
      `Register the key for this user id. Without the partner service, first store the account file at the file host as ${hostedName(account.userID)}.txt.`,
      "Keep the account file with each recovery key: without it, the key cannot be changed.",
    ].join("\n"),
  };
}

async function rotate(args: AccountArgs, host: Host): Promise<Outcome> {
  const publicKey = await readPublicKey(args);
  const file = await readAccountFile(args.account);
  const { nextNumber } = slotsOf(file);
  const slots = args.offline ? undefined : await readSlots(file, args, host, "finalized");
  if (slots?.[0] === false) {
    const message = `Slot ${nextNumber - 1} has no root in a finalized block, so key ${nextNumber} must not be signed yet. Otherwise, the operator could publish the keys in another order. Try again when the last change is published.`;
    throw new VerificationError("root", "NOT_PUBLISHED", message, { expected: "a root", actual: "zero" });
  }
  // The first empty slot, after those that somebody else filled.
  const skipped = slots === undefined ? 0 : slots.slice(1).indexOf(false);
  if (skipped === -1) throw argumentInvalid(`The next ${SLOTS_READ} slots are filled. Rotate with the library.`);
  const number = nextNumber + skipped;
  return signNext(args, host, file, { number, publicKey });
}

async function closeSlot(args: AccountArgs, host: Host): Promise<Outcome> {
  const file = await readAccountFile(args.account);
  const { nextNumber } = slotsOf(file);
  const slots = args.offline ? undefined : await readSlots(file, args, host, "finalized");
  if (slots !== undefined && slots[1] !== true) {
    const message = `Slot ${nextNumber} is empty in the newest finalized block, so there is nothing to declare void. Only sign void for a slot that holds a key that you did not authorize.`;
    throw argumentInvalid(message);
  }
  return signNext(args, host, file, { number: nextNumber, publicKey: "void" });
}

async function show(args: AccountArgs, host: Host): Promise<Outcome> {
  const file = await readAccountFile(args.account);
  const { account, statements } = file;
  const { userID, chainId, contract, threshold } = account;
  const keys = account.keys.map(({ type, publicKey }) => `${type} ${bytesToBase64(publicKey)}`);
  const [{ number, publicKey }] = statements;
  const { slotID, nextNumber } = slotsOf(file);
  const slots = args.offline ? undefined : await readSlots(file, args, host, "latest");
  const [isPublished, isNextFilled] = slots ?? [];
  const standing =
    slots === undefined
      ? "not read from the chain"
      : isNextFilled === true
        ? `slot ${nextNumber} has a key without a statement. Sign it with void if you did not authorize it, or get the newer account file`
        : isPublished === true
          ? "the newest key is published, and the next slot is empty"
          : "the newest key is not published yet";
  return {
    json: {
      ...{ userID, chainId, contract, keys, threshold, number, publicKey, slotID },
      ...{ voided: statements.length - 1, nextNumber, isPublished, isNextFilled },
    },
    text: [
      `account     ${userID}`,
      `registry    ${contract} on chain ${chainId}`,
      ...keys.map((key, i) => `key ${i + 1}       ${key}`),
      `threshold   ${threshold}`,
      `newest key  number ${number}, ${publicKey ?? ""}`,
      `slot        ${slotID}`,
      `standing    ${standing}`,
    ].join("\n"),
  };
}

/**
 * Signs a statement. With enough signatures, it writes the account file; otherwise it prints them for the other
 * signers.
 */
async function signNext(
  args: AccountArgs,
  host: Host,
  { account, statements, text }: ReadAccountFile,
  options: KeyStatementOptions,
): Promise<Outcome> {
  const { account: path } = args;
  const { number } = options;
  const signers = await openKeys(args, host);
  const others = args.signatures === undefined ? [] : await readSignatures(args.signatures);
  const own = sign(account, options, signers);
  const signatures = [...own, ...others.filter(({ keyNumber }) => !own.some((one) => one.keyNumber === keyNumber))];
  const { threshold, userID } = account;
  if (signatures.length < threshold) {
    const lines = signatures.map(({ keyNumber, signature }) => `— ${keyNumber} ${bytesToBase64(signature)}`);
    return {
      json: { userID, number, signatures: lines, missing: threshold - signatures.length },
      text: [
        ...lines,
        `Number ${number} needs ${threshold} signatures. Give these lines to another holder, who passes them with --signatures.`,
      ].join("\n"),
    };
  }
  const statement = makeKeyStatement(account, { ...options, signatures });
  const isVoid = options.publicKey === "void";
  // A key statement replaces the statements before it, and a void statement follows them.
  const file = isVoid ? `${text}\n${statement}` : serializeAccountFile(account, [statement]);
  parseAccountFile(file);
  await writeFileAtomic(path, file);
  const slotID = slotIDOf(account, number);
  const hosted = hostedName(userID);
  return {
    json: { userID, number, slotID, isVoid, account: path, statements: isVoid ? statements.length + 1 : 1 },
    text: isVoid
      ? `${path} declares slot ${number} void. Store it at the file host as ${hosted}.txt, and contacts accept your key again.`
      : `${path} authorizes key ${number} of the account ${userID}. Store it at the file host as ${hosted}.next.txt. Then publish the key for the user id ${slotID}.`,
  };
}

/** Returns the path of an account's files at the file host, without the ending. */
function hostedName(userID: UserID): string {
  return `accounts/${userIDToHex(userID)}`;
}

interface ReadAccountFile extends AccountFile {
  text: string;
}

/** @throws ArgumentError FILE_UNREADABLE; VerificationError as `parseAccountFile` */
async function readAccountFile(path: string): Promise<ReadAccountFile> {
  const bytes = await readInput(path);
  return { ...parseAccountFile(bytes), text: Buffer.from(bytes).toString() };
}

function slotsOf({ account, statements }: AccountFile) {
  const [{ number }] = statements;
  return { slotID: slotIDOf(account, number), nextNumber: number + statements.length };
}

/**
 * Reads which slots of an account have a root, at one block of the source in `--trust`. It reads the last slot that has
 * a statement, and the slots after it.
 * @param block the block to read, for sources that offer both. Before you sign, use a finalized block, because a newer
 *   block may still be replaced
 */
async function readSlots(
  file: AccountFile,
  args: AccountArgs,
  host: Host,
  block: "finalized" | "latest",
): Promise<boolean[]> {
  const { account } = file;
  const { chainId, contract } = account;
  if (args.trust === "auditors")
    throw argumentInvalid("The command takes no auditors' statements. Use another --trust.");
  const place = { ...args, rpc: endpointsOf(args.rpc), chainId, contract };
  using chainAndFiles = await ChainAndFiles.resolve(place, host);
  const { source, call, findBlock } = await openTrustedChain({ ...args, block, threshold: undefined }, chainAndFiles);
  await new Chain(call).verifyChainId(chainId);
  const { nextNumber } = slotsOf(file);
  const ids = Array.from({ length: SLOTS_READ + 1 }, (_, i) => slotIDOf(account, nextNumber - 1 + i));
  const { blockHash } = await findBlock();
  const roots = source.storageProof
    ? await proveRoots(call, contract, ids, await fetchBlockByHash(call, blockHash))
    : await readRoots(call, contract, ids, { blockHash });
  return roots.map((root) => root !== undefined);
}

async function readPublicKey({ publicKey = "", keyType }: AccountArgs): Promise<Uint8Array> {
  const bytes = base64ToBytes(publicKey);
  checkPublicKey(bytes, await loadKeyType(keyType));
  return bytes;
}

function openKeys({ keys }: AccountArgs, { environment }: Host): Promise<RecoverySigner[]> {
  return Promise.all(listOf(keys).map((path) => openRecoveryKeyFile(path, environment)));
}

/** Signs with those of the keys that belong to the account. @throws ArgumentError ARGUMENT_INVALID for another key */
function sign(
  account: AccountFile["account"],
  options: KeyStatementOptions,
  signers: readonly RecoverySigner[],
): StatementSignature[] {
  const message = Buffer.from(keyStatementText(account, options));
  return signers.map(({ key, sign }) => {
    const index = account.keys.findIndex(
      ({ type, publicKey }) => type === key.type && Buffer.from(publicKey).equals(key.publicKey),
    );
    if (index !== -1) return { keyNumber: index + 1, signature: sign(message) };
    throw argumentInvalid(`The recovery key ${key.text} does not belong to the account.`);
  });
}

/** Reads signature lines, as statements contain them. @throws ArgumentError ARGUMENT_INVALID, FILE_UNREADABLE */
async function readSignatures(path: string): Promise<StatementSignature[]> {
  return (await readLines(path)).map((line, i) => {
    const [, keyNumber, encoded] = SIGNATURE_LINE.exec(line) ?? [];
    if (keyNumber !== undefined && encoded !== undefined)
      return { keyNumber: Number(keyNumber), signature: base64ToBytes(encoded) };
    throw argumentInvalid(`Line ${i + 1} of ${path} is no signature of a statement.`);
  });
}

function withoutText({ type, publicKey }: NamedRecoveryKey) {
  return { type, publicKey };
}

function listOf(list = ""): string[] {
  return list.split(",").filter((item) => item !== "");
}
