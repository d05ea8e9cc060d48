import { parseAccountFile, slotIDOf, verifyAccountFile } from "keyroot/account";
import type { UserID } from "keyroot/internal/identity";

/** What the known account files say about a slot. */
export interface KnownSlot {
  userID: UserID;
  number: number;
  /**
   * `used` if a statement of the slot is known, or if other known statements imply that the slot has one. Otherwise
   * `next`.
   */
  state: "used" | "next";
  /** The key that a known statement authorizes for the slot. */
  publicKey: string | undefined;
}

/** Number of slots after the last statement that are known as slots of their account. */
const NEXT_SLOTS = 8;

/** An index of the slots of known accounts, by the id under which a slot's key is published. */
export class AccountIndex {
  readonly #place: { chainId: number; contract: string };
  readonly #slots = new Map<UserID, KnownSlot>();
  readonly #accounts = new Map<UserID, { keys: Map<number, string>; nextNumber: number }>();

  /** @param place the registry of which all accounts must be */
  constructor(place: { chainId: number; contract: string }) {
    this.#place = place;
  }

  /**
   * Verifies an account file and adds the account's slots. Of several files of one account, the newest one determines
   * which slots are used.
   * @throws VerificationError the errors of `verifyAccountFile` of `keyroot/account`
   */
  add(file: Uint8Array): void {
    const { account } = parseAccountFile(file);
    const { userID } = account;
    const { number, publicKey, nextNumber } = verifyAccountFile(file, userID, this.#place);
    const known = this.#accounts.get(userID) ?? { keys: new Map<number, string>(), nextNumber };
    known.keys.set(number, publicKey);
    known.nextNumber = Math.max(known.nextNumber, nextNumber);
    this.#accounts.set(userID, known);
    for (let n = 0; n < known.nextNumber + NEXT_SLOTS; n++) {
      const state = n < known.nextNumber ? "used" : "next";
      this.#slots.set(slotIDOf(account, n), { userID, number: n, state, publicKey: known.keys.get(n) });
    }
  }

  /**
   * Returns true if an id belongs to a used slot of an account, unless a known statement gives this slot another key.
   * Any key is accepted for earlier slots, because account files contain only the newest statements.
   */
  authorizes(id: UserID, publicKey: string): boolean {
    const slot = this.slotOf(id);
    return slot?.state === "used" && (slot.publicKey ?? publicKey) === publicKey;
  }

  /** Returns what is known about an id. Undefined if it is no slot of a known account. */
  slotOf(id: UserID): KnownSlot | undefined {
    return this.#slots.get(id);
  }
}
