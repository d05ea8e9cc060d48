/**
 * The twin of the contract that the proof is about. solc's checker forgets all users as soon as one is written through a
 * storage pointer, and it cannot sum up a loop of any length. So the twin
 *
 * 1. names the user's entry of the mapping where the contract holds a pointer to it,
 * 2. has the decision on one id in a function of its own, `_step`,
 * 3. has what follows the loop in a function of its own, `_finish`,
 *
 * and is word for word the contract in all else. (Written this way, the contract would take 66 gas more for each user, and
 * miss its limit of 1.1 % over the floor.) `node test/proof/twin.ts` writes it anew.
 */
import { writeFile } from "node:fs/promises";
import { readContract } from "../../scripts/contractSources.ts";

export const TWIN = new URL("RegistryTwin.sol", import.meta.url);

/**
 * Rewrites the contract's source into its twin's.
 *
 * @throws Error where the contract no longer has the shape that the rewriting knows.
 */
export function twinOf(contract: string): string {
  const head = replaceOnce(
    contract,
    /\/\/\/ @title PublicKeyRegistry\n[^]*?contract PublicKeyRegistry is/,
    `/// @title RegistryTwin\n/// @author Keyroot\n/// @notice Written by twin.ts from PublicKeyRegistry.sol, which says what it is for: change that, never this.\ncontract RegistryTwin is`,
  );
  const imported = replaceOnce(head, /"\.\/IPublicKeyRegistry\.sol"/, '"../../contracts/IPublicKeyRegistry.sol"');

  const pointer = /( +)\/\/ A pointer, [^\n]*\n +User storage user = _users\[(.+)\];\n/;
  const named = replaceOnce(imported, pointer, "$1bytes20 userID = $2;\n");

  const decision = /rest = rest\[20:\];\n((?: {12}.*\n)+?) {8}\}\n/;
  const step = take(named, decision).replaceAll(/^ {4}/gm, "").replaceAll("user.", "_users[userID].");
  if (step.includes("rest")) throw new Error("The contract decides on more than one id at once.");
  const stepped = replaceOnce(
    named,
    decision,
    `rest = rest[20:];\n            addedCount = _step(merkleTreeRoot, userID, addedCount);\n        }\n`,
  );

  const ending = / {12}addedCount = _step[^\n]*\n {8}\}\n((?: {8}.*\n|\n)+) {4}\}\n/;
  const finish = take(stepped, ending);
  const finished = replaceOnce(
    stepped,
    ending,
    `            addedCount = _step(merkleTreeRoot, userID, addedCount);
        }
        _finish(merkleTreeRoot, addedCount);
    }

    function _step(bytes32 merkleTreeRoot, bytes20 userID, uint256 addedCount) internal returns (uint256) {
${step}        return addedCount;
    }

    function _finish(bytes32 merkleTreeRoot, uint256 addedCount) internal {
${finish}    }
`,
  );
  if (/\bstorage\b|\bassembly\b/.test(finished)) throw new Error("The twin holds a pointer or assembly.");
  return finished;
}

function take(source: string, pattern: RegExp): string {
  const taken = pattern.exec(source)?.[1];
  if (taken === undefined) throw new Error(`The contract has nothing of the shape ${pattern.source}.`);
  return taken;
}

function replaceOnce(source: string, pattern: RegExp, by: string): string {
  const count = [...source.matchAll(new RegExp(pattern, "g"))].length;
  if (count !== 1) throw new Error(`The contract has ${count} times the shape ${pattern.source}, not once.`);
  return source.replace(pattern, by);
}

if (import.meta.main) await writeFile(TWIN, twinOf(await readContract()));
