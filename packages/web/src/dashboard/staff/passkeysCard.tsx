import { useEffect, useState } from "preact/hooks";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { call, type PasskeyInfo } from "../shared/api.ts";
import { addPasskey } from "./passkeys.ts";
import { Failure } from "../shared/cards.tsx";
import { Confirm, TextDialog } from "../shared/dialogs.tsx";
import { useAction } from "../shared/useCall.ts";

export function PasskeysCard() {
  const [passkeys, setPasskeys] = useState<PasskeyInfo[]>();
  const [doomed, setDoomed] = useState<PasskeyInfo>();
  const [renamed, setRenamed] = useState<PasskeyInfo>();
  const load = useAction(async () => {
    setPasskeys((await call("/v1/dashboard/passkeys/list", {})).passkeys);
  });
  const add = useAction(async () => {
    await addPasskey();
    await load.run();
  });
  useEffect(() => void load.run(), []);
  return (
    <section class="card" aria-labelledby="passkeys-title">
      <div class="card-head">
        <h2 id="passkeys-title">
          Your <Term of="passkey">passkeys</Term>
        </h2>
        <button type="button" class="button" disabled={add.busy} onClick={() => void add.run()}>
          Add a passkey
        </button>
      </div>
      <p class="detail">Add one for each of your devices, so that you can still sign in after you lose a device.</p>
      <ul class="rows">
        {passkeys?.map((passkey) => (
          <PasskeyRow
            key={passkey.passkey_id}
            passkey={passkey}
            onRename={() => {
              setRenamed(passkey);
            }}
            onRemove={
              passkeys.length > 1
                ? () => {
                    setDoomed(passkey);
                  }
                : undefined
            }
          />
        ))}
      </ul>
      <Failure error={load.error} retry={() => void load.run()} />
      <Failure error={add.error} />
      {doomed && (
        <Confirm
          title={`Remove ${nameOf(doomed)}?`}
          action="Remove"
          isDanger
          onConfirm={async () => {
            await call("/v1/dashboard/passkeys/remove", { passkey_id: doomed.passkey_id });
            setDoomed(undefined);
            await load.run();
          }}
          onCancel={() => {
            setDoomed(undefined);
          }}
        >
          <p>You can no longer sign in with it. Open sessions continue.</p>
        </Confirm>
      )}
      {renamed && (
        <TextDialog
          title="Rename this passkey"
          label="Name"
          hint="For example, the device."
          field="name"
          subject="The name"
          initial={renamed.name ?? ""}
          action="Rename"
          onSubmit={async (name = "") => {
            await call("/v1/dashboard/passkeys/rename", { passkey_id: renamed.passkey_id, name });
            setRenamed(undefined);
            await load.run();
          }}
          onCancel={() => {
            setRenamed(undefined);
          }}
        />
      )}
    </section>
  );
}

interface RowProps {
  passkey: PasskeyInfo;
  onRename: () => void;
  /** Removes the passkey. Undefined for a person's only passkey. */
  onRemove: (() => void) | undefined;
}

function PasskeyRow({ passkey, onRename, onRemove }: RowProps) {
  const { created, last_used } = passkey;
  const name = nameOf(passkey);
  return (
    <li class="row">
      <div class="row-text">
        <b>{name}</b>
        <span class="detail">
          added <Time ms={created} /> ·{" "}
          {last_used === null ? "not used since" : <>last used {<Time ms={last_used} />}</>}
        </span>
      </div>
      <div class="buttons">
        <button type="button" class="button button-small" aria-label={`Rename passkey ${name}`} onClick={onRename}>
          Rename
        </button>
        {onRemove && (
          <button type="button" class="button button-small" aria-label={`Remove passkey ${name}`} onClick={onRemove}>
            Remove
          </button>
        )}
      </div>
    </li>
  );
}

/** A passkey's name, or the day on which the passkey was added. */
function nameOf({ name, created }: PasskeyInfo): string {
  return name ?? `Added on ${new Date(created).toLocaleDateString("en", { dateStyle: "medium" })}`;
}
