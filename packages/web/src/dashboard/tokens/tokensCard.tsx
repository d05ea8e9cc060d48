import type { ComponentChildren } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { CreatedToken, Token } from "../shared/api.ts";
import { CardHead, ListEnd } from "../shared/cards.tsx";
import { Confirm, Secret, TextDialog, type TextDialogProps } from "../shared/dialogs.tsx";
import { type Pages, useAction } from "../shared/useCall.ts";
import { TokenList } from "./tokenList.tsx";

interface TokensCardProps<Item extends Token> {
  title: ComponentChildren;
  intro?: ComponentChildren;
  /** Text that replaces an empty list. */
  empty: ComponentChildren;
  tokens: Pages<Item>;
  nameOf: (token: Item) => string;
  /** Texts and function for creating a token. Undefined for people who may not create tokens. */
  creation?: TokenCreation | undefined;
  /** Texts and function for revoking a token. Undefined for people who may not revoke tokens. */
  revocation?: TokenRevocation | undefined;
}

interface TokenCreation {
  dialog: Pick<TextDialogProps, "title" | "label" | "hint" | "field" | "subject" | "optional">;
  create: (text: string | undefined) => Promise<CreatedToken>;
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
  const [created, setCreated] = useState<CreatedToken>();
  const [doomed, setDoomed] = useState<Item>();
  const revoke = useAction(async () => {
    if (doomed) await revocation?.revoke(doomed.token_id);
    setDoomed(undefined);
    tokens.reload();
  });
  const forget = useCallback(() => {
    setCreated(undefined);
  }, []);
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
        <Secret title={creation.secretTitle} name="the token" value={created.token} onDone={forget}>
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
          busy={revoke.busy}
          error={revoke.error}
          onConfirm={() => void revoke.run()}
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
