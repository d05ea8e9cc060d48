import { availableParallelism } from "node:os";
import { extname } from "node:path";
import pMap from "p-map";
import { ArgumentError } from "keyroot/internal/errors";
import type { KeyRecord, UserID } from "keyroot/internal/identity";
import { plural } from "../../plural.ts";
import { WorkerPool } from "../../threads/workerPool.ts";

/** The number of keys in one request to a thread. A check of 100 keys takes about 0.2 s. */
const KEYS_PER_REQUEST = 100;
/** The maximum number of users in an error message. */
const NAMED = 20;
/** The script's file name ends in `.ts` in the repository and in `.js` in the package. */
const SCRIPT = new URL(`subgroupWorker${extname(import.meta.url)}`, import.meta.url);

/**
 * Checks public keys of Curve41417 as registration does (`checkNewPublicKey`), in one thread per core. The check of a key takes about
 * 2 ms. Most of this time is the test that the point is in the prime-order subgroup. `readRecords` and verifiers do not
 * include this test. For other key types, there is nothing to add: `check` of the type is already complete.
 */
export class SubgroupChecker implements AsyncDisposable {
  readonly #pool = new WorkerPool<Uint8Array, number[]>(SCRIPT, availableParallelism());

  /**
   * @param onProgress receives the number of checked records
   * @throws ArgumentError PUBLIC_KEY_NOT_PRIME_ORDER. The error's message contains the first 20 users
   */
  async check(records: Iterable<KeyRecord>, onProgress?: (done: number) => void): Promise<void> {
    const refused: UserID[] = [];
    let done = 0;
    const check = async (some: readonly KeyRecord[]) => {
      const keys = Buffer.concat(some.map(({ pubKey }) => Buffer.from(pubKey, "base64")));
      for (const i of await this.#pool.request(keys)) refused.push(some[i]?.userID ?? "");
      onProgress?.((done += some.length));
    };
    await pMap(inChunks(records), check, { concurrency: 2 * this.#pool.size });
    if (refused.length === 0) return;
    const named = refused.toSorted().slice(0, NAMED);
    const more = refused.length > named.length ? ` and ${refused.length - named.length} more` : "";
    const message =
      `Registration would reject ${plural(refused.length, "public key")}, because the point is not in the subgroup ` +
      `of prime order. Nothing was sent. The users are ${named.join(", ")}${more}.`;
    throw new ArgumentError("PUBLIC_KEY_NOT_PRIME_ORDER", message, { actual: named });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }
}

function* inChunks(records: Iterable<KeyRecord>): Generator<KeyRecord[]> {
  let chunk: KeyRecord[] = [];
  for (const record of records) {
    if (chunk.push(record) < KEYS_PER_REQUEST) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
