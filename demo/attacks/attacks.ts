import { ACCOUNT_ATTACKS } from "./accountAttacks.ts";
import { type Attack, ATTACKERS } from "./attack.ts";
import { BEACON_ATTACKS } from "./beaconAttacks.ts";
import { KEY_ATTACKS } from "./keyAttacks.ts";

const ALL = [...KEY_ATTACKS, ...BEACON_ATTACKS, ...ACCOUNT_ATTACKS];

/** All attacks on a contact's app, in the order in which terminal and explorer run them. */
export const ATTACKS: readonly Attack[] = ATTACKERS.flatMap((one) => ALL.filter(({ attacker }) => attacker === one));
