import { useEffect, useState } from "preact/hooks";
import { shorten } from "../shared/text.ts";
import { addPasskey, call, type PasskeyInfo } from "./api.ts";
import { Confirm, Failure, Time } from "./parts.tsx";
import { useAction } from "./useCall.ts";

/** The signed-in person's own passkeys. */
export function PasskeysCard() {
  const [passkeys, setPasskeys] = useState<PasskeyInfo[]>();
  const [doomed, setDoomed] = useState<PasskeyInfo>();
  const load = useAction(async () => {
    setPasskeys((await call<{ passkeys: PasskeyInfo[] }>("passkeys/list")).passkeys);
  });
  const add = useAction(async () => {
    await addPasskey();
    await load.run();
  });
  const remove = useAction(async () => {
    await call("passkeys/remove", { passkey_id: doomed?.passkey_id });
    setDoomed(undefined);
    await load.run();
  });
  useEffect(() => void load.run(), []);
  return (
    <section class="card" aria-labelledby="passkeys-title">
      <div class="card-head">
        <h2 id="passkeys-title">Your passkeys</h2>
        <button type="button" class="button" disabled={add.busy} onClick={() => void add.run()}>
          Add a passkey
        </button>
      </div>
      <p class="detail">Add one for each device that you use, so that losing one does not lock you out.</p>
      <ul class="rows">
        {passkeys?.map((passkey) => (
          <li key={passkey.passkey_id} class="row">
            <div class="row-text">
              <b>
                Passkey <code>{shorten(passkey.passkey_id, 6, 4)}</code>
              </b>
              <span class="detail">
                added <Time ms={passkey.created} /> ·{" "}
                {passkey.last_used === null ? "not used since" : <>last used {<Time ms={passkey.last_used} />}</>}
              </span>
            </div>
            {passkeys.length > 1 && (
              <button
                type="button"
                class="button button-small"
                aria-label={`Remove passkey ${shorten(passkey.passkey_id, 6, 4)}`}
                onClick={() => {
                  setDoomed(passkey);
                }}
              >
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
      <Failure error={load.error} retry={() => void load.run()} />
      <Failure error={add.error} />
      {doomed && (
        <Confirm
          title="Remove this passkey?"
          action="Remove"
          busy={remove.busy}
          error={remove.error}
          onConfirm={() => void remove.run()}
          onCancel={() => {
            setDoomed(undefined);
          }}
        >
          <p>You can no longer sign in with it. Sessions that are open stay open.</p>
        </Confirm>
      )}
    </section>
  );
}
