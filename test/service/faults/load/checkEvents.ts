import { runAt } from "../../../support/postgres/postgres.ts";
import type { EventReceiver } from "./eventReceiver.ts";

/** SQL that lists the changes in a region's tables, with the event type and the object of each change. */
const CHANGES = `
  select 'user.created' as type, user_id, '' as object from users
  union all select 'refreshToken.created', user_id, token_id::text from user_tokens
  union all select 'key.registered', user_id, key_id from public_keys
  union all select 'key.pending', user_id, key_id from public_keys where hold_ends_at > registered`;
const EVENTS = `
  select id, type, user_id, coalesce(data->>'token_id', data->>'key_id', '') as object from events`;

interface Row {
  id?: string;
  type: string;
  user_id: string;
  object: string;
}

/**
 * Compares the changes in each database with its events, and these with the events that the receiver acknowledged. Its
 * SQL shares nothing with the service.
 * @returns each difference, and the number of events
 */
export async function checkEvents(
  urls: readonly string[],
  { acknowledged, contents }: Pick<EventReceiver, "acknowledged" | "contents">,
): Promise<{ events: number; findings: string[] }> {
  const findings: string[] = [];
  const known = new Set<string>();
  for (const url of urls) {
    const [changes, events] = [await runAt<Row>(url, CHANGES), await runAt<Row>(url, EVENTS)];
    findings.push(...differences(changes, events));
    for (const { id = "", type, user_id } of events) {
      known.add(id);
      if (!acknowledged.has(id)) findings.push(`event ${id} (${type} ${user_id}) was not delivered`);
      else if (contents.get(id) !== `${type} ${user_id}`) findings.push(`event ${id} was delivered as another one`);
    }
  }
  for (const id of acknowledged.keys())
    if (!known.has(id)) findings.push(`event ${id} was delivered, and its change does not exist`);
  return { events: known.size, findings };
}

/** Lists changes that do not have exactly one event, and events without a change. */
function differences(changes: readonly Row[], events: readonly Row[]): string[] {
  const counts = new Map<string, number>();
  const add = (rows: readonly Row[], step: number) => {
    for (const { type, user_id, object } of rows) {
      const key = `${type} ${user_id} ${object}`;
      counts.set(key, (counts.get(key) ?? 0) + step);
    }
  };
  add(changes, 1);
  add(events, -1);
  return [...counts].flatMap(([key, count]) => {
    if (count === 0) return [];
    return [count > 0 ? `${key}: the change has no event` : `${key}: ${-count} more events than changes`];
  });
}
