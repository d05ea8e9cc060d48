import { ArgumentError } from "../errors.ts";
import type { Evidence } from "../evidence.ts";
import type { BlockSource } from "./blockSource.ts";

/** The name of a block source that apps import separately. The source's code is large. */
export type AddedSourceName = "auditors" | "beacon";

/** A block source that an app added to the verifiers. */
export interface AddedSource {
  name: AddedSourceName;
  find: BlockSource;
  /**
   * Checks whether the source still accepts this evidence. The caller has checked that the evidence's anchor is the
   * source's name.
   */
  accepts: (evidence: Evidence) => boolean | Promise<boolean>;
}

/** The contract that a verifier reads, and the options of block sources. */
export interface SourcePlace {
  chainId: number | bigint;
  /** The address of the contract: 0x and 40 hex digits. */
  contract: string;
  /** True to allow unencrypted http requests to other machines. */
  allowHttp?: boolean | undefined;
  /** The bundle to verify. The source reads the bundle's statement and sends no request. */
  bundle?: { statement?: string | undefined };
}

/** Checks the option's value, and makes the block source. @throws ArgumentError ARGUMENT_INVALID */
export type MakeSource = (option: unknown, place: SourcePlace) => AddedSource;

const added = new Map<AddedSourceName, MakeSource>();

/** Adds a block source to all verifiers. A source's entry calls this function when an app imports the entry. */
export function addSource(name: AddedSourceName, make: MakeSource): void {
  added.set(name, make);
}

/** Makes the block source that an option configures. @throws ArgumentError SOURCE_NOT_IMPORTED, ARGUMENT_INVALID */
export function makeSource(name: AddedSourceName, option: unknown, place: SourcePlace): AddedSource {
  const make = added.get(name);
  if (make !== undefined) return make(option, place);
  throw new ArgumentError("SOURCE_NOT_IMPORTED", `The ${name} option needs the import "keyroot/${name}".`);
}
