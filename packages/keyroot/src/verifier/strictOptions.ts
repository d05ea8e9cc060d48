/** The sources of a block of which options have at most one. */
type Source = "quorum" | "pinned" | "lightClient" | "auditors" | "beacon";
/** The options of which at most one chooses the block. */
type BlockChoice = "block" | "pinned" | "auditors" | "beacon";

/**
 * Refuses contradictory options when a program is compiled: names that `All` does not have, several endpoints without a quorum, a
 * quorum above the number of endpoints, two sources of a block. Values that are known at run time only are checked there.
 */
export type StrictOptions<Options, All> = Record<Exclude<keyof Options, keyof All>, never> &
  AtMostOne<Given<Options, Source>> &
  AtMostOne<Given<Options, BlockChoice>> &
  (Options extends { rpc: readonly unknown[] }
    ? Options extends { quorum: number | undefined }
      ? { quorum?: Quorum<Options["rpc"], Options["quorum"]> }
      : { quorum: number }
    : unknown);

/** The names of options that are certainly set. */
type Given<Options, Name extends PropertyKey> = Name extends keyof Options
  ? undefined extends Options[Name]
    ? never
    : Options[Name] extends false
      ? never
      : Name
  : never;

/** Refuses all values of these names, unless it is one name. */
type AtMostOne<Name extends PropertyKey> = [Name] extends [OnlyName<Name>] ? unknown : Record<Name, undefined>;

/** The name; never if there are several. */
type OnlyName<Name, All = Name> = Name extends All ? ([All] extends [Name] ? Name : never) : never;

/** At most the number of endpoints, if both numbers are known. */
type Quorum<Endpoints, Value> = number extends Value ? Value : UpToLength<Endpoints>;

/** 1 to the length of a tuple. Any number for an array. */
type UpToLength<List> = List extends readonly [unknown, ...infer Rest]
  ? List["length"] | (Rest extends readonly [] ? never : UpToLength<Rest>)
  : number;
