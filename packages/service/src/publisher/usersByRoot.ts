import type { UserID } from "keyroot/internal/identity";
import type { PublishedRoot, PublishEvent } from "@keyroot/operator/publisher";

/** Groups users by the roots that a round published or found on the chain. */
export function usersByRoot(
  published: readonly PublishedRoot[],
  events: readonly PublishEvent[],
): Map<string, UserID[]> {
  const users = new Map(published.map(({ root, userIDs }) => [root, [...userIDs]]));
  const others = events.flatMap((event) => {
    if (event.event === "alreadyPublished") return event.users;
    return event.event === "published" ? event.superseded : [];
  });
  for (const { root, userID } of others) users.set(root, [...(users.get(root) ?? []), userID]);
  return users;
}
