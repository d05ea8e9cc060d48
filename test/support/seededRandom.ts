import { sha256 } from "./samples.ts";

/**
 * Returns a function that gives a number from 0 to below a limit for each label. The numbers are always the same for a
 * seed.
 */
export function seededRandom(seed: string | number): (label: string, below: number) => number {
  return (label, below) => Number.parseInt(sha256(`${seed}:${label}`).slice(0, 12), 16) % below;
}

/** Returns one of these faults, or undefined for no fault. @param perMille number of faults per 1,000 requests */
export function randomFault<Name>(
  seed: string | number,
  perMille: number,
  faults: () => readonly Name[],
): Name | undefined {
  const random = seededRandom(seed);
  if (random("whether", 1000) >= perMille) return undefined;
  const possible = faults();
  return possible[random("which", possible.length)];
}
