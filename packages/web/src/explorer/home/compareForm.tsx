import { isMerkleRoot } from "keyroot/internal/merkle";
import { Form, TextField, useText } from "../../shared/form.tsx";
import { Term } from "../../shared/term.tsx";
import { readUserID } from "../../shared/readUserID.ts";
import { config } from "../shared/config.ts";
import { go } from "../../shared/router.ts";

/**
 * Asks for a user id and optionally for the user's key, and then opens the page that verifies the published key.
 * @param props `setEntered` keeps the entered key for the comparison. The key is never part of an address, so no link
 *   contains it
 */
export function CompareForm({ setEntered }: { setEntered: (key: string) => void }) {
  const id = useText();
  const key = useText();
  const submit = () => {
    const read = readUserID(id.text, config.contract);
    const root = id.text.trim().toLowerCase();
    if (isMerkleRoot(root)) go(`batch/${root}`);
    else if ("error" in read) id.setError(read.error);
    else {
      setEntered(key.text);
      go(`verify/${read.userID}`);
    }
  };
  return (
    <Form class="compare-form" onSubmit={submit}>
      <TextField
        label="User id or root"
        hint="32 characters or 40 hex digits, or a root of 64 hex digits. Or drop a file anywhere on this page."
        {...id.field}
      />
      <TextField
        label="Their key (optional)"
        hint={
          <>
            The key or the <Term of="key id" /> that your app shows, in base64 or hex. It is never sent.
          </>
        }
        {...key.field}
      />
      <button type="submit" class="button button-primary">
        Verify
      </button>
    </Form>
  );
}
