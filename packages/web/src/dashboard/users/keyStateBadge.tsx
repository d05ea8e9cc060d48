import type { AnswerOf } from "@keyroot/service";
import { Time } from "../../shared/time.tsx";

type ListedUser = AnswerOf<"/v1/dashboard/users/list">["users"][number];
type KeyState = ListedUser["state"];

/** The CSS class and text for each state of a user's key. */
export const KEY_STATES: Readonly<Record<KeyState, readonly [badge: string, text: string]>> = {
  unregistered: ["badge badge-off", "no key"],
  waiting: ["badge badge-open", "in hold"],
  undecided: ["badge badge-bad", "waiting for a decision"],
  ready: ["badge", "in the next batch"],
  blocked: ["badge badge-off", "not published"],
  submitted: ["badge", "being published"],
  published: ["badge badge-good", "published"],
};

export function KeyStateBadge({ state, hold_ends_at = null }: { state: KeyState; hold_ends_at?: number | null }) {
  const [badge, text] = KEY_STATES[state];
  return (
    <span class={badge}>
      {text}
      {hold_ends_at !== null && (
        <>
          {" "}
          until <Time ms={hold_ends_at} />
        </>
      )}
    </span>
  );
}
