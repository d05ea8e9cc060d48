/** The options for the source of a block. At most one of these options may be set. */
type Source = "quorum" | "pinned" | "lightClient" | "auditors" | "beacon";
/** The options that choose the block. At most one of these options may be set. */
type BlockChoice = "block" | "pinned" | "auditors" | "beacon";

/**
 * Rejects contradictory options at compile time:
 * - unknown names;
 * - several endpoints without a quorum, or a quorum that is too large;
 * - two sources of a block.
 *
 * The verifier checks all other values at run time.
 */
export type StrictOptions<Options, All> = Record<Exclude<keyof Options, keyof All>, never> &
  AtMostOne<Given<Options, Source>> &
  AtMostOne<Given<Options, BlockChoice>> &
  (Options extends { rpc: readonly unknown[] }
    ? Options extends { quorum: number | undefined }
      ? { quorum?: Quorum<Options["rpc"], Options["quorum"]> }
      : { quorum: number }
    : Options extends { rpc: string; quorum: number }
      ? { quorum: Quorum<readonly [string], Options["quorum"]> }
      : unknown);

/** The names of options that are set in every case. */
type Given<Options, Name extends PropertyKey> = Name extends keyof Options
  ? undefined extends Options[Name]
    ? never
    : Options[Name] extends false
      ? never
      : Name
  : never;

/** Rejects all values of these options if the union contains more than one name. */
type AtMostOne<Name extends PropertyKey> = [Name] extends [OnlyName<Name>] ? unknown : Record<Name, undefined>;

/** The name if the union contains only one name. `never` for several names. */
type OnlyName<Name, All = Name> = Name extends All ? ([All] extends [Name] ? Name : never) : never;

/** Allows a quorum of at most the number of endpoints, if both numbers are known at compile time. */
type Quorum<Endpoints, Value> = number extends Value ? Value : UpToLength<Endpoints>;

/** The numbers from 1 to the length of a tuple. For an array, any number. */
type UpToLength<List> = List extends readonly [unknown, ...infer Rest]
  ? List["length"] | (Rest extends readonly [] ? never : UpToLength<Rest>)
  : number;
