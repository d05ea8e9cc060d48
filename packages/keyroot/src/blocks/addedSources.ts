import { ArgumentError } from "../errors.ts";
import type { Evidence } from "../evidence.ts";
import type { BlockSource } from "./blockSource.ts";

/** A source that apps import separately, because its code is large: `keyroot/auditors`, `keyroot/beacon`. */
export type AddedSourceName = "auditors" | "beacon";

/** A source that an option of a verifier describes. */
export interface AddedSource {
  name: AddedSourceName;
  find: BlockSource;
  /** Whether the source would accept this evidence now. The evidence has the source's name as its anchor. */
  accepts: (evidence: Evidence) => boolean | Promise<boolean>;
}

/** The contract that a verifier reads. */
interface SourcePlace {
  chainId: number | bigint;
  /** 0x and 40 hex digits. */
  contract: string;
  /** Whether plain http to other machines is allowed. */
  allowHttp?: boolean | undefined;
}

/** Checks the value of an option, and makes the source. @throws ArgumentError ARGUMENT_INVALID */
export type MakeSource = (option: unknown, place: SourcePlace) => AddedSource;

const added = new Map<AddedSourceName, MakeSource>();

/** Adds a source to all verifiers. Its entry calls this when it is imported. */
export function addSource(name: AddedSourceName, make: MakeSource): void {
  added.set(name, make);
}

/** Makes the source of an option. @throws ArgumentError SOURCE_NOT_IMPORTED, ARGUMENT_INVALID */
export function makeSource(name: AddedSourceName, option: unknown, place: SourcePlace): AddedSource {
  const make = added.get(name);
  if (make !== undefined) return make(option, place);
  throw new ArgumentError("SOURCE_NOT_IMPORTED", `The option ${name} needs import "keyroot/${name}".`);
}
