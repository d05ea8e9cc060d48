/**
 * The whole numbers after a script's name, such as `npm run kill:events 100 2`; those that are missing have their defaults.
 * @throws RangeError for anything else: a script that counts to NaN would do nothing, and find nothing
 */
export function numberArguments<Defaults extends number[]>(
  ...defaults: Defaults
): { [Index in keyof Defaults]: number } {
  const [, , ...args] = process.argv;
  const wrong = args.find((arg, i) => i >= defaults.length || !/^\d{1,9}$/.test(arg));
  if (wrong === undefined)
    return defaults.map((number, i) => Number(args[i] ?? number)) as { [Index in keyof Defaults]: number };
  throw new RangeError(
    `Give at most ${defaults.length} whole numbers instead of "${wrong}". Default: ${defaults.join(" ")}.`,
  );
}
