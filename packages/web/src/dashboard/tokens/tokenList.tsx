import { Hour, Time } from "../../shared/time.tsx";
import type { ComponentChildren } from "preact";
import { ActiveBadge } from "../shared/cards.tsx";
import type { ServerToken, Token } from "../shared/api.ts";

interface TokenListProps<Item extends Token> {
  tokens: readonly Item[];
  nameOf: (token: Item) => string;
  /** Revokes a token. Undefined for people who may not revoke tokens. */
  onRevoke: ((token: Item) => void) | undefined;
}

/** A list of tokens without their secret values. */
export function TokenList<Item extends Token>({ tokens, nameOf, onRevoke }: TokenListProps<Item>) {
  return (
    <ul class="rows">
      {tokens.map((token) => (
        <TokenRow
          key={token.token_id}
          token={token}
          name={nameOf(token)}
          button={
            onRevoke && token.revoked === null ? (
              <button
                type="button"
                class="button button-small"
                aria-label={`Revoke: ${nameOf(token)}`}
                onClick={() => {
                  onRevoke(token);
                }}
              >
                Revoke
              </button>
            ) : null
          }
        />
      ))}
    </ul>
  );
}

function TokenRow({ token, name, button }: { token: Token; name: string; button: ComponentChildren }) {
  const { created, revoked, last_used } = token;
  return (
    <li class="row">
      <div class="row-text">
        <b>
          {name} <ActiveBadge isActive={revoked === null} ended="revoked" />
        </b>
        <span class="detail">
          created <Time ms={created} />
          {" · "}
          {last_used === null ? (
            "never used"
          ) : (
            <>
              last used <Hour ms={last_used} />
            </>
          )}
          {revoked !== null && (
            <>
              {" · "}revoked <Time ms={revoked} />
            </>
          )}
        </span>
      </div>
      {button}
    </li>
  );
}

export function serverTokenName({ name }: ServerToken): string {
  return name ?? "Without a name";
}
