/** The number of characters that are shown before and after the first difference. */
const BEFORE = 6;
const AFTER = 12;

type NamedKey = readonly [name: string, key: string];

/** Shows two keys or key ids where they first differ, instead of all their characters. */
export function KeyChips({ keys }: { keys: readonly [NamedKey, NamedKey] }) {
  const [[, one], [, other]] = keys;
  const first = Math.max(
    0,
    Array.from(one).findIndex((character, i) => character !== other[i]),
  );
  const [start, end] = [Math.max(0, first - BEFORE), first + AFTER];
  return (
    <dl class="chips">
      {keys.map(([name, key]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code title={key}>
              {start > 0 && "…"}
              {key.slice(start, first)}
              <mark>{key.slice(first, end)}</mark>
              {end < key.length && "…"}
            </code>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const KEY = /^[A-Za-z0-9+/]{43,}={0,2}$/;

/** Whether an error's expected and actual value are two keys in base64. */
export function areKeys(...values: unknown[]): boolean {
  return values.every((value) => typeof value === "string" && KEY.test(value) && !/^[0-9a-f]{64}$/.test(value));
}
