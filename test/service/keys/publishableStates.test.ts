import { expect } from "chai";
import { eq } from "drizzle-orm";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import { eraseUser } from "../../../packages/service/src/keys/eraseUser.ts";
import { publicKeys } from "../../../packages/service/src/keys/tables.ts";
import { approveKey, withdrawOrDiscardKey } from "../../../packages/service/src/keys/decideKey.ts";
import { countPublishable, takePublishable } from "../../../packages/service/src/publishing/takePublishable.ts";
import { revokeUserToken } from "../../../packages/service/src/tokens/revokeToken.ts";
import type { User } from "../../../packages/service/src/users/newUser.ts";
import { userDeactivated } from "../../../packages/service/src/users/userErrors.ts";
import { sampleRecords } from "../../support/samples.ts";
import type { TestPartner } from "../../support/service/caller.ts";
import { registerKeys } from "../../support/service/registerKeys.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";
import { failure, never } from "../../support/support.ts";

const REGION = "us-west-2";
const NOW = 1_000_000;

/**
 * The states of everything on which publishing a key may depend, where `true` means that the state permits publishing.
 * A key is published only if all states permit it.
 */
const STATES = {
  user: { active: true, deactivated: false, erased: false },
  partner: { active: true, suspended: false },
  // A user may lose a device after the registration.
  token: { active: true, revoked: true },
  key: {
    waiting: false,
    undecided: false,
    ready: true,
    approved: true,
    withdrawn: false,
    discarded: false,
    // A publisher had taken the key before. It is returned until it is published or released.
    submitted: true,
  },
};

type State = { [Subject in keyof typeof STATES]: keyof (typeof STATES)[Subject] };

const keysOf = <Name extends string>(states: Record<Name, boolean>) => Object.keys(states) as Name[];
const ALL: State[] = keysOf(STATES.user).flatMap((user) =>
  keysOf(STATES.partner).flatMap((partner) =>
    keysOf(STATES.token).flatMap((token) => keysOf(STATES.key).map((key) => ({ user, partner, token, key }))),
  ),
);

/** A taken key stays taken until a publisher releases it. */
const isTaken = ({ user, partner, token, key }: State) =>
  key === "submitted" || (STATES.user[user] && STATES.partner[partner] && STATES.token[token] && STATES.key[key]);

describe("the state of a user, its partner, its token and its key", () => {
  const service = serviceOnPostgres({ holdOnConflict: true });
  const records = sampleRecords(ALL.length);
  let partners: Record<"active" | "suspended", TestPartner>;
  let taken: Set<string>;
  let counted: number;
  const setKey = (userID: string, values: Partial<typeof publicKeys.$inferInsert>) =>
    service.databases.regions[REGION].update(publicKeys).set(values).where(eq(publicKeys.userID, userID));

  const bring = async (user: User, state: State, keyID: string) => {
    const { databases, context } = service;
    const { tokenID } = await context.refreshTokens.createForUser(user, "A phone", {
      now: 1,
      author: SERVICE,
      repeatable: undefined,
    });
    if (state.key === "waiting") await setKey(user.userID, { holdEndsAt: NOW + 1 });
    if (state.key === "undecided" || state.key === "approved") await setKey(user.userID, { undecidedSince: 1 });
    if (state.key === "approved") await approveKey(databases, user, keyID, 1, SERVICE);
    if (state.key === "withdrawn") await withdrawOrDiscardKey(databases, user, keyID, 1, "key.withdrawn", SERVICE);
    if (state.key === "discarded") await withdrawOrDiscardKey(databases, user, keyID, 1, "key.discarded", SERVICE);
    if (state.key === "submitted") await setKey(user.userID, { submitted: 1 });
    if (state.token === "revoked") await revokeUserToken(databases, user, tokenID, 1, SERVICE);
    if (state.user === "deactivated") await context.users.deactivate(user, 1, SERVICE);
    if (state.user === "erased") await eraseUser(databases, user.bizID, user.userID, 1, SERVICE);
  };

  before(async () => {
    partners = { active: await service.createPartner("Active"), suspended: await service.createPartner("Suspended") };
    await registerKeys(service.databases, records, (i) => {
      return { bizID: partners[ALL[i]?.partner ?? "active"].bizID, region: REGION };
    });
    for (const [i, state] of ALL.entries()) {
      const { userID, keyID } = records[i] ?? never();
      await bring((await service.context.users.getIn(REGION, userID)) ?? never(), state, keyID);
    }
    await service.admin("/v1/admin/partners/suspend", { biz_id: partners.suspended.bizID });
    const options = { holdOnConflict: true, now: NOW };
    counted = await countPublishable(service.databases, options);
    const found = await takePublishable(service.databases, REGION, options);
    taken = new Set(found.map(({ userID }) => userID));
  });

  for (const [i, state] of ALL.entries()) {
    const words = `a ${state.key} key, an ${state.user} user with an ${state.token} token, and an ${state.partner} partner`;
    it(`${isTaken(state) ? "permits" : "prevents"} publishing: ${words}`, () => {
      expect(taken.has(records[i]?.userID ?? "")).to.equal(isTaken(state));
    });
  }

  it("decides in the same way whether a key counts as publishable", () => {
    expect(counted).to.equal(ALL.filter(isTaken).length);
  });

  it("of a deactivated user prevents the approval of its key", async () => {
    const i = ALL.findIndex(
      ({ user, partner, key }) => user === "deactivated" && partner === "active" && key === "undecided",
    );
    const { userID, keyID } = records[i] ?? never();
    const user = (await service.context.users.getIn(REGION, userID)) ?? never();
    expect(await failure(approveKey(service.databases, user, keyID, 1, SERVICE))).to.include({
      code: userDeactivated().code,
    });
  });
});
