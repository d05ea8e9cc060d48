import { Hour, Time } from "../../shared/time.tsx";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ServerToken, Token } from "../shared/api.ts";
import { ActiveBadge, CardHead, ListEnd } from "../shared/cards.tsx";
import { Confirm, Secret, TextDialog, type TextDialogProps } from "../shared/dialogs.tsx";
import type { Pages } from "../shared/useCall.ts";

interface TokensCardProps<Item extends Token> {
  title: ComponentChildren;
  intro?: ComponentChildren;
  /** The text instead of an empty list. */
  empty: ComponentChildren;
  tokens: Pages<Item>;
  nameOf: (token: Item) => string;
  /** Texts and function for creating a token. Undefined for people who may not create tokens. */
  creation?: TokenCreation | undefined;
  /** Texts and function for revoking a token. Undefined for people who may not revoke tokens. */
  revocation?: TokenRevocation | undefined;
}

interface NewToken {
  token: string;
  /** What to do with the token, shown below it. */
  steps?: ComponentChildren;
}

interface TokenCreation {
  dialog: Pick<TextDialogProps, "title" | "label" | "hint" | "field" | "subject" | "optional">;
  create: (text: string | undefined) => Promise<NewToken>;
  secretTitle: string;
  advice: string;
}

interface TokenRevocation {
  revoke: (tokenID: string) => Promise<unknown>;
  /** A sentence that describes the effect of revoking. */
  effect: string;
}

/** Lists, creates and revokes tokens. Shows a new token only once. */
export function TokensCard<Item extends Token>(props: TokensCardProps<Item>) {
  const { title, intro, empty, tokens, nameOf, creation, revocation } = props;
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<NewToken>();
  const [doomed, setDoomed] = useState<Item>();
  return (
    <section class="card" aria-labelledby="tokens-title">
      <CardHead
        id="tokens-title"
        title={title}
        action={creation?.dialog.title}
        onAction={() => {
          setCreating(true);
        }}
      />
      {intro}
      {tokens.items && tokens.items.length > 0 && (
        <TokenList tokens={tokens.items} nameOf={nameOf} onRevoke={revocation && setDoomed} />
      )}
      {tokens.items?.length === 0 && empty}
      <ListEnd pages={tokens} />
      {creation && isCreating && (
        <TextDialog
          {...creation.dialog}
          note="You confirm with your passkey. Then the token is shown once."
          action="Create"
          onSubmit={async (text) => {
            const token = await creation.create(text);
            setCreating(false);
            setCreated(token);
            tokens.reload();
          }}
          onCancel={() => {
            setCreating(false);
          }}
        />
      )}
      {creation && created && (
        <Secret
          title={creation.secretTitle}
          name="the token"
          value={created.token}
          steps={created.steps}
          onDone={() => {
            setCreated(undefined);
            tokens.reload();
          }}
        >
          <p>
            {creation.advice} It is shown until you click Done. It cannot be shown again, because the service keeps no
            copy.
          </p>
        </Secret>
      )}
      {revocation && doomed && (
        <Confirm
          title={`Revoke ${nameOf(doomed)}?`}
          action="Revoke"
          isDanger
          onConfirm={async () => {
            await revocation.revoke(doomed.token_id);
            setDoomed(undefined);
            tokens.reload();
          }}
          onCancel={() => {
            setDoomed(undefined);
          }}
        >
          <p>{revocation.effect} This cannot be undone.</p>
        </Confirm>
      )}
    </section>
  );
}

interface TokenListProps<Item extends Token> {
  tokens: readonly Item[];
  nameOf: (token: Item) => string;
  /** Revokes a token. Undefined for people who may not revoke tokens. */
  onRevoke: ((token: Item) => void) | undefined;
}

/** A list of tokens without the tokens' secret values. */
function TokenList<Item extends Token>({ tokens, nameOf, onRevoke }: TokenListProps<Item>) {
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

/**
 * Returns the name of a token. For a token without a name, it returns a text with the beginning of the token's id,
 * which was also shown when the token was created.
 */
export function serverTokenName({ name, token_id }: ServerToken): string {
  return name ?? `Without a name (${token_id.slice(0, 8)})`;
}
